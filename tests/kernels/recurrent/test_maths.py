"""A cell's maths is read off its class; whatever is wrong with it is one line that names cell, stage and shape."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import nn

from foresay import Cell, UserError, stage
from foresay.kernels.recurrent import engine
from foresay.kernels.recurrent.maths import Maths, state_of


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


def test_the_state_of_a_source():
    assert [state_of(source) for source in ("state:h", "state:h@4", "state:h_kept@12")] == ["h", "h", "h_kept"]


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


OWN = [
    "size",
    "width",
    "maths",
    "step",
    "weight_ih",
    "weight_hh",
    "bias_ih",
    "bias_hh",
    "training",
    "run",
    "register_buffer",
]


@pytest.mark.parametrize("name", [*OWN, "factor"])
def test_vectors_that_the_cell_has_already(name):
    class Own(Leaky):
        def __init__(self):
            super().__init__()
            self.factor = 2.0

    text = f": vector {name} is called like an attribute of the cell; give it another name"
    assert refused(Own, vectors=(name,)) == text


def test_a_cell_with_vectors_may_be_built_again():
    cell = Staged()
    for size in (7, 5):
        cell.build(3, size)
    assert cell.get_parameter("p").shape == (5,)


def test_states_that_a_parameter_dict_cannot_hold():
    for name in ("keys", "training", "update"):
        text = f": state {name} is called like an attribute of torch's, under which it cannot be learnt; "
        assert refused(Leaky, states=("h", name)) == f"{text}give it another name"


def test_names_that_others_have():
    for body, told in (
        ({"states": ("h", "c", "new_c")}, "state new_c is what later stages call the state c after the step"),
        ({"gates": ("i", "o", "new_h")}, "gate new_h is what later stages call the state h after the step"),
        ({"states": ("h", "c", "h_kept")}, "state h_kept is what cell dropped calls h with a mask"),
        ({"vectors": ("p__q",)}, "vectors: 'p__q' has two underscores in a row, as modifiers' own names have"),
    ):
        assert refused(Staged, **body) == f": {told}; give it another name"


@pytest.mark.parametrize(("name", "other"), [("hh", "that of h"), ("ih", "that of x"), ("q", "the vector weight_q")])
def test_two_matrices_of_one_name(name, other):
    class Both(Cell):
        gates = ("b", "a")
        vectors = ("weight_q",)

        @stage(a="h")
        def one(self, a, h):
            return {name: a * h}

        @stage(b=f"{name} h")
        def two(self, b, weight_q):
            return {"h": b * weight_q}

    assert refused(Both) == (
        f": {name} is multiplied by weight_{name}, which is the name of {other}; give {name} another name"
    )


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


# --- one name, one thing, in all stages ---


class Three(Cell):
    states = ("h", "c")
    gates = ("a", "b", "d")
    vectors = ("p",)

    @stage(a="h")
    def one(self, a, h):
        return {"r": a.sigmoid() * h, "c": a}

    @stage(b="r")
    def two(self, b, r):
        return {"s": b.tanh() + r}

    @stage(d="s")
    def three(self, d, s, p):
        return {"h": d.tanh() * 0.5 + s * p}


def three_with(**two) -> dict:
    """The second stage returns these besides, each made of b."""
    return {"two": stage(b="r")(lambda self, b, r: {"s": b + r} | {name: b * factor for name, factor in two.items()})}


def test_a_value_of_two_stages():
    assert refused(Three, **three_with(r=2.0)) == (
        ", stage two returns r, which stage one returns already; give it a name of its own"
    )


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("x", "x, which is the input"),
        ("p", "p, which is a vector"),
        ("a", "a, which is a gate of stage one"),
        ("d", "d, which is a gate of stage three"),
        ("new_c", "new_c, which later stages call the state c after the step"),
    ],
)
def test_a_value_named_like_something_else(name, told):
    assert refused(Three, **three_with(**{name: 1.0})) == f", stage two returns {told}; give it a name of its own"


def test_a_value_may_be_called_after_a_gate_of_its_own_stage():
    assert "value:b" in read(type("Fine", (Three,), three_with(b=1.0))).values()


@pytest.mark.parametrize("name", ["two words", "value:s", "s__kept"])
def test_a_value_without_a_name(name):
    assert refused(Three, **three_with(**{name: 1.0})).startswith(f", stage two returns a value called {name!r}; ")


def test_a_state_of_two_stages_that_gates_see_before_and_after():
    body = three_with(c=2.0) | {
        "two": stage(b="new_c")(lambda self, b, r: {"c": b + r}),
        "three": stage(d="new_c")(lambda self, d: {"h": d}),
    }
    assert refused(Three, **body) == (
        ": gate b of stage two sees new_c as stage one returns it, gate d of stage three as stage two does; "
        "return one of them under a name of its own"
    )


class Again(Cell):
    """c is a, later tanh(b + a)."""

    states = ("h", "c")
    gates = ("a", "b", "d")
    biased = False

    @stage(a="h")
    def one(self, a, h):
        return {"r": a.sigmoid() * h, "c": a}

    @stage(b="r")
    def two(self, b, new_c):
        return {"s": b + new_c}

    @stage()
    def again(self, s):
        return {"c": s.tanh()}

    @stage(d="new_c")
    def three(self, d, new_c):
        return {"h": d + new_c}


@pytest.mark.parametrize("worth", [0, engine.WORTH])
def test_the_product_sees_the_state_as_it_is_known_there(monkeypatch, worth):
    """d sees the second c, although the first was there when the product with r was made."""
    monkeypatch.setattr(engine, "WORTH", worth)
    cell = Again()
    cell.part_name = "Again"  # pyright: ignore[reportAttributeAccessIssue]
    cell.build(3, 7)
    x, h = torch.randn(2, 1, 3), torch.randn(2, 7)
    y, after = cell.run(x, {"h": h, "c": torch.zeros(2, 7)})
    a, b, d = (x[:, 0] @ cell.weight_ih.T).chunk(3, 1)
    a = a + h @ cell.get_parameter("weight_hh").T
    c = (b + (a.sigmoid() * h) @ cell.get_parameter("weight_r").T + a).tanh()
    torch.testing.assert_close(after["c"], c)
    torch.testing.assert_close(y[:, 0], d + c @ cell.get_parameter("weight_new_c").T + c)
    found = torch.autograd.grad(y.square().sum(), list(cell.parameters()))
    h_after = d + c @ cell.get_parameter("weight_new_c").T + c
    torch.testing.assert_close(found, torch.autograd.grad(h_after.square().sum(), list(cell.parameters())))


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("x", "x; every gate sees it that is not in unfed: leave it out, and d out of unfed"),
        ("p", "the vector p; allowed: states and values, h, c, r, new_c, s; a vector is read as an argument"),
    ],
)
def test_a_gate_that_sees_what_is_not_multiplied(name, told):
    body = {"three": stage(d=name)(lambda self, d: {"h": d})}
    assert refused(Three, **body) == f", stage three: gate d sees {told}"


def test_a_value_of_a_later_stage():
    text = "which stage two returns; read it after that, or read one of: h, c, p, x"
    assert refused(Three, one=stage(a="h")(lambda self, a, s: {"r": a, "c": s})) == f", stage one reads s, {text}, a"
    assert refused(Three, one=stage(a="s")(lambda self, a: {"r": a, "c": a})) == f", stage one: gate a sees s, {text}"
    text = "which stage three returns; read it after that, or read one of: h, c, p, x, a"
    assert (
        refused(Three, one=stage(a="h")(lambda self, a, new_h: {"r": a, "c": a})) == f", stage one reads new_h, {text}"
    )


# --- what @stage is given ---


def test_what_a_gate_sees_may_be_a_list():
    for sees in ("h c", ["h", "c"], ("h", "c")):
        body = {"remember": stage(i=sees)(lambda self, i, c: {"c": c + i})}
        assert read(type("Fine", (Staged,), body)).sees["i"] == ("state:h", "state:c")


def test_what_a_gate_sees_is_no_name():
    wrongs: list[Any] = [3, None, ["h", 1]]
    for wrong in wrongs:
        with pytest.raises(UserError) as caught:
            stage(i=wrong)
        assert str(caught.value) == f"@stage(i={wrong!r}); allowed: names apart by blanks, as i='h c'"


def test_a_stage_without_brackets():
    def show(self, o):
        return {"h": o}

    with pytest.raises(UserError) as caught:
        stage(show)
    assert str(caught.value) == (
        "@stage on show has no brackets; say what its gates see, as @stage(o='h'), or @stage() if it completes none"
    )
