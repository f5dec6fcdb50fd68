"""A trigram of a small text: what it writes, and how it scores it."""

from __future__ import annotations

import pytest
import torch

from foresay.study.claims import sentences
from foresay.text.tokens import STOP


def test_texts_are_a_seeds_own_and_scored_step_by_step(monkeypatch, small_texts):
    monkeypatch.setattr(sentences, "built_in", small_texts)
    model = sentences.learn(1)
    first, again, other = (sentences.write(model, 3, 6, seed) for seed in (1, 1, 2))
    assert first == again != other and max(map(len, first)) <= 6
    state, total = model.begin(1), 0.0
    for before, after in zip([[], *([one] for one in first[0])], [*first[0], STOP], strict=True):
        rows, state = model.step(torch.tensor([before], dtype=torch.long).view(1, -1), state)
        total += float(rows[0, after])
    assert sentences.log_prob(model, [*first[0], STOP]) == pytest.approx(total, abs=1e-4)
