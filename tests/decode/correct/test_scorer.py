"""log P of sentences in units: by the table, mixed, spelt."""

from __future__ import annotations

import math

import numpy as np
import pytest

from foresay.decode.correct.scorer import Scorer
from foresay.errors import UserError
from tests.decode.correct.conftest import SmallRun, log_p


def test_scores_are_those_of_the_table(scorer):
    texts = ["a", "abc", "ccab", "ba"]
    found = scorer.log_probs([tuple(text) for text in texts])
    assert found == pytest.approx([log_p(text) for text in texts], abs=1e-5)
    assert scorer.expected(("a",)) == pytest.approx(np.array([0.1, 0.5, 0.1]) / 0.7, abs=1e-6)


def test_an_unknown_character_costs_its_spelling(scorer, run):
    alone = float(run.model.score(run.model.log_probs.new_tensor([[1, 3]]).long())[0].sum())
    assert scorer.log_probs([("z",)])[0] == pytest.approx(alone - math.log(3))


def test_runs_are_mixed_by_token():
    one, other = SmallRun(), SmallRun()
    other.model.log_probs = other.model.log_probs.roll(0)
    other.model.log_probs = (other.model.log_probs.exp() * 0.5).log()
    mixed = Scorer([one, other], [0.25, 0.75])
    assert mixed.log_probs([tuple("ab")])[0] == pytest.approx(log_p("ab") + 3 * math.log(0.25 + 0.375), abs=1e-5)
    assert mixed.expected(()).sum() == pytest.approx(1)
    for wrong in ([0.5], [0.5, 0.6], [-1.0, 2.0], [math.nan, math.nan], [math.nan, 1.0], [math.inf, -math.inf]):
        with pytest.raises(UserError, match="sum to 1"):
            Scorer([one, other], wrong)


def test_runs_of_lines_and_of_a_stream():
    other = SmallRun()
    other.ends_count = False
    with pytest.raises(UserError, match=r"counts their ends, small was not; .* the same data.unit"):
        Scorer([SmallRun(), other])
