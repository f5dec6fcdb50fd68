"""Pairs as they stand in files: line numbers, what ends a line, columns, and mistakes with their line."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from foresay.data import records
from foresay.data.pair_files import PairText, text_lines
from foresay.data.records import RETURN
from foresay.data.source import Reading, Source
from foresay.errors import UserError


def source(name: str, content: str | bytes, form: Any = "text") -> Source:
    Path(name).write_bytes(content.encode() if isinstance(content, str) else content)
    return Source(name, Path(name), read=Reading(format=form))


def table(content: str | bytes, form: str, columns: list[str | int] | None = None) -> PairText:
    return PairText(f"p.{form}", (source(f"p.{form}", content, form),), columns=columns)


def said(text: PairText) -> str:
    with pytest.raises(UserError) as caught:
        list(text)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_made_pairs_are_numbered_and_turned_and_can_be_read_again() -> None:
    text = PairText("made", made=[("a", "x"), ("b", "y")])
    assert list(text) == list(text) == [(1, "a", "x"), (2, "b", "y")]
    assert list(PairText("made", made=[("a", "x")], reverse=True)) == [(1, "x", "a")]
    assert said(PairText("made", made=[("a", "x"), ("b", " ")])).startswith("made: line 2 has an empty target; every")


def test_of_turned_pairs_the_second_is_the_source() -> None:
    empty = PairText("made", made=[("a", "x"), ("b", " ")], reverse=True)
    assert said(empty).startswith("made: line 2 has an empty source (data.reverse=true); every line needs both")
    short = PairText("both", (source("a.en", "a\n"), source("a.de", "x\ny\n")), reverse=True)
    assert "a.en has 1 lines and a.de has 2: line 2 has no target (data.reverse=true); give" in said(short)


def test_what_ends_a_line_and_begins_a_file_is_no_text() -> None:
    one = source("a.en", "\ufeffa\u2028b\r\nc\x0bd\r\n")  # only a newline ends a line
    assert list(PairText("both", (one, source("a.de", "x\ny")))) == [(1, "a\u2028b", "x"), (2, "c\x0bd", "y")]


@pytest.mark.parametrize("block", range(1, 12))
def test_lines_are_the_same_in_blocks_of_any_size(block: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(records, "_BLOCK", block)
    assert list(text_lines(source("a", "\ufeffa\r\n\n\né€\n\ufeffb\r\r\nc"))) == ["a", "", "", "é€", "\ufeffb\r", "c"]
    assert list(text_lines(source("a", "\n"))) == [""] and not list(text_lines(source("a", "")))


@pytest.mark.parametrize("block", [1, 4, 2**20])
def test_lines_before_one_that_is_no_text_come_first(block: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(records, "_BLOCK", block)
    lines = text_lines(source("a", b"one\r\ntwo\n\xff\nfour\n"))
    assert [next(lines), next(lines)] == ["one", "two"]
    with pytest.raises(UserError, match=r"^a: line 3 is not UTF-8: byte 0xFF; say its encoding: --encoding latin-1"):
        next(lines)


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
def test_utf_16_is_told_by_its_mark_and_read_by_its_name(encoding: str) -> None:
    content = "\ufeffone\ntwo\n".encode(encoding)
    with pytest.raises(UserError, match=r"^a: line 1 is not UTF-8: byte 0xF[EF]; .*: --encoding utf-16$"):
        list(text_lines(source("a", content)))
    named = Source("a", content=content, read=Reading(format="text", encoding="utf-16"))
    assert list(text_lines(named)) == ["one", "two"]


def test_tsv_has_no_quotes_and_csv_has() -> None:
    assert list(table('"a\tb"\nc\td\n', "tsv")) == [(1, '"a', 'b"'), (2, "c", "d")]
    assert list(table('"a, ""b""",x\n"two\nlines",y\nz,w\n', "csv")) == [
        (1, 'a, "b"', "x"),
        (2, "two\nlines", "y"),
        (4, "z", "w"),
    ]


def test_blank_lines_of_a_table_are_passed_over_with_their_numbers() -> None:
    assert list(table("a\tb\n\nc\td\n", "tsv")) == [(1, "a", "b"), (3, "c", "d")]
    rows = '{"source": "a", "target": "b"}\n\n{"target": "d", "source": "c", "n": 1}\n'
    assert list(table(rows, "jsonl")) == [(1, "a", "b"), (3, "c", "d")]


def test_columns_by_header_name_and_number() -> None:
    rows = "en\tn\tde\na\t1\tx\n"
    assert list(table(rows, "tsv", ["de", "en"])) == [(2, "x", "a")]
    assert list(table(rows, "tsv", [1, 3])) == [(1, "en", "de"), (2, "a", "x")]
    assert list(table("target,source\nx,a\n", "csv")) == [(2, "a", "x")]
    assert list(table('{"q": "a", "a": "x"}', "jsonl", ["q", "a"])) == [(1, "a", "x")]


@pytest.mark.parametrize(
    ("content", "form", "columns", "words"),
    [
        ("a,b\rc,d\r", "csv", None, f"p.csv: line 1 {RETURN}"),
        ("a\tb\nc\rd\te\n", "tsv", None, f"p.tsv: line 2 {RETURN}"),
        ('a,b\n"c,d\n', "csv", None, "p.csv: line 2 is no CSV (unexpected end of data); mend it"),
        ("nothing", "jsonl", None, "p.jsonl: line 1 is no JSON (Expecting value at column 1); mend or delete it"),
        ("[" * 10**5, "jsonl", None, "p.jsonl: line 1 is no JSON we can read (it is nested too deep); mend or delete"),
        ("[" + "1" * 5000 + "]", "jsonl", None, "p.jsonl: line 1 is no JSON we can read (a number has too many"),
        ("a\tb\nc\n", "tsv", None, "p.tsv: line 2 has 1 field, the first has 2; mend it"),
        ("a,b\n", "csv", [1, 3], "p.csv has no column 3; allowed: 1 to 2"),
        ("a,b\n", "csv", ["c", "b"], "p.csv has no column 'c'; allowed: a, b"),
        ("a,b,a\n", "csv", ["a", "b"], "p.csv: line 1 has 'a' in columns 1 and 3; give each a name of its own"),
        ("a\tb\tc\n", "tsv", None, "p.tsv has 3 columns and none called source and target; name two"),
        ('{"source": 1, "target": "b"}', "jsonl", None, "p.jsonl: line 1 has no texts source and target"),
        ('["a", "b"]', "jsonl", None, "p.jsonl: line 1 has no texts source and target"),
        ('{"a": "b"}\n{', "jsonl", ["a", "a"], "p.jsonl: line 2 is no JSON"),
        (b"a\tb\n\xe9\tb\n", "tsv", None, "p.tsv: line 2 is not UTF-8: byte 0xE9; say its encoding"),
    ],
)  # fmt: skip
def test_mistakes_name_their_line(content: str | bytes, form: str, columns: Any, words: str) -> None:
    assert said(table(content, form, columns)).startswith(words)


def test_a_file_that_is_gone() -> None:
    gone = Source("gone.en", Path("gone.en"), read=Reading(format="text"))
    assert said(PairText("both", (gone, source("a.de", "x\n")))).startswith("gone.en cannot be read: No such file")
