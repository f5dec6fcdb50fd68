"""Bars of the claims: heights, places and what is written on them."""

from __future__ import annotations

import pytest

from foresay.study.claims.bars import draw, side_by_side


def test_bars_stand_beside_each_other_within_their_group():
    found = {"seen": {"a": [80.0, 90.0], "b": [50.0, 60.0]}, "new": {"a": [10.0, 30.0], "b": [0.0, 4.0]}}
    (axes,) = draw(found, "title", "up", {"guessing": 25.0}).axes
    assert [bar.get_height() for bar in axes.patches] == [85.0, 55.0, 20.0, 2.0]
    middles = [bar.get_x() + bar.get_width() / 2 for bar in axes.patches]
    assert middles == pytest.approx([-0.19, 0.81, 0.19, 1.19])
    assert [one.get_text() for one in axes.texts] == ["85 %", "55 %", "20 %", "2 %"]
    assert [one.get_text() for one in axes.get_xticklabels()] == ["a", "b"]
    assert {one.get_text() for one in axes.get_legend().get_texts()} == {"seen", "new", "guessing"}
    assert axes.lines[-1].get_ydata()[0] == 25.0


def test_dots_stand_side_by_side():
    assert side_by_side(2.0, 0.4, 3) == pytest.approx([1.8, 2.0, 2.2])
