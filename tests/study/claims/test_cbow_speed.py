"""The claim `cbow-speed`: its rule, its time to quality, and whole runs of the smallest size."""

from __future__ import annotations

import pytest

from foresay.study.claims import cbow_speed, runner
from foresay.study.claims.cbow_speed import Judged, Size, judge, time_to_quality
from foresay.study.claims.claim import Figure
from foresay.train.progress import Watch

SPEEDS = {"skip-gram": [100.0, 100.0], "CBOW": [200.0, 200.0]}


@pytest.mark.parametrize(
    "low, high, quick, verdict",
    [
        (1.01, 1.2, True, "holds"),
        (0.99, 1.2, False, "not decided at this size"),
        (0.8, 0.99, False, "does not hold"),
        (0.8, 0.99, True, "not decided at this size"),
    ],
)
def test_the_rule(low, high, quick, verdict):
    assert judge(Figure("", 1.0, low, high), quick) == verdict


def judged(name: str, *scores: float) -> list[Judged]:
    """With one seed after 1, 2, ... epochs."""
    return [Judged(name, 1, many, score) for many, score in enumerate(scores, 1)]


def test_time_to_quality_by_hand():
    """The slower one ends at 30 after three epochs of 1000 words: 30 s; the other is there after two: 10 s."""
    found = judged("skip-gram", 20, 25, 30) + judged("CBOW", 10, 30.5, 28)
    slow, fast = time_to_quality(found, SPEEDS, 1000)
    assert slow.name == "skip-gram to WordSim-353 30.0, 3 epochs" and slow.value == pytest.approx(30)
    assert fast.name == "CBOW to WordSim-353 30.0, 2 epochs" and fast.value == pytest.approx(10)
    never = time_to_quality(judged("skip-gram", 20, 30) + judged("CBOW", 10, 29), SPEEDS, 1000)[1]
    assert never.name.endswith("not reached") and never.value is None


def test_a_whole_run_without_data(monkeypatch, tmp_path, small_texts):
    monkeypatch.delenv("FORESAY_DATA", raising=False)
    monkeypatch.setattr(cbow_speed, "QUICK", Size(1000, 2, (1,)))
    monkeypatch.setattr(cbow_speed, "built_in", small_texts)
    found = runner.run_claim("cbow-speed", quick=True, out=tmp_path, watch=Watch())
    assert [one["name"] for one in found["figures"]] == ["CBOW to skip-gram", "skip-gram", "CBOW"]
    assert "no time to quality; set FORESAY_DATA" in found["note"]
    assert len(found["details"]["words_a_second"]["CBOW"]) == 2 and (tmp_path / "cbow-speed.png").exists()


def test_a_whole_run_with_data(monkeypatch, tmp_path, small_data):
    monkeypatch.setattr(cbow_speed, "QUICK", Size(4000, 2, (1, 2)))
    found = runner.run_claim("cbow-speed", quick=True, out=tmp_path, watch=Watch())
    assert len(found["figures"]) == 5 and not found["note"] and len(found["details"]["judged"]) == 2 * 2 * 3
    assert (tmp_path / "cbow-speed.png").stat().st_size > 10_000
