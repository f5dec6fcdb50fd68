"""Which pieces belong to one word."""

from __future__ import annotations

from foresay.parts import make
from foresay.text.tokens import SPECIALS
from foresay.text.whole_words import word_edges

TEXT = "the walking dogs, unbelievable 12345 e-mail isn't.\nZoë walks on"


def words(symbols: list[str], ids: list[int]) -> list[list[str]]:
    edges, found = word_edges(symbols), []
    for place, one in enumerate(ids):
        joined = place and edges[one, 0] != 0 and edges[one, 0] == edges[ids[place - 1], 1]
        found = [*found[:-1], [*found[-1], symbols[one]]] if joined else [*found, [symbols[one]]]
    return found


def test_pieces_by_hand():
    symbols = [*SPECIALS, " walk", "ing", ",", " 12", "34", "<0xC3>", "<0xAB>", "文", "学", "\n"]
    found = words(symbols, [5, 6, 7, 8, 9, 6, 10, 11, 12, 13, 14, 6, 3, 6])
    assert found == [
        [" walk", "ing"], [","], [" 12", "34"], ["ing", "<0xC3>", "<0xAB>"], ["文"], ["学"], ["\n"], ["ing"],
        ["<stop>"], ["ing"],
    ]  # fmt: skip


def test_tokens_of_a_text():
    """However small the pieces are, the words are the same."""
    expected = ["the", " ", "walking", " ", "dogs", ",", " ", "unbelievable", " ", "12345", " ", "e", "-", "mail", " "]
    expected += ["isn", "'", "t", ".", "\n", "Zoë", " ", "walks", " ", "on"]
    for kind in ("characters", "bytes"):
        tokens = make("tokens", kind)
        tokens.learn([TEXT])
        own = words(tokens.pieces(range(len(tokens))), tokens.encode(TEXT).tolist())
        joined = [tokens.decode([tokens.pieces(range(len(tokens))).index(one) for one in word]) for word in own]
        assert joined == expected
    tokens = make("tokens", {"kind": "subwords", "size": 270})
    tokens.learn([TEXT])
    own = words(tokens.pieces(range(len(tokens))), tokens.encode(TEXT).tolist())
    assert "".join("".join(word) for word in own).startswith("the walking dogs") and [" ", *"unbelievable"] not in own
    assert any(len(word) > 1 and "".join(word).strip() in ("unbelievable", "walking") for word in own)


def test_whole_words_stay_apart():
    assert not word_edges([*SPECIALS, "the", "dog", "12"]).any()
