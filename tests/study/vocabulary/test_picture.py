"""The picture: what is drawn is what was counted, for one symbol and for 200,000."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib.image import imread

from foresay.errors import UserError
from foresay.study.vocabulary.picture import BLUE, GREEN, ORANGE, check_name, draw, figure, thinned
from tests.study.vocabulary.made import curves_of, good


def lines(axes: Any, colour: str) -> list[tuple[np.ndarray, np.ndarray]]:
    return [(line.get_xdata(), line.get_ydata()) for line in axes.lines if line.get_color() == colour]


def labels(axes: Any) -> list[str]:
    return [text.get_text() for text in axes.get_legend().get_texts()]


def test_the_curve_and_zipfs_line():
    facts = good()
    left, _ = figure(facts).axes
    rank, times = lines(left, BLUE)[0]
    assert np.array_equal(facts.curves.f[np.asarray(rank) - 1], times)
    assert (rank[0], rank[-1], times[0]) == (1, 5000, 20_000)
    (ends, heights), line = lines(left, ORANGE)[0], facts.zipf
    assert line is not None and tuple(ends) == (line.first, line.last) == (10, 2105)  # 20,000 / 2105 rounds to 10
    assert heights == pytest.approx([20_000 / 10, 20_000 / 2105], rel=0.02)
    assert labels(left)[1] == "Zipf: slope −1.00, ranks 10 to 2,105"
    assert (left.get_xscale(), left.get_yscale()) == ("log", "log")


def test_coverage_and_its_marks():
    f = np.array([50, 30, 10, 9, 1])
    facts = good(curves=curves_of(f), coverage={50: 1, 90: 3, 95: 4, 99: 4})
    _, right = figure(facts).axes
    assert lines(right, BLUE)[0][1].tolist() == pytest.approx([50, 80, 90, 99, 100])
    assert lines(right, GREEN)[0][1].tolist() == pytest.approx([48.5, 77.6, 87.3, 96.03, 97])
    marks = [(x[0], y[0]) for x, y in lines(right, ORANGE)]
    assert marks == [(3, pytest.approx(90)), (4, pytest.approx(99)), (4, pytest.approx(99))]
    assert labels(right)[2:] == ["90 % of train: 3 symbols", "95 % of train: 4 symbols", "99 % of train: 4 symbols"]


def test_what_unknown_tokens_leave_out_of_reach():
    facts = good(curves=curves_of(np.array([60, 32]), 8, valid=False), coverage={50: 1, 90: 2, 95: None, 99: None})
    _, right = figure(facts).axes
    assert labels(right) == [
        "train",
        "90 % of train: 2 symbols",
        "95 % of train: not reached",
        "99 % of train: not reached",
    ]
    assert len(lines(right, ORANGE)) == 1 and lines(right, GREEN) == []


def test_symbols_are_named_where_they_can_be_drawn():
    curves = curves_of(np.arange(1200, 0, -1))
    curves.named[:] = [(1, " the"), (10, "\U00013000"), (100, "$x$"), (1000, "no room")]
    left, _ = figure(good(curves=curves, coverage={90: 800, 95: 900, 99: 1100})).axes
    assert [text.get_text() for text in left.texts] == ["␣the", "$x$"]


@pytest.mark.parametrize(
    ("count", "ending"), [(1, "png"), (2, "png"), (30, "png"), (30, "svg"), (30, "pdf"), (200_000, "png")]
)
def test_every_size_can_be_drawn(count: int, ending: str, tmp_path: Path):
    f = np.maximum(1_000_000 // np.arange(1, count + 1), 1)
    facts = good(curves=curves_of(f), coverage={50: 1, 90: 1, 95: 1, 99: None}, zipf=None)
    path = tmp_path / f"my $picture_{ending}$.{ending}"
    draw(facts, path)
    content = path.read_bytes()
    assert content.startswith({"png": b"\x89PNG", "svg": b"<?xml", "pdf": b"%PDF"}[ending])
    assert list(tmp_path.iterdir()) == [path]
    if ending == "png":
        pixels = imread(path)[..., :3].reshape(-1, 3)
        for colour in (BLUE, GREEN, ORANGE):
            wanted = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
            assert (np.abs(pixels - wanted).max(1) < 0.02).sum() > 20 or (count == 1 and colour != ORANGE)


def test_a_curve_keeps_its_ends_when_it_is_thinned():
    assert thinned(5).tolist() == [1, 2, 3, 4, 5]
    rank = thinned(200_000, 500)
    assert (rank[0], rank[-1]) == (1, 200_000) and len(rank) <= 500 and (np.diff(rank) > 0).all()
    assert rank[:10].tolist() == list(range(1, 11))  # the head whole


def test_pictures_that_cannot_be(tmp_path: Path):
    with pytest.raises(UserError, match=r"--out v\.txt; allowed: a picture that ends in \.png, \.svg, \.pdf"):
        check_name(Path("v.txt"))
    assert check_name(Path("v.PNG")) == Path("v.PNG")
    with pytest.raises(UserError, match=r"cannot be written \(No such file or directory\); give another place: --out"):
        draw(good(), tmp_path / "nowhere" / "v.png")
