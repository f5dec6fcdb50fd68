"""The claim `tree-speed`: its rule, its slopes, and a whole run of the smallest size."""

from __future__ import annotations

import json

import pytest

from foresay.study.claims import runner, tree_speed
from foresay.study.claims.claim import Figure
from foresay.study.claims.tree_speed import Timed, judge, slope_of
from foresay.train.progress import Watch


@pytest.mark.parametrize(
    "full, tree, quick, verdict",
    [
        ((0.9, 1.1), (0.1, 0.2), True, "holds"),
        ((0.6, 1.1), (0.1, 0.2), False, "not decided at this size"),
        ((0.9, 1.1), (0.1, 0.31), False, "not decided at this size"),
        ((0.5, 0.6), (0.1, 0.2), False, "does not hold"),
        ((0.9, 1.1), (0.4, 0.5), False, "does not hold"),
        ((0.9, 1.1), (0.4, 0.5), True, "not decided at this size"),
    ],
)
def test_the_rule(full, tree, quick, verdict):
    assert judge(Figure("full", 0.0, *full), Figure("tree", 0.0, *tree), quick) == verdict


def test_a_slope_by_hand():
    """Times of V and of the root of V."""
    found = [
        Timed(name, "any", words, repeat, (1 + repeat) * words**power)
        for name, power in (("full", 1.0), ("tree", 0.5))
        for words in (10, 100, 1000)
        for repeat in (0, 1)
    ]
    assert slope_of(found, "full", "any").value == pytest.approx(1)
    assert slope_of(found, "tree", "any").value == pytest.approx(0.5)


def test_a_whole_run(monkeypatch, tmp_path):
    """What is timed is not tested; that all of it is timed is."""
    monkeypatch.setattr(tree_speed, "QUICK", (10, 30))
    monkeypatch.setattr(tree_speed, "LARGE", (100,))
    monkeypatch.setattr(tree_speed, "CALLS", 2)
    monkeypatch.setattr(tree_speed, "REPEATS", 2)
    runner.run_claim("tree-speed", out=tmp_path, watch=Watch())
    times = json.loads((tmp_path / "tree-speed.json").read_text("utf-8"))["details"]["times"]
    assert len(times) == 2 * 2 * 3 * 2 and all(one["microseconds"] > 0 for one in times)
    assert {one["words"] for one in times} == {10, 30, 100}
    assert (tmp_path / "tree-speed.png").stat().st_size > 10_000
