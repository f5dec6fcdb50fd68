"""The claim `temperature`: its rule, its measures, and a whole run of the smallest size."""

from __future__ import annotations

import json

import pytest

from foresay.study.claims import runner, sentences, temperature
from foresay.study.claims.claim import Figure
from foresay.study.claims.temperature import Size, distinct, judge, self_bleu
from foresay.train.progress import Watch


def figures(*values: float) -> list[Figure]:
    return [Figure("made", value, value - 1, value + 1) for value in values]


@pytest.mark.parametrize(
    "distinct, bleu, quick, verdict",
    [
        ((10, 20, 30), (60, 40, 20), True, "holds"),
        ((10, 9, 30), (60, 40, 20), False, "not decided at this size"),  # falls between
        ((10, 20, 30), (60, 40, 41), False, "not decided at this size"),
        ((10, 10.5, 11), (60, 40, 20), False, "does not hold"),  # the ends meet
        ((10, 10.5, 11), (60, 40, 20), True, "not decided at this size"),
        ((10, 20, 30), (20, 40, 60), False, "does not hold"),  # the wrong way round
    ],
)
def test_the_rule(distinct, bleu, quick, verdict):
    assert judge(figures(*distinct), figures(*bleu), quick) == verdict


def test_distinct_by_hand():
    assert distinct([[1, 2, 1, 2], [1, 2, 3, 4]], 2) == pytest.approx(4 / 6)  # 12 21 23 34 of six
    assert distinct([[1, 2, 1, 2], [1, 2, 3, 4]], 1) == pytest.approx(4 / 8)


def test_self_bleu_by_hand():
    assert self_bleu([[1, 2, 3, 4, 5]] * 3) == pytest.approx(1)
    # 1 2 3 4 5 and 1 2 3 4 6: 4/5, 3/4, 2/3, 1/2
    assert self_bleu([[1, 2, 3, 4, 5], [1, 2, 3, 4, 6]]) == pytest.approx((4 / 5 * 3 / 4 * 2 / 3 / 2) ** 0.25)
    # one word in common, counted once; then 1/2, 1/4 and 1/8 of a match
    own = (1 / 5 * (1 / 2) / 4 * (1 / 4) / 3 * (1 / 8) / 2) ** 0.25
    assert self_bleu([[1, 1, 2, 3, 4], [1, 5, 6, 7, 8]]) == pytest.approx(own)


def test_a_whole_run(monkeypatch, tmp_path, small_texts):
    monkeypatch.setattr(temperature, "QUICK", Size(written=150, compared=60))
    monkeypatch.setattr(temperature, "TEMPERATURES", (0.5, 2.0))
    monkeypatch.setattr(temperature, "LENGTH", 4)
    monkeypatch.setattr(sentences, "built_in", small_texts)
    runner.run_claim("temperature", quick=True, out=tmp_path, watch=Watch())
    texts = json.loads((tmp_path / "temperature.json").read_text("utf-8"))["details"]["texts"]
    cold, hot = ([one for one in texts if one["temperature"] == at] for at in (0.5, 2.0))
    assert len(cold) == len(hot) == 3 and [one["texts"] for one in cold] == [one["texts"] for one in hot]
    assert max(one["distinct"]["2"] for one in cold) < min(one["distinct"]["2"] for one in hot)
    assert min(one["self_bleu"] for one in cold) > max(one["self_bleu"] for one in hot)
    assert (tmp_path / "temperature.png").stat().st_size > 10_000
