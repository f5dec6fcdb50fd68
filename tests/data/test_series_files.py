"""Tables, arrays and lists of numbers: what is read of them, and one line for each that cannot be."""

from __future__ import annotations

import gzip
import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from foresay.data.series_files import SeriesText
from foresay.errors import UserError

NAN = math.nan


def read(path: Path, **how: Any) -> tuple[list[list[Any]], tuple[str, ...]]:
    text = SeriesText(str(path), path, **how)
    found = [values.tolist() for _, values, _ in text]
    assert all(begin == 0 for _, _, begin in text)
    return found, text.columns


def put(path: Path, content: str | bytes) -> Path:
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def equal(one: Any, other: Any) -> bool:
    return np.array_equal(np.array(one, np.float32), np.array(other, np.float32), equal_nan=True)


@pytest.mark.parametrize(
    ("content", "columns", "values"),
    [
        ("a,b\n1,2.5\n,-3e2\n", ("a", "b"), [[1, 2.5], [NAN, -300]]),
        ("1,2\n3,NA\n", ("1", "2"), [[1, 2], [3, NAN]]),
        ("a;b\n1,5;2\n0,25;3\n", ("a", "b"), [[1.5, 2], [0.25, 3]]),
        ("a\tb\n1\t2\nnull\t3\n", ("a", "b"), [[1, 2], [NAN, 3]]),
        ("\ufeffa,b\r\n1,2\r\n", ("a", "b"), [[1, 2]]),
        ("7\n8\n\n9\n", ("1",), [[7], [8], [9]]),
        ('"the, price",n\n"1",2\n5,2\n', ("the, price", "n"), [[1, 2], [5, 2]]),
        ("day,x,note\n2020-01-01,1,fine\n2020-01-02,4,\n", ("x",), [[1], [4]]),
        ("year,x\n1700,5\n1701,4\n1702,9\n", ("x",), [[5], [4], [9]]),
        ("year,x\n1700,5\n1702,4\n1703,9\n", ("year", "x"), [[1700, 5], [1702, 4], [1703, 9]]),
        ("a,b\n1,x\n2,y\n4,7\n", ("a",), [[1], [2], [4]]),  # b: two of three are no numbers
        ("a,b\n1,x\n2,y\n4,\n", ("a",), [[1], [2], [4]]),  # what is not known says nothing
        ("n\n1\n2\n3\n", ("n",), [[1], [2], [3]]),  # alone it is what there is to learn
    ],
)
def test_tables(tmp_path: Path, content: str, columns: tuple[str, ...], values: list[Any]) -> None:
    found, names = read(put(tmp_path / "x.csv", content))
    assert names == columns and len(found) == 1 and equal(found[0], values)


def test_columns_that_are_named_in_their_order(tmp_path: Path) -> None:
    path = put(tmp_path / "x.csv", "year,a,b\n1,2,3\n2,5,6\n")
    assert read(path, wanted=["b", "year"]) == ([[[3, 1], [6, 2]]], ("b", "year"))
    assert read(path, wanted=[3]) == ([[[3], [6]]], ("b",))


def test_a_column_says_which_series_a_line_is_of(tmp_path: Path) -> None:
    path = put(tmp_path / "x.csv", "shop,x\nwest,1\neast,2\nwest,3\n")
    text = SeriesText("x", path, by="shop")
    assert [(name, values.tolist()) for name, values, _ in text] == [
        (f"{path}: shop west", [[1], [3]]),
        (f"{path}: shop east", [[2]]),
    ]


def test_packed_arrays_lists_and_folders(tmp_path: Path) -> None:
    np.save(tmp_path / "a.npy", np.arange(12, dtype=np.int16).reshape(2, 3, 2))
    put(tmp_path / "b.csv.gz", gzip.compress(b"x,y\n1,2\n"))
    put(tmp_path / "c.jsonl", "[[1, null], [2, 3.5]]\n\n[[4, 5]]\n")
    put(tmp_path / "d.json", json.dumps([[[1, 2]], [[3, 4], [5, 6]]]))
    put(tmp_path / "notes.txt", "no numbers")
    assert read(tmp_path / "a.npy") == ([[[0, 1], [2, 3], [4, 5]], [[6, 7], [8, 9], [10, 11]]], ("1", "2"))
    assert read(tmp_path / "b.csv.gz") == ([[[1, 2]]], ("x", "y"))
    lists, _ = read(tmp_path / "c.jsonl")
    assert equal(lists[0], [[1, NAN], [2, 3.5]]) and lists[1] == [[4, 5]]
    assert read(tmp_path / "d.json")[0] == [[[1, 2]], [[3, 4], [5, 6]]]
    (tmp_path / "b.csv.gz").unlink()
    found, names = read(tmp_path, wanted=["first", "second"])
    assert len(found) == 6 and names == ("first", "second")
    assert read(put(tmp_path / "e.json", "[1, 2, 4]")) == ([[[1], [2], [4]]], ("1",))


