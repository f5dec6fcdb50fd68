"""The hidden Markov model of series: exact, in pieces and in windows the same, forecasts, from a file on."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import foresay
from foresay import start
from foresay.data.batch import Batch
from foresay.decode.paths import paths
from foresay.models.markov.series import HiddenSeries
from foresay.train.progress import Watch
from tests.contracts.test_series import FORM
from tests.kernels.test_markov import paths_of

B, T, D, K = 3, 7, 2, 3


@pytest.fixture
def model() -> Any:
    made = HiddenSeries(states=K)
    made.learn_form(FORM)
    made.build(5)
    chance = np.random.default_rng(1)
    for name, array in (
        ("first", chance.dirichlet(np.ones(K))),
        ("moves", chance.dirichlet(np.ones(K), K)),
        ("usual", chance.dirichlet(np.ones(K))),
        ("means", chance.normal(size=(K, D))),
        ("variances", chance.uniform(0.5, 2, (K, D))),
    ):
        setattr(made, name, torch.from_numpy(array))
    return made.eval()


def values() -> torch.Tensor:
    found = torch.randn(B, T, D, dtype=torch.float64, generator=torch.Generator().manual_seed(2))
    found[0, 2, 1], found[1, 4] = torch.nan, torch.nan
    return found


def test_a_series_is_the_sum_over_all_paths(model):
    x = values()
    found, _ = model.score(x)
    densities = np.exp(model.chain().normals.log_densities(x[0].numpy()))
    whole = sum(paths_of(list(range(T)), densities, model.moves.numpy(), model.first.numpy()).values())
    assert float(found[0].sum()) == pytest.approx(math.log(whole))
    assert float(found[1, 4]) == 0.0


def test_whole_equals_pieces_equals_padded(model):
    x = values()
    whole, _ = model.score(x)
    for sizes in ([3, 4], [1] * T):
        found, state = [], model.begin(B)
        for piece in x.split(sizes, 1):
            log_prob, state = model.score(piece, state=state)
            found.append(log_prob)
        torch.testing.assert_close(torch.cat(found, 1), whole)
    mask = torch.arange(T) < torch.tensor([[4], [T], [2]])
    padded, after = model.score(torch.where(mask[..., None], x, 9.0), mask)
    torch.testing.assert_close(padded, whole * mask)
    _, state = model.step(x[2:, :2], model.begin(1))
    torch.testing.assert_close(model.reorder(after, torch.tensor([2]))["features"], state["features"])


def test_what_is_measured_is_the_score_and_windows_know_one_step_before(model):
    x = values()
    frames = torch.cat([torch.full((B, 1, D), torch.nan).double(), x[:, :-1]], 1)
    torch.testing.assert_close(model.measure(Batch(frames=frames, targets=x))[0], model.score(x)[0])
    window = Batch(frames=x[2:, 1:3], targets=x[2:, 2:4])
    _, state = model.step(x[2:, 1:2], model.amid(1))
    torch.testing.assert_close(model.measure(window)[0], model.score(x[2:, 2:4], state=state)[0])
    torch.testing.assert_close(model.expect(window)[:, 0], state["features"] @ model.means)


def test_draws_are_of_the_mixture(model):
    """Mean and deviation of many draws are the mixture's; at temperature 0 the likeliest state's mean."""
    _, state = model.step(values()[2:], model.begin(1))
    drawn = paths(model, state, 1, 20_000, seed=1)[0, :, 0].double()
    p = state["features"][0]
    mean = p @ model.means
    deviation = (p @ (model.variances + model.means**2) - mean**2).sqrt()
    torch.testing.assert_close(drawn.mean(0), mean, atol=0.04, rtol=0)
    torch.testing.assert_close(drawn.std(0), deviation, atol=0.04, rtol=0)
    cold = model.draw(state, torch.full((1, D + 1), 0.3).double(), 0.0)
    torch.testing.assert_close(cold[0], model.means[int(p.argmax())])


def test_through_the_front_door(tmp_path: Path):
    """Two regimes that take turns: their levels are found, held-out steps are worth more than guessing, forecasts are
    within them."""
    chance = np.random.default_rng(3)
    regimes = np.repeat(np.arange(80) % 2, chance.integers(8, 15, 80))
    series = np.where(regimes, 10.0, 2.0) + chance.normal(size=len(regimes))
    Path("x.csv").write_text("x\n" + "".join(f"{one:.3f}\n" for one in series))
    recipe = {"task": "hmm-series", "states": 2, "horizon": 5, "data": {"kind": "series", "train": "x.csv"}}
    run: Any = start.train(recipe, out="run", device="cpu", watch=Watch())
    means = sorted(run.model.means[:, 0].tolist())
    assert means == pytest.approx([2.0, 10.0], abs=0.3)
    losses = [json.loads(line)["loss"] for line in Path("run/metrics.jsonl").read_text().splitlines()]
    assert losses[-1] < losses[0] and losses[-1] == min(losses)
    figures = run.evaluate()
    assert figures.loss < run.model.guessing() - 0.5 and figures.rolled.covered > 0.5
    again: Any = foresay.load("run", "cpu")
    found = again.forecast(np.array([[10.0]] * 4), steps=3, number=200)
    assert np.abs(found.mean[0, 0, 0] - 10) < 1.5 and found.paths.shape == (1, 200, 3, 1)
    assert torch.equal(again.model.means, run.model.means)
    filtered, smoothed = again.model.chain().posteriors(series[:40, None])
    assert (smoothed.max(1) > 0.9).mean() > 0.95 and filtered.shape == (40, 2)
    assert "hidden Markov model of series" in Path("run/README.md").read_text()
