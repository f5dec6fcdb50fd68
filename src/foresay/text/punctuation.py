"""Punctuation taken out of a text: Unicode's P (punctuation), Sc (€), Sk (^ `) and Sm (+ < =).

Those hold all 32 marks of ASCII. So (© ° and pictures) stays, and so does a literal <unk>. An apostrophe between
letters goes without a trace, don't -> dont; anything else between two words leaves a blank, well-known -> well known.
"""

from __future__ import annotations

import functools
import re
import unicodedata

import numpy as np

from foresay.text.codes import CODES, codes, take_out

_APOSTROPHE = re.compile(r"['’](?<=[^\W\d_].)(?=[^\W\d_])")
_SKIN = range(0x1F3FB, 0x1F400)  # Unicode files skin tones under Sk; they belong to their emoji
_UNKNOWN = np.frombuffer(b"<unk>", np.uint8)


def strip_punctuation(text: str) -> str:
    """The text without marks; between two words they leave a blank."""
    if "'" in text or "’" in text:
        text = _APOSTROPHE.sub("", text)
    code = codes(text)
    gone = _marks()[code]
    if not gone.any():
        return text
    if "<unk>" in text:
        begin = np.flatnonzero(code[:-4] == _UNKNOWN[0])
        begin = begin[(code[begin[:, None] + np.arange(5)] == _UNKNOWN).all(1)]
        gone[begin] = gone[begin + 4] = False
    return take_out(code, gone)


@functools.cache
def _marks() -> np.ndarray:
    """Of every code point, whether it is a mark, as Python's table of Unicode has it."""
    category = np.array([unicodedata.category(chr(code)) for code in range(CODES)])
    table = np.char.startswith(category, "P") | np.isin(category, ["Sc", "Sk", "Sm"])
    table[_SKIN] = False
    return table
