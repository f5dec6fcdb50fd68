"""Rows among threads: every row once, whatever their number."""

from __future__ import annotations

import threading

import numpy as np
import pytest

from foresay.counts.threads import FEW, in_parts, threads
from foresay.counts.words import WordModel


@pytest.mark.parametrize("number", ["1", "2", "3"])
@pytest.mark.parametrize("rows", [0, 1, FEW, 2 * FEW, 7 * FEW + 5])
def test_every_row_once(number: str, rows: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", number)
    assert threads() == int(number)
    seen, lock = [], threading.Lock()

    def call(low: int, high: int) -> None:
        with lock:
            seen.extend(range(low, high))

    in_parts(call, rows)
    assert sorted(seen) == list(range(rows))


def test_the_numbers_are_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    lines = [f"w{i % 7} w{i % 5} w{i % 3}" for i in range(6 * FEW)]
    model = WordModel.train(lines, 3)
    found = []
    for number in ("1", "2", "5"):
        monkeypatch.setenv("OMP_NUM_THREADS", number)
        found.append(model.score(lines))
    assert np.array_equal(found[0], found[1]) and np.array_equal(found[0], found[2])
    monkeypatch.setenv("OMP_NUM_THREADS", "many")
    assert threads() >= 1
