"""Columns of tables: by name and by number, quoted, from pipes; every mistake with its line."""

from __future__ import annotations

import io
import sys
from pathlib import Path

import pytest

from foresay.cli.columns import column_texts
from foresay.errors import UserError


def piped(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text.encode()), "utf-8"))


def test_by_name_and_by_number(monkeypatch):
    Path("a.csv").write_text('stars,review\n5,"good,\nall in all"\n\n1,dull\n')
    expected = [("a.csv line 2", "good,\nall in all"), ("a.csv line 5", "dull")]
    assert list(column_texts(["a.csv"], ["review"])) == expected
    Path("b.tsv").write_text('5\t"quoted"\n1\tdull\n')
    assert list(column_texts(["b.tsv"], ["2"])) == [("b.tsv line 1", '"quoted"'), ("b.tsv line 2", "dull")]
    piped(monkeypatch, Path("a.csv").read_text())
    assert [text for _, text in column_texts(["-"], ["review"], "csv")] == ["good,\nall in all", "dull"]


def test_two_columns_are_joined():
    Path("a.tsv").write_text("id\tone\tother\n1\ta b\tc\n")
    assert list(column_texts(["a.tsv"], ["one", "other"], between="|||")) == [("a.tsv line 2", "a b ||| c")]
    Path("a.jsonl").write_text('{"one": "a", "other": "c"}\n{"one": "a"}\n')
    found = column_texts(["a.jsonl"], ["other", "one"], between="#")
    assert next(found) == ("a.jsonl line 1", "c # a")
    with pytest.raises(UserError, match=r"a\.jsonl line 2 has no text 'other'"):
        next(found)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.csv", "p,q\na,b\na,c ||| d\n"),
        ("a.tsv", "p\tq\na\tb\na|||\tb\n"),
        ("a.jsonl", '{"p": "a", "q": "b"}\n\n{"p": "a|||b", "q": ""}\n'),
    ],
)
def test_what_stands_between_two_is_in_neither(name, content):
    """As in training; a text alone may hold it."""
    Path(name).write_text(content)
    found = column_texts([name], ["p", "q"], between="|||")
    assert next(found)[1] == "a ||| b"
    with pytest.raises(UserError, match=rf"^{name} line 3 has a text with '\|\|\|', which stands between two; take it"):
        next(found)
    assert len(list(column_texts([name], ["p"]))) == 2


def test_where_one_is_empty_there_is_no_text():
    Path("a.csv").write_text("p,q\na,\n ,b\na,b\n")
    assert [text for _, text in column_texts(["a.csv"], ["p", "q"], between="#")] == ["", "", "a # b"]
    Path("a.jsonl").write_text('{"p": null, "q": "b"}\n{"p": "a", "q": "b"}\n')
    assert [text for _, text in column_texts(["a.jsonl"], ["p", "q"], between="#")] == ["", "a # b"]


def test_json_lines_are_read_as_they_come(monkeypatch):
    Path("a.jsonl").write_text('{"t": "a"}\n\n{"t": "b", "n": 1}\n')
    assert list(column_texts(["a.jsonl"], ["t"])) == [("a.jsonl line 1", "a"), ("a.jsonl line 3", "b")]
    piped(monkeypatch, '{"t": "a"}\nno JSON\n')
    found = column_texts(["-"], ["t"], "jsonl")
    assert next(found) == ("standard input line 1", "a")  # before the second line is looked at
    with pytest.raises(UserError, match=r"^standard input line 2 is no JSON \(Expecting value at column 1\); mend"):
        next(found)


@pytest.mark.parametrize(
    ("name", "content", "column", "error"),
    [
        ("a.csv", "x,y\n1,2\n", "z", r"^a.csv has no column 'z'; allowed: x, y$"),
        ("a.csv", "x,y\n1,2,3\n", "y", r"^a.csv: line 2 has 3 fields, the first has 2; mend it$"),
        ("a.csv", 'x,y\n1,"2\n', "y", r"^a.csv: line 2 is no CSV"),
        ("a.jsonl", '{"t": 5}\n', "t", r"^a.jsonl line 1 has no text 't'; allowed: \{\"t\": \"...\"\}$"),
        ("a.txt", "x\n", "t", r"^--column t, but a.txt is no table by its name .*; leave it out, or give --format$"),
        ("gone.csv", None, "t", r"^gone.csv is no file; give a table, or - for a pipe$"),
        ("-", None, "t", r"^--column t, but - is no table .*; say what the pipe holds: --format jsonl$"),
    ],
)
def test_mistakes(name, content, column, error):
    if content is not None:
        Path(name).write_text(content)
    with pytest.raises(UserError, match=error):
        list(column_texts([name], [column]))


def test_a_format_that_is_none():
    with pytest.raises(UserError, match=r"^--format xml; allowed: csv, tsv, jsonl$"):
        list(column_texts(["-"], ["t"], "xml"))
