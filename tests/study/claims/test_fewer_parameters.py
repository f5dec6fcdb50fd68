"""The claim `fewer-parameters`: its rule, counts by torch's own layers, and a whole run of the smallest size."""

from __future__ import annotations

import pytest
import torch

from foresay.study.claims import fewer_parameters, runner
from foresay.study.claims.claim import Figure
from foresay.study.claims.fewer_parameters import CELLS, COUPLED, FORMULAS, GRU, LSTM, counted, judge
from foresay.study.claims.small_text import Size
from foresay.study.recall import count
from foresay.train.progress import Watch


def counts(**other: int) -> dict[int, dict[str, int]]:
    return {8: {name: FORMULAS[name](8, 8) for name in CELLS} | other}


def test_the_rule(monkeypatch):
    assert judge(counts()) == "does not hold"  # three gates of four are saved by either
    monkeypatch.setitem(FORMULAS, GRU, lambda d, h: 100)
    assert judge(counts()) == "holds"
    assert judge(counts(GRU=101)) == "does not hold"  # not the formula's
    monkeypatch.setitem(FORMULAS, COUPLED, lambda d, h: FORMULAS[LSTM](d, h))
    assert judge(counts()) == "does not hold"


@pytest.mark.parametrize("width", [3, 10])
def test_counts(width):
    assert counted(LSTM, width) == count(torch.nn.LSTM(width, width)) == FORMULAS[LSTM](width, width)
    assert counted(GRU, width) == count(torch.nn.GRU(width, width, bias=False))
    assert all(counted(name, width) == FORMULAS[name](width, width) for name in CELLS)


@pytest.mark.usefixtures("few_letters")
def test_a_whole_run(monkeypatch, tmp_path):
    monkeypatch.setattr(fewer_parameters, "QUICK", Size(2, rows=2, length=6, asked=4))
    monkeypatch.setattr(fewer_parameters, "WIDTHS", (4, 8, 16))
    found = runner.run_claim("fewer-parameters", quick=True, out=tmp_path, watch=Watch())
    figures = [Figure(**one) for one in found["figures"]]
    assert found["verdict"] == "does not hold" and figures[0].value == FORMULAS[LSTM](4, 4) and len(figures) == 16
    parameters = [one["parameters"] for one in found["details"]["runs"]]
    assert len(parameters) == 12 and max(abs(one - 20_000) for one in parameters) < 500
    assert (tmp_path / "fewer-parameters.png").stat().st_size > 10_000
