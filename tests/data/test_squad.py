"""SQuAD's JSON: answers found by their place, words cut as texts are, mistakes with the number of the question."""

from __future__ import annotations

import json
from typing import Any

import pytest

from foresay.errors import UserError
from tests.data.tagged import read_back, ready

CONTEXT = "Anna (born 1901) moved to New York. She left New York in 1950."


def file(*questions: dict[str, Any]) -> str:
    return json.dumps(
        {"version": "1.1", "data": [{"title": "t", "paragraphs": [{"context": CONTEXT, "qas": questions}]}]}
    )


def asked(text: str, start: int) -> dict[str, Any]:
    return {"id": "1", "question": "Where to?", "answers": [{"text": text, "answer_start": start}, {"text": "Anna"}]}


def test_answers_by_their_place() -> None:
    second = CONTEXT.rindex("New")
    rows = read_back(
        ready(file(asked("New York", second), asked("901", 12), asked("Anna", 0) | {"answers": []}), name="a.json")
    )
    words = "Where to ? ||| Anna ( born 1901 ) moved to New York . She left New York in 1950 ."
    assert [" ".join(word for word, _ in row) for row in rows] == [words] * 3
    tagged = [[(n, tag) for n, (_, tag) in enumerate(row) if tag != "O"] for row in rows]
    assert tagged == [[(16, "B-answer"), (17, "I-answer")], [(7, "B-answer")], []]


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("{", "a.json is no JSON as SQuAD has it"),
        ('{"rows": []}', "a.json is no JSON as SQuAD has it"),
        (
            file(asked("Anna", 0), asked("Rome", 3)),
            "a.json: question 2 has the answer 'Rome' at 3, and the passage does not; mend it",
        ),
        (file({"question": "Who?"}), "a.json: question 1 has no answers; allowed: a list"),
        (
            file(asked("Anna", -5)),
            "a.json: question 1 has the answer .*allowed: text: a text, answer_start: a whole number",
        ),
        (file(asked("", 0)), "a.json: question 1 has the answer .*allowed: text: a text"),
        (file({"question": "a ||| b", "answers": []}), "a.json: question 1 has .*which stands between"),
        (file({"answers": []}), "a.json: question 1 has no text; allowed: question: a text"),
    ],
)
def test_mistakes(text: str, error: str) -> None:
    with pytest.raises(UserError, match=error) as raised:
        ready(text, name="a.json")
    assert "\n" not in str(raised.value)
