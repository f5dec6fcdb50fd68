"""Questions of a file in SQuAD's JSON as tagged rows: question ||| passage, the words of the first answer B-answer, I-.

    {"data": [{"paragraphs": [{"context": "...", "qas": [
        {"question": "...", "answers": [{"text": "...", "answer_start": 42}]}]}]}]}

Words and punctuation are cut apart as `foresay predict` cuts a text. A word that an answer begins or ends within is the
answer's. A question without answers has no tag but O. Rows are numbered as the questions stand in the file.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from foresay.data.answers import BETWEEN, TYPE
from foresay.data.pair_files import text_lines
from foresay.data.source import Source
from foresay.data.spans import Span, written
from foresay.errors import UserError
from foresay.text.words import Words

Row = tuple[int, list[str], list[str]]  # number, words, tags


def squad_rows(source: Source) -> Iterator[Row]:
    """Every question of a file with its passage."""
    try:
        found = json.loads("\n".join(text_lines(source)))
        passages = [(one["context"], one["qas"]) for article in found["data"] for one in article["paragraphs"]]
    except (ValueError, RecursionError, KeyError, TypeError):
        raise UserError(
            f"{source.name} is no JSON as SQuAD has it; allowed: "
            '{"data": [{"paragraphs": [{"context": "...", "qas": [...]}]}]}'
        ) from None
    number, cutter = 0, Words()
    for context, questions in passages:
        if not isinstance(context, str) or not isinstance(questions, list):
            raise UserError(f"{source.name}: a passage after question {number} has no text or no list qas; mend it")
        places = _placed(context, cutter)
        for one in questions:
            number += 1
            wrong = _wrong(one, context)
            if wrong:
                raise UserError(f"{source.name}: question {number} {wrong}; mend it")
            yield _row(number, cutter, one, places)


def _wrong(one: Any, context: str) -> str:
    """What keeps a question from being read, in words; nothing where it is whole."""
    if not isinstance(one, dict) or not isinstance(one.get("question"), str) or not one["question"].strip():
        return "has no text; allowed: question: a text"
    if BETWEEN in one["question"]:
        return f"has {BETWEEN}, which stands between question and passage; allowed: any other text"
    answers = one.get("answers")
    if not isinstance(answers, list):
        return "has no answers; allowed: a list, empty where there is none"
    if not answers:
        return ""
    first = answers[0] if isinstance(answers[0], dict) else {}
    text, begin = first.get("text"), first.get("answer_start")
    if not isinstance(text, str) or not text.strip() or type(begin) is not int or begin < 0:
        return f"has the answer {str(answers[0])[:60]}; allowed: text: a text, answer_start: a whole number from 0"
    if context[begin : begin + len(text)] != text:
        return f"has the answer {text[:60]!r} at {begin}, and the passage does not"
    return ""


def _row(number: int, cutter: Words, one: dict[str, Any], places: list[tuple[str, int]]) -> Row:
    words = [*(word for word, _ in _placed(one["question"], cutter)), BETWEEN]
    first, spans = len(words), []
    words += [word for word, _ in places]
    if one["answers"]:
        begin = one["answers"][0]["answer_start"]
        end = begin + len(one["answers"][0]["text"])
        inside = [n for n, (word, at) in enumerate(places) if at < end and begin < at + len(word)]
        spans = [Span(TYPE, first + inside[0], first + inside[-1] + 1)]
    return number, words, written(spans, len(words), "bio")


def _placed(text: str, cutter: Words) -> list[tuple[str, int]]:
    """The words of a text, each with where it begins."""
    found = list[tuple[str, int]]()
    for chunk in re.finditer(r"\S+", text):
        at = chunk.start()
        for word in cutter.split(chunk[0]):
            at = text.index(word, at)
            found.append((word, at))
            at += len(word)
    return found
