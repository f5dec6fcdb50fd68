"""Neighbouring keys."""

from __future__ import annotations

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
