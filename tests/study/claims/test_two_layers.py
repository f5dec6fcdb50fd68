"""The claim `two-layers`: its rule, and a whole run of the smallest size."""

from __future__ import annotations

import pytest

from foresay.study.claims import depth, runner, two_layers
from foresay.study.claims.claim import Figure
from foresay.study.claims.small_text import Size
from foresay.study.claims.two_layers import judge
from foresay.train.progress import Watch


def figure(low: float, high: float) -> Figure:
    return Figure("", (low + high) / 2, low, high)


GOOD = figure(0.2, 0.3), figure(0.05, 0.1)


@pytest.mark.parametrize(
    ("first", "second", "quick", "verdict"),
    [
        ((0.2, 0.3), (0.05, 0.1), True, "holds"),
        ((0.04, 0.3), (0.05, 0.1), False, "not decided at this size"),
        ((0.2, 0.3), (-0.05, 0.1), False, "not decided at this size"),
        ((0.2, 0.3), (0.1, 0.2), False, "not decided at this size"),  # more than a little
        ((0.01, 0.04), (0.05, 0.1), False, "does not hold"),
        ((0.2, 0.3), (-0.2, -0.1), False, "does not hold"),
        ((0.2, 0.3), (-0.2, -0.1), True, "not decided at this size"),  # quick cannot refute
    ],
)
def test_the_rule(first, second, quick, verdict):
    assert judge({"equal width": GOOD, "equal parameters": (figure(*first), figure(*second))}, quick) == verdict


@pytest.mark.usefixtures("few_letters")
def test_a_whole_run(monkeypatch, tmp_path):
    monkeypatch.setattr(two_layers, "QUICK", Size(1, rows=2, length=6, asked=4))
    monkeypatch.setattr(depth, "PARAMETERS", 4000)
    found = runner.run_claim("two-layers", quick=True, out=tmp_path, watch=Watch())
    assert len(found["details"]["runs"]) == 18 and len(found["figures"]) == 10
    assert (tmp_path / "two-layers.png").stat().st_size > 10_000
