"""Bytes, by value."""

from hypothesis import given
from hypothesis import strategies as st

from foresay.text.bytes import Bytes


@given(text=st.text(st.characters(exclude_categories=["Cs"])))
def test_round_trip(text):
    tokens = Bytes()
    assert tokens.decode(tokens.encode(text)) == text


def test_ids_are_five_plus_the_byte():
    tokens = Bytes()
    assert len(tokens) == 261
    assert tokens.encode("Aé\n").tolist() == [5 + 0x41, 5 + 0xC3, 5 + 0xA9, 5 + 0x0A]
    assert tokens.pieces([70, 5 + 0xC3]) == ["A", "<0xC3>"]
    assert tokens.encode("\ud800").tolist() == [5 + ord("?")]
