"""What an evaluation of a recogniser says: edits and exact matches by hand."""

from __future__ import annotations

import pytest

from foresay.train.heard import figures


def test_rates_by_hand() -> None:
    """One exchanged, one left out, one too many: 3 edits of 7 symbols, silence counting as one; 2 of 5 are right."""
    texts = [[5, 6, 7], [5], [6, 7], [], [5]]
    found = [[5, 5, 7], [5], [6], [], [5, 6]]
    told = figures(texts, found, nats=16.0, of=9)
    assert told.error_rate == pytest.approx(3 / 8) and told.exact == pytest.approx(2 / 5) and told.loss == 2.0
    assert (told.recordings, told.of, told.symbols) == (5, 9, 7)
    low, high = told.error_interval
    assert 0 <= low < 3 / 8 < high <= 1.5
    assert told.spelt() == "valid loss 2.0000, symbol error rate 37.50 %, exact 40.00 %"
    assert told.as_dict()["exact_interval"] == list(told.exact_interval)


def test_all_right_has_no_error() -> None:
    told = figures([[5]] * 4, [[5]] * 4, nats=0.0, of=4)
    assert told.error_rate == 0.0 and told.exact_interval == (1.0, 1.0)
