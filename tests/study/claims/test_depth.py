"""Stacks of the claims on depth: their widths and parameters, and gains by hand."""

from __future__ import annotations

import pytest

from foresay.study.claims.depth import EQUAL_PARAMETERS, EQUAL_WIDTH, PARAMETERS, Stack, gain, stack
from foresay.study.claims.small_text import Size

TINY = Size(1, rows=2, length=6, asked=4)


@pytest.mark.usefixtures("few_letters")
def test_what_is_equal_is_equal():
    """An LSTM layer of H units that reads D has 4 (D H + H H + 2 H) parameters; 65 symbols, vectors of 24."""
    wide, deep = stack(1, EQUAL_WIDTH, 1, TINY), stack(3, EQUAL_WIDTH, 1, TINY)
    assert wide.width == deep.width == 48
    assert deep.parameters - wide.parameters == 2 * 4 * (2 * 48 * 48 + 2 * 48)
    widths = {layers: stack(layers, EQUAL_PARAMETERS, 1, TINY) for layers in (1, 2, 4)}
    assert widths[1].width > widths[2].width > widths[4].width
    assert all(abs(one.parameters - PARAMETERS) < 0.03 * PARAMETERS for one in widths.values())


@pytest.mark.usefixtures("few_letters")
def test_residuals_change_what_is_learnt_from():
    one, other = (stack(2, "", 1, TINY, wiring=wiring, width=24) for wiring in ("none", "residual"))
    assert one.parameters == other.parameters and one.loss != other.loss


def test_gains_by_hand():
    found = [
        Stack(layers, "a", seed, 1, 1, loss)
        for layers, seed, loss in ((1, 1, 3.0), (1, 2, 2.0), (2, 1, 2.5), (2, 2, 1.0))
    ]
    assert gain(found, "a", 1, 2).value == pytest.approx(0.75)
