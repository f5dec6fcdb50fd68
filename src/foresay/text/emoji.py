"""Emoji taken out of a text: pictures, flags, keycaps, families joined by ZWJ, and all that only dresses them.

Pictures are Unicode's Emoji up to U+FFFF and its Extended_Pictographic above, those not yet drawn too. Some are first
of all letters, marks and arrows (© ™ ℹ ‼ ↔ Ⓜ): they are emoji only where U+FE0F asks for the picture. Digits, # and *
are emoji only under a keycap. Skin tones, variation selectors (U+FE0E, U+FE0F), tags and the keycap itself are emoji
wherever they stand, so that taking emoji out twice is the same as once.
"""

from __future__ import annotations

import functools
import re

import numpy as np

from foresay.text.codes import CODES, codes, take_out

_PICTURES = (
    "231a-231b 2328 23cf 23e9-23f3 23f8-23fa 25aa-25ab 25b6 25c0 25fb-25fe 2600-2604 260e 2611 2614-2615 2618 "
    "261d 2620 2622-2623 2626 262a 262e-262f 2638-263a 2640 2642 2648-2653 265f-2660 2663 2665-2666 2668 267b "
    "267e-267f 2692-2697 2699 269b-269c 26a0-26a1 26a7 26aa-26ab 26b0-26b1 26bd-26be 26c4-26c5 26c8 26ce-26cf "
    "26d1 26d3-26d4 26e9-26ea 26f0-26f5 26f7-26fa 26fd 2702 2705 2708-270d 270f 2712 2714 2716 271d 2721 2728 "
    "2733-2734 2744 2747 274c 274e 2753-2755 2757 2763-2764 2795-2797 27a1 27b0 27bf 2934-2935 2b05-2b07 "
    "2b1b-2b1c 2b50 2b55 1f000-1f0ff 1f10d-1f10f 1f12f 1f16c-1f171 1f17e-1f17f 1f18e 1f191-1f19a 1f1ad-1f1ff "
    "1f201-1f20f 1f21a 1f22f 1f232-1f23a 1f23c-1f23f 1f249-1f53d 1f546-1f64f 1f680-1f6ff 1f774-1f77f 1f7d5-1f7ff "
    "1f80c-1f80f 1f848-1f84f 1f85a-1f85f 1f888-1f88f 1f8ae-1f8ff 1f90c-1f93a 1f93c-1f945 1f947-1faff 1fc00-1fffd"
)  # with the letters of flags (1f1e6-1f1ff) and the skin tones (1f3fb-1f3ff) among them
_DRESS = "fe0e-fe0f 20e3 e0020-e007f"
_FIRST_TEXT = "\u00a9\u00ae\u203c\u2049\u2122\u2139\u2194-\u2199\u21a9\u21aa\u24c2\u3030\u303d\u3297\u3299"
_ASKED_FOR = re.compile(rf"[#*0-9]\ufe0f?\u20e3|[{_FIRST_TEXT}]\ufe0f")
_ZWJ = "\u200d"


def strip_emoji(text: str) -> str:
    """The text without emoji; between two words they leave a blank."""
    if text.isascii():
        return text
    if "\ufe0f" in text or "\u20e3" in text:
        text = _ASKED_FOR.sub("\ufe0f", text)
    code = codes(text)
    gone = _emoji()[code]
    if not gone.any():
        return text
    if _ZWJ in text:
        joins = code == ord(_ZWJ)
        before = np.maximum.accumulate(np.where(joins, 0, np.arange(len(code))))  # what a run of ZWJ stands after
        gone |= joins & gone[before]
    return take_out(code, gone)


@functools.cache
def _emoji() -> np.ndarray:
    """Of every code point, whether it is an emoji or dresses one."""
    table = np.zeros(CODES, bool)
    for spelt in f"{_PICTURES} {_DRESS}".split():
        first, _, last = spelt.partition("-")
        table[int(first, 16) : int(last or first, 16) + 1] = True
    return table
