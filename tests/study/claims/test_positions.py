"""The claim `positions`: its rule, its sequences, and a whole run of the smallest size."""

from __future__ import annotations

import pytest
import torch

from foresay.study.claims import positions, runner
from foresay.study.claims.claim import Figure
from foresay.study.claims.positions import CAUSAL, KINDS, NONE, WITH, Orderer, Size, changed_by_a_permutation, judge
from foresay.train.progress import Watch


def figure(low: float, high: float) -> Figure:
    return Figure("", (low + high) / 2, low, high)


@pytest.mark.parametrize(
    ("none", "with_them", "changed", "verdict"),
    [
        ((48, 52), (95, 100), 1e-7, "holds"),
        ((48, 62), (95, 100), 1e-7, "not decided at this size"),
        ((48, 52), (85, 100), 1e-7, "not decided at this size"),
        ((48, 52), (95, 100), 1e-3, "not decided at this size"),
        ((70, 80), (95, 100), 1e-7, "does not hold"),
    ],
)
def test_the_rule(none, with_them, changed, verdict):
    right = {NONE: figure(*none), **{kind: figure(*with_them) for kind in WITH}, CAUSAL: figure(40, 60)}
    assert judge(right, changed) == verdict
    assert judge(right | {"rotary": figure(50, 60)}, changed) != "holds"


def test_sequences_have_one_of_each_and_its_order():
    ids, first = positions.draw_sequences(500, torch.Generator().manual_seed(1))
    a, b = ((ids == symbol).int() for symbol in (positions.A, positions.B))
    assert (a.sum(1) == 1).all() and (b.sum(1) == 1).all()
    assert torch.equal(first == 1, a.argmax(1) < b.argmax(1)) and 200 < first.sum() < 300


@pytest.mark.parametrize("kind", KINDS)
def test_a_permutation_changes_nothing_only_without_positions(kind):
    torch.manual_seed(1)
    moved = changed_by_a_permutation(Orderer(kind).double(), torch.Generator().manual_seed(2))
    assert (moved < 1e-12) == (kind == NONE)


def test_a_whole_run(monkeypatch, tmp_path):
    monkeypatch.setattr(positions, "QUICK", Size(2, rows=4, tested=50))
    found = runner.run_claim("positions", quick=True, out=tmp_path, watch=Watch())
    assert found["verdict"] != "holds" and len(found["details"]["runs"]) == 15 and len(found["figures"]) == 10
    assert (tmp_path / "positions.png").stat().st_size > 10_000
