"""Chunk -> ids, remembered: how words and subwords are encoded fast.

A text is cut into chunks at places where no token can cross (white space). Chunks repeat, so their ids are looked
up, and only the new ones go to the library, all at once and on all cores. The ids are exactly the library's.
Measured on 16 MB of English-like text, 8000 subwords, 2 cores: 17 MB/s against 5 for the library alone.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import chain

import numpy as np
from tokenizers import Tokenizer

REMEMBERED = 2**18  # chunks kept: about 60 MB
LONGEST = 64  # characters; longer chunks hardly repeat


class Chunks:
    """The ids of texts by one tokeniser of the library, `cut` giving the chunks of a text."""

    def __init__(self, library: Tokenizer, cut: Callable[[str], list[str]], remembered: int = REMEMBERED):
        self.library = library
        self.cut = cut
        self.remembered = remembered
        self.known: dict[str, list[int]] = {}

    def encode(self, text: str) -> np.ndarray:
        """The ids of a text, (T,) of uint32."""
        chunks = self.cut(text)
        # Another thread may empty self.known: this call goes on with the dictionary it has.
        if len(self.known) > self.remembered:
            self.known = {}
        known = self.known
        new = sorted(set(chunks).difference(known))
        found = {}
        if new:
            found = {c: e.ids for c, e in zip(new, _encode_batch(self.library, new), strict=True)}
            known.update((chunk, ids) for chunk, ids in found.items() if len(chunk) <= LONGEST)
        if any(len(chunk) > LONGEST for chunk in new):
            look_up = lambda chunk: known[chunk] if chunk in known else found[chunk]  # noqa: E731
        else:
            look_up = known.__getitem__
        return np.fromiter(chain.from_iterable(map(look_up, chunks)), dtype=np.uint32)


def _encode_batch(library: Tokenizer, texts: list[str]):
    """Without character offsets where the library can leave them out (since 0.20.1).

    A lone surrogate (a broken command-line argument) has no UTF-8: it becomes "?".
    """
    texts = [text.encode("utf-8", "replace").decode("utf-8") for text in texts]
    batch = getattr(library, "encode_batch_fast", library.encode_batch)
    return batch(texts, add_special_tokens=False)
