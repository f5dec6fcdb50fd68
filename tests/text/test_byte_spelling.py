"""The spelling of bytes against the library's own, byte by byte."""

from __future__ import annotations

import pytest
from tokenizers import pre_tokenizers

from foresay.text.byte_spelling import SPELLING, show, unspell

LIBRARY = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)


def spelt(text: str) -> str:
    return "".join(piece for piece, _ in LIBRARY.pre_tokenize_str(text))


def test_every_byte_is_spelt_as_the_library_does():
    """The 128 bytes of ASCII one by one; the others as the bytes of a character each."""
    assert [spelt(chr(byte)) for byte in range(128)] == SPELLING[:128]
    assert set(SPELLING) == set(pre_tokenizers.ByteLevel.alphabet()) and len(set(SPELLING)) == 256
    seen = set()
    for character in map(chr, [*range(0x80, 0x800), *range(0x800, 0xD000, 0x800), 0x1F600]):
        content = character.encode()
        assert spelt(character) == "".join(SPELLING[byte] for byte in content)
        seen |= set(content)
    assert seen >= set(range(0x80, 0xC0)) | set(range(0xC2, 0xED))  # others stand in no UTF-8, or seldom


def test_spelling_by_hand():
    assert (SPELLING[0x41], SPELLING[0x00], SPELLING[0x20], SPELLING[0x0A], SPELLING[0xAD]) == ("A", "Ā", "Ġ", "Ċ", "Ń")


def test_unspell_is_the_way_back():
    assert unspell("ĠÃ©Ċ") == " é\n".encode()
    assert unspell("".join(SPELLING)) == bytes(range(256)) and unspell("") == b""
    with pytest.raises(KeyError):
        unspell("中")


@pytest.mark.parametrize(
    ("content", "shown"),
    [
        (b" the", " the"),
        ("中".encode(), "中"),
        ("中".encode()[:2], "<0xE4><0xB8>"),
        (b"a\xff", "<0x61><0xFF>"),
        (b"", ""),
    ],
)
def test_bytes_for_a_person(content: bytes, shown: str):
    assert show(content) == shown
