"""How surprising each word of a sentence is to a model: -log P summed over the word's tokens."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

from foresay.run import Run


@dataclass(frozen=True)
class Surprise:
    """A word and its -log P in nats, given all before it."""

    text: str
    nats: float


def surprise(run: Run, sentence: str) -> list[Surprise]:
    """The words of a sentence (split at blanks) with their nats, which add up to the sentence's; <stop> is not counted.

    A word's tokens are those that the sentence up to its end has more than up to the end of the word before, so
    the blank before a word belongs to it.
    """
    count = len(run.tokens.encode(sentence))
    log_probs = run.score(sentence)[0].log_probs[:count]
    words = list(re.finditer(r"\S+", sentence))
    ends = [len(run.tokens.encode(sentence[: word.end()])) for word in words]
    ends[-1:] = [count] * bool(words)  # blanks at the end belong to the last word
    found, begin = [], 0
    for word, end in zip(words, ends, strict=True):
        found.append(Surprise(word.group(), -math.fsum(log_probs[begin:end])))
        begin = max(begin, end)
    return found
