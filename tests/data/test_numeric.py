"""Which files are taken for series of numbers without being told."""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import pytest

from foresay.data.numeric import columns_of_numbers, holds_series

LINES = "".join(f"{n},{n * n % 7}\n" for n in range(20))
DAYS = "".join(f"2020-01-{n + 1:02d} 10:00,{n},\n" for n in range(20))


@pytest.mark.parametrize(
    ("name", "content", "found"),
    [
        ("x.csv", LINES, True),
        ("x.csv", f"day,x,y\n{DAYS}".replace(",\n", ",1.5\n"), True),
        ("x.csv", f"day,x,y\n{DAYS}", False),  # y has no number
        ("x.tsv", LINES.replace(",", "\t"), True),
        ("x.csv", "month;x\n" + "".join(f"Jan {1950 + n};1,{n}\n" for n in range(9)), True),
        ("x.csv", "1,2\n3,4\n", False),  # too little to tell
        ("x.csv", "text,label\n" + "a fine day,1\n" * 20, False),
        ("x.csv", "label,text\n" + "1,a fine day\n" * 20, False),
        ("x.csv", "a,b\n" + "1,2\n" * 9 + "1\n", False),
        ("x.txt", LINES, False),  # a text of numbers is a text
        ("x.jsonl", "[1.5, 2]\n", True),
        ("x.jsonl", "[[1.5, null], [2, 3]]\n", True),
        ("x.jsonl", "[1, 2]\n", False),  # may be symbols
        ("x.jsonl", '{"text": "a"}\n', False),
        ("x.jsonl", "1\n", False),
        ("x.jsonl", "", False),
        ("x.jsonl", "[1.5\n", False),
        ("x.csv", "", False),
    ],
)
def test_by_the_first_lines(tmp_path: Path, name: str, content: str, found: bool) -> None:
    (tmp_path / name).write_text(content, "utf-8")
    assert holds_series(tmp_path / name) is found
    packed = tmp_path / f"{name}.gz"
    packed.write_bytes(gzip.compress(content.encode()))
    assert holds_series(packed) is found


def test_a_long_table_whose_last_line_is_cut(tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    path.write_text("a,b\n" + "1.25,2.5\n" * 20_000, "utf-8")
    assert holds_series(path)


def test_arrays(tmp_path: Path) -> None:
    for name, array in (("a", np.zeros(3)), ("b", np.zeros(3, int)), ("c", np.zeros((2,) * 4)), ("d", np.array("x"))):
        np.save(tmp_path / name, array)
    assert [holds_series(tmp_path / f"{name}.npy") for name in "abcd"] == [True, False, False, False]
    (tmp_path / "a.npy").write_bytes(b"nothing")
    assert not holds_series(tmp_path / "a.npy") and not holds_series(tmp_path / "none.csv")


@pytest.mark.parametrize(
    ("name", "content", "found"),
    [
        ("x.csv", "date,city,sales\n2024-01-01,Bonn,3\n2024-01-02,Kiel,5.5\n", [False, False, True]),
        ("x.csv", "n,text\n1,one\n2,two\n", [True, False]),  # two lines say not that it counts
        ("x.csv", "n,text\n1,one\n2,two\n3,three\n", [False, False]),
        ("x.tsv", "a\tb\n1\toops\n4\t5\n", [True, True]),
        ("x.csv", 'a,b\n1,"', [True, False]),
        ("x.csv", "", []),
        ("x.txt", "a,b\n1,2\n", []),
    ],
)
def test_columns_of_numbers(tmp_path: Path, name: str, content: str, found: list[bool]) -> None:
    (tmp_path / name).write_text(content, "utf-8")
    assert list(columns_of_numbers(tmp_path / name).values()) == found
