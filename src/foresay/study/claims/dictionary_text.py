"""Texts of the claim on dictionaries, as ids of their types: Chinese by characters, English by words.

Han characters and words of letters alone are counted, in lower case: both have numbers and signs. Without FORESAY_DATA
the Chinese text is drawn: characters by chance, each as often as the words of jieba's dictionary have it, which says
how often each stood in its corpus, small words such as 的 less often than texts have them. So drawn, characters do not
come in clusters as in a text of one subject either, and more different ones are met early: that is against the claim.
English words are the Python reference's.
"""

from __future__ import annotations

import lzma
import os
import re
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

import numpy as np

from foresay.data.builtin import python_reference
from foresay.extras import need

HAN = re.compile(r"[\u3400-\u4dbf\u4e00-\u9fff\U00020000-\U0003ffff]")
LETTERS = re.compile(r"[^\W\d_]+")
WIKI_ZH, POEMS = "zhwiki-sample/zhwiki-sentences-simplified.txt.xz", "tang-poems/tang-simplified.tsv.xz"
WIKI_EN, WIKITEXT = "enwiki-text8-format/enwiki.xz", "wikitext-2/train.txt"
UNKNOWN = "<unk>"  # WikiText-2's rarer words, all of them one type here
MOST_LETTERS = 24_000_000  # of the English Wikipedia
MOST_DRAWN = 50_000


def fetched(name: str) -> list[str] | None:
    """Characters or words of a file under FORESAY_DATA in their order; None where it is not."""
    root = os.environ.get("FORESAY_DATA")
    path = Path(root).expanduser() / name if root else None
    if path is None or not path.is_file():
        return None
    with lzma.open(path, "rt", encoding="utf-8") if path.suffix == ".xz" else path.open(encoding="utf-8") as file:
        text = file.read(MOST_LETTERS)
    if name == POEMS:
        text = "\n".join(line.split("\t")[2] for line in text.splitlines())
    return units(name, text)


def units(name: str, text: str) -> list[str]:
    """Han characters of a Chinese file, words of an English one; `<unk>` is a word of its own."""
    if name in (WIKI_ZH, POEMS):
        return HAN.findall(text)
    if name == WIKITEXT:
        return [
            one for word in text.split() for one in ([UNKNOWN] if word == UNKNOWN else LETTERS.findall(word.lower()))
        ]
    return LETTERS.findall(text.lower())


def reference() -> list[str]:
    """Words of the Python reference, each paragraph once."""
    pieces = dict.fromkeys(re.split(r"\n\s*\n", python_reference().decode()))
    return [word for piece in pieces for word in LETTERS.findall(piece.lower())]


def drawn(seed: int, many: int = MOST_DRAWN) -> list[str]:
    """Characters by chance, as often as the words of jieba's dictionary have them."""
    counts = by_character(_dictionary())
    shares = np.array(list(counts.values()), np.float64)
    rows = np.random.default_rng(seed).choice(len(shares), many, p=shares / shares.sum())
    known = list(counts)
    return [known[row] for row in rows]


def by_character(lines: Iterable[str]) -> Counter[str]:
    """Lines `word count tag` -> how often each Han character stands in the text that was counted."""
    counts: Counter[str] = Counter()
    for line in lines:
        word, many = line.split()[:2]
        for one in HAN.findall(word):
            counts[one] += int(many)
    return counts


def _dictionary() -> list[str]:
    """The lines of jieba's dictionary that are words with counts."""
    library = need("jieba", "zh", "the built-in form of the claim on dictionaries")
    lines = (Path(str(library.__file__)).parent / "dict.txt").read_text("utf-8").splitlines()
    return [line for line in lines if len(line.split()) == 3]


def numbered(found: Iterable[str]) -> np.ndarray:
    """Ids in the order in which types are first met (T,)."""
    ids: dict[str, int] = {}
    return np.fromiter((ids.setdefault(one, len(ids)) for one in found), np.int64)
