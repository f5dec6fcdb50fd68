"""Files of columns: what is read of them, and every mistake with its line."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from foresay.data.tag_set import TagSet, open_tags
from foresay.data.tags import Tags
from foresay.errors import UserError
from tests.data.tagged import TEXT, read_back, ready

EXPECTED = [
    [("Anna", "B-person"), ("lives", "O"), ("in", "O"), ("New", "B-place"), ("York", "I-place")],
    [("She", "O"), ("sleeps", "O")],
]


@pytest.mark.parametrize(
    "text",
    [
        TEXT,
        TEXT.replace("\t", " "),
        TEXT.replace("\n", "\r\n"),
        TEXT.replace("O\n", "O\r\n", 2),  # mixed
        "\ufeff\n\n" + TEXT.replace("\n\n", "\n \t\n\n") + "\n\n",
        "-DOCSTART- O\n\n" + TEXT,
        TEXT.rstrip("\n"),
    ],
    ids=["tabs", "blanks", "crlf", "mixed", "more blank lines", "docstart", "no end"],
)
def test_words_and_tags(text):
    prepared = ready(text)
    assert read_back(prepared) == EXPECTED
    assert prepared.tags == TagSet(("O", "B-person", "I-person", "B-place", "I-place"), "bio")
    assert prepared.train.ends.tolist() == [6, 9] and prepared.train.sizes.tolist() == [5, 2]  # pyright: ignore
    assert open_tags(prepared.folder) == prepared.tags


def test_columns_conllu_and_packed():
    text = "# text = They're\n1-2\tThey're\t_\t_\n1\tThey\tthey\tPRON\n2\t're\tbe\tAUX\n2.1\tx\tx\tX\n\n"
    expected = [[("They", "PRON"), ("'re", "AUX")]]
    assert read_back(ready(gzip.compress(text.encode()), name="a.conllu.gz")) == expected
    four = "They PRP B-NP O\n're VBP B-VP O\n"
    assert read_back(ready(four, read={"columns": [1, 2]})) == [[("They", "PRP"), ("'re", "VBP")]]
    assert read_back(ready(four, read={"columns": [1, -1]})) == [[("They", "O"), ("'re", "O")]]


def test_lines_of_words_where_some_are_left_out():
    Path("a.conllu").write_text("# one\n1\ta\ta\tX\n2\tb\tb\tX\n\n1\tc\tc\tX\n1.1\tx\tx\tX\n2\td\td\tX\n")
    first, second = Tags("a.conllu").find(1)["train"]
    assert (list(first.lines), list(second.lines)) == ([2, 3], [5, 7])


COMMENT = "looks like a comment: delete such lines, or set data.format=conllu where the file is CoNLL-U"


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("# doc1\nAnna N\nleft V\n\n# doc2\nBob N\n\n", 1),
        ("Anna N\nleft V\n\n# doc1\nBob N\n\nCarl N\n", 4),  # one alone
        ("# sent 1\n# sent 1\nAnna N 1\n", 1),  # two above each other
        ("Anna\tN\n\n# doc1\n\nBob\tN\n", 3),  # with a sentence of its own
        ("Anna N\n\n# doc1", 3),
    ],
)
def test_a_comment_is_no_word(text, line):
    columns = {"read": {"columns": [1, 2]}} if "sent" in text else {}
    tag = "sent" if columns else "doc1"
    with pytest.raises(UserError) as raised:
        ready(text, **columns)
    assert str(raised.value) == (
        f"a.conll: line {line} begins with # and has the tag {tag}, which no other word has; it {COMMENT}; where # "
        "is a word, put a tab behind it"
    )


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("# O\n1 O\n", [[("#", "O"), ("1", "O")]]),  # its tag is another word's too
        ("1 O\n# SYM\n\n# SYM\n", [[("1", "O"), ("#", "SYM")], [("#", "SYM")]]),  # it stands within a sentence too
        ("#\tSYM\n1\tO\n", [[("#", "SYM"), ("1", "O")]]),  # a tab behind it
    ],
)
def test_a_number_sign_may_be_a_word(text, expected):
    assert read_back(ready(text)) == expected


@pytest.mark.parametrize(
    ("text", "settings", "error"),
    [
        ("# text = a b\na O\n", {}, f"a.conll has 5 columns at line 1, which {COMMENT}"),
        ("# doc1\na b O\n", {"read": {"columns": [1, 3]}}, f"a.conll has 2 columns at line 1, which {COMMENT}"),
        ("# doc1\na x y O\n", {}, f"a.conll: line 2 has 4 columns, line 1 has 2; line 1 {COMMENT}"),
        ("a O\n\n# a b\nb O\n", {}, f"a.conll: line 3 has 3 columns, line 1 has 2; line 3 {COMMENT}"),
    ],
)
def test_a_comment_with_other_columns(text, settings, error):
    with pytest.raises(UserError) as raised:
        ready(text, **settings)
    assert str(raised.value) == error


@pytest.mark.parametrize(
    "text", [">1abc\nMKVL\nCCEE\n\n>2 of two\nGA\nCH\n", "MKVL\r\nCCEE\r\nGA\r\nCH"], ids=["names", "no names"]
)
def test_letters(text):
    expected = [list(zip("MKVL", "CCEE", strict=True)), list(zip("GA", "CH", strict=True))]
    assert read_back(ready(text, "characters", "a.fasta")) == expected
    assert read_back(ready(text, "characters", "a.txt", read={"format": "letters"})) == expected


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("MKV\nCC\n", "a.3line: line 2 has 2 letters, and line 1 has 3 symbols; give each a tag of one letter"),
        (">a\nMKV\n>b\nMK\n", "line 3 has a name, and line 2 has 3 symbols"),
        (">a\nMKV\nCCC\nMKV\n", "line 4 is a third below its name; give symbols and tags a line each"),
        ("MKV\nCCC\nMK\n", "line 3 has symbols, and no line of tags follows"),
        ("M KV\nC CC\n", "line 1 or 2 has a blank within"),
        (">a\n", "a.3line has no words"),
    ],
)
def test_a_mistake_in_letters(text, error):
    with pytest.raises(UserError, match=error) as raised:
        ready(text, "characters", "a.3line")
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize(
    ("text", "settings", "error"),
    [
        ("a O\nb\n", {}, "line 2 has 1 column, line 1 has 2; every line of a word needs as many"),
        ("a O\n\nb O x\n", {}, "line 3 has 3 columns, line 1 has 2"),
        ("a\tO\nb\t\n", {}, "line 2 has an empty tag"),
        ("a\tO\n\tO\n", {}, "line 2 has an empty word"),
        ("a O\nb\0 O\n", {}, "line 2 holds a zero byte in its text; mend or delete it"),
        ("a O\rb O\rc O\n", {}, "line 1 has a carriage return within"),
        ("a O x\n", {}, "has 3 columns at line 1; say which are the word's and the tag's: data.columns="),
        ("a O\n", {"read": {"columns": [1, 3]}}, r"data.columns=\[1, 3\], but a.conll has 2 columns at line 1"),
        ("a O\n", {"read": {"columns": [2, -1]}}, "allowed: two different ones of 1 to 2"),
        ("\n\n", {}, "a.conll has no words"),
        (b"a O\n\xff O\n", {}, "line 2 is not UTF-8: byte 0xFF"),
    ],
)
def test_a_mistake_is_told_with_its_line(text, settings, error, tmp_path):
    with pytest.raises(UserError, match=error) as raised:
        ready(text, **settings)
    assert "\n" not in str(raised.value)
