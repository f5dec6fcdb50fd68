"""The picture of a map: labels as drawn do not overlap, the legend names every group, the same bytes every time."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib.colors import to_hex

from foresay.errors import UserError
from foresay.study.maps import draw_map
from foresay.study.maps.map import COLOURS, MARKS, REST, Map, darker
from foresay.study.maps.picture import picture
from tests.study.maps.made import made


def map_of(number: int, **given: Any) -> Map:
    vectors = made(number)
    points = np.random.default_rng(2).standard_normal((number, 2))
    rest: dict[str, Any] = {"groups": None, "title": "made", "note": "by hand", "missing": []} | given
    return Map(vectors.words, points, vectors.counts.astype(float), **rest)


def boxes(drawn: Any) -> dict[str, np.ndarray]:
    """Where each label is drawn, in pixels."""
    renderer = drawn.canvas.get_renderer()
    return {text.get_text(): text.get_window_extent(renderer).extents for text in drawn.axes[0].texts}


@pytest.mark.parametrize(
    "given", [{}, {"by_frequency": True}, {"groups": {word: word[-1] for word in made(200).words}}]
)
def test_labels_do_not_overlap_as_they_are_drawn(given: dict):
    drawn = picture(map_of(300, **given))
    drawn.canvas.draw()
    found = boxes(drawn)
    assert len(found) > 100
    for one, other in itertools.combinations(found.values(), 2):
        assert (one[:2] >= other[2:]).any() or (other[:2] >= one[2:]).any()
    area = drawn.axes[0].get_window_extent().extents
    for box in found.values():
        assert (box[:2] >= area[:2]).all() and (box[2:] <= area[2:]).all()


def test_labels_cover_no_points():
    drawn = picture(map_of(200))
    drawn.canvas.draw()
    axes = drawn.axes[0]
    pixels = axes.transData.transform(axes.collections[0].get_offsets())
    for box in boxes(drawn).values():
        assert not ((pixels > box[:2]) & (pixels < box[2:])).all(1).any()


def test_every_point_stays_and_the_note_counts_the_labels():
    drawn = picture(map_of(400))
    assert len(drawn.axes[0].collections[0].get_offsets()) == 400
    labelled = len(drawn.axes[0].texts)
    assert drawn.texts[1].get_text() == f"by hand; {labelled} of 400 words fit" and 60 < labelled < 400
    assert picture(map_of(3)).texts[1].get_text() == "by hand"


def test_groups_have_colours_marks_and_a_legend():
    """In the order of the groups, not of the words; a group whose words are not here has none."""
    groups = dict(zip(made(8).words, "abcdefgh", strict=True))
    drawn = picture(map_of(9, groups={"gone": "z"} | dict(reversed(groups.items()))))
    axes = drawn.axes[0]
    assert [text.get_text() for text in axes.get_legend().get_texts()] == [f"{g} (1)" for g in [*"hgfedcba", "other"]]
    colours = [to_hex(dots.get_facecolor()[0]).upper() for dots in axes.collections[::-1]]
    assert colours == [*COLOURS, COLOURS[0], REST]
    eighth, first = axes.collections[1].get_paths()[0], axes.collections[-1].get_paths()[0]
    assert len(eighth.vertices) != len(first.vertices)  # the colours begin anew with another mark
    inks = {text.get_text(): text.get_color() for text in axes.texts}
    assert inks["wrd0"] == inks["wrd7"] == darker(COLOURS[0]) and inks["word1"] == darker(COLOURS[6])


def test_frequencies_have_a_bar():
    drawn = picture(map_of(50, by_frequency=True))
    (axes,) = drawn.axes
    (bar,) = axes.child_axes
    assert bar.get_title(loc="left") == "times in\nthe text" and axes.collections[0].norm.vmax == 10_000
    shown = [label.get_text() for label in bar.get_yticklabels()]
    assert "1,000" in shown
    values = axes.collections[0].get_array()
    assert (np.diff(values) >= 0).all() and len(values) == 50  # frequent words are drawn last


def test_too_many_groups():
    most = len(COLOURS) * len(MARKS)
    with pytest.raises(UserError, match=f"{most + 1} groups; allowed: {most} at most"):
        picture(map_of(most + 1, groups={word: word for word in made(most + 1).words}))


def test_words_that_cannot_be_drawn_have_a_point_and_no_label():
    found = map_of(3)
    drawn = picture(Map(["$x$", "\U00013000", "a\tb"], found.points, None, None, "$5", "", []))
    assert {text.get_text() for text in drawn.axes[0].texts} <= {"$x$", "a⇥b", "aU+0009b"}
    assert len(drawn.axes[0].collections[0].get_offsets()) == 3 and drawn.texts[0].get_text() == "$5"


@pytest.mark.parametrize("ending", ["png", "svg"])
def test_the_same_bytes_every_time(ending: str, tmp_path: Path):
    for name in ("one", "other"):
        draw_map(made(40), tmp_path / f"{name}.{ending}", method="pca", colour="frequency")
    one, other = ((tmp_path / f"{name}.{ending}").read_bytes() for name in ("one", "other"))
    assert one == other and one.startswith({"png": b"\x89PNG", "svg": b"<?xml"}[ending])
