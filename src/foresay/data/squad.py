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
    except (ValueError, RecursionError, KeyError, TypeError) as error:
        raise UserError(
            f"{source.name} is no JSON as SQuAD has it ({type(error).__name__}: {error}); allowed: "
            '{"data": [{"paragraphs": [{"context": "...", "qas": [...]}]}]}'
        ) from None
    number, cutter = 0, Words()
    for context, questions in passages:
        places = None
        for one in questions:
            number += 1
            try:
                places = _placed(context, cutter) if places is None else places
                yield _row(number, cutter, one, context, places)
            except (KeyError, TypeError, ValueError, IndexError, AttributeError) as error:
                what = f"{type(error).__name__}: {error}"
                raise UserError(f"{source.name}: question {number} is not as SQuAD has it ({what}); mend it") from None


def _row(number: int, cutter: Words, one: dict[str, Any], context: str, places: list[tuple[str, int]]) -> Row:
    words = [*(word for word, _ in _placed(one["question"], cutter)), BETWEEN]
    first, spans = len(words), []
    words += [word for word, _ in places]
    if one["answers"]:
        text, begin = one["answers"][0]["text"], one["answers"][0]["answer_start"]
        if context[begin : begin + len(text)] != text:
            raise ValueError(f"the passage has no {text!r} at {begin}")
        inside = [n for n, (word, at) in enumerate(places) if at < begin + len(text) and begin < at + len(word)]
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
