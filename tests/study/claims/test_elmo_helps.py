"""The claim `elmo-helps`: its rule, its files, its figures by hand, and a whole run of the smallest size."""

from __future__ import annotations

import pytest

from foresay.study.claims import elmo_helps, runner
from foresay.study.claims.claim import Figure
from foresay.study.claims.elmo_helps import NAMES, REVIEWS, TASKS, Learnt, Size, figures, judge, write
from foresay.study.claims.made_language import KINDS, Language
from foresay.train.progress import Watch


@pytest.mark.parametrize(
    ("names", "reviews", "verdict"),
    [
        ((7, 20), (8, 30), "holds"),
        ((5, 20), (8, 30), "not decided at this size"),
        ((7, 20), (-8, -1), "does not hold"),
    ],
)
def test_the_rule(names, reviews, verdict):
    assert judge([Figure("", sum(one) / 2, *one) for one in (names, reviews)]) == verdict


def test_figures_by_hand():
    found = [Learnt(task, seed, 20.0, 10.0 + 5 * seed) for task in TASKS for seed in (0, 1)]
    names, reviews, without, *_ = figures(found)
    assert names.value == reviews.value == pytest.approx((50 + 25) / 2) and without.value == pytest.approx(20)


def test_tested_on_words_that_were_not_taught(tmp_path):
    language = Language(1)
    for task, kind in ((NAMES, "person"), (REVIEWS, "praise")):
        write(tmp_path, language, task, 200)
        train, test = ((tmp_path / f"{task}-{part}.tsv").read_text().split() for part in ("train", "test"))
        assert set(train) & set(language.words[kind]) == set(language.words[kind][: KINDS[kind] // 2])
        assert set(language.words[kind]) <= set(test)


def test_a_whole_run(monkeypatch, tmp_path):
    monkeypatch.setattr(elmo_helps, "QUICK", Size(4, 2, labelled=20))
    monkeypatch.setattr(elmo_helps, "TESTED", 20)
    monkeypatch.setattr("foresay.study.claims.made_language.SENTENCES", 60)
    monkeypatch.setattr(elmo_helps, "seeds_of", lambda seed, quick: [1, 2])
    found = runner.run_claim("elmo-helps", quick=True, out=tmp_path, watch=Watch())
    assert len(found["details"]["runs"]) == 4 and len(found["figures"]) == 6
    assert (tmp_path / "elmo-helps.png").stat().st_size > 10_000
