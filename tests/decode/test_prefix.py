"""Prefix beam search: wide enough it is exhaustive search, alone and with a language model beside it."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
import torch

from foresay.decode.prefix import Beside, Search, numbered
from foresay.output.ctc import BLANK, best_path
from foresay.text.tokens import STOP
from tests.output.test_ctc import every_text

V = 7  # the marks and two symbols


class Bigrams:
    """A language model in the form of contract 5 with given P(next | last), <start> as 2; `step` eats its state."""

    vocabulary, device = V, torch.device("cpu")

    def __init__(self, table: torch.Tensor):
        self.table = table

    def begin(self, rows: int, condition: Any = None, capacity: int | None = None) -> Any:
        return {"last": torch.full((rows,), 2)}

    def step(self, ids: torch.Tensor, state: Any, mask: torch.Tensor | None = None) -> tuple[torch.Tensor, Any]:
        last = state.pop("last")
        real = torch.ones_like(ids, dtype=torch.bool) if mask is None else mask
        for own, known in zip(ids.T, real.T, strict=True):
            last = own.where(known, last)
        return self.table[last], {"last": last}

    def log_prob(self, text: tuple[int, ...], *, ends: bool) -> float:
        steps = itertools.pairwise((2, *text, *([STOP] if ends else [])))
        return sum(float(self.table[a, b]) for a, b in steps)


def drawn(seed: int, steps: int = 5, symbols: int = V) -> torch.Tensor:
    made = torch.Generator().manual_seed(seed)
    return torch.randn(steps, symbols, dtype=torch.float64, generator=made).log_softmax(-1)


@pytest.mark.parametrize("seed", range(6))
def test_wide_enough_it_is_exhaustive(seed: int) -> None:
    log_p = drawn(seed, symbols=4)
    every = sorted(every_text(log_p).items(), key=lambda pair: -pair[1])
    found = Search(1000).find(log_p.numpy(), best=len(every))
    assert len(found) == len(every)
    for one, (text, p) in zip(found[:30], every[:30], strict=True):
        assert tuple(one.ids) == text and one.log_prob == pytest.approx(np.log(p)) and one.score == one.log_prob


@pytest.mark.parametrize("ends", [True, False])
@pytest.mark.parametrize("seed", range(3))
def test_with_a_language_model_too(seed: int, ends: bool) -> None:
    log_p, model, weight, bonus = drawn(seed, 4), Bigrams(drawn(9 + seed, V)), 0.7, 0.3
    allowed = (5, 6)

    def score(text: tuple[int, ...], p: float) -> float:
        return np.log(p) + weight * model.log_prob(text, ends=ends) + bonus * len(text)

    texts = {text: p for text, p in every_text(log_p).items() if set(text) <= {*allowed}}
    every = sorted(texts, key=lambda text: -score(text, texts[text]))
    beside = Beside(model, weight, np.arange(V), ends)
    found = Search(1000, [beside], bonus, banned=range(1, 5)).find(log_p.numpy(), best=10)
    assert [tuple(one.ids) for one in found] == every[:10]
    assert [one.score for one in found] == pytest.approx([score(text, texts[text]) for text in every[:10]])


def test_the_sum_may_beat_the_best_path() -> None:
    """Blank is likeliest at both steps, .6 .6 = .36; the text `a` has .4 .6 + .6 .4 + .4 .4 = .64."""
    log_p = torch.tensor([[0.6, 0.4], [0.6, 0.4]]).log()
    assert best_path(log_p[None], torch.tensor([2])) == [[]]
    (one,) = Search(2).find(log_p.numpy())
    assert one.ids == [1] and one.log_prob == pytest.approx(np.log(0.64))


def test_a_narrow_beam_keeps_the_best_so_far() -> None:
    """Narrow, nothing is lost that is not pruned: the best of width 3 scores no more than the exhaustive one's."""
    lost = 0
    for seed in range(20):
        log_p = drawn(seed, 6, 4).numpy()
        wide, narrow = Search(10**6).find(log_p)[0], Search(3).find(log_p)[0]
        assert narrow.score <= wide.score + 1e-12
        lost += narrow.ids != wide.ids
    assert lost < 8


def test_a_symbol_is_found_by_its_spelling() -> None:
    marks = ["<pad>", "<unk>", "<start>", "<stop>", "<mask>"]
    assert numbered([*marks, "b", "a", "c"], [*marks, "a", "b"]).tolist() == [0, 1, 2, 3, 4, 6, 5, 1]
    assert BLANK == 0
