"""From a text to a finished model: by hand, in blocks, and what is refused."""

from __future__ import annotations

import math

import numpy as np
import pytest

from foresay import parts
from foresay.counts import train as training
from foresay.counts.count import TOKEN_BYTES
from foresay.counts.smoothing import Absolute, Smoothing
from foresay.counts.train import train
from foresay.errors import UserError
from foresay.text.tokens import STOP
from tests.counts.test_count import flat

V = 8
TEXT = [[5, 6, 5], [6, 5]]


def smoothing(name: str) -> Smoothing:
    found = parts.make("smoothing", name)
    assert isinstance(found, Smoothing)
    return found


def test_by_hand() -> None:
    """Half a count is taken of each: of 7 words 1.5, of the two words after 5 1 of 3, of the one after 6 half of 2."""
    table, notes = train(flat(TEXT), V, 2, Absolute(0.5))
    assert notes == [] and np.diff(table.orders).tolist() == [1, V, 5]
    single = {5: 2.5 / 7 + 1.5 / 7 / 4, 6: 1.5 / 7 + 1.5 / 7 / 4, STOP: 1.5 / 7 + 1.5 / 7 / 4}
    found, _ = table.score(np.array([[6, 5, 5, STOP]]), np.array([4]), np.array([table.start]))
    expected = [
        0.5 / 2 + 1 / 2 * single[6],  # <start> 6
        1.5 / 2 + 0.5 / 2 * single[5],  # 6 5
        1 / 3 * single[5],  # 5 5 was not seen
        1.5 / 3 + 1 / 3 * single[STOP],  # 5 <stop>
    ]
    assert found[0].tolist() == pytest.approx([math.log(prob) for prob in expected], rel=1e-6)


def test_rare_ones_go() -> None:
    table, _ = train(flat(TEXT), V, 2, Absolute(0.5), cut=[1])
    assert np.diff(table.orders).tolist() == [1, V, 2]  # 6 5 and 5 <stop> stood there twice


def test_blocks_change_nothing() -> None:
    text = np.random.default_rng(1).integers(5, V, (40, 6)).tolist()
    whole, _ = train(flat(text), V, 3, smoothing("modified-kneser-ney"))
    told: list[float] = []
    blocks, _ = train(flat(text), V, 3, smoothing("modified-kneser-ney"), limit=50 * TOKEN_BYTES, tell=told.append)
    for name, array in whole.arrays().items():
        assert np.array_equal(array, blocks.arrays()[name]), name
    assert told == sorted(told) and told[-1] == pytest.approx(1.0)


def test_what_is_worth_knowing_is_said() -> None:
    _, notes = train(flat(TEXT), V, 2, smoothing("modified-kneser-ney"))
    assert [note.split(" to say")[0] for note in notes] == ["too few 1- to 2-grams"]


@pytest.mark.parametrize("cut", [[2, 1], [1, 1], [0, 1, 1]])
def test_cuts_that_make_no_sense(cut: list[int]) -> None:
    with pytest.raises(UserError, match=r"with order 2: a number for 2-grams, 3-grams and so on, at most 1, and none"):
        train(flat(TEXT), V, 2, Absolute(0.5), cut=cut)


def test_pruning_needs_shorter_contexts() -> None:
    with pytest.raises(UserError, match=r"prune 0.01 with smoothing add.*use witten-bell"):
        train(flat(TEXT), V, 2, smoothing("add"), prune=0.01)


def test_an_order_longer_than_any_text(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(training, "count", lambda *_: pytest.fail("counted before it was refused"))
    for block in (1, 2, 3, 100):
        monkeypatch.setattr(training, "BLOCK", block)
        assert training.longest_document(flat(TEXT), 9) == 5
    with pytest.raises(UserError, match=r"order 6, but no document has 6 words.*the longest has 5; use"):
        train(flat(TEXT), V, 6, Absolute(0.5))
