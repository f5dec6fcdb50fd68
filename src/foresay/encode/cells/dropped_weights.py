"""DropConnect on the recurrence (Wan et al. 2013; the weight-dropped LSTM of Merity et al. 2018); any cell.

    U  becomes  U * K / (1 - share),   K ~ Bernoulli(1 - share) for each weight, drawn once for each call

In training only. All steps of a call share the mask, so the engine multiplies with one matrix as ever.
"""

from __future__ import annotations

from dataclasses import replace

from torch import Tensor

from foresay.encode.cells.cell import Cell, Memory
from foresay.encode.cells.changed import Changed, draw_kept
from foresay.kernels.recurrent.maths import Maths
from foresay.kernels.recurrent.plain import Inputs
from foresay.parts import Share, part


@part("cell", "dropped-weights")
class DroppedWeights(Changed):
    """Any cell with DropConnect: a share of its recurrent weights is left out of each call."""

    def __init__(self, *, cell: Cell | str = "lstm", share: Share = 0.5) -> None:
        super().__init__(cell)
        self.share = share

    def change(self, maths: Maths) -> Maths:
        self.needs_h(maths)
        return maths

    def changed_inputs(self, inputs: Inputs, memory: Memory) -> Inputs:
        if not self.training:
            return inputs
        return replace(inputs, products={source: self._drop(weight) for source, weight in inputs.products.items()})

    def _drop(self, weight: Tensor) -> Tensor:
        return weight * draw_kept(self.share, tuple(weight.shape), weight) / (1 - self.share)

    def idle(self) -> bool:
        return not self.training
