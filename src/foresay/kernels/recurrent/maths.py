"""A cell's maths as data: what the engine needs to know to run any cell, plain or fused.

A step goes stage by stage. A gate is a pre-activation; its value is the sum of

    x W + b                for gates that are fed, computed for all steps at once before the loop
    source U               one product for each source that the gate sees

and a stage is a pointwise function (row by row; reductions along a row are allowed) from gates, states and earlier
values to the states after the step and to values that later stages read. Every name a stage reads is resolved once,
here, to a key:

    gate:i    state:c (before the step)    new:c (after it)    value:rh (of an earlier stage)
    vector:p  (the same in every step)     noise:z (one for each step)     x:x (the input itself)

Sources are keys too; `state:h@4` is the state h four steps before this one's (`state:h` alone is one before).

Shapes: gates, states and values (B, width), width H unless `widths` says otherwise; vectors (width,) or (B, width).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor

from foresay.errors import UserError, nearest
from foresay.kernels.recurrent.dry_run import dry_run

Returned = dict[str, Tensor]


@dataclass(frozen=True)
class Method:
    """A stage as a cell writes it: the names it reads in order, and for each of its gates the names that gate sees."""

    name: str
    run: Callable[..., Returned]
    reads: tuple[str, ...]
    sees: Mapping[str, tuple[str, ...]]


@dataclass(frozen=True)
class Stage:
    """One pointwise function of a step: `run` takes the values of `reads` in order."""

    name: str
    run: Callable[..., Returned]
    reads: tuple[str, ...]  # keys
    gates: tuple[str, ...]  # names of the gates it completes
    gives: tuple[str, ...]  # keys


@dataclass(frozen=True, eq=False)
class Maths:
    """Everything about a cell except its weights."""

    cell: str
    states: tuple[str, ...]
    gates: tuple[str, ...]
    fed: tuple[str, ...]  # the gates that see x, in the order of the input product's columns
    sees: Mapping[str, tuple[str, ...]]  # gate -> keys of the sources it sees
    stages: tuple[Stage, ...]
    widths: Mapping[str, int]  # of every gate, state and value by key, and of vectors and x that are read
    derived: dict[Any, Any] = field(default_factory=dict)  # what has been worked out from it once

    @property
    def sources(self) -> dict[str, tuple[str, ...]]:
        """Source key -> the gates that see it, in the order of the product's columns."""
        keys = dict.fromkeys(key for gate in self.gates for key in self.sees[gate])
        return {key: tuple(gate for gate in self.gates if key in self.sees[gate]) for key in keys}

    @property
    def ready(self) -> dict[str, int]:
        """Source key -> the number of the stage before which its product is made, as early as it is what gates see."""
        if "ready" not in self.derived:
            first = {source: _first(self.stages, gates) for source, gates in self.sources.items()}
            self.derived["ready"] = {source: 1 + _giver(self.stages[:n], source) for source, n in first.items()}
        return self.derived["ready"]

    def width(self, key: str) -> int:
        return self.widths[key.split("@")[0]]

    def columns(self, gates: tuple[str, ...]) -> int:
        """How wide these gates are side by side."""
        return sum(self.widths[f"gate:{gate}"] for gate in gates)

    def read(self, kind: str) -> tuple[str, ...]:
        """The keys of one kind that stages read, each once."""
        return tuple(dict.fromkeys(key for stage in self.stages for key in stage.reads if key.startswith(f"{kind}:")))

    def values(self) -> tuple[str, ...]:
        """The named values a step computes besides its states."""
        return tuple(key for stage in self.stages for key in stage.gives if key.startswith("value:"))


def delay(source: str) -> int:
    """How many steps back a source lies: 0 for what this step has computed itself."""
    if not source.startswith("state:"):
        return 0
    return int(source.split("@")[1]) if "@" in source else 1


def state_of(source: str) -> str:
    """The state that a source of an earlier step is: state:h@4 -> h."""
    return source.removeprefix("state:").split("@")[0]


