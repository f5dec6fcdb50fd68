"""Blocks of text: put together they are the text; a cut is where it may be."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foresay.data import reading
from foresay.data.reading import documents, lines
from foresay.data.source import Reading, Source
from foresay.data.split import Stretch
from foresay.errors import UserError

TEXT = st.text(st.sampled_from("a中é😀 \r\n"), min_size=1, max_size=40)


def whole(*texts):
    return [Stretch(Source(str(i), content=text.encode()), 0, len(text.encode())) for i, text in enumerate(texts)]


CUTS = st.sampled_from(["at lines", "at blanks", "anywhere"])


@given(texts=st.lists(TEXT, min_size=1, max_size=3), block=st.integers(1, 20), cuts=CUTS)
def test_documents_put_together(texts, block, cuts):
    found = [""]
    for piece in documents(whole(*texts), cuts, block):
        assert piece.characters == len(piece.texts[0])
        found[-1] += piece.texts[0]
        if piece.last:
            found.append("")
        elif cuts != "anywhere":
            assert piece.texts[0].endswith(("\n", " ") if cuts == "at blanks" else "\n")
    assert found == [*texts, ""]
    read = list(documents(whole(*texts), cuts, block))
    assert sum(piece.bytes for piece in read) == sum(len(text.encode()) for text in texts)


@given(texts=st.lists(TEXT, min_size=1, max_size=3), block=st.integers(1, 20))
def test_lines(texts, block):
    read = list(lines(whole(*texts), block))
    expected = [line.removesuffix("\r") for text in texts for line in text.split("\n") if line.strip()]
    assert [line for piece in read for line in piece.texts] == expected
    assert sum(piece.characters for piece in read) == sum(len(line) + 1 for line in expected)
    assert sum(piece.bytes for piece in read) == sum(len(line.encode()) + 1 for line in expected)


def test_blank_lines_may_be_kept():
    text = " a \n\n \t\nb\n\n"
    kept = Stretch(Source("a", content=text.encode(), read=Reading(blank="keep")), 0, len(text))
    (block,) = lines([kept])
    assert block.texts == [" a ", "", " \t", "b", ""] and block.characters == block.bytes == len(text)
    assert [block.texts for block in lines(whole(text))] == [[" a ", "b"]]


def test_blocks_stay_small():
    text = "0123456789\n" * 1000
    assert max(piece.characters for piece in documents(whole(text), "at lines", 100)) <= 110
    assert max(piece.characters for piece in documents(whole(text), "anywhere", 100)) <= 100
    one_line = "0123456789 " * 1000
    assert max(piece.characters for piece in documents(whole(one_line), "at blanks", 100)) <= 110
    assert len(list(documents(whole(one_line), "at lines", 100))) == 1


def test_lines_come_before_blanks():
    assert [one.texts[0] for one in documents(whole("a b\nc d e"), "at blanks", 6)] == ["a b\n", "c d e"]


def test_too_much_without_a_blank_is_told(monkeypatch):
    monkeypatch.setattr(reading, "LONGEST_LINE", 100)
    with pytest.raises(UserError, match=r"^0 has more than 100 bytes without a blank or a line end; break them up"):
        list(documents(whole("short words " + "x" * 150 + " end"), "at blanks", 20))


def test_a_file_that_became_shorter(tmp_path):
    path = tmp_path / "a"
    path.write_text("abc")
    with pytest.raises(UserError, match="a became shorter while it was read"):
        list(documents([Stretch(Source("a", path), 0, 9)], True))
    path.unlink()
    with pytest.raises(UserError, match="a cannot be read: No such file"):
        list(lines([Stretch(Source("a", path), 0, 9)]))
