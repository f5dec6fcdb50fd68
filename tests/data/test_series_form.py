"""The figures of columns against numpy's, and the file they are kept in."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from foresay.data.series_form import FILE, Music, SeriesForm, Summing
from foresay.errors import UserError


def summed(*series: np.ndarray, columns: tuple[str, ...] = ("a", "b")) -> SeriesForm:
    sums = Summing(len(columns))
    for values in series:
        sums.add(values)
    return sums.form(columns, None, "x.csv")


def test_figures_of_all_series_together() -> None:
    draw = np.random.default_rng(1)
    some = [draw.normal(1e6, 0.5, (size, 2)) for size in (3, 1, 40)]  # far from 0, where naive sums of squares fail
    some[2][5:9, 1] = np.nan
    some[0][0, 1] = np.nan
    together, form = np.concatenate(some), summed(*some)
    assert form.means == pytest.approx(np.nanmean(together, 0), rel=1e-12)
    assert form.deviations == pytest.approx(np.nanstd(together, 0), rel=1e-6)
    assert form.least == tuple(np.nanmin(together, 0)) and form.most == tuple(np.nanmax(together, 0))
    assert form.unknown == pytest.approx((0, 5 / 44)) and form.whole == (False, False)


def test_whole_numbers_and_what_never_changes() -> None:
    form = summed(np.array([[2.0, 7.5], [3.0, 7.5], [np.nan, 7.5]]))
    assert form.whole == (True, False) and form.deviations[1] == 1.0 and form.means[1] == 7.5


def test_a_column_without_a_number() -> None:
    with pytest.raises(UserError, match=r"^x.csv: column b has no number; leave it out, or mend it$"):
        summed(np.array([[1.0, np.nan], [2.0, np.nan]]))


@pytest.mark.parametrize("music", [None, Music(21, 0.5)])
def test_kept(tmp_path: Path, music: Music | None) -> None:
    form = SeriesForm(("a", "ü"), (1.5, 0.0), (1.0, 2.0), (0.0, 1.0), (2.0, 9.0), (True, False), (0.0, 0.5), music)
    form.save(tmp_path)
    assert SeriesForm.read(tmp_path) == form
    replace(form, grid=(1, 2)).save(tmp_path)
    assert SeriesForm.read(tmp_path).grid == (1, 2)
    assert form.told() == "2 columns (a, ü)" and summed(np.ones((1, 1)), columns=("a",)).told() == "one column (a)"


@pytest.mark.parametrize("change", ["", "[]", "{}", '"means"', "short"])
def test_damaged(tmp_path: Path, change: str) -> None:
    with pytest.raises(UserError, match="is missing; copy it back"):
        SeriesForm.read(tmp_path)
    summed(np.eye(2)).save(tmp_path)
    found = json.loads((tmp_path / FILE).read_text())
    found["means"] = found["means"][:1] if change == "short" else found["means"]
    found["deviations"] = ["wide", 1.0] if change == '"means"' else found["deviations"]
    text = json.dumps(found) if change in ("short", '"means"') else change
    (tmp_path / FILE).write_text(text)
    with pytest.raises(UserError, match="is damaged; copy it again"):
        SeriesForm.read(tmp_path)
