"""A cell's maths is read off its class; whatever is wrong with it is one line that names cell, stage and shape."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from foresay import Cell, UserError, stage
from foresay.kernels.recurrent.maths import Maths


class Leaky(Cell):
    gates = ("leak", "new")

    def step(self, leak, new, h):
        leak = leak.sigmoid()
        return {"h": h + leak * (new.tanh() - h), "leak": leak}


class Staged(Cell):
    states = ("h", "c")
    gates = ("i", "o")
    unfed = ("o",)
    vectors = ("p",)

    @stage(i="h c")
    def remember(self, i, c, p, x):
        return {"c": c + p * i.tanh() + x.sum(1, keepdim=True)}

    @stage(o="new_c")
    def show(self, o, new_c):
        return {"h": o.sigmoid() * new_c}


def read(cls: type[Cell]) -> Maths:
    """Built with D = 3 and H = 7."""
    cell = cls()
    cell.part_name = "Bad"  # pyright: ignore[reportAttributeAccessIssue]
    cell.build(3, 7)
    return cell.maths


def refused(base: type[Cell], **body) -> str:
    """What building a class with this body says."""
    with pytest.raises(UserError) as caught:
        read(type("Bad", (base,), body))
    text = str(caught.value)
    assert "\n" not in text and text.startswith("cell Bad"), text
    return text.removeprefix("cell Bad")


def test_a_step_by_names():
    maths = read(Leaky)
    (only,) = maths.stages
    assert only.reads == ("gate:leak", "gate:new", "state:h") and only.gives == ("new:h", "value:leak")
    assert maths.sees == {"leak": ("state:h",), "new": ("state:h",)} and maths.fed == ("leak", "new")
    assert maths.widths["value:leak"] == 7


def test_stages_by_names():
    maths = read(Staged)
    assert maths.sees == {"i": ("state:h", "state:c"), "o": ("new:c",)} and maths.fed == ("i",)
    assert [one.reads for one in maths.stages] == [
        ("gate:i", "state:c", "vector:p", "x:x"),
        ("gate:o", "new:c"),
    ]
    assert [one.gives for one in maths.stages] == [("new:c",), ("new:h",)]


# --- names ---


def test_names_that_are_no_list():
    assert refused(Leaky, gates="leak") == ": gates='leak' is text; allowed: a tuple of names: gates = ('leak',)"
    assert refused(Leaky, states="h") == ": states='h' is text; allowed: a tuple of names: states = ('h',)"
    assert refused(Leaky, vectors=3) == ": vectors=3; allowed: a tuple of names"
    assert refused(Leaky, gates=("leak", "new", "leak")) == ": gate leak is named twice; name each once"
    assert refused(Leaky, gates=("leak", "not a name")) == ": gates: 'not a name' is no name; allowed: such as 'leak'"


def test_no_gates():
    assert refused(Cell, step=lambda self, h: {"h": h}) == ": it has no gates; name them, as gates = ('leak', 'new')"


def test_no_step():
    text = ": it has no step and no stages; write one, as def step(self, leak, new, h)"
    assert refused(Cell, gates=("leak", "new")) == text


def test_no_h():
    assert refused(Leaky, states=("c",)) == ": states=('c',) has no h, which is what a cell puts out; name a state h"


@pytest.mark.parametrize(
    ("body", "told"),
    [
        ({"gates": ("h", "new")}, "h is a state and a gate"),
        ({"gates": ("leak", "new"), "vectors": ("leak",)}, "leak is a gate and a vector"),
        ({"gates": ("leak", "x")}, "x is a gate and the input"),
    ],
)
def test_one_name_for_two_things(body, told):
    assert refused(Leaky, **body) == f": {told}; give one of them another name"


def test_unfed_gates_that_are_none():
    text = ": unfed names nwe, which is no gate; allowed: leak, new; did you mean 'new'?"
    assert refused(Leaky, unfed=("nwe",)) == text


# --- what stages read ---


def test_an_unknown_name():
    assert refused(Leaky, step=lambda self, leak, new, hh: {"h": hh}) == (
        ", stage step reads hh, which is not known there; allowed: h, x, leak, new; did you mean 'h'?"
    )


def test_a_value_not_yet_computed():
    @stage(i="h")
    def remember(self, i, new_c):
        return {"c": i}

    assert refused(Staged, remember=remember) == (
        ", stage remember reads new_c, which no stage before it returns; allowed: h, c, p, x, i"
    )

    @stage(i="h rh")
    def seeing(self, i):
        return {"c": i}

    assert refused(Staged, remember=seeing) == (
        ", stage remember: gate i sees rh, which is not known there; allowed: h, c, p, x; did you mean 'h'?"
    )


def test_a_gate_of_a_later_stage():
    @stage(i="h")
    def remember(self, i, o):
        return {"c": i}

    assert refused(Staged, remember=remember) == (
        ", stage remember reads o, which stage show completes; move it there, or read one of: h, c, p, x, i"
    )


def test_a_gate_of_an_earlier_stage():
    @stage(o="new_c")
    def show(self, o, i):
        return {"h": o}

    assert refused(Staged, show=show) == (
        ", stage show reads i, a gate of stage remember; return it from there under a name, or read one of: "
        "h, c, p, x, new_c, o"
    )


def test_arguments_without_names():
    def step(self, *values):
        return {"h": values[0]}

    assert refused(Leaky, step=step) == ", stage step takes *values; name what it reads, as step(self, leak, new, h)"

    def keyed(self, leak, new, h, **rest):
        return {"h": h}

    text = ", stage step takes **rest; name what it reads, as step(self, leak, new, h)"
    assert refused(Leaky, step=keyed) == text


# --- gates ---


def test_a_gate_that_is_never_read():
    assert refused(Leaky, step=lambda self, leak, h: {"h": leak + h}) == (
        ", stage step does not read its gate new; take it as an argument, or leave it out of gates"
    )


def test_a_gate_that_no_stage_completes():
    assert refused(Staged, gates=("i", "o", "f")) == (
        ": no stage completes gate f; say in one what it sees, as @stage(f='h'), or leave it out of gates"
    )


def test_a_gate_completed_that_is_none():
    @stage(i="h", q="h")
    def remember(self, i, q):
        return {"c": i + q}

    assert refused(Staged, remember=remember) == ", stage remember completes q, which is no gate; allowed: i, o"


def test_a_gate_completed_twice():
    @stage(i="h", o="h")
    def remember(self, i, o):
        return {"c": i + o}

    assert refused(Staged, remember=remember) == ", stage show completes o, which stage remember has completed already"


# --- what stages return ---


def test_a_state_that_is_not_returned():
    assert refused(Leaky, step=lambda self, leak, new, h: {"new": new + leak}) == (
        ": state h is not returned; return it from stage step as {'h': ...}, or leave it out of states"
    )


@pytest.mark.parametrize(
    ("given", "kind"),
    [
        (lambda h: h, "Tensor"),
        (lambda h: (h, h), "tuple"),
        (lambda h: None, "None"),
        (lambda h: {"h": 1.0}, "h as float"),
        (lambda h: {1: h}, "a value called 1"),
    ],
)
def test_something_else_than_a_dict_of_tensors(given, kind):
    assert refused(Leaky, step=lambda self, leak, new, h: given(h)) == (
        f", stage step returns {kind}; allowed: a dict of tensors by name, as {{'h': h}}"
    )


def test_wrong_shapes():
    assert refused(Leaky, step=lambda self, leak, new, h: {"h": torch.cat([leak, new], 1)}) == (
        ", stage step returns h of shape (B, 14); allowed: (B, 7)"
    )
    assert refused(Leaky, step=lambda self, leak, new, h: {"h": h.sum(1)}) == (
        ", stage step returns h of shape (B); allowed: (B, 7)"
    )
    assert refused(Leaky, step=lambda self, leak, new, h: {"h": h, "all": h.sum()}) == (
        ", stage step returns all of shape (); allowed: (B, width)"
    )


def test_wrong_types():
    assert refused(Leaky, step=lambda self, leak, new, h: {"h": leak > new}) == (
        ", stage step returns h in bool; allowed: float32, as its inputs are"
    )


def test_a_stage_that_fails():
    text = refused(Staged, show=stage(o="new_c")(lambda self, o, new_c: {"h": o @ new_c}))
    assert text.startswith(", stage show fails on o (B, 7), new_c (B, 7): RuntimeError: mat1 and mat2 shapes")

    def step(self, leak, new, h):
        return {"h": h * self.scale}

    assert refused(Leaky, step=step) == (
        ", stage step fails on leak (B, 7), new (B, 7), h (B, 7): AttributeError: 'Bad' object has no attribute "
        "'scale'; a parameter is named in vectors and read as an argument"
    )


# --- what stages may not do ---


def test_edits_in_place():
    def step(self, leak, new, h):
        h += leak
        return {"h": h}

    assert refused(Leaky, step=step) == ", stage step changes h in place; give the new value a name of its own"

    def part(self, leak, new, h):
        new[:, 0] = 0
        return {"h": h + new + leak}

    assert refused(Leaky, step=part) == ", stage step changes new in place; give the new value a name of its own"


def test_edits_of_what_the_step_made_itself_are_allowed():
    def step(self, leak, new, h):
        change = leak.sigmoid() * new
        change += h
        return {"h": change}

    assert read(type("Fine", (Leaky,), {"step": step})).stages[0].gives == ("new:h",)


class Scaled(Cell):
    gates = ("leak", "new")

    def __init__(self):
        super().__init__()
        self.scale = nn.Parameter(torch.ones(7))
        self.inner = nn.Linear(7, 7)


def test_parameters_that_are_no_arguments():
    def step(self, leak, new, h):
        return {"h": self.scale * h + leak + new}

    vector = (
        ", stage step uses the parameter scale (7), which is none of its arguments; "
        "name it in vectors and read it as an argument"
    )
    assert refused(Scaled, step=step) == vector
    with torch.no_grad():
        assert refused(Scaled, step=step) == vector

    def linear(self, leak, new, h):
        return {"h": self.inner(h) + leak + new}

    assert refused(Scaled, step=linear) == (
        ", stage step uses the parameter inner.weight (7, 7), which is none of its arguments; "
        "a product is a gate: name it in gates and say with @stage what it sees"
    )


def test_vectors_are_arguments():
    class Fine(Leaky):
        vectors = ("scale",)

        def step(self, leak, new, h, scale):
            return {"h": scale * h + leak + new}

    assert read(Fine).stages[0].reads[-1] == "vector:scale"
