"""Texts to ids with phrases: several texts at once, blanks and newlines."""

from foresay.text.joiner import Joiner
from foresay.text.phrased import Phrased
from foresay.text.tokens import UNK

IDS = {"a": 5, "b": 6, "c": 7, "a_b": 8, "a_b_c": 9}


def phrased(ids=IDS):
    return Phrased(str.split, Joiner("abc", [[("a", "b")], [("a_b", "c")]]), ids)


def encode(*texts, ids=IDS):
    return [found.tolist() for found in phrased(ids).encode_many(texts)]


def test_each_text_is_on_its_own():
    assert encode("a", "b c a b", "", "c") == [[5], [6, 7, 8], [], [7]]
    assert encode("", "") == [[], []]


def test_a_phrase_ends_at_a_newline():
    assert encode("a b\nc\na\nb a  b\tc") == [[8, 7, 5, 6, 9]]


def test_unknown_words_stand_between():
    assert encode("a x b <unk> a b") == [[5, UNK, 6, UNK, 8]]


def test_a_phrase_that_is_not_in_the_vocabulary_is_its_words():
    fewer = {word: i for word, i in IDS.items() if word != "a_b"}
    assert encode("a b c a b", "a b", ids=fewer) == [[9, 5, 6], [5, 6]]
    assert phrased(fewer).shown("a b c a b x", list("abcabx")) == ["a_b_c", "a", "b", "x"]
