"""The claim `sampled-gradient`: its rule, its measures, and a whole run of the smallest size."""

from __future__ import annotations

import pytest
import torch

from foresay.output.monte_carlo import MonteCarlo
from foresay.study.claims import runner, sampled_gradient
from foresay.study.claims.claim import Figure
from foresay.study.claims.sampled_gradient import Estimated, Size, bias_of, judge, measured, slope_of
from foresay.train.progress import Watch


@pytest.mark.parametrize(
    "slope, bias, quick, verdict",
    [
        ((-1.04, -0.96), (-0.1, 0.1), True, "holds"),
        ((-1.06, -0.96), (-0.1, 0.1), False, "not decided at this size"),  # not within
        ((-0.94, -0.9), (-0.1, 0.1), False, "does not hold"),
        ((-1.2, -1.1), (-0.1, 0.1), False, "does not hold"),
        ((-1.04, -0.96), (0.1, 0.2), False, "does not hold"),
        ((-1.04, -0.96), (0.1, 0.2), True, "not decided at this size"),
        ((-1.04, -0.96), (-0.2, -0.1), False, "not decided at this size"),  # no square is below 0: chance
    ],
)
def test_the_rule(slope, bias, quick, verdict):
    assert judge(Figure("slope", sum(slope) / 2, *slope), Figure("bias", 0.0, *bias), quick) == verdict


def test_variance_and_bias_by_hand():
    """|g|^2 = 4; entries vary by 2/3 and 8/3 around (3, 0); both halves are off by (1, 0)."""
    every = torch.tensor([[4.0, 2], [2, 2], [2, -2], [4, -2]]).double()
    variance, bias = measured(every, torch.tensor([2.0, 0]).double())
    assert (variance, bias) == pytest.approx(((4 / 3 + 16 / 3) / 4, 1 / 4))


def test_slope_and_bias_over_seeds():
    found = [Estimated(seed, s, (1 + seed) / s**2, 0.1 * seed) for seed in (0, 1, 2) for s in (1, 2, 4)]
    assert slope_of(found).value == pytest.approx(-2) and bias_of(found).value == pytest.approx(0.1)


SMALL = Size(words=30, numbers=(1, 4, 16), repeats=50)


def test_a_whole_run(monkeypatch, tmp_path):
    monkeypatch.setattr(sampled_gradient, "QUICK", SMALL)
    found = runner.run_claim("sampled-gradient", quick=True, out=tmp_path, watch=Watch())
    assert found["figures"][0]["value"] == pytest.approx(-1, abs=0.05)
    assert found["figures"][1]["value"] == pytest.approx(0, abs=0.01)
    assert (tmp_path / "sampled-gradient.png").stat().st_size > 10_000


def test_a_biased_estimate_is_found(monkeypatch):
    """Symbols drawn evenly in place of from P."""

    def evenly(self, h, ids):
        return h.new_zeros(len(h)), torch.randint(len(self.weight), (len(h), self.number))

    monkeypatch.setattr(MonteCarlo, "_draw", evenly)
    bias = bias_of([one for seed in range(3) for one in sampled_gradient.estimate(SMALL, seed)])
    assert bias.low is not None and bias.low > 0.01
