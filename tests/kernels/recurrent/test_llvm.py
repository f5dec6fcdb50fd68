"""Compiled kernels, operation by operation, against numpy in double precision."""

import math

import numpy as np
import pytest
import torch

from foresay.kernels.recurrent.fuse import Access, Kernel, Part, Store
from foresay.kernels.recurrent.llvm import bind
from foresay.kernels.recurrent.operations import Operations

ROWS, WIDTH = 2, 21  # one vector of sixteen and a tail of five
SPECIAL = [
    0.0,
    -0.0,
    1e-20,
    -1e-6,
    1e-3,
    0.6,
    -3.0,
    20.0,
    -40.0,
    87.0,
    88.3,
    -87.0,
    120.0,
    -120.0,
    math.inf,
    -math.inf,
    math.nan,
]


def run(build, *inputs):
    """The result of the operations that `build(operations, names)` adds, on rows of numbers."""
    operations = Operations()
    names = [f"in{i}" for i in range(len(inputs))]
    result = build(operations, *names)
    loads = {name: Access(name) for name in names}
    store = Store(Access("out"), result)
    part = Part(WIDTH, loads, tuple(operations.needed([result])), (store,), (), {})
    given = zip(names, inputs, strict=True)
    arrays = {name: torch.tensor(value, dtype=torch.float32).view(1, ROWS, WIDTH) for name, value in given}
    arrays |= {"out": torch.empty(1, ROWS, WIDTH), "fed": torch.empty(1, ROWS, 0)}
    bind(Kernel("kernel", (part,)), arrays)(0)
    return arrays["out"].view(-1).double().numpy()


def numbers(low=-6.0, high=6.0, special=()):
    rest = np.linspace(low, high, ROWS * WIDTH - len(special))
    return np.concatenate([special, rest]).astype(np.float32)


UNARY = {
    "exp": np.exp,
    "tanh": np.tanh,
    "sigmoid": lambda x: 1 / (1 + np.exp(-x)),
    "neg": np.negative,
    "abs": np.abs,
}


@pytest.mark.parametrize("kind", UNARY)
def test_functions_keep_float32_accuracy(kind):
    x = numbers(special=SPECIAL)
    with np.errstate(over="ignore"):
        expected = UNARY[kind](x.astype(np.float64)).astype(np.float32)  # beyond its range it is infinite
    found = run(lambda operations, a: operations.add(kind, a), x)
    assert np.isnan(found[np.isnan(x)]).all()
    keep = ~np.isnan(x)
    np.testing.assert_allclose(found[keep], expected[keep], rtol=5e-7, atol=2e-38)


POSITIVE = {
    "log": np.log,
    "sqrt": np.sqrt,
    "rsqrt": lambda x: 1 / np.sqrt(x),
    "log1p": np.log1p,
    "expm1": np.expm1,
    "sin": np.sin,
    "cos": np.cos,
    "erf": np.vectorize(math.erf),
}


@pytest.mark.parametrize("kind", POSITIVE)
def test_rare_functions(kind):
    x = numbers(0.01, 4.0)
    found = run(lambda operations, a: operations.add(kind, a), x)
    np.testing.assert_allclose(found, POSITIVE[kind](x.astype(np.float64)), rtol=5e-7)


BINARY = {"add": np.add, "sub": np.subtract, "mul": np.multiply, "div": np.divide}
BINARY |= {"maximum": np.maximum, "minimum": np.minimum}


@pytest.mark.parametrize("kind", BINARY)
def test_two_numbers(kind):
    x, y = numbers(), numbers(3.0, -5.0)
    x[3], y[5] = math.nan, math.nan
    found = run(lambda operations, a, b: operations.add(kind, a, b), x, y)
    np.testing.assert_array_equal(found.astype(np.float32), BINARY[kind](x, y))


@pytest.mark.parametrize(
    ("kind", "expected"),
    [("lt", np.less), ("le", np.less_equal), ("gt", np.greater), ("ge", np.greater_equal), ("eq", np.equal)],
)
def test_choice(kind, expected):
    x, y = np.round(numbers()), np.round(numbers(4.0, -4.0))
    found = run(lambda o, a, b: o.add("where", o.add(kind, a, b), a, 7.0), x, y)
    np.testing.assert_array_equal(found, np.where(expected(x, y), x, 7.0))


def test_logic():
    x, y = numbers(), numbers(4.0, -4.0)

    def build(o, a, b):
        both = o.add("and", o.add("gt", a, 0.0), o.add("not", o.add("or", o.add("gt", b, 1.0), o.add("ne", b, b))))
        return o.add("where", both, 1.0, 0.0)

    np.testing.assert_array_equal(run(build, x, y), ((x > 0) & ~(y > 1)).astype(float))


def test_sums_along_rows_come_pass_after_pass():
    """A layer norm: two sums, the second of what follows from the first, and products of both with later values."""
    x, y = numbers(), numbers(2.0, -1.0)

    def build(o, a, b):
        mean = o.add("row_mean", a)
        centred = o.add("sub", a, mean)
        scale = o.add("rsqrt", o.add("add", o.add("row_mean", o.add("mul", centred, centred)), 1e-5))
        high = o.add("row_max", b)
        return o.add(
            "add", o.add("mul", o.add("mul", centred, scale), o.add("tanh", b)), o.add("mul", high, o.add("row_sum", a))
        )

    rows, others = x.astype(np.float64).reshape(ROWS, WIDTH), y.astype(np.float64).reshape(ROWS, WIDTH)
    normed = (rows - rows.mean(1, keepdims=True)) / np.sqrt(rows.var(1, keepdims=True) + 1e-5)
    expected = normed * np.tanh(others) + others.max(1, keepdims=True) * rows.sum(1, keepdims=True)
    np.testing.assert_allclose(run(build, x, y), expected.reshape(-1), rtol=1e-5, atol=1e-5)


def test_padded_rows_take_their_own_way_and_stores_may_add():
    loads = {"a": Access("x")}
    part = Part(
        WIDTH,
        loads,
        (),
        (Store(Access("out", shift=1), "a", adds=True),),
        (Store(Access("out", shift=1), "old"),),
        {"old": Access("out")},
    )
    arrays = {
        "x": torch.ones(1, ROWS, WIDTH),
        "out": torch.arange(2.0 * ROWS * WIDTH).view(2, ROWS, WIDTH),
        "mask": torch.tensor([[1, 0]], dtype=torch.uint8),
        "fed": torch.empty(1, ROWS, 0),
    }
    before = arrays["out"].clone()
    bind(Kernel("kernel", (part,)), arrays)(0)
    assert torch.equal(arrays["out"][0], before[0])
    assert torch.equal(arrays["out"][1, 0], before[1, 0] + 1)
    assert torch.equal(arrays["out"][1, 1], before[0, 1])


def test_logarithms_at_their_edges():
    x = numbers(-0.9, 40.0, special=[0.0, 1e-30, 1.0, 1e30, math.inf, -2.0, math.nan, 1e-8, -1e-4])
    with np.errstate(divide="ignore", invalid="ignore"):
        log, log1p = np.log(x.astype(np.float64)), np.log1p(x.astype(np.float64))
    np.testing.assert_allclose(run(lambda o, a: o.add("log", a), x), log, rtol=5e-7, atol=1e-7)
    np.testing.assert_allclose(run(lambda o, a: o.add("log1p", a), x), log1p, rtol=5e-7)
