"""Layer norm inside the recurrence (Ba et al. 2016), for any cell: every product is normalised before it is added.

    x W + h U + b  becomes  LN(x W) * gx + LN(h U) * gh + b         for every gate and everything it sees
    LN(a) = (a - mean(a)) / sqrt(variance(a) + epsilon)             over the units of the gate, in each row

The inputs' share is normalised for all steps before the loop; the rest inside the step. A gate g that sees h becomes
the gate g, which sees x alone, and a gate g_hh that sees h alone; the step adds them. Gains begin at 1.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from foresay.encode.cells.cell import Cell, Memory, weight_name
from foresay.encode.cells.changed import Changed
from foresay.errors import UserError
from foresay.kernels.recurrent.maths import Maths, Returned, Stage
from foresay.kernels.recurrent.plain import Inputs
from foresay.parts import Rate, part


@part("cell", "normed")
class Normed(Changed):
    """Any cell with layer norm: each product that enters a gate is normalised."""

    def __init__(self, *, cell: Cell | str = "lstm", epsilon: Rate = 1e-5) -> None:
        super().__init__(cell)
        if any(isinstance(inner, Normed) for inner in self.cell.modules()):
            raise UserError("cell normed is around normed already; allowed: one of them")
        self.epsilon = epsilon

    def build(self, in_width: int, size: int) -> None:
        super().build(in_width, size)
        inner = self.cell.maths
        self.core.bias_apart = True
        self.gain_ih = nn.Parameter(torch.ones(inner.columns(inner.fed))) if inner.fed else None
        for source, gates in inner.sources.items():
            self.register_parameter(f"gain_{_short(source)}", nn.Parameter(torch.ones(inner.columns(gates))))

    def change(self, maths: Maths) -> Maths:
        pairs = [(gate, source) for source, gates in maths.sources.items() for gate in gates]
        shares = {gate: [_share(*pair) for pair in pairs if pair[0] == gate] for gate in maths.gates}
        sees = dict.fromkeys(maths.fed, ()) | {_share(gate, source): (source,) for gate, source in pairs}
        widths = dict(maths.widths)
        for gate, source in pairs:
            share = _share(gate, source)
            widths |= dict.fromkeys((f"gate:{share}", f"vector:gain_{share}"), maths.widths[f"gate:{gate}"])
        stages = tuple(_normed(stage, shares, maths.fed, self.epsilon) for stage in maths.stages)
        return self.changed(maths, gates=tuple(sees), sees=sees, stages=stages, widths=widths)

    def changed_inputs(self, inputs: Inputs, memory: Memory) -> Inputs:
        maths, gains = self.cell.maths, {}
        for source, gates in maths.sources.items():
            whole = self.get_parameter(f"gain_{_short(source)}")
            for gate, gain in zip(gates, whole.split([maths.widths[f"gate:{gate}"] for gate in gates]), strict=True):
                gains[f"vector:gain_{_share(gate, source)}"] = gain
        return replace(inputs, fed=self._fed(inputs.fed), vectors={**inputs.vectors, **gains})

    def _fed(self, fed: Tensor) -> Tensor:
        """LN(x W) * gx + b for all steps: (T, B, columns)."""
        if self.gain_ih is None:
            return fed
        widths = [self.cell.maths.widths[f"gate:{gate}"] for gate in self.cell.maths.fed]
        if len(set(widths)) == 1:  # all gates in one go
            normed = F.layer_norm(fed.unflatten(2, (len(widths), widths[0])), widths[:1], eps=self.epsilon).flatten(2)
        else:
            normed = torch.cat([F.layer_norm(a, (a.shape[-1],), eps=self.epsilon) for a in fed.split(widths, 2)], 2)
        bias = self.core.bias()
        normed = normed * self.gain_ih if bias is None else torch.addcmul(bias, normed, self.gain_ih)
        return normed.to(fed.dtype)


def _short(source: str) -> str:
    return weight_name(source).removeprefix("weight_")


def _share(gate: str, source: str) -> str:
    """The name of the gate that holds what `gate` sees of `source`."""
    return f"{gate}_{_short(source)}"


def _norm(a: Tensor, epsilon: float) -> Tensor:
    centred = a - a.mean(-1, keepdim=True)
    return centred * (centred * centred).mean(-1, keepdim=True).add(epsilon).rsqrt()


def _normed(stage: Stage, shares: Mapping[str, list[str]], fed: tuple[str, ...], epsilon: float) -> Stage:
    """A stage whose gates come as shares, each normalised before they are added."""
    complete = [gate for gate in stage.gates if f"gate:{gate}" in stage.reads]
    own = [key for key in stage.reads if not key.startswith("gate:") or key[5:] in fed]
    extra = [key for gate in complete for share in shares[gate] for key in (f"gate:{share}", f"vector:gain_{share}")]
    reads = (*own, *extra)

    def run(*values: Tensor) -> Returned:
        known = dict(zip(reads, values, strict=True))
        for gate in complete:
            parts = [known[f"gate:{gate}"]] if gate in fed else []
            parts += [_norm(known[f"gate:{share}"], epsilon) * known[f"vector:gain_{share}"] for share in shares[gate]]
            known[f"gate:{gate}"] = sum(parts[1:], parts[0])
        return stage.run(*(known[key] for key in stage.reads))

    gates = (*(gate for gate in stage.gates if gate in fed), *(s for gate in stage.gates for s in shares[gate]))
    return replace(stage, run=run, reads=reads, gates=gates)
