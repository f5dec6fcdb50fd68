"""Keys beside each other on a keyboard: `s` stands between a and d, under w and e, above z and x."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from foresay.decode.correct.confusions import Confusions
from foresay.parts import part

# Each row begins half a key (the last: a whole one) further right than the one above.
ROWS = {
    "qwerty": ("1234567890-", "qwertyuiop[", "asdfghjkl;'", "zxcvbnm,./"),
    "qwertz": ("1234567890ß", "qwertzuiopü", "asdfghjklöä", "yxcvbnm,.-"),
    "azerty": ("1234567890)", "azertyuiop^", "qsdfghjklmù", "wxcvbn,;:!"),
}
SHIFTS = (0.0, 0.5, 0.75, 1.25)
REACH = 1.3  # in keys, from middle to middle


@part("confusions", "keyboard")
class Keyboard(Confusions):
    """Letters on neighbouring keys, large and small apart."""

    def __init__(self, layout: Literal["qwerty", "qwertz", "azerty"] = "qwerty"):
        self.layout = layout
        self.near: dict[str, list[str]] = {}

    def build(self, units: Sequence[str]) -> None:
        known = frozenset(units)
        rows = enumerate(zip(ROWS[self.layout], SHIFTS, strict=True))
        places = {key: (at + shift, row) for row, (keys, shift) in rows for at, key in enumerate(keys)}
        self.near = {}
        for key, at in places.items():
            beside = [other for other, place in places.items() if other != key and _apart(at, place) <= REACH]
            for shift in (str, str.upper):  # a key without a capital stands beside both
                name, own = shift(key), dict.fromkeys(map(shift, beside))
                found = self.near.setdefault(name, [])
                found += [other for other in own if other in known and other not in found]

    def of(self, unit: str) -> Sequence[str]:
        return self.near.get(unit, ())


def _apart(a: tuple[float, float], b: tuple[float, float]) -> float:
    return ((a[0] - b[0]) ** 2 + (a[1] - b[1]) ** 2) ** 0.5
