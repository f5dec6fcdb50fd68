r"""Files that are plainly no text to learn from, told by what they begin with: a model would learn them without a word.

    \data\ ngram 1=...           a table of n-grams (ARPA)
    400000 100, then rows        vectors of words (word2vec), as text or binary
    a length, then {             weights (safetensors)
    \x93NUMPY                    an array
    task: ... and its parts      a recipe that is not named *.yaml

Only what is sure: a text that speaks of such a file is a text. `data.format=text` reads any of them as it is.
"""

from __future__ import annotations

import codecs
import re
from pathlib import Path

import numpy as np

from foresay.data.compressed import NotText, packing, unpacked
from foresay.data.source import Source, ending_of

LOOK = 2**16  # bytes
WIDE = 5  # numbers in a row of vectors from which on no name is needed to know them
ROWS = 3  # looked at
LARGE = 1e4  # letters taken for a float32 are far from such a number, above it or below
_ARPA = re.compile(rb"^\\data\\[ \t\r]*\n\s*ngram[ \t]+1[ \t]*=", re.MULTILINE)
_DECLARED = re.compile(rb"[ \t]*(\d{1,9})[ \t]+(\d{1,5})[ \t\r]*\n")
_NUMBER = re.compile(rb"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
_KEY = re.compile(r"([a-z]+):(\s|$)")
_PARTS = {"data", "tokens", "embedding", "encoder", "output", "train"}


def check_corpus(source: Source) -> None:
    """Refuses a file whose kind nobody named and which is no text."""
    if source.path is None or source.format != "text" or source.read.format != "auto":
        return
    with source.path.open("rb") as raw:
        first = unpacked(raw, packing(source.path)).read(LOOK)
    if found := no_corpus(first, source.name):
        raise NotText(found)


def no_corpus(first: bytes, name: str) -> str | None:
    """What is said of a file that begins so, where it is of one of these kinds."""
    end, first = ending_of(Path(name)), first.removeprefix(codecs.BOM_UTF8)
    if _ARPA.match(first.lstrip()) or (end in (".arpa", ".lm") and _ARPA.search(first)):
        return "is a table of n-grams (ARPA), no text; give the text that it was counted from"
    if first[8:10] in (b'{"', b"{}") and first[7] == 0:
        return "holds the weights of a model (safetensors), no text; give a text"
    if first.startswith(b"\x93NUMPY"):
        return "holds an array of numbers (NumPy), no text; give a text"
    if _are_vectors(first, named=end == ".vec"):
        return "holds vectors of words (word2vec), no text; give a text, and these as embedding.pretrained"
    if _is_recipe(first):
        return "holds a recipe; name it *.yaml to train by it"
    return None


def _are_vectors(first: bytes, named: bool) -> bool:
    declared = _DECLARED.match(first)
    if declared is None:
        return False
    width, rows = int(declared[2]), first[declared.end() :]
    lines = [line.split() for line in rows.split(b"\n")[:-1][:ROWS]]
    if lines and all(len(line) == width + 1 and all(map(_NUMBER.fullmatch, line[1:])) for line in lines):
        return named or width >= WIDE
    numbers = rows.partition(b" ")[2][: 4 * width]
    if len(numbers) < 4 * width or not width:
        return False
    sizes = np.abs(np.frombuffer(numbers, "<f4"))
    return bool(((sizes > 1 / LARGE**2) & (sizes < LARGE) | (sizes == 0)).all())


def _is_recipe(first: bytes) -> bool:
    """Whether every line that is not set in is a key, `task` one of them and a part another."""
    if len(first) == LOOK or b"\0" in first:
        return False
    lines = [line for line in first.decode("utf-8", "replace").splitlines() if line and line[0] not in " #}]-"]
    keys = [_KEY.match(line) for line in lines]
    found = {key[1] for key in keys if key is not None}
    return None not in keys and "task" in found and bool(found & _PARTS)
