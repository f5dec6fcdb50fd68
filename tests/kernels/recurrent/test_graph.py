"""Tracing: what a phase computes becomes operations; equal ones once, needless ones not at all."""

import pytest
import torch

from foresay.kernels.recurrent.graph import NotPointwise, Operations, derivative_graph, forward_graph, inline


def kinds(graph, inputs, results=None):
    operations = Operations()
    given = inline(operations, graph, [f"i{n}" for n in range(inputs)])
    return [step.kind for step in operations.needed(given if results is None else [given[n] for n in results])], given


def test_equal_operations_are_computed_once():
    graph = forward_graph(lambda a, b: (a.tanh() * b + a.tanh(),), [3, 3])
    assert kinds(graph, 2)[0] == ["tanh", "mul", "add"]


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
    graph = forward_graph(lambda a: (a.exp(), a.tanh()), [3])
    assert kinds(graph, 1, [1])[0] == ["tanh"]


def test_the_derivative_says_which_inputs_have_none():
    graph = derivative_graph(lambda a, b: (a * 2,), [3, 3])
    operations = Operations()
    grads = inline(operations, graph, ["a", "b", "g"])
    assert grads[1] is None
    assert [(step.kind, step.arguments) for step in operations.needed([grads[0]])] == [("mul", ("g", 2.0))]


def test_a_mean_knows_the_width():
    """The gradient of a mean divides by the width: that of the row, not of an example."""
    graph = derivative_graph(lambda a: (a.mean(-1, keepdim=True) + a,), [7])
    operations = Operations()
    inline(operations, graph, ["a", "g"])
    numbers = [a for step in operations.steps for a in step.arguments if isinstance(a, float)]
    assert any(number == pytest.approx(1 / 7) or number == 7 for number in numbers)


@pytest.mark.parametrize(
    ("function", "said"),
    [
        (lambda a: (a @ a.t() @ a,), "permute"),
        (lambda a: (a.sum(0, keepdim=True) + a,), "sum over axes"),
        (lambda a: (a.sum(1)[:, None] + a,), "sum over axes"),
        (lambda a: (a**1.7,), "exponent 1.7"),
        (lambda a: (torch.cumsum(a, 1),), "cumsum"),
    ],
)
def test_what_is_not_pointwise_is_named(function, said):
    with pytest.raises(NotPointwise, match=said):
        inline(Operations(), forward_graph(function, [3]), ["a"])
