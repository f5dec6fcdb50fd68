"""Steps as people write them: on the fused path what the plain loop gives, or no fused path and the reason."""

from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F

from foresay.encode.cells.cell import Cell
from foresay.kernels.recurrent import engine
from foresay.kernels.recurrent.loop import Loop
from foresay.kernels.recurrent.plain import run_plain

B, T, H = 3, 4, 21  # one vector of sixteen and a tail of five

OUTSIDE = torch.tensor(0.5)
FUSED = {
    "a comparison times a number": lambda a, b, h: a.tanh() * (h > 0) + b,
    "a comparison as a float": lambda a, b, h: (a > b).float() * h + b.tanh(),
    "a comparison minus a number": lambda a, b, h: h + 0.1 * ((a > 0).to(h.dtype) - b.sigmoid()),
    "a straight-through step": lambda a, b, h: ((a > 0).float() - a.sigmoid()).detach() + a.sigmoid() + 0.1 * h + b,
    "a number as a truth": lambda a, b, h: torch.where((a > 0).float().bool(), b, h),
    "logic on numbers": lambda a, b, h: torch.where(torch.logical_and(a > 0, (b > 0).float()), a, h + b),
    "not": lambda a, b, h: torch.where(~(a > b), a, b) + 0.5 * h,
    "masked": lambda a, b, h: a.masked_fill(b > 0, 0.25) + 0.5 * h + b,
    "the sign": lambda a, b, h: a.sign() * b + 0.5 * h,
    "the size": lambda a, b, h: a.abs() * b.tanh() + 0.5 * h,
    "lerp": lambda a, b, h: torch.lerp(h, b.tanh(), a.sigmoid()),
    "the largest of a row": lambda a, b, h: a - a.amax(1, keepdim=True) + b.tanh() + 0.5 * h,
    "a softmax": lambda a, b, h: torch.softmax(a, 1) * b + 0.5 * h,
    "a row of length one": lambda a, b, h: F.normalize(a + 0.5, dim=1) * b + 0.5 * h,
    "hard tanh": lambda a, b, h: F.hardtanh(a) + b * h,
    "a tensor made of a number": lambda a, b, h: a * torch.tensor(0.5) + b * h,
    "leaky relu": lambda a, b, h: F.leaky_relu(a, 0.1) + 0.1 * b * h,
    "gelu and silu": lambda a, b, h: F.gelu(a) + 0.1 * F.silu(b) * h,
    "softplus": lambda a, b, h: 0.1 * F.softplus(a) * h + b,
}
PLAIN = {
    "whole numbers": (lambda a, b, h: (4 * a).int().float() + b + 0.1 * h, "a cast to torch.int32"),
    "half precision": (lambda a, b, h: a.half().float() + b + 0.1 * h, "a cast to torch.float16"),
    "rounded division": (
        lambda a, b, h: torch.div(b, 0.5, rounding_mode="floor") + a + 0.1 * h,
        "div with rounding_mode",
    ),
    "a tensor from outside": (lambda a, b, h: a * OUTSIDE + b + h, "that is no argument"),
    "a sum over rows": (lambda a, b, h: a - a.mean(0, keepdim=True) + b + 0.1 * h, "along a row"),
    "a variance": (lambda a, b, h: a * a.var(1, keepdim=True) + b + 0.1 * h, "var"),
    "an outer product": (lambda a, b, h: (a[:, :, None] * b[:, None]).mean(2) + 0.1 * h, ""),
}


def cell_of(function, *, reads: tuple[str, ...] = ("a", "b", "h"), width: int = 5):
    class Written(Cell):
        gates = ("a", "b")
        step = {
            ("a", "b", "h"): lambda self, a, b, h: {"h": function(a, b, h)},
            ("a", "b", "h", "x"): lambda self, a, b, h, x: {"h": function(a, b, h, x)},
        }[reads]

    torch.manual_seed(1)
    cell = Written()
    cell.build(width, H)
    return cell


