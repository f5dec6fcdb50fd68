"""Texts in other encodings, and bytes that belong to none."""

import io

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from foresay.data.compressed import NotText
from foresay.data.corpus import Corpus
from foresay.data.decoding import Decoded, check_encoding
from foresay.data.prepare import prepare
from foresay.data.source import Reading
from foresay.errors import UserError
from foresay.text.characters import Characters


def decoded(content, encoding, replace=False, size=3):
    stream, found = Decoded(io.BytesIO(content), encoding, replace), b""
    while block := stream.read(size):
        found += block
    return found.decode(), stream.replaced


@pytest.mark.parametrize("encoding", ["utf-8", "latin-1", "cp1252", "utf-16", "gb18030", "shift-jis"])
def test_every_encoding(encoding):
    text = "ab\ncd " + ("中文" if encoding in ("gb18030", "shift-jis", "utf-8", "utf-16") else "é") * 5
    for size in (1, 2, 5, 100):
        assert decoded(text.encode(encoding), encoding, size=size) == (text, 0)
    assert decoded(("\ufeff" + text).encode(), "utf-8") == (text, 0)


@example(content=b"\xef", size=1)
@example(content=b"\xef\xbb", size=3)
@example(content=b"\xef\xbb\xbf\xef\xbb\xbf", size=2)
@given(content=st.binary(max_size=30), size=st.integers(1, 9))
def test_replacing_is_what_python_does_and_is_counted(content, size):
    content = content.replace(b"\0", b"")
    text, replaced = decoded(content, "utf-8", True, size)
    assert text == content.decode("utf-8-sig", "replace")
    own = content.decode("utf-8-sig", "ignore").count("\ufffd")
    assert replaced == text.count("\ufffd") - own


def test_half_a_mark_is_no_text():
    with pytest.raises(NotText, match=r"is not UTF-8: byte 0xEF at offset 0"):
        decoded(b"\xef\xbb", "utf-8")


def test_which_byte_is_wrong():
    with pytest.raises(
        NotText, match=r"is not shift_jis: byte 0xFF at offset 4; say its encoding \(--encoding latin-1"
    ):
        decoded("中文".encode("shift-jis") + b"\xff\xff", "shift_jis")
    with pytest.raises(NotText, match="is binary"):
        decoded(b"a\0b", "latin-1")


def test_a_file_in_another_encoding(tmp_path):
    path = tmp_path / "a.txt"
    text = "café au lait\n" * 20
    path.write_bytes(text.encode("latin-1"))
    with pytest.raises(
        UserError, match=r"is not UTF-8: byte 0xE9 at offset 3; .*--encoding latin-1.*data.errors=replace"
    ):
        Corpus(str(path)).find()
    (tmp_path / "utf8.txt").write_text(text)
    utf8 = prepare(Corpus(str(tmp_path / "utf8.txt")), Characters(), 1, cache=tmp_path / "c")
    other = prepare(Corpus(str(path), read=Reading(encoding="latin-1")), Characters(), 1, cache=tmp_path / "c")
    assert other.folder == utf8.folder and other.notes == ()
    lossy = prepare(Corpus(str(path), read=Reading(errors="replace")), Characters(), 1, cache=tmp_path / "c")
    assert lossy.notes == ("data.train: 20 places that held no utf-8 became U+FFFD",)
    assert "\ufffd" in lossy.tokens.pieces(range(len(lossy.tokens)))


@pytest.mark.parametrize("replace", [False, True])
def test_utf16_without_its_mark(replace):
    with pytest.raises(NotText, match=r"is not utf-16 \(.*BOM\); say utf-16-le or utf-16-be"):
        decoded(b"plain text", "utf-16", replace)


@pytest.mark.parametrize("encoding", ["utf-16", "utf-32"])
def test_other_forms_of_unicode_are_named(tmp_path, encoding):
    path = tmp_path / "a.txt"
    path.write_bytes("text".encode(encoding))
    for read in (Reading(), Reading(errors="replace")):
        with pytest.raises(UserError, match=f"is {encoding.upper()}, not UTF-8: say so with --encoding {encoding}"):
            Corpus(str(path), read=read).find()


@pytest.mark.parametrize("name", ["utf8", "UTF-8", "U8"])
def test_every_name_of_utf8_leaves_out_the_mark(tmp_path, name):
    path = tmp_path / "a.csv"
    path.write_text("\ufefftext,id\na,1\n", encoding="utf-8")
    assert Corpus(str(path), read=Reading(encoding=name)).find()["train"].bytes == 2


@pytest.mark.parametrize("name", ["utf8000", "rot13", "base64"])
def test_what_is_no_encoding(name):
    with pytest.raises(UserError, match=f"encoding='{name}' is no encoding; allowed: utf-8, latin-1"):
        check_encoding(name)
