"""Text -> cleaner text, before it is split: seven steps, each on or off on its own, in this order.

emoji         strip: pictures, flags, families, skin tones, keycaps
unicode       one of the four Unicode forms; NFKC also turns ２ ﬁ ① into 2 fi 1
lowercase     as Python has it: ΣΑΣ -> σας
accents       strip: café -> cafe, and the text is NFC where no form is asked for. Only marks over and under letters of
              the Latin, Greek and Cyrillic kind: vowel signs (Hindi, Thai), が and ≠ stay; ø and ł have no accent
punctuation   strip: Unicode's P, Sc, Sk and Sm, which hold all 32 marks of ASCII; don't -> dont
digits        mask: every digit is 0; apart: each digit a word of its own; spell: as its English word, as in text8
blanks        collapse: a run of blanks in a line is one blank, none at its ends; newlines stay

Emoji and punctuation between two words leave a blank, at the edge of a word nothing: well-known -> well known.
Every step looks at one line at a time and undoes none before it, so that for all texts

    normalise(a + "\n" + b) = normalise(a + "\n") + normalise(b)        normalise(normalise(a)) = normalise(a)
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from itertools import accumulate
from typing import Literal

from foresay.parts import part
from foresay.text.emoji import strip_emoji
from foresay.text.punctuation import strip_punctuation

Form = Literal["NFC", "NFKC", "NFD", "NFKD"]
Step = tuple[str, Callable[[str], str]]
# Combining diacritical marks, but for the strokes through a sign (U+0334-0338), which make another sign: = and ≠.
_ACCENTS = re.compile("[\u0300-\u0333\u0339-\u036f\u1ab0-\u1aff\u1dc0-\u1dff\ufe20-\ufe2f]+")
_DIGITS = re.compile(r"\d+")
_BLANKS = re.compile(r"(?: [^\S\n]|[^\S\n ])[^\S\n]*")  # every run but the single blank
_WORDS = "zero one two three four five six seven eight nine".split()  # noqa: SIM905


@part("normalise", "steps")
class Normalise:
    """Steps that clean a text before it is split; those not asked for are off."""

    def __init__(
        self,
        unicode: Form | None = None,
        lowercase: bool = False,
        accents: Literal["keep", "strip"] = "keep",
        emoji: Literal["keep", "strip"] = "keep",
        punctuation: Literal["keep", "strip"] = "keep",
        digits: Literal["keep", "mask", "apart", "spell"] = "keep",
        blanks: Literal["keep", "collapse"] = "keep",
    ):
        self.form: Form | None = unicode or ("NFC" if accents == "strip" else None)
        steps: list[tuple[bool, str, Callable[[str], str]]] = [
            (emoji == "strip", "emoji", strip_emoji),
            (unicode is not None, "unicode", self._in_form),
            (lowercase, "lowercase", lambda text: self._in_form(text.lower())),
            (accents == "strip", "accents", lambda text: self._in_form(_strip_accents(text))),
            (punctuation == "strip", "punctuation", lambda text: self._in_form(strip_punctuation(text))),
            (digits != "keep", "digits", _DIGIT_STEPS.get(digits, str)),
            (blanks == "collapse", "blanks", _collapse_blanks),
        ]
        self.steps: list[Step] = [(name, step) for on, name, step in steps if on]

    def __call__(self, text: str) -> str:
        for _, step in self.steps:
            text = step(text)
        return text

    def many(self, texts: Sequence[str]) -> list[str]:
        """Each text normalised, all of them at once: a newline between two texts stays and changes neither."""
        lines = self("\n".join(texts)).split("\n")
        ends = list(accumulate(text.count("\n") + 1 for text in texts))
        return ["\n".join(lines[start:stop]) for start, stop in zip([0, *ends], ends, strict=False)]

    def shown(self, text: str) -> Iterator[tuple[str, str]]:
        """The name of each step that changes the text, and the text after it."""
        for name, step in self.steps:
            before, text = text, step(text)
            if text != before:
                yield name, text

    def _in_form(self, text: str) -> str:
        """Steps that take characters out or change them can leave what composes: each is followed by this."""
        form = self.form
        return text if form is None else _in_lines(lambda line: unicodedata.normalize(form, line), text)


def _strip_accents(text: str) -> str:
    return _in_lines(lambda line: _ACCENTS.sub("", unicodedata.normalize("NFD", line)), text)


def _in_lines(change: Callable[[str], str], text: str) -> str:
    """The change made to the lines that are not plain ASCII, which in many texts are few."""
    if text.isascii():
        return text
    return "\n".join(line if line.isascii() else change(line) for line in text.split("\n"))


def _mask_digits(text: str) -> str:
    return _DIGITS.sub(lambda match: "0" * len(match[0]), text)


def _spell_digits(text: str) -> str:
    return _DIGITS.sub(lambda match: _set_apart(match, [_WORDS[int(digit)] for digit in match[0]]), text)


def _part_digits(text: str) -> str:
    return _DIGITS.sub(lambda match: _set_apart(match, list(match[0])), text)


def _set_apart(match: re.Match[str], words: list[str]) -> str:
    """The words with blanks between them, and around them where none are."""
    text, start, stop = match.string, match.start(), match.end()
    left = " " if start and not text[start - 1].isspace() else ""
    right = " " if stop < len(text) and not text[stop].isspace() else ""
    return left + " ".join(words) + right


_DIGIT_STEPS: dict[str, Callable[[str], str]] = {"mask": _mask_digits, "apart": _part_digits, "spell": _spell_digits}


def _collapse_blanks(text: str) -> str:
    return _BLANKS.sub(" ", text).replace(" \n", "\n").replace("\n ", "\n").strip(" ")
