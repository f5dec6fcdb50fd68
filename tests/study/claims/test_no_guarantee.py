"""The claim `no-guarantee`: its rule, its cases against differences, and a whole run."""

from __future__ import annotations

import math

import pytest
import torch

from foresay.study.claims import no_guarantee, runner
from foresay.study.claims.no_guarantee import CASES, Measured, judge, measure
from foresay.train.progress import Watch


def measured(case: str, ratio: float, off: float = 0.0) -> Measured:
    factor = ratio ** (1 / 99)
    return Measured(case, factor, math.log(factor) + off, [1.0, ratio])


def test_the_rule():
    good = [measured("closed", 1e-10), measured("turned", 1e-10), measured("open", 1.0), measured("fed back", 1e10)]
    assert judge(good) == "holds"
    assert judge([*good[:3], measured("fed back", 1e8)]) == "does not hold"
    assert judge([*good[:3], measured("fed back", 1e10, 2e-6)]) == "does not hold"
    assert judge([measured("closed", 1e-8), measured("turned", 1e-8), *good[2:]]) == "does not hold"


@pytest.mark.parametrize("case", CASES)
def test_factors_are_those_of_torchs_own_cell(case):
    """A small c, one step on: c' / c."""
    forget, back = CASES[case]
    peer = torch.nn.LSTMCell(1, 1).double()
    with torch.no_grad():
        for one in peer.parameters():
            one.zero_()
        peer.bias_ih[1], peer.weight_hh[2] = forget, back
        c = torch.tensor([[1e-7]]).double()
        after = peer(torch.zeros(1, 1).double(), (0.5 * c.tanh(), c))[1]
    assert float(after / c) == pytest.approx(measure(case).factor, abs=1e-6)


def test_a_whole_run(monkeypatch, tmp_path):
    found = runner.run_claim("no-guarantee", quick=True, out=tmp_path, watch=Watch())
    values = {one["name"]: one["value"] for one in found["figures"]}
    assert found["verdict"] == "holds" and values["fed back: slope"] == pytest.approx(math.log(1.5), abs=1e-6)
    assert values["open: slope"] == pytest.approx(0, abs=1e-6) and len(values) == 8
    assert len(found["details"]["random"]["4"]) == 3 and (tmp_path / "no-guarantee.png").stat().st_size > 10_000
    assert no_guarantee.of_random(1, 1) == no_guarantee.of_random(1, 1)
