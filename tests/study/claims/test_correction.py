"""The claim `correction`: its rule, its figures by hand, and a whole quick run of a small text."""

from __future__ import annotations

import itertools
import json

import pytest

from foresay.decode.correct.measure import Judged
from foresay.study.claims import correction, runner
from foresay.study.claims.claim import Figure
from foresay.study.claims.correction import Measured, fewer, figures, judge
from foresay.train.progress import Watch


def at(low: float, high: float) -> Figure:
    return Figure("made", (low + high) / 2, low, high)


@pytest.mark.parametrize(
    "ranking, better, verdict",
    [
        (at(91, 95), at(1, 9), "holds"),
        (at(85, 89), at(1, 9), "does not hold"),
        (at(91, 95), at(-9, -1), "does not hold"),
        (at(89, 95), at(1, 9), "not decided at this size"),
        (at(91, 95), at(-1, 9), "not decided at this size"),
    ],
)
def test_the_rule(ranking, better, verdict):
    assert judge(ranking, better) == verdict


def test_figures_by_hand():
    one = Measured("made", 1, [1.0, 3.0, -1.0, 5.0], 50.0, 40.0, 10.0, {"wrong": 9.0, "right": 5.0})
    other = Measured("made", 2, [2.0, 2.0], 60.0, 40.0, 20.0)
    found = {figure.name: figure.value for figure in figures([one, other])}
    assert found["made: -log P(wrong) > -log P(right)"] == pytest.approx(87.5)
    assert found["made: -log P(wrong) - -log P(right)"] == pytest.approx(2.0)
    assert found["made: wrong units fewer by"] == pytest.approx(15.0)
    assert found["-log P(文学是一种医术形式)"] == 9.0 and len(found) == 7


def test_fewer_mistakes_by_hand():
    judged = [Judged("axx", "abc", "abx"), Judged("abc", "abc", "abc"), Judged("abx", "abc", "zbx")]
    assert fewer(judged) == pytest.approx(100 * (3 - 3) / 3)
    assert fewer([Judged("axx", "abc", "abc"), Judged("abx", "abc", "abx")]) == pytest.approx(100 * 2 / 3)


def test_a_whole_run(monkeypatch, tmp_path):
    names = ["small cat", "old dog", "red bird", "river", "tree", "house"]
    text = " ".join(f"the {a} sees the {b} and then the {c} runs." for a, b, c in itertools.permutations(names, 3))
    monkeypatch.setattr(correction, "python_reference", lambda: text.encode())
    monkeypatch.setattr(correction, "MADE", 10)
    found = runner.run_claim("correction", quick=True, out=tmp_path, watch=Watch())
    saved = json.loads((tmp_path / "correction.json").read_text("utf-8"))
    assert len(saved["details"]["runs"]) == 3 and found["figures"][0]["value"] > 80
    assert (tmp_path / "correction.png").stat().st_size > 10_000


def test_without_data(monkeypatch, tmp_path):
    monkeypatch.delenv("FORESAY_DATA", raising=False)
    found = runner.run_claim("correction", out=tmp_path, watch=Watch())
    assert found["verdict"] == "no data" and "sighan-csc/test14.tsv" in found["note"]
