"""Frequent pieces of words: against counting them one by one."""

from collections import Counter

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from foresay.text.substrings import LONGEST, seeds


def found_in(words: dict[bytes, int], most: int = 10**6):
    content = np.frombuffer(b"".join(words), np.uint8)
    found = seeds(content, np.array(list(map(len, words))), np.array(list(words.values()), float), most)
    pieces = [content[b : b + n].tobytes() for b, n in zip(found.begin, found.length, strict=True)]
    return found, content, [bytes([i]) for i in range(256)] + pieces[256:]


def whole(word: bytes, start: int, stop: int) -> bool:
    """Made of whole characters, or within one."""
    starts = [i for i in range(len(word)) if word[i] & 0xC0 != 0x80] + [len(word)]
    return (start in starts and stop in starts) or not any(start < i < stop for i in starts)


def candidates(words: dict[bytes, int]) -> dict[bytes, int]:
    counts, ok = Counter(), set()
    for word, often in words.items():
        for start in range(len(word)):
            for stop in range(start + 2, min(start + LONGEST, len(word)) + 1):
                counts[word[start:stop]] += often
                if whole(word, start, stop):
                    ok.add(word[start:stop])
    heaviest = Counter()
    for piece, count in counts.items():
        heaviest[piece[:-1]] = max(heaviest[piece[:-1]], count)
    return {piece: n for piece, n in counts.items() if n >= 2 and piece in ok and heaviest[piece] < n}


@given(words=st.dictionaries(st.text("ab中丂é", min_size=1, max_size=7).map(str.encode), st.integers(1, 4), min_size=1))
def test_they_are_those_counted_one_by_one(words):
    found, content, pieces = found_in(words)
    expected = candidates(words)
    assert dict(zip(pieces[256:], found.count[256:].tolist(), strict=True)) == expected
    ends = np.repeat(np.cumsum(list(map(len, words))), list(map(len, words)))
    for i in range(len(content)):
        for n in range(1, LONGEST + 1):
            piece = content[i : i + n].tobytes()
            here = i + n <= ends[i] and (n == 1 or (piece in expected and found.piece_at[i, n - 1] >= 0))
            assert (found.piece_at[i, n - 1] >= 0) == here
            if here:
                assert pieces[found.piece_at[i, n - 1]] == piece


def test_every_place_of_a_piece_is_known():
    found, content, pieces = found_in({b"banana": 2, b"ana": 1})
    number = pieces.index(b"ana")  # an is always followed by a
    assert np.argwhere(found.piece_at == number).tolist() == [[1, 2], [3, 2], [6, 2]]
    assert found.count[number] == 5 and found.count[ord("a")] == 8
    assert content[found.begin[number] :][:3].tobytes() == b"ana" and b"an" not in pieces


def test_the_heaviest_are_chosen():
    """Count times length: abcd 8 (2), xy 6 (3), the others less."""
    words = {b"abcd": 2, b"xy": 3, b"qr": 2}
    assert found_in(words, 1)[2][256:] == [b"abcd"]
    assert found_in(words, 2)[2][256:] == [b"xy", b"abcd"]
    assert found_in(words)[2][256:] == [b"cd", b"qr", b"xy", b"bcd", b"abcd"]
