"""Texts for a command: from files, packed or not, from pipes as they come, and from the line itself."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import os
import sys
from pathlib import Path

import pytest
import zstandard

from foresay.cli.lines import Pipe, is_path, lines_of, placed_lines, read_lines
from foresay.errors import UserError


def test_lines_come_with_their_places():
    Path("a.txt").write_bytes(b"\xef\xbb\xbfone\r\n\ntwo")
    assert list(placed_lines(["a.txt", "a b"])) == [
        ("a.txt line 1", "one"),
        ("a.txt line 2", ""),
        ("a.txt line 3", "two"),
        (None, "a b"),
    ]
    assert list(read_lines(["x", "y"])) == ["x", "y"]
    with pytest.raises(UserError, match=r"^gone.txt is no file; give a file of lines, - for a pipe, or the text"):
        list(placed_lines(["gone.txt"]))


@pytest.mark.parametrize(
    ("name", "pack"),
    [
        ("a.gz", gzip.compress),
        ("a.bz2", bz2.compress),
        ("a.xz", lzma.compress),
        ("a.zst", zstandard.ZstdCompressor().compress),
    ],
)
def test_packed_files_are_unpacked(name, pack):
    packed = pack("één\n\ntwee\n".encode() * 30)
    Path(name).write_bytes(packed)
    assert list(read_lines([name])) == ["één", "", "twee"] * 30
    Path(name).write_bytes(packed[:-9])
    with pytest.raises(UserError, match=rf"^{name} is cut short: its .* data end in the middle; get it again$"):
        list(read_lines([name]))


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        *[(f"gone{end}", True) for end in (".CSV", ".conll", ".conllu", ".fasta", ".3line", ".ndjson", ".zstd")],
        ("./a", True),
        ("~/x y", False),
        ("and so on.", False),
        ("/usr", True),
    ],
)
def test_what_is_meant_as_a_path(text, meant):
    assert is_path(text) is meant


def test_what_is_no_utf_8_is_told_with_its_line():
    found = lines_of([b"a", b"b", b"x" * 9000, b"y\xff"], "here")
    with pytest.raises(UserError, match=r"^here line 4 is not UTF-8: byte 0xFF; convert it, as with iconv"):
        list(found)


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
def test_utf_16_is_told_by_its_mark(encoding):
    first, *more = "\ufeffone\ntwo\n".encode(encoding).split(b"\n")
    with pytest.raises(UserError, match=r"^here line 1 is not UTF-8: byte 0xF[EF]; .* iconv -f utf-16 -t utf-8$"):
        list(lines_of([first, *more], "here"))
    with pytest.raises(UserError, match=r"^here line 2 is not UTF-8: byte 0xF[EF]; .* iconv -f latin1 -t utf-8$"):
        list(lines_of([b"a", first], "here"))


@pytest.fixture
def pipe(monkeypatch: pytest.MonkeyPatch):
    """A pipe to standard input: where to write."""
    reads, writes = os.pipe()
    with os.fdopen(reads, encoding="utf-8") as file, os.fdopen(writes, "wb", buffering=0) as into:
        monkeypatch.setattr(sys, "stdin", file)
        yield into


def test_a_pipe_gives_what_has_come(pipe):
    """Each line before the next is written, whole however it comes in pieces, and all that lie there at once."""
    own = Pipe()
    found = iter(own)
    assert not own.waits
    pipe.write(b"one\n")
    assert next(found) == b"one" and own.waits
    pipe.write(b"t")
    pipe.write(b"wo\n\nthree\nfo")
    assert next(found) == b"two" and not own.waits and list(own.held) == [b"", b"three"]
    assert [next(found), next(found)] == [b"", b"three"] and own.waits
    pipe.write(b"ur\n \n")
    assert next(found) == b"four" and own.waits  # a blank line is no text that could be answered
    pipe.write(b"end")
    pipe.close()
    assert [*found] == [b" ", b"end"] and not own.waits


def test_a_line_that_comes_in_many_pieces(monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"\xc3\xa9" * 100_000 + b"\nb"), "utf-8"))
    assert list(placed_lines(["-"])) == [("standard input line 1", "é" * 100_000), ("standard input line 2", "b")]
