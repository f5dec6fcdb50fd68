"""The noise that is taken where none is given: by the script of the units."""

from __future__ import annotations

import re

from foresay.decode.correct.keyboard import Keyboard
from foresay.decode.correct.noise import Noise, Rates
from foresay.decode.correct.scorer import Scorer
from foresay.decode.correct.sounds import NearSound, SameSound
from foresay.text.segment import HAN

LETTERS = Rates(wrong=0.002, insert=0.001, delete=0.001, swap=0.001)  # of keys hit, for a text that was typed
CHARACTERS = Rates(wrong=0.01)  # of Chinese ones
FREQUENT = 100  # units among which Japanese has kana; rare ones stand in Chinese texts too
_HAN, _KANA = re.compile(f"[{HAN}]"), re.compile("[\u3041-\u30fa\u30fc-\u30ff\uff66-\uff9f]")


def default_noise(scorer: Scorer) -> Noise:
    """Sounds for Chinese characters: most units are Han, and none of the frequent ones is kana; else keys."""
    han = sum(_HAN.match(unit) is not None for unit in scorer.units) > len(scorer.units) / 2
    japanese = any(map(_KANA.match, scorer.units[:FREQUENT]))
    if han and not japanese and not scorer.by_word:
        return Noise([SameSound(), NearSound()], CHARACTERS)
    return Noise([Keyboard()], LETTERS)
