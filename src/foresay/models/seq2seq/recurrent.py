"""A recurrent writer in the lectures' forms. s is its state (of its highest layer), x the symbol before, a what the
encoder made of each place of the source, and a_S the encoder's last state:

    last        s<tau> = cell(x<tau>, s<tau-1>)              s<0> = W a_S + b;  features s
    context     s<tau> = cell([x; c]<tau>, s<tau-1>)         c = a_S at every step
    attention   the same, with c<tau> = sum_t alpha<tau,t> a<t>, alpha = softmax_t f(s<tau-1>, a<t>)

The query is the state of the step before. With c, features are tanh(W [s; c; x] + b): c reaches every hidden and every
output step. f is one of three (scorers.py).

copy (See et al. 2017):  P(w) = g P_own(w) + (1 - g) sum of alpha<tau,t> over the places t that hold w,
g = sigmoid(w' [s; c; x] + b). coverage: weight of the penalty sum_t min(alpha<tau,t>, what steps before tau gave t).

x (B, T, D) -> features (B, T, H); state {"cells": ..., "source": {keys, values (B, S, ..), seen (B, S)}}.
"""

from __future__ import annotations

from typing import Literal

import torch
from torch import Tensor, nn

from foresay.embed.dropout import drop
from foresay.encode.cells.cell import Cell
from foresay.encode.encoder import State
from foresay.encode.initial import Initial
from foresay.encode.recurrent import Recurrent
from foresay.errors import UserError
from foresay.kernels.thin import linear
from foresay.models.seq2seq.scorers import Kind, Scorer, weigh
from foresay.models.seq2seq.writer import Source, Writer, Wrote
from foresay.parts import Amount, Share, Size, part


@part("writer", "recurrent")
class RecurrentWriter(Writer):
    """Recurrent cells that begin with the source's last state, see it at every step, or attend to the source."""

    def __init__(
        self,
        *,
        form: Literal["last", "context", "attention"] = "attention",
        scorer: Kind = "additive",
        cell: Cell | str = "lstm",
        size: Size = 256,
        layers: Size = 1,
        dropout: Share = 0.0,
        copy: bool = False,
        coverage: Amount = 0.0,
    ) -> None:
        super().__init__()
        if form != "attention" and (copy or coverage):
            what = "copy=true" if copy else f"coverage={coverage:g}"
            raise UserError(f"writer.{what} with form={form}; it weighs places of the source: set form=attention")
        self.form, self.copies, self.coverage = form, copy, coverage
        self.kind: Kind = scorer
        self.cell, self.size, self.layers, self.dropout = cell, size, layers, dropout
        self.scorer: Scorer | None = None

    def build(self, in_width: int, source_width: int) -> None:
        seen = in_width + (0 if self.form == "last" else source_width)
        first = Initial(state="condition", condition=source_width)
        self.cells = Recurrent(cell=self.cell, size=self.size, layers=self.layers, dropout=self.dropout, initial=first)
        self.cells.build(seen)
        wide = self.cells.width
        self.readout = None if self.form == "last" else nn.Linear(wide + source_width + in_width, wide)
        self.gate = nn.Linear(wide + source_width + in_width, 1) if self.copies else None
        if self.form == "attention":
            self.scorer = Scorer(self.kind, wide, source_width)
        self.width = wide

    def begin(self, source: Source, capacity: int | None = None) -> State:
        nothing = source.summary.new_zeros(len(source.summary), 0, self.cells.wiring.widths[0])
        cells = self.cells(nothing, condition=source.summary)[1]
        if self.form == "last":
            return {"cells": cells}
        if self.scorer is None:
            return {"cells": cells, "source": {"values": source.summary}}
        kept = {"keys": self.scorer.keys(source.annotations), "values": source.annotations, "seen": source.mask}
        return {"cells": cells, "source": kept}

    def forward(self, x: Tensor, state: State, mask: Tensor | None = None) -> tuple[Wrote, State]:
        if self.form == "last":
            s, cells = self.cells(x, mask, state["cells"])
            return Wrote(s), {"cells": cells}
        weights = None
        if self.form == "context":
            c = state["source"]["values"][:, None].expand(-1, x.shape[1], -1)
            s, cells = self.cells(torch.cat([x, c], 2), mask, state["cells"])
        else:
            s, c, weights, cells = self._attend(x, state, mask)
        every = torch.cat([s, c, x], 2)
        assert self.readout is not None
        features = drop(linear(self.readout, every).tanh(), self.dropout, self.training)
        gate = None if self.gate is None else self.gate(every)
        return Wrote(features, weights, gate), {"cells": cells, "source": state["source"]}

    def _attend(self, x: Tensor, state: State, mask: Tensor | None) -> tuple[Tensor, Tensor, Tensor, State]:
        """s (B, T, H), c (B, T, A), alpha (B, T, S) and the cells' state, step by step."""
        source, cells, top = state["source"], state["cells"], str(self.layers - 1)
        assert self.scorer is not None
        states, contexts, looks = [], [], []
        for step in range(x.shape[1]):
            alpha = weigh(self.scorer(cells[top]["h"], source["keys"]), source["seen"])
            c = torch.bmm(alpha[:, None], source["values"])
            now = None if mask is None else mask[:, step : step + 1]
            s, cells = self.cells(torch.cat([x[:, step : step + 1], c], 2), now, cells)
            states.append(s)
            contexts.append(c)
            looks.append(alpha[:, None])
        if not states:
            rows, places, width = source["values"].shape
            nothing = [x.new_zeros(rows, 0, wide) for wide in (self.width, width, places)]
            return nothing[0], nothing[1], nothing[2], cells
        return torch.cat(states, 1), torch.cat(contexts, 1), torch.cat(looks, 1), cells

    def looks(self, x: Tensor, state: State) -> list[Tensor]:
        weights = self.forward(x, state)[0].weights
        return super().looks(x, state) if weights is None else [weights[:, None]]
