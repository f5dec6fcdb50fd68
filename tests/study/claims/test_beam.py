"""The claim `beam`: its rule, its tables, and a whole run of the smallest size."""

from __future__ import annotations

import json

import pytest
import torch

from foresay.study.claims import beam, runner
from foresay.study.claims.beam import Searched, Size, Trigram, judge, summed
from foresay.text.tokens import START, STOP
from foresay.train.progress import Watch


def found(gains: list[float], errors: float) -> list[Searched]:
    """Of three seeds: greedy search, and one beam."""
    greedy = [Searched(seed, 1, 10, -3.0, 0.0, 0.4, 0.0) for seed in range(3)]
    return greedy + [Searched(seed, 2, 10, -3.0 + gain, gain, errors, 0.0) for seed, gain in enumerate(gains)]


@pytest.mark.parametrize(
    "gains, errors, quick, verdict",
    [
        ([0.3, 0.35, 0.4], 0.1, True, "holds"),
        ([0.3, 0.35, 0.4], 0.0, False, "does not hold"),  # it never misses: a guarantee
        ([0.3, 0.35, 0.4], 0.0, True, "not decided at this size"),
        ([-0.1, 0.1, 0.3], 0.1, False, "not decided at this size"),  # the interval holds 0
        ([-0.3, -0.35, -0.4], 0.1, False, "does not hold"),
    ],
)
def test_the_rule(gains, errors, quick, verdict):
    assert judge(found(gains, errors), quick) == verdict


def test_gain_errors_and_cases_below_by_hand():
    """Four cases: equal, better, below greedy search, and below the best by rounding only."""
    one = summed(7, 2, [-1.0, -2.0, -3.0, -1.0], [-1.0, -3.0, -2.5, -2.0], [-1.0, -1.5, -2.0, -1.0 + 1e-12])
    assert one == Searched(7, 2, 4, -1.75, pytest.approx(0.375), 0.5, 0.25)


def test_a_table_follows_the_last_two():
    model = Trigram(words=2, seed=1)
    assert model.table.exp().sum(-1) == pytest.approx(torch.ones(7, 7).double())
    assert (model.table[0, 0] > -torch.inf).nonzero()[:, 0].tolist() == [STOP, 5, 6]
    rows, state = model.step(
        torch.tensor([[5, 6], [6, 0]]), model.begin(2), torch.tensor([[True, True], [True, False]])
    )
    assert torch.equal(rows, torch.stack([model.table[5, 6], model.table[START, 6]]))
    assert model.reorder(state, torch.tensor([1, 1]))["last"].tolist() == [[START, 6]] * 2


def test_a_whole_run(monkeypatch, tmp_path):
    """A beam as wide as all beginnings finds the best."""
    monkeypatch.setattr(beam, "QUICK", Size(tables=4, words=3, length=3))
    monkeypatch.setattr(beam, "WIDTHS", (1, 2, 27))
    runner.run_claim("beam", quick=True, out=tmp_path, watch=Watch())
    searches = json.loads((tmp_path / "beam.json").read_text("utf-8"))["details"]["searches"]
    errors = {width: [one["errors"] for one in searches if one["width"] == width] for width in (1, 2, 27)}
    assert [len(own) for own in errors.values()] == [3, 3, 3] and searches[0]["cases"] == 4 * 4
    assert min(errors[1]) > 0 and errors[27] == [0.0] * 3 and sum(errors[2]) < sum(errors[1])
    assert (tmp_path / "beam.png").stat().st_size > 10_000
