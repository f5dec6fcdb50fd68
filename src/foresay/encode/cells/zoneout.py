"""Zoneout (Krueger et al. 2017): a share of the units keep their state; for any cell.

    h' = z * h + (1 - z) * h~',  z ~ Bernoulli(share) for every unit and step        h~' is the cell's h'

In training; afterwards z is its expectation, the share. Every other state has the share `memory`, one z for all of
them: states that only mean something together (c, n and m of the sLSTM) change together. What a step computes from its
new memory (h' from c') it computes before zoneout, as in the paper.

The paper's shares for words are 0.05 for h and 0.5 for c.
"""

from __future__ import annotations

from dataclasses import replace

from torch import Tensor

from foresay.encode.cells.cell import Cell, Memory
from foresay.encode.cells.changed import Changed, draw_kept
from foresay.errors import UserError
from foresay.kernels.recurrent.maths import Maths, Returned, Stage
from foresay.kernels.recurrent.plain import Inputs
from foresay.parts import Share, part


@part("cell", "zoneout")
class Zoneout(Changed):
    """Any cell with zoneout: a share of the units keep their state."""

    def __init__(self, *, cell: Cell | str = "lstm", share: Share = 0.05, memory: Share = 0.5) -> None:
        super().__init__(cell)
        if any(isinstance(inner, Zoneout) for inner in self.cell.modules()):
            raise UserError("cell zoneout is around zoneout already; allowed: one of them, with the share of both")
        self.share, self.memory = share, memory

    def change(self, maths: Maths) -> Maths:
        self.noises = {state: _noise(state, maths) for state in self.states}
        fresh = dict.fromkeys(self.noises.values())
        noises = {noise: maths.widths[f"state:{state}"] for state, noise in self.noises.items()}
        keys = [key for state in self.states for key in (f"state:{state}", f"new:{state}")]
        stage = Stage("zone_out", self.zone_out, (*fresh, *keys), (), tuple(f"new:{state}" for state in self.states))
        # before what other modifiers make of the states after the step, so that they see the ones kept here
        last = max(n for n, old in enumerate(maths.stages) if any(f"new:{state}" in old.gives for state in self.states))
        stages = (*maths.stages[: last + 1], stage, *maths.stages[last + 1 :])
        return self.changed(maths, stages=stages, widths={**maths.widths, **noises})

    def zone_out(self, *values: Tensor) -> Returned:
        fresh = dict(zip(dict.fromkeys(self.noises.values()), values, strict=False))
        states = values[len(fresh) :]
        pairs = zip(self.states, states[::2], states[1::2], strict=True)
        return {state: old + fresh[self.noises[state]] * (new - old) for state, old, new in pairs}

    def changed_inputs(self, inputs: Inputs, memory: Memory) -> Inputs:
        steps, rows = inputs.fed.shape[:2]
        drawn: dict[str, Tensor] = {}
        for state, noise in self.noises.items():
            if noise in drawn:
                continue
            share = self.share if state == "h" else self.memory
            width = self.maths.widths[noise]
            if self.training:
                drawn[noise] = draw_kept(share, (steps, rows, width), inputs.fed)
            else:
                drawn[noise] = inputs.fed.new_full((), 1 - share).expand(steps, rows, width)
        return replace(inputs, steps={**inputs.steps, **drawn})


def _noise(state: str, maths: Maths) -> str:
    """One for h, one for all other states of a width."""
    return "noise:zone_h" if state == "h" else f"noise:zone_{maths.widths[f'state:{state}']}"
