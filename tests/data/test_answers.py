"""Made answers: found again by looking up the question's words in the facts of the passage; parts apart."""

from __future__ import annotations

import re

from foresay.data.answers import SIZES, answers


def looked_up(text: str) -> str:
    """The answer by patterns."""
    question, passage = text.split(" ||| ")
    facts = [re.fullmatch(r"(.+) has (the \w+ \w+) (.+)", one.strip()) for one in passage.split(".") if one.strip()]
    known = [fact.groups() for fact in facts if fact]
    if found := re.fullmatch(r"who has (.+) \?", question):
        return next(who for who, what, _ in known if what == found[1])
    found = re.fullmatch(r"(what|where) does (.+) have (?:it )?\?", question)
    assert found is not None
    return next((what if found[1] == "what" else where) for who, what, where in known if who == found[2])


def test_every_answer_is_the_one_that_is_asked_for() -> None:
    made = answers(1)
    assert {name: len(own) for name, own in made.items()} == SIZES
    texts = [" ".join(words) for own in made.values() for words, _ in own]
    assert len(set(texts)) == len(texts)
    for words, tags in made["test"]:
        given = [word for word, tag in zip(words, tags, strict=True) if tag != "O"]
        assert " ".join(given) == looked_up(" ".join(words)) and tags.count("B-answer") == 1
