"""What is heard when: spans of the best path by hand, and a picture that shows them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from foresay.study.heard import Listened, draw, figure_of


@pytest.fixture
def found() -> Listened:
    best = [0, 5, 5, 0, 6, 0]
    p = np.full((6, 7), 0.01)
    p[np.arange(6), best] = [0.9, 0.5, 0.8, 0.9, 0.7, 0.9]
    symbols = ["<pad>", "<unk>", "<start>", "<stop>", "<mask>", "one$x$", "two"]
    frames = np.random.default_rng(1).normal(size=(12, 8))
    return Listened("a.wav", "one two", symbols, [f"{n} Hz" for n in range(8)], frames, p, 0.01, 0.02)


def test_spans(found: Listened) -> None:
    told: Any = found.spans()
    assert [one[0] for one in told] == ["one$x$", "two"]
    assert told[0][1:] == pytest.approx((0.02, 0.06, 0.8)) and told[1][1:] == pytest.approx((0.08, 0.10, 0.7))


def test_the_picture_has_both(found: Listened, tmp_path: Path) -> None:
    above, below = figure_of(found).axes
    assert above.get_images()[0].get_array().shape == (8, 12) and above.get_xlim() == (0, 0.12)
    drawn = {line.get_label(): line.get_ydata().tolist() for line in below.get_lines()}
    assert set(drawn) == {"one$x$", "two"} and drawn["two"] == pytest.approx(found.p[:, 6].tolist())
    for name in ("a.svg", "a.png"):
        draw(found, tmp_path / name)
    assert "one$x$" in (tmp_path / "a.svg").read_text()