@pytest.mark.parametrize(
    ("content", "how", "said"),
    [
        ("a,b\n1,2\n3\n", {}, "line 3 has 1 cells, the first line 2; mend it"),
        ("a\n1\n" + "2\n" * 120 + "x\n", {}, "line 123: column a holds 'x'; allowed: a number, or nothing"),
        ("a,b\n1,2\n3,oops\n5,6\n", {}, "line 3: column b holds 'oops'; allowed: a number, or nothing"),
        ("year,b\n1700,2\noops,3\n1702,4\n", {}, "line 3: column year holds 'oops'"),
        ("a,b\n1,2\n3,x\n", {}, "line 3: column b holds 'x'"),  # half of them are numbers
        ("a,b\nx,y\n", {}, "has no column of numbers among a, b; name one: data.columns"),
        ("a,b\n", {}, "has a line of names and no numbers|has no column of numbers"),
        ("", {}, "is empty; give a table of numbers"),
        ("a,bee\n1,2\n", {"wanted": ["be"]}, r"has no column 'be'; allowed: a, bee; did you mean 'bee'\?"),
        ("a,b\n1,2\n", {"wanted": [3]}, "has no column 3; allowed: 1 to 2"),
        ("a,b\n1,2\n", {"by": "c"}, "has no column 'c'; allowed: a, b"),
        ("a\n1e39\n", {}, "step 1 is infinite, or too large for float32"),
        ("a\ninf\n", {}, "step 1 is infinite"),
        (b"a\n\xff\n", {}, "is not UTF-8: byte 0xFF; save it so"),
    ],
)
def test_tables_that_cannot_be_read(tmp_path: Path, content: Any, how: dict[str, Any], said: str) -> None:
    path = put(tmp_path / "x.csv", content)
    with pytest.raises(UserError, match=said) as told:
        read(path, **how)
    assert str(path) in str(told.value) and "\n" not in str(told.value)


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("x.jsonl", "[1, 2\n", "line 1 is no JSON"),
        ("x.jsonl", '["a"]\n', "line 1 is no list of numbers"),
        ("x.jsonl", "[[1, 2], [3]]\n", "line 1 is no list of numbers, or of lists of as many each"),
        ("x.json", "{}", "holds no lists of numbers"),
        ("x.npy", "nothing", "is no array that can be read"),
        ("x.csv.gz", gzip.compress(b"1,2\n" * 999, mtime=0)[:30], "cannot be read"),
        ("x.jsonl", "[[1]]\n[[1, 2]]\n", "line 2 has 2 columns, others have 1; make them alike"),
        ("x.jsonl", "[]\n", "has no steps|is no list of numbers"),
    ],
)
def test_others_that_cannot_be_read(tmp_path: Path, name: str, content: Any, said: str) -> None:
    with pytest.raises(UserError, match=said):
        read(put(tmp_path / name, content))


def test_arrays_of_something_else_and_folders_of_nothing(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="holds no series; allowed: a table"):
        read(tmp_path)
    np.save(tmp_path / "x.npy", np.array(["a", "b"]))
    with pytest.raises(UserError, match=r"x.npy holds <U1 \(2,\); allowed: numbers \(T,\), \(T, D\) or \(N, T, D\)"):
        read(tmp_path / "x.npy")


def test_a_column_with_some_numbers_is_told_so(tmp_path: Path) -> None:
    text = SeriesText("x", put(tmp_path / "x.csv", "a,b,c\n1,x,p\n2,y,q\n4,7,r\n"))
    list(text)
    assert text.left_out == {"b": "some numbers among what is none", "c": "no number"}


@pytest.mark.parametrize(
    ("values", "lost"),
    [
        ([1e9 + n / 1000 for n in range(50)], True),  # float32 has steps of 64 there
        ([1e9 + 64 * n for n in range(50)], False),  # all of them are numbers of float32
        ([1e9 + 96 * n for n in range(200)], False),  # moved by 32 at most, of 19,104
        ([1e9 + 96 * n for n in range(20)], True),  # of 1,824
        ([1e9 + 0.3] * 50, False),  # never changes
        ([0.1 * n for n in range(50)], False),
        ([math.nan, 1e9, 1e9 + 1.5], True),
    ],
)
def test_what_float32_does_not_hold(tmp_path: Path, values: list[float], lost: bool) -> None:
    lines = "".join(f"1,{'' if math.isnan(value) else repr(value)}\n" for value in values)
    text = SeriesText("x", put(tmp_path / "x.csv", "one,far\n" + lines))
    list(text)
    if not lost:
        text.check_held()
        return
    with pytest.raises(UserError, match=r"x: column far has numbers from 1000000000 on that .*; subtract 1000000000"):
        text.check_held()
