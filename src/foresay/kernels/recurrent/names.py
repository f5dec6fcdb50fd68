"""The names by which a cell states its maths, checked before anything is read off them."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection, Mapping
from typing import Any

from torch import nn

from foresay.errors import UserError, nearest
from foresay.kernels.recurrent.maths import Method

EXAMPLE = "step(self, leak, new, h)"
KEPT = "h_kept"  # h with some units masked, where a modifier has put that in its place


def check_names(cell: str, states: Any, gates: Any, unfed: Any, vectors: Any, own: Collection[str]) -> None:
    """Each a tuple of names, each name once, h among the states, `unfed` among the gates.

    `own`: the attributes of the cell, which a vector cannot be called.
    """
    kinds = {"states": states, "gates": gates, "unfed": unfed, "vectors": vectors}
    for kind, names in kinds.items():
        _check_tuple(f"cell {cell}: {kind}", kind, names)
    if "h" not in states:
        raise UserError(f"cell {cell}: states={states!r} has no h, which is what a cell puts out; name a state h")
    if not gates:
        raise UserError(f"cell {cell}: it has no gates; name them, as gates = ('leak', 'new')")
    used = {"x": "the input"}
    for what, names in (("state", states), ("gate", gates), ("vector", vectors)):
        for name in names:
            if used.get(name) == f"a {what}":
                raise UserError(f"cell {cell}: {what} {name} is named twice; name each once")
            if name in used:
                both = f"a {what} and the input" if name == "x" else f"{used[name]} and a {what}"
                raise UserError(f"cell {cell}: {name} is {both}; give one of them another name")
            told = _told(what, name, states, own)
            if told is not None:
                raise UserError(f"cell {cell}: {what} {name} is {told}; give it another name")
            used[name] = f"a {what}"
    for name in unfed:
        if name not in gates:
            near = nearest(name, gates)
            raise UserError(f"cell {cell}: unfed names {name}, which is no gate; allowed: {', '.join(gates)}{near}")


def _told(what: str, name: str, states: Collection[str], own: Collection[str]) -> str | None:
    """Whose name it is already."""
    if name.startswith("new_") and name[4:] in states:
        return f"what later stages call the state {name[4:]} after the step"
    if what == "vector" and name in own:
        return "called like an attribute of the cell"
    if what == "state" and name == KEPT:
        return "what cell dropped calls h with a mask"
    if what == "state" and (hasattr(nn.ParameterDict, name) or name in vars(nn.ParameterDict())):
        return "called like an attribute of torch's, under which it cannot be learnt"
    return None


def _check_tuple(place: str, kind: str, names: Any) -> None:
    if isinstance(names, str):
        raise UserError(f"{place}={names!r} is text; allowed: a tuple of names: {kind} = ({names!r},)")
    if not isinstance(names, (tuple, list)):
        raise UserError(f"{place}={names!r}; allowed: a tuple of names")
    for name in names:
        if not isinstance(name, str) or not name.isidentifier():
            raise UserError(f"{place}: {name!r} is no name; allowed: such as 'leak'")
        if "__" in name:
            raise UserError(
                f"{place}: {name!r} has two underscores in a row, as modifiers' own names have; give it another name"
            )


def method_of(cell: str, name: str, run: Callable[..., Any], sees: Mapping[str, tuple[str, ...]]) -> Method:
    """A stage by its arguments, which say what it reads."""
    parameters = inspect.signature(run).parameters
    for one in parameters.values():
        if one.kind in (one.VAR_POSITIONAL, one.VAR_KEYWORD):
            sign = "*" if one.kind == one.VAR_POSITIONAL else "**"
            raise UserError(f"cell {cell}, stage {name} takes {sign}{one.name}; name what it reads, as {EXAMPLE}")
    return Method(name, run, tuple(parameters), sees)
