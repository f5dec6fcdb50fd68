"""Lists of the n best, from a recogniser, a translator or a beam, put in a new order by a language model.

    total = score + weight * log P(text) + bonus * tokens

A list is lines of id, score and text between tabs, or JSON objects with these names; lines of one id belong together.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from foresay.errors import UserError


@dataclass(frozen=True)
class Hypothesis:
    """One of the n best of an id, with the score it came with."""

    id: str | int  # as it came
    score: float
    text: str


@dataclass(frozen=True)
class Rescored:
    """A hypothesis, its log P by the model, how many tokens it has, and what it is ordered by."""

    hypothesis: Hypothesis
    log_prob: float
    tokens: int
    total: float

    def as_dict(self) -> dict[str, Any]:
        about = {"id": self.hypothesis.id, "text": self.hypothesis.text, "score": self.hypothesis.score}
        return about | {"log_prob": self.log_prob, "tokens": self.tokens, "total": self.total}


def read(lines: Iterable[str], name: str) -> Iterator[Hypothesis]:
    """The hypotheses of a file; `name` is for the error."""
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        found = _from_json(line) if line.lstrip().startswith("{") else _from_tabs(line)
        if found is None:
            raise UserError(
                f"{name} line {number}: {line.strip()[:60]!r}; allowed: id, score and text between tabs, "
                'or {"id": ..., "score": ..., "text": ...}'
            )
        yield found


def _from_tabs(line: str) -> Hypothesis | None:
    columns = line.rstrip("\r\n").split("\t")
    return _made(*columns) if len(columns) == 3 else None


def _from_json(line: str) -> Hypothesis | None:
    try:
        found = json.loads(line)
        known = isinstance(found["id"], str | int) and not isinstance(found["score"], bool)
        return _made(found["id"], found["score"], found["text"]) if known else None
    except (ValueError, LookupError, TypeError, RecursionError):
        return None


def _made(id: str | int, score: Any, text: Any) -> Hypothesis | None:
    try:
        number = float(score)
    except (TypeError, ValueError, OverflowError):
        return None
    return Hypothesis(id, number, text) if math.isfinite(number) and isinstance(text, str) else None


def rescore(run: Any, given: Sequence[Hypothesis], weight: float = 1.0, bonus: float = 0.0) -> list[list[Rescored]]:
    """The lists, each in its new order, best first; among equals as they came."""
    for name, number in (("weight", weight), ("bonus", bonus)):
        if not math.isfinite(number):
            raise UserError(f"{name}={number}; allowed: a finite number")
    if run.model.conditional:
        raise UserError(f"{run.folder} writes from a source, and rescoring needs P of a text; use a language model")
    lists: dict[str, list[Rescored]] = {}
    for one, scored in zip(given, run.score([one.text for one in given]), strict=True):
        log_prob, tokens = -scored.nats, len(scored.log_probs)
        total = one.score + (weight * log_prob if weight else 0.0) + bonus * tokens  # 0 x -inf is no number
        lists.setdefault(str(one.id), []).append(Rescored(one, log_prob, tokens, total))
    return [sorted(own, key=lambda one: -one.total) for own in lists.values()]
