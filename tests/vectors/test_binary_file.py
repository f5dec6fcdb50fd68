"""word2vec's binary file: by hand, with and without line ends, in blocks of any size, broken."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from foresay.errors import UserError
from foresay.vectors import binary_file, opening
from foresay.vectors.word_vectors import WordVectors

WORDS, MATRIX = ["the", "été", "cat"], np.array([[0.5, -1], [2, 0.25], [1e-3, 4]], np.float32)


def packed(end: bytes = b"\n") -> bytes:
    rows = (word.encode() + b" " + row.tobytes() + end for word, row in zip(WORDS, MATRIX, strict=True))
    return b"3 2\n" + b"".join(rows)


def load(data: bytes, most: int | None = None) -> WordVectors:
    Path("v.bin").write_bytes(data)
    return WordVectors.load("v.bin", most)


@pytest.mark.parametrize("end", [b"\n", b""])
@pytest.mark.parametrize("block", [1, 5, 1 << 20])
def test_by_hand(end: bytes, block: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(opening, "BLOCK", block)
    monkeypatch.setattr(opening, "LOOK", 14)
    found = load(packed(end))
    assert found.words == WORDS and np.array_equal(found.matrix, MATRIX)
    assert load(packed(end), 1).words == ["the"]


def test_what_is_written() -> None:
    WordVectors(WORDS, MATRIX).save("v.bin")
    assert Path("v.bin").read_bytes() == packed()


NAN = np.array([np.nan, 1], np.float32).tobytes()
BROKEN = {
    "no header": (b"hello", "byte 0: b'hello' is not 'WORDS WIDTH'"),
    "too few words": (packed().replace(b"3 2", b"4 2", 1), "byte 44: the file ends after word 3 of 4 declared"),
    "far too few": (packed().replace(b"3 2", b"9 2", 1), "'9 2' is declared, and the file has only"),
    "too many words": (packed().replace(b"3 2", b"2 2", 1), r"byte \d+: more words follow than the 2 declared"),
    "cut off": (packed()[:-4], r"byte 31: the file ends after word 2 of 3 declared"),
    "a huge count": (packed().replace(b"3 2", b"3333333333333 2", 1), "and the file has only"),
    "a huge width": (packed().replace(b"3 2", b"3 9999999", 1), "allowed: 1 or more words of 1 to"),
    "NaN": (packed()[:8] + NAN + packed()[16:], "byte 8: the numbers of 'the' are not all finite"),
    "a word twice": (packed().replace(b"cat", b"the"), r"byte \d+: the word 'the' stands there twice"),
    "no UTF-8": (packed().replace(b"cat", b"c\xff\xff"), r"the word b'c\\xff\\xff' is no UTF-8"),
    "an empty word": (packed().replace(b"cat", b""), r"the word b'' is empty or has blanks"),
    "a word with a blank": (packed().replace(b"cat", b"c\tt"), r"the word b'c\\tt' is empty or has blanks"),
}


@pytest.mark.parametrize(("data", "said"), BROKEN.values(), ids=BROKEN)
def test_broken(data: bytes, said: str) -> None:
    with pytest.raises(UserError, match=said) as raised:
        load(data)
    assert str(raised.value).startswith("v.bin byte") or "line 1" in str(raised.value)


def test_a_word_without_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(binary_file, "LONGEST", 20)
    with pytest.raises(UserError, match="byte 4: no blank in 20 bytes: no word"):
        load(b"1 2\n" + b"\x01" * 30)
