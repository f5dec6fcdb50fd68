"""Signs for what cannot be seen, of a symbol that stands alone and of a stretch of text."""

from __future__ import annotations

import pytest

from foresay.study.visible import visible, visible_text


@pytest.mark.parametrize(
    ("symbol", "alone", "in_text"),
    [
        (" the", "␣the", " the"),
        ("\n", "⏎", "⏎"),
        ("a\tb", "a⇥b", "a⇥b"),
        ("中", "中", "中"),
        ("\x00\x1b\x7f", "␀␛␡", "␀␛␡"),
        ("\u2028\u0085", "<U+2028><U+0085>", "<U+2028><U+0085>"),
        ("\u200d\u00a0", "<U+200D><U+00A0>", "\u200d\u00a0"),
        ("", "''", ""),
    ],
)
def test_signs(symbol: str, alone: str, in_text: str) -> None:
    assert visible(symbol) == alone and visible_text(symbol) == in_text


@pytest.mark.parametrize(("length", "shown"), [(24, "x" * 24), (25, "x" * 23 + "…"), (30, "x" * 23 + "…")])
def test_long_ones_are_cut(length: int, shown: str) -> None:
    assert visible("x" * length, 24) == shown and visible("x" * length) == "x" * length
