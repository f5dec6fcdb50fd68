"""Pictures of series: what is drawn where."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib.figure import Figure

from foresay.train import fan as module
from foresay.train.fan import FRAMES, Fan, draw_fans, draw_films, draw_rolls


@pytest.fixture
def drawn(monkeypatch: pytest.MonkeyPatch) -> list[Figure]:
    """The figures, before they are written."""
    found: list[Figure] = []
    monkeypatch.setattr(module, "write_picture", lambda path, figure: found.append(figure))
    return found


def test_a_fan_holds_its_quantiles(drawn: list[Figure]) -> None:
    draw = np.random.default_rng(1)
    before, paths, came = draw.normal(size=50), draw.normal(size=(200, 5)), draw.normal(size=4)
    draw_fans(Path("x.png"), [Fan("a $name", before, paths, came)], "title")
    (axes,) = drawn[0].axes
    history, median, truth = (line.get_xydata() for line in axes.get_lines())
    assert np.array_equal(history, np.stack([np.arange(-23, 1), before[-24:]], 1))
    assert np.allclose(median, np.stack([np.arange(6), [before[-1], *np.median(paths, 0)]], 1))
    assert np.allclose(truth, np.stack([np.arange(1, 5), came], 1))
    for band, (low, high) in zip(axes.collections, ((0.05, 0.95), (0.25, 0.75)), strict=True):
        edges: Any = band.get_paths()[0].vertices
        for share in (low, high):
            for step, value in zip(range(1, 6), np.quantile(paths, share, axis=0), strict=True):
                assert np.isclose(edges, [step, value]).all(1).any()
    assert axes.get_title(loc="left") == "a $name" and axes.get_xlabel() == "steps ahead"


def test_the_quantiles_that_are_asked_for(drawn: list[Figure]) -> None:
    """Those of a table: a band between the outermost, the middle one as a line."""
    paths = np.random.default_rng(1).normal(size=(200, 3))
    fan = Fan("a", np.zeros(4), paths)
    names = []
    for asked in ((0.9, 0.1, 0.3), (0.2, 0.6), (0.75,), (0.5, 0.5)):
        draw_fans(Path("x.png"), [fan], "title", asked)
        (axes,) = drawn[-1].axes
        names.append(axes.get_legend_handles_labels()[1])
        for line in axes.get_lines()[1:]:
            assert np.allclose(
                np.asarray(line.get_ydata())[1:], np.quantile(paths, sorted(asked)[len(asked) // 2], axis=0)
            )
    assert names == [["quantiles 0.1 to 0.9", "quantile 0.3"], ["quantiles 0.2 to 0.6"], ["quantile 0.75"], ["median"]]


def test_the_first_panels_alone_are_drawn(drawn: list[Figure], tmp_path: Path) -> None:
    fans = [Fan(str(n), np.zeros(9), np.zeros((3, 2))) for n in range(9)]
    draw_fans(Path("x.png"), fans, "title")
    assert [axes.get_title(loc="left") for axes in drawn[0].axes] == list("012345")
    assert "6 of 9" in str(drawn[0].get_suptitle())
    draw_fans(Path("x.png"), fans[:3], "title")
    assert drawn[1].get_suptitle() == "title"
    assert [axes.axison for axes in drawn[1].axes] == [True, True, True, False]


def test_rolls_show_the_keys_that_sound(drawn: list[Figure]) -> None:
    roll = np.zeros((6, 88))
    roll[2, 39], roll[3:, 46] = 1, 1  # C4 and G4
    draw_rolls(Path("x.png"), [roll, np.roll(roll, 1, 0)], 21, "title")
    first, second = drawn[0].axes
    image = first.get_images()[0]
    assert np.array_equal(image.get_array(), roll[:, 39:47].T) and list(image.get_extent()) == [0, 6, 59.5, 67.5]
    assert [label.get_text() for label in first.get_yticklabels()] == ["C4"]
    assert second.get_xlabel() == "step"


def test_silence_is_drawn_too(tmp_path: Path) -> None:
    draw_rolls(tmp_path / "x.png", [np.zeros((4, 88))], 21, "title")
    draw_fans(tmp_path / "y.png", [Fan("a", np.zeros(1), np.zeros((1, 1)))], "title")
    assert all((tmp_path / name).read_bytes().startswith(b"\x89PNG") for name in ("x.png", "y.png"))


def test_films_side_by_side(drawn: list[Figure]) -> None:
    """On one scale, the first frames of each; a shorter one leaves its places empty."""
    long, short = np.arange(20 * 6.0).reshape(20, 2, 3), -np.ones((3, 2, 3))
    draw_films(Path("x.png"), [("long", long), ("short", short)], "title")
    axes = drawn[0].axes
    assert len(axes) == 2 * FRAMES and axes[0].get_title(loc="left") == "long"
    for number in range(FRAMES):
        assert np.array_equal(axes[number].get_images()[0].get_array(), long[number])
        below = axes[FRAMES + number].get_images()
        assert len(below) == (number < 3) and all(np.array_equal(one.get_array(), short[0]) for one in below)
    assert {image.get_clim() for one in axes for image in one.get_images()} == {(-1.0, 95.0)}
