"""Letters that no font has are told of, where a picture would show boxes."""

from __future__ import annotations

import warnings

import pytest
from matplotlib.figure import Figure

from foresay.train.fonts import can_draw, fit_fonts, installed_fonts, letters_of

NOWHERE = "\U0001f9ff\U000e0021"  # an amulet, and a mark that is not drawn


def figure_of(text: str) -> Figure:
    figure = Figure()
    figure.subplots().set_title(text)
    return figure


def test_what_leaves_a_mark():
    title = figure_of(" a\n" + NOWHERE).axes[0].title
    assert letters_of(title) == "a" + NOWHERE[0]


def test_missing_letters_are_told_of_where_they_are_drawn():
    assert not can_draw(NOWHERE[0], installed_fonts()), "this machine has a font for it"
    with pytest.warns(UserWarning, match=f"no font of this machine has the letters {NOWHERE[0]}; install one"):
        fit_fonts(figure_of(NOWHERE))
    with warnings.catch_warnings(action="error"):
        fit_fonts(figure_of(NOWHERE), drawn=False)  # a .svg names them
        fit_fonts(figure_of("words, größer − ⏎"))
