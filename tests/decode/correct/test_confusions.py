"""Confusion sets: sounds, files, keys, spellings; each against values or brute force, all symmetric."""

from __future__ import annotations

import builtins
import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foresay import parts
from foresay.decode.correct.edits import Edits, one_apart, shortened
from foresay.decode.correct.keyboard import Keyboard
from foresay.decode.correct.listed import Listed
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


@pytest.mark.parametrize("a, b", [("zhang", "zan"), ("lin", "ning"), ("shi", "si"), ("dong", "deng")])
def test_mergers(a, b):
    assert merged(a) == merged(b)


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


def test_sets_from_a_file(tmp_path):
    path = tmp_path / "shapes.txt"
    path.write_text("未,末本\n\n天\t夫 大\n,浅钱\n无,\n", "utf-8")
    found = Listed(str(path))
    found.build("未末天夫大")
    assert found.of("未") == ["末"] and found.of("末") == ["未"]  # 本 is not known
    assert found.of("天") == ["夫", "大"] and found.of("浅") == []
    again = parts.make("confusions", parts.describe(found))
    again.build("未末")
    assert again.of("未") == ["末"]


@pytest.mark.parametrize(
    "text, says",
    [("未,末\n未末\n", "line 2 of .* is '未末'; allowed: one character"), ("", "is empty"), ("ab,c", "line 1 of")],
)
def test_bad_files(tmp_path, text, says):
    path = tmp_path / "shapes.txt"
    path.write_text(text, "utf-8")
    with pytest.raises(UserError, match=says) as error:
        Listed(str(path))
    assert "\n" not in str(error.value)


def test_no_file():
    with pytest.raises(UserError, match="cannot be read"):
        Listed("nothing.txt")


def test_keys():
    keys = Keyboard()
    keys.build("abcdefghijklmnopqrstuvwxyzSDAWEZX")
    assert set(keys.of("s")) == set("adwezx") and set(keys.of("S")) == set("ADWEZX")
    assert keys.of("é") == () and "1" not in keys.of("q")
    assert all(a in keys.of(b) for a in "asdfqwerzxcv" for b in keys.of(a))
    with pytest.raises(UserError, match=r"layout='dvorak'"):
        Keyboard("dvorak")  # pyright: ignore[reportArgumentType]


def distance(a: str, b: str) -> int:
    """Damerau's, with neighbours exchanged once."""
    d = {(i, 0): i for i in range(len(a) + 1)} | {(0, j): j for j in range(len(b) + 1)}
    for i, j in itertools.product(range(1, len(a) + 1), range(1, len(b) + 1)):
        d[i, j] = min(d[i - 1, j] + 1, d[i, j - 1] + 1, d[i - 1, j - 1] + (a[i - 1] != b[j - 1]))
        if i > 1 and j > 1 and a[i - 1] == b[j - 2] and a[i - 2] == b[j - 1]:
            d[i, j] = min(d[i, j], d[i - 2, j - 2] + 1)
    return d[len(a), len(b)]


@given(st.text("abc", max_size=5), st.text("abc", max_size=5))
def test_one_edit(a, b):
    assert one_apart(a, b) == (distance(a, b) == 1)


def test_words_one_edit_away():
    words = ["".join(one) for length in range(1, 5) for one in itertools.product("ab", repeat=length)]
    edits = Edits()
    edits.build([*words, "12"])
    for word in ["abab", "a", "aabbb", "c"]:
        assert set(edits.of(word)) == {other for other in words if distance(word, other) == 1}
    assert shortened("aab") == ["aab", "ab", "aa"]
