"""Questions: every answer worked out again from its question; questions held out."""

from __future__ import annotations

import re

from foresay.data.questions import HELD, SIZES, questions, sums


def answer(question: str) -> str:
    kind, rest = question.split(": ", 1)
    numbers = [int(n) for n in re.findall(r"\d+", rest)]
    if kind == "add":
        return str(sum(numbers))
    if kind == "subtract":
        return str(numbers[1] - numbers[0])
    if kind == "compare":
        return str(max(numbers))
    facts = re.findall(r"(\w+) has (\d+) (\w+)", rest.split(".")[0])
    asked = rest.removesuffix("?").split()[-1]
    ((who, number, _),) = [fact for fact in facts if fact[2] == asked]
    return who if "who has" in rest else number


def test_answers_are_right() -> None:
    pairs = questions(1)["valid"] + questions(1)["train"][:2000]
    assert [answer(source) for source, _ in pairs] == [target for _, target in pairs]
    assert {source.split(":")[0] for source, _ in pairs} == {"add", "subtract", "compare", "find"}


def test_what_is_held_out_is_not_trained_on() -> None:
    made = questions(1)
    assert {name: len(pairs) for name, pairs in made.items()} == SIZES
    sources = {name: {source for source, _ in pairs} for name, pairs in made.items()}
    assert not sources["train"] & (sources["valid"] | sources["test"]) and not sources["valid"] & sources["test"]
    assert [answer(source) for source, _ in sums()] == [target for _, target in sums()]
    counted = {name: len({one for one in own if one[:3] in ("add", "sub")}) for name, own in sources.items()}
    assert counted == {"test": HELD, "valid": HELD, "train": len(sums()) - 2 * HELD} and len(sums()) == 21 * 21 + 231
    assert questions(2)["test"] != made["test"]
