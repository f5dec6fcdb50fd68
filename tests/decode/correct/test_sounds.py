"""Characters that sound alike, by the syllables of pypinyin."""

from __future__ import annotations

import builtins

import pytest

from foresay.decode.correct.sounds import NearSound, SameSound, merged
from foresay.errors import UserError


def test_sounds():
    pytest.importorskip("pypinyin", reason="pypinyin is not installed")
    units = ["医", "艺", "一", "是", "四", "事", "a", "。", "兰", "南", "浪"]
    same, near = SameSound(), NearSound()
    same.build(units)
    near.build(units)
    assert same.of("医") == ["艺", "一"] and same.of("是") == ["事"] and same.of("a") == same.of("。") == []
    assert "四" in near.of("是") and "事" not in near.of("是")  # the same sound is not near
    assert set(near.of("兰")) == {"南", "浪"}
    for source in (same, near):
        assert all(a in source.of(b) for a in units for b in source.of(a) if b in units)


@pytest.mark.parametrize(
    "a, b",
    [
        ("zhang", "zan"),
        ("lin", "ning"),
        ("shi", "si"),
        ("dong", "deng"),
        ("hua", "fa"),
        ("huang", "fan"),
        ("hui", "fei"),
        ("hun", "feng"),
        ("huo", "fo"),
        ("hong", "heng"),
    ],
)
def test_mergers(a, b):
    assert merged(a) == merged(b)


@pytest.mark.parametrize("a, b", [("hu", "fu"), ("hei", "fei"), ("he", "fo"), ("hui", "hun")])
def test_what_stays_apart(a, b):
    assert merged(a) != merged(b)


def test_sounds_need_their_library(monkeypatch):
    whole = builtins.__import__
    import importlib

    def refuse(name, *rest):
        if name.startswith("pypinyin"):
            raise ImportError("No module named 'pypinyin'")
        return whole(name, *rest)

    monkeypatch.setattr(importlib, "import_module", refuse)
    with pytest.raises(UserError, match=r"needs the library pypinyin .* pip install 'foresay\[zh\]'"):
        SameSound().build(["医"])
