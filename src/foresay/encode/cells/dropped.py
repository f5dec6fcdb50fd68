"""Variational dropout of the recurrence (Gal and Ghahramani 2016): one mask for each row and all its steps; any cell.

    U h  becomes  U (k * h),   k = Bernoulli(1 - share) / (1 - share), drawn once for each row and call

In training only. The step keeps k * h' as one state more, so that the product reads it as it lies. What a cell makes of
h and multiplies (the GRU's r * h) is masked likewise, in the product alone; what h itself becomes is not.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from torch import Tensor

from foresay.encode.cells.cell import Cell, Memory, weight_name
from foresay.encode.cells.changed import Changed, draw_kept
from foresay.errors import UserError
from foresay.kernels.recurrent.maths import Maths, Returned, Stage, delay, state_of
from foresay.kernels.recurrent.names import KEPT
from foresay.kernels.recurrent.plain import Inputs
from foresay.parts import Share, part

KEEP = "vector:dropped__keep"


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
        self.kept = _kept_sources(maths)
        own = [f"state:{KEPT}", f"new:{KEPT}", KEEP, *(key for key in self.kept.values() if not delay(key))]
        widths = {**maths.widths, **dict.fromkeys(own, width)}
        stages = [self._masked(stage, maths.ready, number) for number, stage in enumerate(maths.stages)]
        stages.append(Stage("drop", _drop, ("new:h", KEEP), (), (f"new:{KEPT}",)))
        sees = {gate: tuple(self.kept.get(source, source) for source in old) for gate, old in maths.sees.items()}
        states = (*maths.states, KEPT)
        return self.changed(maths, states=states, stages=tuple(stages), sees=sees, widths=widths)

    def changed_inputs(self, inputs: Inputs, memory: Memory) -> Inputs:
        h = inputs.states["h"]
        shape = h.shape[0], h.shape[-1]
        keep = draw_kept(self.share, shape, h) / (1 - self.share) if self.training else h.new_ones(shape)
        kept = h * (keep if h.dim() == 2 else keep[:, None])
        products = {self.kept.get(source, source): weight for source, weight in inputs.products.items()}
        vectors = {**inputs.vectors, KEEP: keep}
        return replace(inputs, states={**inputs.states, KEPT: kept}, products=products, vectors=vectors)

    def _masked(self, stage: Stage, ready: Mapping[str, int], number: int) -> Stage:
        """A stage that also gives, masked, what it makes of h for a product."""
        made = [key for key in stage.gives if key in self.kept and ready[key] == number + 1]
        names = {key.split(":")[1]: self.kept[key].split(":")[1] for key in made}

        def run(*values: Tensor) -> Returned:
            given = stage.run(*values[:-1])
            return given | {kept: given[name] * values[-1] for name, kept in names.items()}

        gives = (*stage.gives, *(self.kept[key] for key in made))
        return replace(stage, run=run, reads=(*stage.reads, KEEP), gives=gives) if made else stage

    def memory_after(self, states: Mapping[str, Tensor]) -> Memory:
        return super().memory_after({name: state for name, state in states.items() if name != KEPT})

    def idle(self) -> bool:
        return not self.training


def _kept_sources(maths: Maths) -> dict[str, str]:
    """What stands for h, at any distance, and for what a stage makes of h: state:h@4 -> state:h_kept@4."""
    kept = {}
    for source, ready in maths.ready.items():
        if not delay(source):
            made_of_h = "state:h" in maths.stages[ready - 1].reads
            if made_of_h and maths.width(source) == maths.widths["state:h"]:
                kept[source] = f"value:{weight_name(source).removeprefix('weight_')}__kept"
        elif state_of(source) == "h":
            kept[source] = source.replace("state:h", f"state:{KEPT}")
    return kept


def _drop(h: Tensor, keep: Tensor) -> Returned:
    return {KEPT: h * keep}
