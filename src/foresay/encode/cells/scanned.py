"""Cells whose state never meets a matrix: all steps are computed at once.

    h' = keep * h + add          keep and add come from x alone

Such a cell states its maths in stages as every other: gates that see x only give `keep` and `add`, the stage `remember`
is the line above, and stages after it may see what is remembered. The plain loop runs it so. The fast way runs each
stage once over all steps, and in the place of `remember` the scan of kernels/scan.py. A cell around it (zoneout, say)
changes the maths and goes step by step. Half precision is widened to float32 first: bfloat16 has no number between
0.996 and 1, so nothing could be kept for 1000 steps.

x (B, T, D) -> y (B, T, H); states by name, each (B, H).
"""

from __future__ import annotations

import torch
from torch import Tensor

from foresay.encode.cells.cell import Cell, Memory
from foresay.kernels.recurrent.plain import Inputs
from foresay.kernels.scan import linear_scan
from foresay.kernels.switch import plain
from foresay.kernels.thin import product

Values = dict[str, Tensor]  # key -> (T, B, width)


class Scanned(Cell):
    """A cell with a stage `remember` that is linear in the state; `scan` is that stage over all steps."""

    def scan(self, values: Values, memory: Memory, mask: Tensor | None) -> Values:
        """The states that `remember` gives after every step; padding, where mask (T, B, 1) is False, keeps them."""
        keep, add = values["value:keep"], values["value:add"]
        if mask is not None:
            keep, add = keep.masked_fill(~mask, 1), add.masked_fill(~mask, 0)
        return {"new:h": linear_scan(keep, add, memory["h"].to(add.dtype))}

    def trace(
        self, x: Tensor, memory: Memory, mask: Tensor | None = None, names: tuple[str, ...] | None = None
    ) -> tuple[dict[str, Tensor], Memory]:
        if plain():
            return super().trace(x, memory, mask, names)
        inputs = self.inputs(x, memory, mask)
        values = self._over_time(inputs, memory)
        dtype = torch.promote_types(inputs.fed.dtype, memory["h"].dtype)
        keys = {key.split(":")[1]: key for key in [*self.maths.values(), *(f"new:{name}" for name in self.states)]}
        kept = {name: values[keys[name]].transpose(0, 1).to(dtype) for name in (keys if names is None else names)}
        return kept, {name: values[f"new:{name}"][-1].to(memory[name].dtype) for name in self.states}

    def _over_time(self, inputs: Inputs, memory: Memory) -> Values:
        """Every key of every step."""
        fed = widened(inputs.fed)
        mask = None if inputs.mask is None else inputs.mask[:, :, None]
        shares = dict(zip(self.maths.fed, fed.split([self._gate(gate) for gate in self.maths.fed], 2), strict=True))
        values: Values = {key: widened(vector) for key, vector in inputs.vectors.items()}
        for stage in self.maths.stages:
            for source, gates in self.maths.sources.items():
                if set(gates) & set(stage.gates):
                    found = product(values[source], inputs.products[source].to(fed.dtype), None)
                    for gate, share in zip(gates, found.split([self._gate(g) for g in gates], 2), strict=True):
                        shares[gate] = shares[gate] + share if gate in shares else share
            values |= {f"gate:{gate}": shares[gate] for gate in stage.gates}
            if stage.name == "remember":
                values |= self.scan(values, memory, mask)
                continue
            given = stage.run(*(values[key] for key in stage.reads))
            values |= {key: given[key.split(":")[1]] for key in stage.gives}
            if mask is not None:
                states = [key for key in stage.gives if key.startswith("new:")]
                values |= {key: held(values[key], memory[key[4:]], mask) for key in states}
        return values

    def _gate(self, name: str) -> int:
        return self.maths.widths[f"gate:{name}"]


def widened(tensor: Tensor) -> Tensor:
    """At least float32."""
    return tensor.to(torch.promote_types(tensor.dtype, torch.float32))


def held(states: Tensor, before: Tensor, mask: Tensor) -> Tensor:
    """States (T, B, H) with those of each row's last real step in the place of padding; mask (T, B, 1)."""
    history = torch.cat([before[None].to(states.dtype), states])
    steps = torch.arange(1, len(history), device=states.device)[:, None, None]
    last = torch.where(mask, steps, 0).cummax(0).values
    return history.gather(0, last.expand_as(states))
