"""The noise that fits a script."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from foresay.decode.correct.usual import default_noise

HAN = [chr(0x4E00 + n) for n in range(300)]
KANA, HANGUL = [chr(0x3042 + n) for n in range(80)], [chr(0xAC00 + n) for n in range(300)]


@pytest.mark.parametrize(
    "units, by_word, sources",
    [
        ([*HAN, *"，。abc"], False, ["same-sound", "near-sound"]),
        ([*HAN, *KANA], False, ["same-sound", "near-sound"]),  # rare kana, as in an encyclopedia
        ([*KANA, *HAN], False, ["keyboard"]),
        (["の", *HAN], False, ["keyboard"]),
        (HANGUL, False, ["keyboard"]),
        ([*"abcd"], False, ["keyboard"]),
        (HAN, True, ["keyboard"]),
    ],
)
def test_sounds_are_for_chinese(units, by_word, sources):
    scorer: Any = SimpleNamespace(units=units, by_word=by_word)
    assert [source.part_name for source in default_noise(scorer).confusions] == sources
