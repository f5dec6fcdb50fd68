"""Neighbouring keys."""

from __future__ import annotations

import string

import pytest

from foresay.decode.correct.keyboard import Keyboard
from foresay.errors import UserError


def test_keys():
    keys = Keyboard()
    keys.build("abcdefghijklmnopqrstuvwxyzSDAWEZX")
    assert set(keys.of("s")) == set("adwezx") and set(keys.of("S")) == set("ADWEZX")
    assert keys.of("é") == () and "1" not in keys.of("q")
    assert all(a in keys.of(b) for a in "asdfqwerzxcv" for b in keys.of(a))
    with pytest.raises(UserError, match=r"layout='dvorak'"):
        Keyboard("dvorak")  # pyright: ignore[reportArgumentType]


@pytest.mark.parametrize("layout", ["qwerty", "qwertz", "azerty"])
def test_keys_are_symmetric(layout):
    units = [*string.printable, *"äöüßÄÖÜùÙéÉ"]
    keys = Keyboard(layout)
    keys.build(units)
    assert all(a in keys.of(b) for a in units for b in keys.of(a))
    assert all(len(set(keys.of(a))) == len(keys.of(a)) and a not in keys.of(a) for a in units)
    assert set(keys.of("1")) == ({"2", "q", "Q"} if layout != "azerty" else {"2", "a", "A"})
