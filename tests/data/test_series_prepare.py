"""From files to shards: figures of train alone, the cache, the notes, and what cannot be prepared."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from foresay import parts
from foresay.data.prepare import Prepared, prepare
from foresay.data.series_shards import SeriesShards
from foresay.errors import UserError


def prepared(path: Path | str, tokens: Any = "numbers", **settings: Any) -> Prepared:
    data = parts.make("data", {"kind": "series", "train": str(path), **settings})
    return prepare(data, parts.make("tokens", tokens), 1)


def shards(found: Any) -> SeriesShards:
    assert isinstance(found, SeriesShards)
    return found


def table(path: Path, *lines: str) -> Path:
    path.write_text("\n".join(lines) + "\n", "utf-8")
    return path


def test_figures_are_those_of_train(tmp_path: Path) -> None:
    lines = [f"{n % 5},{n % 3}.5" for n in range(40)]
    found = prepared(table(tmp_path / "x.csv", "a,b", *lines), share=0.25)
    train, valid = shards(found.train), shards(found.valid)
    values = np.array([line.split(",") for line in lines], np.float32)
    assert np.array_equal(train.series(0), values[:30]) and np.array_equal(valid.series(0), values)
    assert len(valid) == 10 and valid.begins.tolist() == [30] and found.test is None
    assert train.form.means == pytest.approx(values[:30].mean(0)) == valid.form.means
    assert train.form.columns == ("a", "b") and train.form.whole == (True, False) and len(found.tokens) == 5


def test_made_once(tmp_path: Path) -> None:
    path = table(tmp_path / "x.csv", *map(str, range(9)))
    first = prepared(path).train.folder
    assert prepared(path).train.folder == first
    assert prepared(path, share=0.5).train.folder != first
    table(path, *map(str, range(10)))
    assert prepared(path).train.folder != first


def test_notes(tmp_path: Path) -> None:
    lines = [f"{1700 + n},name,{'' if n == 3 else n * n}" for n in range(20)]
    notes = prepared(table(tmp_path / "x.csv", "year,who,x", *lines)).notes
    assert notes == (
        "data.train: read one column (x); left out: year (it counts the lines), who (no number)",
        "data.train: up to 5.6 % of the numbers of x are not known",
    )


def test_what_cannot_be_prepared(tmp_path: Path) -> None:
    path = table(tmp_path / "x.csv", "1", "2", "4")
    with pytest.raises(UserError, match=r"tokens=characters with data.kind=series; allowed: tokens=numbers"):
        prepared(path, "characters")
    with pytest.raises(
        UserError, match=r"leaves nothing for valid; give more, or data.valid, or set data.holdout=tail"
    ):
        prepared(path, holdout="series")
    other = table(tmp_path / "y.csv", "a,b", "1,2", "5,2")
    with pytest.raises(UserError, match=r"y.csv has a, b, and data.train has one column \(1\); name the same with"):
        prepared(path, valid=str(other))
    with pytest.raises(UserError, match="the valid series have no number that is known"):
        prepared(table(tmp_path / "z.csv", "a", *"12345678", "nan", "nan"), share=0.2)


def test_columns_that_float32_does_not_hold(tmp_path: Path) -> None:
    far = [f"{1e9 + n % 7 / 1000!r}" for n in range(60)]
    with pytest.raises(UserError, match=r"column x has numbers from 1000000000 on that are 0\.006 apart at most"):
        prepared(table(tmp_path / "x.csv", "x", *far))
    near = [f"{n % 7 / 1000!r}" for n in range(60)]
    assert shards(prepared(table(tmp_path / "y.csv", "x", *near)).train).form.most == pytest.approx((0.006,))
