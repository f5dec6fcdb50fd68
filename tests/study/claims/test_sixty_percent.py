"""The claim `sixty-percent`: its rule, its figures, and a whole run of the smallest size."""

from __future__ import annotations

import pytest

from foresay.study.claims import runner, sixty_percent
from foresay.study.claims.claim import Figure
from foresay.study.claims.sixty_percent import Asked, Scale, figures, judge
from foresay.train.progress import Watch


@pytest.mark.parametrize(
    "whole, before, quick, verdict",
    [
        ((58, 55, 61), 50, True, "holds"),
        ((70, 69, 71), 50, False, "holds"),
        ((40, 38, 42), 37, False, "not decided at this size"),  # still rises by more than 2
        ((40, 38, 42), 38, False, "does not hold"),
        ((40, 38, 42), 38, True, "not decided at this size"),  # quick cannot refute
    ],
)
def test_the_rule(whole, before, quick, verdict):
    assert judge(Figure("", *whole), Figure("", before, before, before), quick) == verdict


def test_figures_of_every_size():
    found = [
        Asked(name, seed, words, words / 1e5 + seed, 80.0)
        for name in ("skip-gram", "CBOW") for words in (2_000_000, 1_000_000) for seed in (1, 3)
    ]  # fmt: skip
    shown = {one.name: one.value for one in figures(found, [2_000_000, 1_000_000])}
    assert shown["skip-gram, 2.0 M words"] == 22 and shown["CBOW, 1.0 M words"] == 12
    assert shown["covered, 1.0 M words"] == 80 and len(shown) == 6


def test_a_whole_run(monkeypatch, tmp_path, small_data):
    monkeypatch.setattr(sixty_percent, "QUICK", Scale(4000, 1, 1))
    found = runner.run_claim("sixty-percent", quick=True, out=tmp_path, watch=Watch())
    assert found["verdict"] == "not decided at this size"
    assert sorted({one["words"] for one in found["details"]["runs"]}) == [2000, 4001]  # the text ends with a STOP
    assert len(found["details"]["runs"]) == 2 * 2 * 3 and (tmp_path / "sixty-percent.png").stat().st_size > 10_000


def test_without_data_it_says_what_to_fetch(monkeypatch, tmp_path):
    monkeypatch.delenv("FORESAY_DATA", raising=False)
    found = runner.run_claim("sixty-percent", quick=True, out=tmp_path, watch=Watch())
    assert found["verdict"] == "no data" and "questions-words.txt" in found["note"]
