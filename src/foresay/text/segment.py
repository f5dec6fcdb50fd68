"""Chinese words: 中关村北大街 -> 中关村 北大街, by the library jieba.

jieba takes the likeliest path of dictionary words through a stretch of characters; with `hmm` it also guesses words it
does not know from how characters begin and end words. Its prefix dictionary is built in memory: jieba's own cache
is a file of code in a folder that others can write to.

`dictionary` names a file of your own words, one a line (`云计算`, or `云计算 2000` with how frequent it is), or is a
list of such lines. A word must hold a Chinese character: all else is split by the pattern of the tokens. The part
keeps the lines, not the name of the file: they are saved with the run.
"""

from __future__ import annotations

import functools
import logging
import re
import threading
from pathlib import Path
from types import ModuleType
from typing import Any

from foresay.errors import UserError
from foresay.extras import need
from foresay.parts import part

HAN = "\u2e80-\u2fdf\u3005\u3007\u3021-\u3029\u3038-\u303b\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_HAN = re.compile(f"[{HAN}]")
_LINE = re.compile(r"(\S+)(?: +([0-9]{1,12}))?(?: +[A-Za-z]+)?")


@part("segment", "jieba")
class Jieba:
    """Chinese words by the library jieba; a dictionary adds your own."""

    library, extra = "jieba", "zh"

    def __init__(self, hmm: bool = True, dictionary: list[str] | str | None = None):
        lines = _read(dictionary) if isinstance(dictionary, str) else dictionary
        self.words = None if lines is None else [_entry(line, i) for i, line in enumerate(lines, 1)]
        self.settings = {"hmm": hmm, "dictionary": lines}
        self.hmm = hmm
        self.lock = threading.Lock()
        _jieba()

    def __call__(self, chunk: str) -> list[tuple[str, bool]]:
        """A stretch without blanks in pieces, each with whether it is a Chinese word or still to be split."""
        if chunk.isascii() or not _HAN.search(chunk):
            return [(chunk, False)]
        with self.lock:
            cut: list[str] = self._cutter.lcut(chunk, HMM=self.hmm)
        found: list[tuple[str, bool]] = []
        for piece in cut:
            chinese = _HAN.search(piece) is not None
            if found and not chinese and not found[-1][1]:
                found[-1] = (found[-1][0] + piece, False)  # jieba cuts don't into three
            else:
                found.append((piece, chinese))
        return found

    @functools.cached_property
    def _cutter(self) -> Any:
        cutter = _jieba().Tokenizer()
        counts, cutter.total = _prefixes()
        cutter.FREQ = dict(counts) if self.words else counts
        cutter.initialized = True
        for word, count in self.words or ():
            cutter.add_word(word, count)
        return cutter


def _jieba() -> ModuleType:
    library = need("jieba", "zh", "segment jieba")
    library.setLogLevel(logging.WARNING)
    return library


@functools.cache
def _prefixes() -> tuple[dict[str, int], int]:
    """jieba's own words and all their beginnings, with their counts."""
    cutter = _jieba().Tokenizer()
    return cutter.gen_pfdict(cutter.get_dict_file())


def _read(path: str) -> list[str]:
    try:
        text = Path(path).expanduser().read_text("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(
            f"segment jieba: dictionary={path!r} cannot be read ({error}); give a UTF-8 file of words, one a line"
        ) from None
    lines = [(i, line.strip()) for i, line in enumerate(text.splitlines(), 1) if line.strip()]
    for i, line in lines:
        _entry(line, i)  # here, where blank lines are still counted
    return [line for _, line in lines]


def _entry(line: str, number: int) -> tuple[str, int | None]:
    """A word and its count, if one is given."""
    match = _LINE.fullmatch(line.strip())
    given = f"segment jieba: line {number} of the dictionary is {line[:40]!r}{'...' * (len(line) > 40)}"
    if match is None or (match[2] is not None and int(match[2]) == 0):
        raise UserError(f"{given}; allowed: a word, or a word and its count > 0, of at most 12 digits")
    if not _HAN.search(match[1]):
        raise UserError(f"{given}; allowed: a word with a Chinese character in it: take the line out")
    return match[1], None if match[2] is None else int(match[2])
