"""Tracing: what a phase computes becomes operations; equal ones once, needless ones not at all."""

import subprocess
import sys

import pytest
import torch

from foresay.kernels.recurrent.operations import Operations
from foresay.kernels.recurrent.tracing import NotPointwise, trace, trace_derivative


def kinds(function, inputs, results=None):
    operations = Operations()
    given = trace(operations, function, [f"i{n}" for n in range(inputs)], [3] * inputs)
    return [step.kind for step in operations.needed(given if results is None else [given[n] for n in results])]


def test_equal_operations_are_computed_once():
    assert kinds(lambda a, b: (a.tanh() * b + a.tanh(),), 2) == ["tanh", "mul", "add"]


def test_ones_and_zeros_vanish():
    operations = Operations()
    assert operations.add("mul", "a", 1.0) == "a"
    assert operations.add("mul", 0.0, "a") == 0.0
    assert operations.add("add", "a", 0.0) == "a"
    assert operations.add("sub", "a", 0.0) == "a"
    assert operations.add("div", "a", 1.0) == "a"
    assert operations.add("add", 2.0, 3.0) == 5.0
    assert operations.steps == []


def test_what_nothing_needs_is_left_out():
    assert kinds(lambda a: (a.exp(), a.tanh()), 1, [1]) == ["tanh"]


def test_the_derivative_says_which_inputs_have_none():
    operations = Operations()
    grads = trace_derivative(operations, lambda a, b: (a * 2,), ["a", "b"], [3, 3], ["g"])
    assert grads[1] is None
    assert [(step.kind, step.arguments) for step in operations.needed([grads[0]])] == [("mul", ("g", 2.0))]


def test_a_result_that_is_saved_for_the_derivative_is_known_again():
    operations = Operations()
    (grad,) = trace_derivative(operations, lambda a: (a.sigmoid(),), ["a"], [3], ["g"])
    assert [step.kind for step in operations.needed([grad])].count("sigmoid") == 1


def test_in_place_is_seen():
    def run(a, b):
        c = a * b
        c.add_(1.0).mul_(b)
        return (c,)

    assert kinds(run, 2) == ["mul", "add", "mul"]


def test_a_mean_knows_the_width():
    """The gradient of a mean divides by the width: that of the row, not of an example."""
    operations = Operations()
    trace_derivative(operations, lambda a: (a.mean(-1, keepdim=True) + a,), ["a"], [7], ["g"])
    numbers = [a for step in operations.steps for a in step.arguments if isinstance(a, float)]
    assert any(number == pytest.approx(1 / 7) or number == 7 for number in numbers)


@pytest.mark.parametrize(
    ("function", "said"),
    [
        (lambda a: (a @ a.t() @ a,), "t.default"),
        (lambda a: (a.sum(0, keepdim=True) + a,), "sum over axes"),
        (lambda a: (a.sum(1)[:, None] + a,), "sum over axes"),
        (lambda a: (a.sum(1, keepdim=True, dtype=torch.float64).float() + a,), "sum with dtype"),
        (lambda a: (a**1.7,), "exponent 1.7"),
        (lambda a: (torch.cumsum(a, 1),), "cumsum"),
    ],
)
def test_what_is_not_pointwise_is_named(function, said):
    with pytest.raises(NotPointwise, match=said):
        trace(Operations(), function, ["a"], [3])


def test_torchs_compiler_stays_out():
    """Importing it takes a second, at every start of a program that runs a fused cell."""
    code = """
import sys
from foresay.kernels.recurrent.operations import Operations
from foresay.kernels.recurrent.tracing import trace_derivative
trace_derivative(Operations(), lambda a: (a.tanh(),), ["a"], [3], ["g"])
sys.exit("torch._dynamo" in sys.modules)
"""
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
