"""Which parts series have, and what of them is held out."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from foresay import parts
from foresay.errors import UserError


def made(path: Path | str, **settings: Any) -> Any:
    return parts.make("data", {"kind": "series", "train": str(path), **settings})


def lists(path: Path, *lengths: int) -> Path:
    path.write_text("".join(f"{json.dumps([float(n) for n in range(size)])}\n" for size in lengths), "utf-8")
    return path


def shape(data: Any, part: str) -> list[tuple[int, int]]:
    """Of each series how many steps there are, and how many for context alone."""
    return [(len(values), begin) for _, values, begin in data.rows(part, seed=1)]


def test_few_series_keep_their_ends(tmp_path: Path) -> None:
    data = made(lists(tmp_path / "x.jsonl", 40, 10, 1), share=0.2)
    assert shape(data, "train") == [(32, 0), (8, 0), (1, 0)]
    assert shape(data, "valid") == [(40, 32), (10, 8)]  # all of it, with the beginning for context


def test_many_are_held_out_whole(tmp_path: Path) -> None:
    data = made(lists(tmp_path / "x.jsonl", *range(5, 65)), share=0.3)
    train, valid = shape(data, "train"), shape(data, "valid")
    assert sorted(train + valid) == [(size, 0) for size in range(5, 65)] and 9 <= len(valid) <= 27
    assert made(tmp_path / "x.jsonl", share=0.3).rows("valid", 1).__next__()[0].startswith(str(tmp_path))
    tail = made(tmp_path / "x.jsonl", share=0.3, holdout="tail")
    assert len(shape(tail, "valid")) == 60 and shape(tail, "valid")[-1] == (64, 45)
    few = made(lists(tmp_path / "y.jsonl", 9, 9, 9, 9), share=0.5, holdout="series")
    assert all(begin == 0 for _, begin in shape(few, "valid")) and len(shape(few, "valid")) in (1, 2, 3)


def test_what_brings_its_own_parts(tmp_path: Path) -> None:
    data = made("builtin:sunspots")
    assert [shape(data, part) for part in ("train", "valid", "test")] == [[(200, 0)], [(250, 200)], [(309, 250)]]
    own = made("builtin:sunspots", valid=str(lists(tmp_path / "x.jsonl", 7)))
    assert shape(own, "valid") == [(7, 0)]
    assert made("builtin:sunspots").find(1)["train"].columns == ("sunspots",)


@pytest.mark.parametrize(
    ("place", "said"),
    [
        ("none.csv", "data.train='none.csv' is no file, folder or known text"),
        ("builtin:digits", "builtin:digits has no series; allowed: builtin:sunspots, builtin:balls, builtin:seasons"),
        ("x.png", "data.train='x.png' is no series; allowed: a table"),
    ],
)
def test_what_is_none(place: str, said: str) -> None:
    Path("x.png").write_bytes(b"")
    with pytest.raises(UserError, match=said):
        made(place).find(1)


def test_columns_of_a_trained_model(tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    path.write_text("a,b,c\n1,2,3\n4,5,7\n", "utf-8")
    data = made(path, read={"columns": ["c", "a"]})
    (_, values, _), *_ = data.find(1)["train"]
    assert np.array_equal(values, [[3, 1], [7, 4]])
    form = type("Form", (), {"columns": ("c", "a")})()
    other = data.another(str(path), type(data.read)(), form)
    (_, again, _), *_ = other.find(1)["train"]
    assert np.array_equal(again, values)


def test_films_have_all_pixels_of_a_frame() -> None:
    assert made("builtin:balls", read={"grid": [8, 8]}).grid_of(64) == (8, 8)
    assert made("builtin:balls").grid_of(64) is None
    for grid in ([8, 7], [64], [4, 4, 4]):
        with pytest.raises(UserError, match=r"a step has 64 numbers; allowed: \[rows, columns\] of so many"):
            made("builtin:balls", read={"grid": grid}).grid_of(64)
