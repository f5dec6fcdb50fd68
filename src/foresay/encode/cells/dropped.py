"""Variational dropout of the recurrence (Gal and Ghahramani 2016): one mask for each row and all its steps; any cell.

    U h  becomes  U (k * h),   k = Bernoulli(1 - share) / (1 - share), drawn once for each row and call

In training only. The step keeps k * h' as one state more, so that the product reads it as it lies. What a cell makes of
h and multiplies (the GRU's r * h) is masked likewise; what h itself becomes is not.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from torch import Tensor

from foresay.encode.cells.cell import Cell, Memory
from foresay.encode.cells.changed import Changed, draw_kept
from foresay.errors import UserError
from foresay.kernels.recurrent.maths import Maths, Returned, Stage, delay
from foresay.kernels.recurrent.names import KEPT
from foresay.kernels.recurrent.plain import Inputs
from foresay.parts import Share, part

KEEP = "vector:keep"


@part("cell", "dropped")
class Dropped(Changed):
    """Any cell with variational dropout on the state that enters its recurrent products."""

    def __init__(self, *, cell: Cell | str = "lstm", share: Share = 0.3) -> None:
        super().__init__(cell)
        self.share = share

    def change(self, maths: Maths) -> Maths:
        if KEPT in maths.states:
            raise UserError("cell dropped is around dropped already; allowed: one of them, with the share of both")
        self.needs_h(maths)
        width = maths.widths["state:h"]
        widths = {**maths.widths, f"state:{KEPT}": width, f"new:{KEPT}": width, KEEP: width}
        stages = [_masked(stage, _made_of_h(stage, maths)) for stage in maths.stages]
        stages.append(Stage("drop", _drop, ("new:h", KEEP), (), (f"new:{KEPT}",)))
        sees = {gate: tuple(_kept(source) for source in sources) for gate, sources in maths.sees.items()}
        states = (*maths.states, KEPT)
        return self.changed(maths, states=states, stages=tuple(stages), sees=sees, widths=widths)

    def changed_inputs(self, inputs: Inputs, memory: Memory) -> Inputs:
        h = inputs.states["h"]
        shape = len(h), h.shape[-1]
        keep = draw_kept(self.share, shape, h) / (1 - self.share) if self.training else h.new_ones(shape)
        kept = h * (keep if h.dim() == 2 else keep[:, None])
        products = {_kept(source): weight for source, weight in inputs.products.items()}
        vectors = {**inputs.vectors, KEEP: keep}
        return replace(inputs, states={**inputs.states, KEPT: kept}, products=products, vectors=vectors)

    def memory_after(self, states: Mapping[str, Tensor]) -> Memory:
        return super().memory_after({name: state for name, state in states.items() if name != KEPT})

    def idle(self) -> bool:
        return not self.training


def _kept(source: str) -> str:
    """The source that stands for h, at any distance: state:h@4 -> state:h_kept@4."""
    name, sign, steps = source.partition("@")
    return f"state:{KEPT}{sign}{steps}" if name == "state:h" else source


def _made_of_h(stage: Stage, maths: Maths) -> tuple[str, ...]:
    """The names of what a stage makes of h and a product reads."""
    if "state:h" not in stage.reads:
        return ()
    sources = [key for key in stage.gives if key in maths.sources and not delay(key)]
    return tuple(key.split(":")[1] for key in sources if maths.width(key) == maths.widths["state:h"])


def _masked(stage: Stage, names: tuple[str, ...]) -> Stage:
    def run(*values: Tensor) -> Returned:
        given = stage.run(*values[:-1])
        return given | {name: given[name] * values[-1] for name in names}

    return replace(stage, run=run, reads=(*stage.reads, KEEP)) if names else stage


def _drop(h: Tensor, keep: Tensor) -> Returned:
    return {KEPT: h * keep}