def _first(stages: Sequence[Stage], gates: tuple[str, ...]) -> int:
    """The number of the first stage that completes one of these gates."""
    return next(n for n, stage in enumerate(stages) if set(gates) & set(stage.gates))


def _giver(stages: Sequence[Stage], key: str) -> int:
    """The number of the last of these stages that gives a key; -1 if none does."""
    return max([-1, *(n for n, stage in enumerate(stages) if key in stage.gives)])


def read_maths(
    cell: str,
    states: tuple[str, ...],
    gates: tuple[str, ...],
    fed: tuple[str, ...],
    methods: Sequence[Method],
    sizes: Mapping[str, int],
) -> Maths:
    """A cell's maths from its stages in order.

    Names are resolved and every stage is run once on two rows of zeros, so that a wrong one is one line here.
    `sizes`: the widths by key of gates, states, vectors and x.
    """
    known = {key.split(":")[1]: key for key in sizes if not key.startswith("gate:")}
    zeros = {key: torch.zeros(2, width) for key, width in sizes.items()}
    later = {gate: method.name for method in methods for gate in method.sees}
    before: dict[str, str] = {}
    stages: list[Stage] = []
    sees: dict[str, tuple[str, ...]] = dict.fromkeys(gates, ())
    for number, method in enumerate(methods):
        where = f"cell {cell}, stage {method.name}"
        later = {name: place for name, place in later.items() if place != method.name}
        maker = _Maker(methods[number + 1 :], states, known, zeros)
        for gate, names in method.sees.items():
            if gate not in gates:
                raise UserError(f"{where} completes {gate}, which is no gate; allowed: {', '.join(gates)}")
            if gate in before:
                raise UserError(f"{where} completes {gate}, which stage {before[gate]} has completed already")
            sees[gate] = tuple(_source(f"{where}: gate {gate}", gate, name, known, maker) for name in names)
        here = known | {gate: f"gate:{gate}" for gate in method.sees}
        reads = tuple(_resolve(f"{where} reads", name, here, maker, later, before) for name in method.reads)
        for gate in method.sees:
            if gate not in method.reads:
                raise UserError(
                    f"{where} does not read its gate {gate}; take it as an argument, or leave it out of gates"
                )
        before |= dict.fromkeys(method.sees, method.name)
        given = dry_run(where, method.run, {key: zeros[key] for key in reads}, states, sizes)
        _check_given(where, method, given, {gate: m.name for m in methods for gate in m.sees}, known, stages)
        zeros |= given
        known |= {_later_name(key): key for key in given}
        stages.append(Stage(method.name, method.run, reads, tuple(method.sees), tuple(given)))
    for gate in gates:
        if gate not in before:
            raise UserError(
                f"cell {cell}: no stage completes gate {gate}; say in one what it sees, as @stage({gate}='h'), "
                "or leave it out of gates"
            )
    for name in states:
        if f"new:{name}" not in zeros:
            raise UserError(
                f"cell {cell}: state {name} is not returned; "
                f"return it from stage {stages[-1].name} as {{{name!r}: ...}}, or leave it out of states"
            )
    widths = {key: tensor.shape[1] for key, tensor in zeros.items()}
    maths = Maths(cell, states, gates, fed, sees, tuple(stages), widths)
    _check_versions(maths)
    return maths


def _check_given(
    where: str,
    method: Method,
    given: Mapping[str, Tensor],
    gates: Mapping[str, str],
    known: Mapping[str, str],
    before: Sequence[Stage],
) -> None:
    """Refuses values under names that mean something else in later stages; `gates` maps them to their stages."""
    for key in given:
        kind, name = key.split(":")
        if kind != "value":
            continue
        told = None
        if name.removeprefix("new_") != name and known.get(name.removeprefix("new_"), "").startswith("state:"):
            told = f"later stages call the state {name.removeprefix('new_')} after the step"
        elif gates.get(name, method.name) != method.name:
            told = f"is a gate of stage {gates[name]}"
        elif name in known:
            kinds = {"x": "is the input", "vector": "is a vector"}
            told = kinds.get(known[name].split(":")[0], "")
            told = told or f"stage {before[_giver(before, key)].name} returns already"
        if told:
            raise UserError(f"{where} returns {name}, which {told}; give it a name of its own")


