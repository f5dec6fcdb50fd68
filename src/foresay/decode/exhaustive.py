"""Exhaustive search: every sequence is scored, the best are kept. For small vocabularies and lengths: V^L of them.

The oracle that beam search is tested against.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from foresay.decode.given import alone
from foresay.decode.search import Alpha, Found, Limits, Search, nothing_possible
from foresay.errors import UserError
from foresay.parts import Rate, Size, part
from foresay.text.tokens import STOP

MOST = 200_000  # sequences of one length


@part("search", "exhaustive")
class Exhaustive(Search):
    """Looks at every sequence."""

    def __init__(self, best: Size = 1, alpha: Alpha = 0.0, temperature: Rate = 1.0):
        self.best, self.alpha, self.temperature = best, alpha, temperature

    @torch.inference_mode()
    def find(self, model: Any, prompts: Sequence[Sequence[int]], limits: Limits) -> list[list[Found]]:
        each = enumerate(prompts)
        return [self._all(alone(model, row), list(prompt), limits)[: self.best] for row, prompt in each]

    def _all(self, model: Any, prompt: list[int], limits: Limits) -> list[Found]:
        """Every outcome, level by level, best first."""
        ids = torch.tensor([prompt], dtype=torch.long, device=model.device).view(1, -1)
        log_probs, state = model.step(ids, model.begin(1))
        limits = limits.checked(log_probs.shape[1])
        live: list[tuple[list[int], list[float]]] = [([], [])]
        found: list[Found] = []
        for written in range(limits.length):
            allowed = limits.forbid(self.warmed(log_probs), written).cpu()
            possible = allowed > -torch.inf
            if possible.sum() > MOST:
                number = f"{possible.sum():,} sequences of {written + 1} symbols"
                raise UserError(f"{number}, and exhaustive looks at {MOST:,}; lower the length, or use a beam")
            pairs = possible.nonzero().tolist()
            grown = [([*live[row][0], id], [*live[row][1], float(allowed[row, id])], row) for row, id in pairs]
            found += [self._found(ids[:-1], logs, True) for ids, logs, _ in grown if ids[-1] == STOP]
            kept = [one for one in grown if one[0][-1] != STOP]
            if not kept or written + 1 == limits.length:
                found += [self._found(ids, logs, False) for ids, logs, _ in kept]
                break
            live = [(ids, logs) for ids, logs, _ in kept]
            state = model.reorder(state, torch.tensor([row for _, _, row in kept], device=model.device))
            last = torch.tensor([[ids[-1]] for ids, _ in live], device=model.device)
            log_probs, state = model.step(last, state)
        found = [one for one in found if set(limits.required) <= {*one.ids, *([STOP] if one.finished else [])}]
        if not found:
            raise nothing_possible(limits)
        return sorted(found, key=lambda one: (-one.score, one.ids))

    def _found(self, ids: list[int], logs: list[float], finished: bool) -> Found:
        return Found(ids, logs, self.normed(sum(logs), len(logs)), finished)
