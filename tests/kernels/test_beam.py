"""A step of beam search by kernels against the plain one: the same sequences, scores and doubts."""

from __future__ import annotations

import pytest
import torch

from foresay.decode import beams
from foresay.decode.beam import Beam
from foresay.decode.beams import Beams
from foresay.decode.search import Limits
from foresay.kernels.switch import compiles
from foresay.text.tokens import STOP
from tests.gpu import BY_KERNELS, GPU

compiled = pytest.mark.skipif(not compiles(), reason="nothing is compiled")


class Table:
    """A bigram with some impossible pairs; its state counts the steps."""

    steady = False

    def __init__(self, vocabulary: int, seed: int, device: str):
        self.device = torch.device(device)
        generator = torch.Generator().manual_seed(seed)
        scores = 2 * torch.randn(vocabulary, vocabulary, generator=generator)
        scores[torch.rand(vocabulary, vocabulary, generator=generator) < 0.3] = -torch.inf
        scores[:, [STOP, 5]] = -1.0  # something can follow everything
        self.table = scores.log_softmax(1).to(device)

    def begin(self, rows, condition=None, capacity=None):
        return {"steps": torch.zeros(rows, dtype=torch.long, device=self.device)}

    def step(self, ids, state, mask=None):
        return self.table[ids[:, -1]], {"steps": state["steps"] + 1}

    def reorder(self, state, rows):
        return {"steps": state["steps"][rows]}


@pytest.mark.parametrize("device", [pytest.param("cpu", marks=compiled), pytest.param(GPU, marks=BY_KERNELS, id="gpu")])
@pytest.mark.parametrize("until", ["sure", "number", "length"])
@pytest.mark.parametrize(("width", "best", "alpha", "temperature"), [(1, 1, 0, 1), (2, 2, 0.7, 1), (5, 3, 1.0, 0.6)])
@pytest.mark.parametrize(("vocabulary", "length"), [(8, 1), (20, 7), (3000, 12)])
def test_kernels_equal_plain(until, width, best, alpha, temperature, vocabulary, length, device, monkeypatch):
    monkeypatch.setattr(beams, "WORTH", 0)
    how = Beam(width=width, best=best, alpha=alpha, until=until, temperature=temperature)
    limits = Limits(length, least=min(length, 2), banned=(7,))
    prompts = [[5], [6], [vocabulary - 1]]
    fast = Beams(how, Table(vocabulary, width, device), prompts, limits, None)
    assert fast.kernels is not None
    monkeypatch.setenv("FORESAY_PLAIN", "1")
    slow = Beams(how, Table(vocabulary, width, device), prompts, limits, None)
    assert slow.kernels is None
    expected, sure = slow.run()
    monkeypatch.delenv("FORESAY_PLAIN")
    found, as_sure = fast.run()
    assert as_sure == sure
    for mine, others in zip(found, expected, strict=True):
        assert [(one.ids, one.finished) for one in mine] == [(one.ids, one.finished) for one in others]
        assert [one.score for one in mine] == pytest.approx([one.score for one in others], rel=1e-12)
        assert [one.log_probs for one in mine] == [one.log_probs for one in others]


@compiled
def test_of_equals_the_lowest_place_comes_first(monkeypatch):
    """Every symbol is as probable as any other: K + 1 of each candidate tie, and so do all sums."""
    monkeypatch.setattr(beams, "WORTH", 0)
    model = Table(9, 1, "cpu")
    model.table = torch.full((9, 9), 1 / 9).log()
    fast = Beams(Beam(width=3, best=3), model, [[5], [6]], Limits(4), None)
    monkeypatch.setenv("FORESAY_PLAIN", "1")
    slow = Beams(Beam(width=3, best=3), model, [[5], [6]], Limits(4), None)
    expected = slow.run()
    monkeypatch.delenv("FORESAY_PLAIN")
    assert fast.kernels is not None and fast.run() == expected
    assert not any(expected[1])


@compiled
def test_room_grows_with_the_steps(monkeypatch):
    monkeypatch.setattr(beams, "WORTH", 0)
    monkeypatch.setattr(beams, "BLOCK", 2)
    how, model = Beam(width=2, until="length"), Table(12, 3, "cpu")
    fast = Beams(how, model, [[5]], Limits(9), None)
    monkeypatch.setenv("FORESAY_PLAIN", "1")
    expected = Beams(how, model, [[5]], Limits(9), None).run()
    monkeypatch.delenv("FORESAY_PLAIN")
    assert fast.run() == expected and len(fast.told.ids) == 16
