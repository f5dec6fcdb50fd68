"""Words and punctuation, by value."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foresay.text.normalise import Normalise
from foresay.text.tokens import UNK
from foresay.text.words import Words


def split(text, **settings):
    tokens = Words(**settings)
    tokens.learn([text])
    return tokens.pieces(tokens.encode(text))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("A 11-year-old boy", "A 11 - year - old boy"),
        ("12345*54321=670592745", "12345 * 54321 = 670592745"),
        ("pneumonoultramicroscopicsilicovolcanoconiosis", "pneumonoultramicroscopicsilicovolcanoconiosis"),
        ("我爱Python3编程", "我 爱 Python 3 编 程"),
        ("don't 'quote' rock’n’roll", "don't ' quote ' rock’n’roll"),
        ("1,000.50, 3.", "1,000.50 , 3 ."),
        ("café naïve cafe\u0301", "café naïve cafe\u0301"),
        ("ラーメンがすき", "ラ ー メ ン が す き"),
        ("می\u200cخواهم क्\u200dष soft\u00adhyphen", "می\u200cخواهم क्\u200dष soft\u00adhyphen"),
        ("\u200ca\u200d \u00ad", "\u200c a \u200d \u00ad"),
        ("a_b <unk> <x>", "a _ b <unk> < x >"),
    ],
)
def test_split(text, words):
    assert split(text) == words.split()


def test_lowercase():
    settings = {"normalise": Normalise(lowercase=True)}
    assert split("The THE <UNK> ΣΑΣ", **settings) == ["the", "the", "<unk>", "σας"]


def test_decode_joins_sensibly():
    tokens = Words()
    text = "He said (twice): don't stop, 50%! 中文。 ok"
    tokens.learn([text])
    assert tokens.decode(tokens.encode(text)) == text


def test_half_width_kana_stand_without_blanks():
    tokens = Words()
    tokens.learn(["ﾗｰﾒﾝ ok"])
    assert tokens.decode(tokens.encode("ﾗｰﾒﾝ ok")) == "ﾗｰﾒﾝ ok"


@given(text=st.text(st.characters(exclude_categories=["Cs"])))
def test_round_trip_up_to_spacing(text):
    tokens = Words()
    tokens.learn([text])
    back = tokens.decode(tokens.encode(text))
    assert "".join(back.split()) == "".join(text.split())


@given(text=st.text(st.characters(max_codepoint=127)))
def test_the_ascii_short_cut_splits_as_the_library_does(text):
    tokens = Words()
    for chunk in text.split():
        assert tokens.split(chunk) == super(Words, tokens).split(chunk)


def test_every_character_is_white_space_for_both_or_neither():
    tokens = Words()
    everything = [chr(code) for code in range(0x20000) if not 0xD800 <= code < 0xE000]
    spaces = [c for c in everything if not c.split()]
    assert len(spaces) == sum(chr(code).isspace() for code in range(0x110000)) > 20
    assert tokens.library.encode("".join(spaces)).ids == []
    assert all(len(ids) == 1 for ids in tokens.encode_many([c for c in everything if c.split()]))


def test_size_min_count_and_unknowns():
    tokens = Words(size=7, min_count=2)
    tokens.learn(["b b a a c c d"])
    assert tokens.pieces(range(5, len(tokens))) == ["a", "b"]
    assert tokens.encode("a c d").tolist() == [5, UNK, UNK]
    assert tokens.decode([5, UNK]) == "a <unk>"
    few = Words(min_count=2)
    few.learn(["x x y"])
    assert len(few) == 6
