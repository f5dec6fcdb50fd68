"""The picture of an alignment: its names, its squares, and what cannot be read in one."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from foresay.errors import UserError
from foresay.study.alignment import draw, figure_of
from foresay.translate import Aligned

FOUND = Aligned(["a", " ", "<stop>"], ["x", "<stop>"], [[0.75, 0.25, 0.0], [0.0, 0.0, 1.0]])


def test_what_it_shows():
    axes, bar = figure_of(FOUND).axes
    assert [one.get_text() for one in axes.get_xticklabels()] == ["a", "␣", "■"]
    assert [one.get_text() for one in axes.get_yticklabels()] == ["x", "■"]
    assert np.array_equal(axes.images[0].get_array(), FOUND.weights)
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("source (■ its end)", "written, from above")
    assert bar.get_ylabel() == "weight" and axes.images[0].get_clim() == (0.0, 1.0)


@pytest.mark.parametrize("name", ["a.png", "a.svg"])
def test_the_same_bytes_every_time(name: str):
    first, second = (draw(FOUND, Path(name)) or Path(name).read_bytes() for _ in range(2))
    assert first == second and first.startswith(b"\x89PNG" if name.endswith("png") else b"<?xml")


def test_too_many_symbols_to_read():
    long = Aligned(["a"] * 65, ["x"], [[0.0] * 65])
    with pytest.raises(UserError, match="the source has 65 tokens; up to 64 can be read in a picture"):
        figure_of(long)
