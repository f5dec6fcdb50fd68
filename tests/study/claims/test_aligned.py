"""The claim `aligned`: its rule, its sequences, errors by hand, and a whole run of the smallest size."""

from __future__ import annotations

import pytest
import torch

from foresay.study.claims import aligned, runner
from foresay.study.claims.aligned import COPY, COUNTED, PASSED, REVERSAL, Size, compare, judge, places
from foresay.study.claims.claim import Figure
from foresay.text.tokens import STOP
from foresay.train.progress import Watch


def figure(low: float, high: float) -> Figure:
    return Figure("", (low + high) / 2, low, high)


@pytest.mark.parametrize(
    ("copy", "reversal", "wrote", "quick", "verdict"),
    [
        ((0, 5), (1, 9), 95, True, "holds"),
        ((0, 5), (1, 9), 85, False, "not decided at this size"),
        ((0, 5), (1, 11), 95, False, "not decided at this size"),
        ((0, 5), (12, 20), 95, False, "does not hold"),
        ((12, 20), (0, 5), 95, False, "does not hold"),
        ((12, 20), (0, 5), 85, False, "not decided at this size"),
        ((12, 20), (0, 5), 95, True, "not decided at this size"),
    ],
)
def test_the_rule(copy, reversal, wrote, quick, verdict):
    assert judge([figure(*copy), figure(*reversal)], wrote, quick) == verdict


@pytest.mark.parametrize("kind", [*COUNTED, *PASSED.values()])
def test_every_symbol_comes_from_its_place(kind):
    source, target = aligned.draw_pairs(kind, 20, 7, torch.Generator().manual_seed(1))
    assert torch.equal(source[:, places(kind, 7)], target[:, :-1]) and (target[:, -1] == STOP).all()
    assert places(kind, 3).tolist() == ([2, 1, 0] if kind.startswith(REVERSAL) else [0, 1, 2])
    assert any(len(set(row)) < 7 for row in source[:, :-1].tolist())


def test_errors_by_hand():
    """Of four symbols one looks beside its place and one two away."""
    weights = torch.tensor([
        [[0.9, 0.1, 0.0], [0.6, 0.3, 0.1]],
        [[0.2, 0.1, 0.7], [0.0, 0.8, 0.2]],
    ])  # fmt: skip
    wrong, beside, mass = compare(weights, places(COPY, 2))
    assert wrong.tolist() == [0, 1, 1, 0] and beside.tolist() == [0, 1, 0, 0]
    torch.testing.assert_close(mass, torch.tensor([0.9, 0.3, 0.2, 0.8]))


def test_a_whole_run(monkeypatch, tmp_path):
    kinds = (*COUNTED, PASSED[COPY])
    monkeypatch.setattr(aligned, "QUICK", Size(2, 3, kinds, rows=4))
    monkeypatch.setattr(aligned, "LONGEST", 5)
    found = runner.run_claim("aligned", quick=True, out=tmp_path, watch=Watch())
    assert found["verdict"] != "holds" and len(found["figures"]) == 15
    assert [one["kind"] for one in found["details"]["runs"]] == [*kinds] * 3
    assert (tmp_path / "aligned.png").stat().st_size > 10_000
