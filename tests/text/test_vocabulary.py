"""Counting in bounded memory, and the order of the vocabulary."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foresay import parts
from foresay.errors import UserError
from foresay.text.vocabulary import Counts, Vocabulary


@given(words=st.lists(st.sampled_from("abcdefgh")), size=st.none() | st.integers(0, 9), least=st.integers(1, 3))
def test_the_most_frequent_ties_by_the_word(words, size, least):
    counts = Counts()
    for word in words:
        counts.add({word: 1})
    expected = sorted({w for w in words if words.count(w) >= least}, key=lambda w: (-words.count(w), w))
    assert counts.frequent(size, least) == expected[:size]


def test_the_rarest_are_dropped_and_the_frequent_kept():
    counts = Counts(most=50)
    for i in range(1000):
        counts.add(Counter({"often": 3, "also": 2, f"once{i}": 1}))
        assert len(counts.seen) <= 50
    assert counts.frequent(2) == ["often", "also"]
    assert counts.seen["often"] == 3000 and counts.seen["also"] == 2000


def test_specials_come_first_and_once():
    counts = Counts()
    counts.add({"<unk>": 9, "word": 1})
    vocabulary = Vocabulary(counts.frequent(None))
    assert vocabulary.words == ["<pad>", "<unk>", "<start>", "<stop>", "<mask>", "word"]
    assert vocabulary.ids["word"] == 5 and len(vocabulary) == 6


@pytest.mark.parametrize("part", ["words", "blanks", "characters"])
def test_a_vocabulary_of_marks_alone_is_refused(part):
    with pytest.raises(UserError, match=rf"tokens {part}: size=5; allowed: 6 or more .*: raise it"):
        parts.make("tokens", {"kind": part, "size": 5}, "tokens")
    assert len(parts.make("tokens", {"kind": part, "size": 6}, "tokens")) == 5  # nothing learnt yet
    tokens = parts.make("tokens", {"kind": part, "min_count": 9}, "tokens")
    with pytest.raises(UserError, match=rf"tokens {part}: min_count=9, but nothing .*; lower tokens.min_count"):
        tokens.learn(["one two three"])
