"""Made mistakes, to measure with: one random edit in one word of a sentence, by a seed.

A word of two letters or more is drawn evenly, then the edit: a letter replaced (half by a neighbour on the keyboard,
half by any letter), put in, left out, or exchanged with the next. What comes out may be another word.
"""

from __future__ import annotations

import random
import string
from collections.abc import Iterable, Sequence

from foresay.decode.correct.keyboard import Keyboard
from foresay.decode.correct.pairs import Pair
from foresay.errors import UserError

SHORTEST, LONGEST = 5, 40  # words of a sentence
EDITS = ("replace", "insert", "delete", "swap")


def sentences(lines: Iterable[str]) -> list[str]:
    """The sentences of text whose words stand between blanks: up to each full stop, of 5 to 40 words, each once."""
    found: dict[str, None] = {}
    for line in lines:
        words: list[str] = []
        for word in line.split():
            words.append(word)
            if word in (".", "?", "!") or word.endswith((".", "?", "!")):
                if SHORTEST <= len(words) <= LONGEST:
                    found[" ".join(words)] = None
                words = []
    return list(found)


def garble(texts: Sequence[str], number: int, seed: int = 1) -> list[Pair]:
    """`number` sentences drawn from the texts, each twice: with one mistake, and as it is."""
    draw, keys = random.Random(seed), Keyboard()
    keys.build(string.ascii_letters)
    able = [text for text in texts if any(map(_able, text.split()))]
    if not able:
        raise UserError(
            f"no sentence to put a mistake in; allowed: {SHORTEST} to {LONGEST} words between blanks that end in . ? "
            "or !, one of them two letters a to z or more; give a text that has some"
        )
    found = []
    for text in draw.sample(able, min(number, len(able))):
        words = text.split()
        at = draw.choice([i for i, word in enumerate(words) if _able(word)])
        wrong = [*words[:at], _edited(words[at], keys, draw), *words[at + 1 :]]
        found += [Pair(" ".join(wrong), " ".join(words)), Pair(" ".join(words), " ".join(words))]
    return found


def _able(word: str) -> bool:
    return len(word) > 1 and word.isascii() and word.isalpha()


def _edited(word: str, keys: Keyboard, draw: random.Random) -> str:
    """The word after one edit that changes it."""
    found = word
    while found == word:
        i, letter = draw.randrange(len(word)), draw.choice(string.ascii_lowercase)
        edit = draw.choice(EDITS)
        if edit == "replace":
            near = keys.of(word[i]) if draw.random() < 0.5 else ()
            found = word[:i] + (draw.choice(near) if near else letter) + word[i + 1 :]
        elif edit == "insert":
            i = draw.randrange(len(word) + 1)
            found = word[:i] + letter + word[i:]
        elif edit == "delete":
            found = word[:i] + word[i + 1 :]
        else:
            found = word[:i] + word[i + 1 : i + 2] + word[i] + word[i + 2 :]
    return found
