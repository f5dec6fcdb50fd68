"""Layer norm inside the recurrence (Ba et al. 2016), for any cell: every product is normalised before it is added.

    x W + h U + b  becomes  LN(x W) * gx + LN(h U) * gh + b         for every gate and everything it sees
    LN(a) = (a - mean(a)) / sqrt(variance(a) + epsilon)             over the units of the gate, in each row

All of it inside the step, where it costs a pass less over every gate than before the loop. A gate g that sees h becomes
the gate g, which sees x alone, and a gate g__hh that sees h alone; the step adds them. Gains begin at 1.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import torch
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
        gains: dict[str, str] = {"gain_ih": "x"}
        for source, gates in inner.sources.items():
            name, seen = f"gain_{_short(source)}", source.split(":")[1]
            if name in gains:
                both = sorted([gains[name], seen], key=lambda one: "@" in one)
                raise UserError(
                    f"cell normed around {inner.cell}: {name} is that of {both[0]} and of {both[1]}; "
                    f"give {both[0]} another name"
                )
            gains[name] = seen
            self.register_parameter(name, nn.Parameter(torch.ones(inner.columns(gates))))

    def change(self, maths: Maths) -> Maths:
        pairs = [(gate, source) for source, gates in maths.sources.items() for gate in gates]
        shares = {gate: [_share(*pair) for pair in pairs if pair[0] == gate] for gate in maths.gates}
        sees = dict.fromkeys(maths.fed, ()) | {_share(gate, source): (source,) for gate, source in pairs}
        widths = dict(maths.widths)
        for gate, source in pairs:
            share = _share(gate, source)
            widths |= dict.fromkeys((f"gate:{share}", f"vector:gain__{share}"), maths.widths[f"gate:{gate}"])
        for gate in maths.fed:
            widths |= dict.fromkeys((f"vector:gain__{gate}", f"vector:bias__{gate}"), maths.widths[f"gate:{gate}"])
        biased = self.core.bias() is not None
        stages = tuple(_normed(stage, shares, maths.fed, self.epsilon, biased=biased) for stage in maths.stages)
        return self.changed(maths, gates=tuple(sees), sees=sees, stages=stages, widths=widths)

    def changed_inputs(self, inputs: Inputs, memory: Memory) -> Inputs:
        maths, bias = self.cell.maths, self.core.bias()
        vectors = dict(inputs.vectors)
        if self.gain_ih is not None:
            vectors |= self._by_gate(maths.fed, self.gain_ih, "gain__")
        if bias is not None:
            vectors |= self._by_gate(maths.fed, bias, "bias__")
        for source, gates in maths.sources.items():
            gains = self.get_parameter(f"gain_{_short(source)}")
            vectors |= self._by_gate(gates, gains, "gain__", _share("", source))
        return replace(inputs, vectors=vectors)

    def _by_gate(self, gates: tuple[str, ...], whole: Tensor, begin: str, end: str = "") -> dict[str, Tensor]:
        """One vector for all gates as a vector for each."""
        pieces = whole.split([self.cell.maths.widths[f"gate:{gate}"] for gate in gates])
        return {f"vector:{begin}{gate}{end}": piece for gate, piece in zip(gates, pieces, strict=True)}


def _short(source: str) -> str:
    return weight_name(source).removeprefix("weight_")


def _share(gate: str, source: str) -> str:
    """The name of the gate that holds what `gate` sees of `source`: no cell's own has two underscores in a row."""
    return f"{gate}__{_short(source)}"


def _norm(a: Tensor, epsilon: float) -> Tensor:
    centred = a - a.mean(-1, keepdim=True)
    return centred * (centred * centred).mean(-1, keepdim=True).add(epsilon).rsqrt()


def _normed(
    stage: Stage, shares: Mapping[str, list[str]], fed: tuple[str, ...], epsilon: float, *, biased: bool
) -> Stage:
    """A stage whose gates come as shares, each normalised before they are added."""
    complete = [gate for gate in stage.gates if f"gate:{gate}" in stage.reads]
    names = {gate: [*([gate] if gate in fed else []), *shares[gate]] for gate in complete}
    own = [key for key in stage.reads if not key.startswith("gate:") or key[5:] not in complete]
    extra = [key for gate in complete for share in names[gate] for key in (f"gate:{share}", f"vector:gain__{share}")]
    extra += [f"vector:bias__{gate}" for gate in complete if gate in fed and biased]
    reads = (*own, *extra)

    def run(*values: Tensor) -> Returned:
        known = dict(zip(reads, values, strict=True))
        for gate in complete:
            parts = [_norm(known[f"gate:{share}"], epsilon) * known[f"vector:gain__{share}"] for share in names[gate]]
            if f"vector:bias__{gate}" in known:
                parts.append(known[f"vector:bias__{gate}"])
            known[f"gate:{gate}"] = sum(parts[1:], parts[0])
        return stage.run(*(known[key] for key in stage.reads))

    gates = (*(gate for gate in stage.gates if gate in fed), *(s for gate in stage.gates for s in shares[gate]))
    return replace(stage, run=run, reads=reads, gates=gates)
