"""A step cut where a product must come between: phases, each one pointwise function, forwards and its derivative.

Phase 0 follows the products with states of earlier steps; phase p > 0 follows the products with what phase p - 1 gave.
Within a phase the cell's stages are joined into one function, so that it becomes one kernel. A key that several stages
give is told apart by a number: `new:c`, then `new:c#1`. The one that is multiplied, else the first, has none.

Everything a phase reads is per element of (B, width): what later phases need of earlier ones they compute again from
the gates, which the engine keeps for the way back, or read back where it was multiplied and so is kept too (`fuse`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from torch import Tensor

from foresay.kernels.recurrent.maths import Maths, Stage, delay


@dataclass(frozen=True)
class Phase:
    """`run` takes the values of `reads` in order and returns those of `gives` in order."""

    run: Callable[..., tuple[Tensor, ...]]
    reads: tuple[str, ...]
    gives: tuple[str, ...]
    gates: tuple[str, ...]  # gates it completes, by name
    sources: tuple[str, ...]  # products made before it: keys, versioned where this step gives them


@dataclass(frozen=True, eq=False)
class Phases:
    """A whole step."""

    maths: Maths
    phases: tuple[Phase, ...]
    final: Mapping[str, str]  # state name -> the key that holds it after the step
    seen: Mapping[str, tuple[str, ...]]  # source key (versioned) -> gates that see it

    @property
    def operands(self) -> tuple[str, ...]:
        """What a step computes and multiplies itself: sources that are no states of earlier steps."""
        return tuple(source for source in self.seen if not delay(source))


def cut(maths: Maths) -> Phases:
    """The phases of a cell's step."""
    waiting = {source: gates for source, gates in maths.sources.items() if not delay(source)}
    first = tuple(source for source in maths.sources if delay(source))
    groups: list[tuple[tuple[str, ...], list[Stage]]] = [(first, [])]
    names: dict[str, str] = {}  # key -> its version now
    seen: dict[str, tuple[str, ...]] = {source: maths.sources[source] for source in first}
    renamed: list[tuple[Stage, tuple[str, ...], tuple[str, ...]]] = []
    for number, stage in enumerate(maths.stages):
        needed = [source for source, gates in waiting.items() if set(gates) & set(stage.gates)]
        if needed:
            ready = tuple(source for source in waiting if maths.ready[source] <= number)
            groups.append((tuple(names[source] for source in ready), []))
            seen |= {names[source]: waiting.pop(source) for source in ready}
        groups[-1][1].append(stage)
        reads = tuple(names.get(key, key) for key in stage.reads)
        names |= {key: _version(maths, key, number) for key in stage.gives}
        renamed.append((stage, reads, tuple(names[key] for key in stage.gives)))
    versions = {id(stage): (reads, gives) for stage, reads, gives in renamed}
    final = {state: names[f"new:{state}"] for state in maths.states}
    return Phases(maths, _join(groups, versions, final, seen), final, seen)


def _version(maths: Maths, key: str, number: int) -> str:
    """What a key is called as the stage of this number gives it."""
    givers = [n for n, stage in enumerate(maths.stages) if key in stage.gives]
    plain = maths.ready[key] - 1 if key in maths.ready else givers[0]
    others = [n for n in givers if n != plain]
    return key if number == plain else f"{key}#{1 + others.index(number)}"


def _join(
    groups: list[tuple[tuple[str, ...], list[Stage]]],
    versions: Mapping[int, tuple[tuple[str, ...], tuple[str, ...]]],
    final: Mapping[str, str],
    seen: Mapping[str, tuple[str, ...]],
) -> tuple[Phase, ...]:
    phases = []
    for index, (sources, stages) in enumerate(groups):
        given = [key for stage in stages for key in versions[id(stage)][1]]
        reads = [key for stage in stages for key in versions[id(stage)][0] if key not in given]
        later = {key for _, group in groups[index + 1 :] for stage in group for key in versions[id(stage)][0]}
        gives = [key for key in given if key in later or key in seen or key in final.values()]
        reads, gives = list(dict.fromkeys(reads)), list(dict.fromkeys(gives))
        gates = tuple(gate for stage in stages for gate in stage.gates)
        run = _joined([(stage, *versions[id(stage)]) for stage in stages], reads, gives)
        phases.append(Phase(run, tuple(reads), tuple(gives), gates, sources))
    return tuple(phases)


def _joined(
    stages: list[tuple[Stage, tuple[str, ...], tuple[str, ...]]], reads: list[str], gives: list[str]
) -> Callable[..., tuple[Tensor, ...]]:
    """The stages as one function of what they read from outside."""

    def run(*inputs: Tensor) -> tuple[Tensor, ...]:
        values = dict(zip(reads, inputs, strict=True))
        for stage, read, give in stages:
            given = stage.run(*(values[key] for key in read))
            values |= {name: given[key.split(":")[1]] for key, name in zip(stage.gives, give, strict=True)}
        return tuple(values[key] for key in gives)

    return run
