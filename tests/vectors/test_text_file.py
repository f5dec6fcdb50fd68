"""word2vec's and GloVe's text: by hand, what others write, and every way a file can be broken."""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import pytest

from foresay.errors import UserError
from foresay.vectors import opening, text_file
from foresay.vectors.word_vectors import WordVectors

TEXT = "3 2\nthe 0.5 -1\nof 2 .25\ncat 1e-3 4\n"
GLOVE = TEXT.partition("\n")[2]


def load(text: str | bytes, name: str = "v.txt", most: int | None = None) -> WordVectors:
    Path(name).write_bytes(text if isinstance(text, bytes) else text.encode())
    return WordVectors.load(name, most)


@pytest.mark.parametrize("text", [TEXT, GLOVE])
@pytest.mark.parametrize("block", [1, 3, 1 << 20])
def test_by_hand(text: str, block: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(opening, "BLOCK", block)
    monkeypatch.setattr(opening, "LOOK", 16)
    found = load(text)
    assert found.words == ["the", "of", "cat"]
    assert found.matrix.tolist() == [[0.5, -1], [2, 0.25], [np.float32(1e-3), 4]]
    assert load(text, most=2).words == ["the", "of"]


@pytest.mark.parametrize(
    "text",
    [
        TEXT.replace("\n", "\r\n"),
        TEXT.replace("\n", " \n"),  # as the original tool ends its lines
        TEXT.replace(" ", "\t"),
        TEXT.replace("0.5", "  +0.5"),
        "\ufeff" + TEXT,
        "\ufeff" + GLOVE,
        TEXT.removesuffix("\n"),
        TEXT + "\n\n",
        GLOVE.replace("of", "\nof"),
    ],
)
def test_as_others_write_it(text: str) -> None:
    found = load(text)
    assert found.words == ["the", "of", "cat"] and found.matrix[0].tolist() == [0.5, -1]


def test_words_of_every_kind() -> None:
    words = ["3", "1e5", "a\xa0b", "\u3000", "\u2028", ",", '"', "#", "\x1c", "nan"]
    found = load("".join(f"{word} 1 2\n" for word in words))
    assert found.words == words
    assert load("1 1\n7 5\n").words == ["7"]


@pytest.mark.parametrize("block", [1, 1 << 20])
def test_words_with_blanks_as_in_glove_840b(block: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(opening, "BLOCK", block)
    text = ". . . 1 2 3\nthe 4 5 6\nat name@x.com 7 8 9\n\n. .\t. . -1 0 .5\n3 1 2 3\n"
    found = load(text)
    assert found.words == [". . .", "the", "at name@x.com", ". . . .", "3"]
    assert found.matrix.tolist() == [[1, 2, 3], [4, 5, 6], [7, 8, 9], [-1, 0, 0.5], [1, 2, 3]]
    assert [load(text, most=most).words for most in (1, 2, 3)] == [found.words[:most] for most in (1, 2, 3)]
    assert load("-1 3\n5 -2\n").words == ["-1", "5"]  # of width 1


BROKEN = {
    "too few words": (TEXT.replace("3 2", "4 2", 1), "line 1: 4 is declared as the number of words, which is 3"),
    "too many words": (TEXT.replace("3 2", "2 2", 1), "line 1: 2 is declared as the number of words, which is larger"),
    "cut off": (TEXT[:-2], "line 4: 'cat' has 1 of 2 numbers"),
    "cut off in a number": (TEXT[:-4], "line 4: '1e-' after 'cat' should be a finite number"),
    "a huge count": (
        TEXT.replace("3 2", "99999999999999 2", 1),
        "line 1: '99999999999999 2' is declared, and the file has only",
    ),
    "a huge width": (TEXT.replace("3 2", "3 999999", 1), "line 1: '3 999999' is declared"),
    "a width too huge": (TEXT.replace("3 2", "3 999999999999", 1), "allowed: 1 or more words of 1 to 1048576 numbers"),
    "no words": ("0 2\n", "line 1: '0 2' is declared; allowed: 1 or more"),
    "no width": ("3 0\na\nb\nc\n", "line 1: '3 0' is declared; allowed: 1 or more words of 1 to"),
    "no number": (TEXT.replace(".25", "x.25"), "line 3: 'x.25' after 'of' should be a finite number"),
    "NaN": (TEXT.replace(".25", "nan"), "line 3: 'nan' after 'of' should be a finite number"),
    "infinity": (GLOVE.replace("-1", "-inf"), "line 1: '-inf' after 'the' should be a finite number"),
    "too large": (TEXT.replace(".25", "1e40"), "line 3: 1e40 is too large a number"),
    "a word twice": (TEXT.replace("cat", "the"), "line 4: the word 'the' stands there twice"),
    "no UTF-8": (TEXT.encode().replace(b"of", b"\xff\xfe"), r"line 3: the word b'\\xff\\xfe' is no UTF-8"),
    "too few numbers": (TEXT.replace("2 .25", "2"), "line 3: 'of' has 1 of 2 numbers"),
    "too many numbers": (TEXT.replace("2 .25", "2 .25 7"), "line 3: 'of' has more numbers than 2"),
    "ragged by turns": (GLOVE.replace("2 .25", "2").replace("4", "4 4"), "line 2: 'of' has 1 of 2 numbers"),
    "a word with a blank": (TEXT.replace("of", "o f"), "line 3: 'f' after 'o' should be a finite number"),
    "a blank before a bad number": (GLOVE.replace("of 2", "o f x"), "line 2: 'f' after 'o' should be a finite number"),
    "too many numbers and no header": (GLOVE.replace("2 .25", "2 .25 7"), "line 2: 'of' has more numbers than 2"),
    "a word with a blank twice": (
        GLOVE.replace("of", "o f") + "o  f 1 2\n",
        "line 4: the word 'o f' stands there twice",
    ),
    "a negative count": (TEXT.replace("3 2", "-1 2", 1), "line 1: '-1 2' is not 'WORDS WIDTH': two whole numbers of 1"),
    "a negative width": (TEXT.replace("3 2", "3 -2", 1), "line 1: '3 -2' is not 'WORDS WIDTH'"),
    "only blanks": (" \n\n", "line 1: b'' is neither"),
    "a header alone": ("3 2\n", "line 1: '3 2' is declared, and the file has only 4 bytes"),
}


@pytest.mark.parametrize(("text", "said"), BROKEN.values(), ids=BROKEN)
@pytest.mark.parametrize("packed", [False, True])
def test_broken(text: str | bytes, said: str, packed: bool) -> None:
    data = text if isinstance(text, bytes) else text.encode()
    if packed and "the file has only" in said:  # what a packed file holds is known when it is read
        said = "line [12]: .*(declared|has . of)" if "999999" in said or data == b"3 2\n" else said
    if packed and said.startswith("line 1: '3 999999'"):
        said = "line 2: 'the' has 2 of 999999 numbers"
    with pytest.raises(UserError, match=said) as raised:
        load(gzip.compress(data) if packed else data, "v.txt.gz" if packed else "v.txt")
    assert str(raised.value).startswith("v.txt") and "\n" not in str(raised.value)


def test_lines_without_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(opening, "LOOK", 50)
    monkeypatch.setattr(opening, "BLOCK", 50)
    monkeypatch.setattr(text_file, "LOOK", 50)
    monkeypatch.setattr(text_file, "LONGEST", 100)
    with pytest.raises(UserError, match="line 1: it is longer than 50 bytes"):
        load("the" + " 1" * 30)
    with pytest.raises(UserError, match="has a line longer than 100 bytes"):
        load(GLOVE + "x" * 300)


def test_what_is_written() -> None:
    WordVectors(["the", "é"], [[0.1, 2], [1 / 3, -1e-12]]).save("v.vec")
    assert Path("v.vec").read_text("utf-8") == "2 2\nthe 0.100000001 2\né 0.333333343 -9.99999996e-13\n"
    WordVectors(["the"], [[0.1, 2]]).save("v.glove.txt")
    assert Path("v.glove.txt").read_text("utf-8") == "the 0.100000001 2\n"


def test_gensim_reads_what_we_write() -> None:
    models = pytest.importorskip("gensim.models", reason="gensim is not installed")
    vectors = WordVectors(["the", "été", "日本"], np.random.default_rng(1).normal(size=(3, 4)))
    for name in ("v.txt", "v.bin"):
        vectors.save(name)
        theirs = models.KeyedVectors.load_word2vec_format(name, binary=name == "v.bin")
        assert theirs.index_to_key == vectors.words and np.array_equal(theirs.vectors, vectors.matrix)
        theirs.save_word2vec_format(f"their-{name}", binary=name == "v.bin")
        ours = WordVectors.load(f"their-{name}")
        assert ours.words == vectors.words and np.array_equal(ours.matrix, vectors.matrix)
