"""The claim `letters`: its rule, what it measures by hand, no data, and a whole run of the smallest size."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from foresay.study.claims import letters, runner
from foresay.study.claims.claim import Figure
from foresay.study.claims.letters import LETTERS, WORDS, Scored, Size, figures, judge
from foresay.train.progress import Watch


def figure(low: float, high: float) -> Figure:
    return Figure("", (low + high) / 2, low, high)


@pytest.mark.parametrize(
    ("apart", "left", "verdict"),
    [
        ((11, 20), (0.3, 0.4), "holds"),
        ((9, 20), (0.3, 0.4), "not decided at this size"),
        ((11, 20), (0.3, 0.6), "not decided at this size"),
        ((-9, -1), (1.1, 1.2), "does not hold"),
    ],
)
def test_the_rule(apart, left, verdict):
    assert judge(figure(*apart), figure(*left)) == verdict


def test_figures_by_hand():
    found = [Scored(WORDS, seed, 40.0 + seed, 90.0, 25.0) for seed in (0, 1)]
    found += [Scored(LETTERS, seed, 70.0, 90.0 + seed, 25.0) for seed in (0, 1)]
    apart, left, *_ = figures(found)
    assert apart.value == pytest.approx(29.5) and left.value == pytest.approx((20 / 50 + 21 / 49) / 2)


def test_without_the_data_it_says_what_to_fetch(monkeypatch):
    monkeypatch.delenv("FORESAY_DATA", raising=False)
    result = letters.run(True, 1, lambda _: None)
    assert result.verdict == "no data" and "FORESAY_DATA" in result.note


def made(folder: Path) -> None:
    """Words whose ending tells their tag; the test has stems of its own too."""
    draw = random.Random(1)
    for name, stems in (("train", "bcdfg"), ("dev", "k"), ("test", "bmn")):
        rows = []
        for _ in range(60):
            for _ in range(6):
                tag, ending = draw.choice([("NOUN", "ness"), ("VERB", "ing"), ("ADV", "ly")])
                rows.append(f"{draw.choice(stems)}{draw.choice('aeiou')}{ending}\t{tag}")
            rows.append("")
        (folder / f"{name}.tsv").write_text("\n".join(rows))


def test_a_whole_run(monkeypatch, tmp_path):
    """Endings tell: with letters new words are tagged better than without."""
    (tmp_path / "data" / "ud-english-ewt").mkdir(parents=True)
    made(tmp_path / "data" / "ud-english-ewt")
    monkeypatch.setenv("FORESAY_DATA", str(tmp_path / "data"))
    monkeypatch.setattr(letters, "QUICK", Size(60, 40, 20))
    found = runner.run_claim("letters", quick=True, out=tmp_path / "out", watch=Watch())
    assert found["verdict"] != "no data", found["note"]
    apart, _, *rest = found["figures"]
    assert apart["value"] > 20 and len(found["details"]["runs"]) == 6
    assert {one["name"] for one in rest} >= {f"{WORDS}: accuracy of words unseen", f"{LETTERS}: accuracy of words seen"}
    assert (tmp_path / "out" / "letters.png").stat().st_size > 10_000
