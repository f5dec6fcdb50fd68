"""Lists of the n best: by hand, and every line that is none."""

from __future__ import annotations

import math
from dataclasses import dataclass

import pytest

from foresay.decode.rescore import Hypothesis, read, rescore
from foresay.errors import UserError
from foresay.models.task import Task


@dataclass
class Scored:
    nats: float
    log_probs: list[float]


class Letters:
    """log P = -1 for every letter, -3 for a z."""

    model = Task()

    def score(self, texts: list[str]) -> list[Scored]:
        logs = [[-3.0 if letter == "z" else -1.0 for letter in text] for text in texts]
        return [Scored(-math.fsum(one), one) for one in logs]


LIST = [
    Hypothesis("1", -1.0, "az"),
    Hypothesis("1", -2.0, "ab"),
    Hypothesis("2", 0.0, "a"),
    Hypothesis("2", 0.0, "abc"),
]


def test_by_hand():
    first, second = rescore(Letters(), LIST, weight=0.5)
    assert [(one.hypothesis.text, one.total) for one in first] == [("az", -3.0), ("ab", -3.0)]  # as they came
    assert [(one.hypothesis.text, one.total) for one in second] == [("a", -0.5), ("abc", -1.5)]
    first, second = rescore(Letters(), LIST, weight=1.0, bonus=2.0)
    assert [one.hypothesis.text for one in first] == ["ab", "az"]
    assert [(one.hypothesis.text, one.tokens, one.total) for one in second] == [("abc", 3, 3.0), ("a", 1, 1.0)]


def test_a_number_and_its_digits_are_one_id():
    (own,) = rescore(Letters(), [Hypothesis(1, 0.0, "z"), Hypothesis("1", 0.0, "a")])
    assert [one.as_dict()["id"] for one in own] == ["1", 1]


def test_tabs_and_json():
    lines = ["1\t-2.5\tto be", "", '{"id": 2, "score": -1, "text": "or\\tnot", "more": 0}', "x\t0\t"]
    assert list(read(lines, "f")) == [
        Hypothesis("1", -2.5, "to be"),
        Hypothesis(2, -1.0, "or\tnot"),
        Hypothesis("x", 0.0, ""),
    ]


@pytest.mark.parametrize(
    "line",
    ["1\tto be", "1\tx\tto be", "1\tnan\tto be", "1\t2\t3\t4", '{"id": 1}', '{"id": 1, "score": "a", "text": ""}', "{"],
)
def test_what_is_no_hypothesis(line):
    with pytest.raises(UserError, match=r"^f line 2: .*; allowed: id, score and text between tabs"):
        list(read(["1\t0\tfine", line], "f"))


class Impossible(Letters):
    def score(self, texts: list[str]) -> list[Scored]:
        return [Scored(math.inf, [-math.inf]) for _ in texts]


def test_weight_zero_leaves_the_order_of_the_scores():
    """0 x log 0 is nothing, not no number."""
    first, _ = rescore(Impossible(), LIST, weight=0.0)
    assert [one.total for one in first] == [-1.0, -2.0]


@pytest.mark.parametrize("given", [{"weight": math.nan}, {"bonus": math.inf}])
def test_weights_that_are_none(given):
    with pytest.raises(UserError, match="allowed: a finite number"):
        rescore(Letters(), LIST, **given)


@pytest.mark.parametrize(
    "line",
    [
        '{"id": 1, "score": 1' + 400 * "0" + ', "text": "a"}',
        '{"id": null, "score": 1, "text": "a"}',
        '{"id": "a", "score": true, "text": "a"}',
    ],
)
def test_json_that_is_no_hypothesis(line):
    with pytest.raises(UserError, match="line 1"):
        list(read([line], "list.jsonl"))