def _check_versions(maths: Maths) -> None:
    """Refuses gates that see one state after the step as two stages return it: they share a product."""
    for source, gates in maths.sources.items():
        seen: dict[int, tuple[str, str]] = {}  # the stage that gives what is seen -> gate, its stage
        for gate in gates:
            n = _first(maths.stages, (gate,))
            seen.setdefault(_giver(maths.stages[:n], source), (gate, maths.stages[n].name))
        if len(seen) > 1:
            (one, (gate, place)), (two, (other, there)) = sorted(seen.items())[:2]
            raise UserError(
                f"cell {maths.cell}: gate {gate} of stage {place} sees {_later_name(source)} as stage "
                f"{maths.stages[one].name} returns it, gate {other} of stage {there} as stage "
                f"{maths.stages[two].name} does; return one of them under a name of its own"
            )


def _later_name(key: str) -> str:
    """What later stages call it: a value by its name, a state after the step as new_c."""
    kind, name = key.split(":")
    return f"new_{name}" if kind == "new" else name


@dataclass(frozen=True)
class _Maker:
    """Finds the stage that returns what an earlier one asks for."""

    methods: Sequence[Method]
    states: tuple[str, ...]
    known: Mapping[str, str]
    zeros: Mapping[str, Tensor]

    def find(self, name: str) -> str | None:
        for method in self.methods:
            keys = [self.known.get(read, f"gate:{read}") for read in method.reads]
            inputs = [self.zeros.get(key, self.zeros["state:h"]).clone() for key in keys]
            try:
                given = list(method.run(*inputs))
            except Exception:  # its own fault is told in its own turn
                continue
            if name in [f"new_{one}" if one in self.states else one for one in given]:
                return method.name
        return None


def _source(where: str, gate: str, name: str, known: Mapping[str, str], maker: _Maker) -> str:
    """The key of what a gate sees: a state or a value."""
    key = _resolve(f"{where} sees", name, known, maker, {}, {})
    if key == "x:x":
        raise UserError(
            f"{where} sees x; every gate sees it that is not in unfed: leave it out, and {gate} out of unfed"
        )
    if key.startswith("vector:"):
        allowed = ", ".join(name for name, key in known.items() if key.split(":")[0] not in ("x", "vector"))
        raise UserError(
            f"{where} sees the vector {name}; allowed: states and values, {allowed}; a vector is read as an argument"
        )
    return key


def _resolve(
    doing: str,
    name: str,
    known: Mapping[str, str],
    maker: _Maker,
    later: Mapping[str, str],
    before: Mapping[str, str],
) -> str:
    """The key of a name that a stage reads; `later` and `before` map gates to the stages that complete them."""
    if name in known:
        return known[name]
    allowed = ", ".join(known)
    if name in later:
        raise UserError(
            f"{doing} {name}, which stage {later[name]} completes; move it there, or read one of: {allowed}"
        )
    if name in before:
        raise UserError(
            f"{doing} {name}, a gate of stage {before[name]}; return it from there under a name, "
            f"or read one of: {allowed}"
        )
    made = maker.find(name)
    if made is not None:
        raise UserError(f"{doing} {name}, which stage {made} returns; read it after that, or read one of: {allowed}")
    if known.get(name.removeprefix("new_"), "").startswith("state:"):
        raise UserError(f"{doing} {name}, which no stage before it returns; allowed: {allowed}")
    raise UserError(f"{doing} {name}, which is not known there; allowed: {allowed}{nearest(name, list(known))}")