def results(cell, dtype, run):
    torch.manual_seed(2)
    cell = cell.to(dtype)
    cell.zero_grad()
    x = torch.randn(B, T, cell.weight_ih.shape[1]).to(dtype).requires_grad_()
    state = (torch.rand(B, H) - 0.4).to(dtype).requires_grad_()
    kept, after = run(cell.maths, cell.inputs(x, {"h": state}, None), ("new:h",))
    y = kept["new:h"]
    (y * torch.linspace(-1, 1, y.numel()).view_as(y)).sum().backward()
    return [y.detach(), after["h"].detach(), x.grad, state.grad, *(p.grad for p in cell.parameters())]


def compare(cell, tolerance: float = 5e-6) -> None:
    expected = results(cell, torch.float64, run_plain)
    found = results(cell, torch.float32, lambda *given: engine.run_fused(Loop, *given))
    for wanted, value in zip(expected, found, strict=True):
        assert (value is None) == (wanted is None)
        assert wanted is None or (wanted - value.double()).norm() <= tolerance * wanted.norm()


@pytest.mark.parametrize("name", FUSED)
def test_fused_as_plain(name: str) -> None:
    cell = cell_of(FUSED[name])
    assert engine.fusible(cell.maths, training=True) is not None, cell.maths.derived.get("unfusible")
    compare(cell)


@pytest.mark.parametrize("name", PLAIN)
def test_what_has_no_fused_form_says_why(name: str) -> None:
    function, reason = PLAIN[name]
    cell = cell_of(function)
    assert engine.fusible(cell.maths, training=True) is None
    assert reason in str(cell.maths.derived["unfusible"])


SUMS = {
    "the mean of x": lambda a, b, h, x: a.tanh() + x.mean(1, keepdim=True) + b * h,
    "the sum of x": lambda a, b, h, x: a.tanh() + x.sum(1, keepdim=True) * b + 0.1 * h,
    "x itself": lambda a, b, h, x: a.tanh() * x + b + 0.1 * h,
}


@pytest.mark.parametrize("name", SUMS)
@pytest.mark.parametrize("width", [1, 5, H])
def test_a_sum_meets_only_what_is_as_wide_as_what_was_summed(name: str, width: int) -> None:
    if name == "x itself" and width == 5:
        pytest.skip("no plain form either")
    cell = cell_of(SUMS[name], reads=("a", "b", "h", "x"), width=width)
    if width == H:
        return compare(cell)
    assert engine.fusible(cell.maths, training=True) is None
    assert " of the shapes " in str(cell.maths.derived["unfusible"])


def test_training_and_use_are_two_forms() -> None:
    class Scaled(Cell):
        gates = ("a",)

        def step(self, a, h):
            return {"h": (a + 0.5 * h) * (0.5 if self.training else 1.0)}

    torch.manual_seed(1)
    cell = Scaled()
    cell.build(4, H)
    for training in (True, False, True):
        compare(cell.train(training))


def test_tracing_draws_no_number() -> None:
    """A run that was stopped and goes on traces again, and must go on with the numbers it would have drawn."""
    torch.manual_seed(1)
    state = torch.get_rng_state()
    cell = cell_of(FUSED["a softmax"])
    torch.set_rng_state(state)
    engine.fusible(cell.maths, training=True)
    assert torch.equal(torch.get_rng_state(), state)


def test_twice_differentiated_only_by_the_plain_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    cell = cell_of(FUSED["lerp"])
    monkeypatch.setattr(engine, "WORTH", 0)
    x = torch.randn(B, T, 5, requires_grad=True)
    for plain in ("0", "1"):
        monkeypatch.setenv("FORESAY_PLAIN", plain)
        y = cell.run(x, cell.begin(x))[0]
        (grad,) = torch.autograd.grad(y.square().sum(), x, create_graph=True)
        if plain == "1":
            grad.sum().backward()
            assert x.grad is not None and x.grad.abs().sum() > 0
            continue
        with pytest.raises(RuntimeError, match="once_differentiable"):
            grad.sum().backward()
