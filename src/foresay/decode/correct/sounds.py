"""Chinese characters that sound alike: 医 and 艺 are both yi; 是 (shi) and 四 (si) are near.

Sounds are the syllables of the library pypinyin, tones left out; a character with several readings has them all. Two
syllables are near where they are one after the mergers that many speakers make:

    zh -> z, ch -> c, sh -> s      l -> n, r -> n      ang -> an, eng -> en, ing -> in, ong -> eng
    hua -> fa, huo -> fo, hui -> fei, hun -> fen       h before u and another vowel, as in 花 and 发, 会 and 费
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from foresay.decode.correct.confusions import Confusions, grouped
from foresay.extras import need
from foresay.parts import part

_SYLLABLE = re.compile(r"[a-zü]+")
_MERGED = (
    (re.compile("^([zcs])h"), r"\1"),
    (re.compile("^[lr]"), "n"),
    (re.compile("^hu(?=[ao])"), "f"),
    (re.compile("^hu(?=[in])"), "fe"),
    (re.compile("ong$"), "en"),
    (re.compile("([aei]n)g$"), r"\1"),
)


@part("confusions", "same-sound")
class SameSound(Confusions):
    """Characters with a syllable in common, whatever the tone; by the library pypinyin."""

    library, extra = "pypinyin", "zh"

    def __init__(self):
        self.readings: dict[str, list[str]] = {}

    def build(self, units: Sequence[str]) -> None:
        self.readings = readings(units)
        self.by_sound = grouped((unit, self.keys(own)) for unit, own in self.readings.items())

    def keys(self, own: Sequence[str]) -> list[str]:
        return list(own)

    def of(self, unit: str) -> Sequence[str]:
        own = self.readings.get(unit) or ()
        found = dict.fromkeys(other for key in self.keys(own) for other in self.by_sound[key])
        return [other for other in found if other != unit and self.counts(own, self.readings[other])]

    def counts(self, own: Sequence[str], others: Sequence[str]) -> bool:
        return True


@part("confusions", "near-sound")
class NearSound(SameSound):
    """Characters whose syllables differ only as zh and z, l and n, ang and an do; by the library pypinyin."""

    def __init__(self):
        super().__init__()

    def keys(self, own: Sequence[str]) -> list[str]:
        return list(dict.fromkeys(merged(syllable) for syllable in own))

    def counts(self, own: Sequence[str], others: Sequence[str]) -> bool:
        return not set(own) & set(others)


def readings(units: Sequence[str]) -> dict[str, list[str]]:
    """The syllables of each unit that is one Chinese character."""
    library = need("pypinyin", "zh", "confusions by sound")
    found = {}
    for unit in units:
        if len(unit) == 1 and not unit.isascii():
            spelt = library.pinyin(unit, style=library.Style.NORMAL, heteronym=True, errors="ignore")
            own = [syllable for syllable in dict.fromkeys(spelt[0] if spelt else ()) if _SYLLABLE.fullmatch(syllable)]
            if own:
                found[unit] = own
    return found


def merged(syllable: str) -> str:
    """What is left of a syllable after the mergers."""
    for pattern, into in _MERGED:
        syllable = pattern.sub(into, syllable)
    return syllable
