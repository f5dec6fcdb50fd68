"""Normal emissions: densities against torch, means and variances against numpy, posteriors over all paths."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import torch
from torch.distributions import Normal

from foresay.errors import UserError
from foresay.models.markov.baum_welch import Chain, How, Rows, learn
from foresay.models.markov.frames import FLOOR, FrameChain, Frames, Normals, by_counts, scaled, weighted

T, D, K = 5, 2, 3
LEAST = np.full(D, 1e-3)


def normals(seed: int = 1) -> Normals:
    chance = np.random.default_rng(seed)
    return Normals(chance.normal(size=(K, D)), chance.uniform(0.5, 2, (K, D)), LEAST)


def chain(seed: int = 1) -> FrameChain:
    chance = np.random.default_rng(seed)
    return FrameChain(chance.dirichlet(np.ones(K)), chance.dirichlet(np.ones(K), K), normals(seed))


def made(seed: int = 2, steps: int = T) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=(steps, D))


def test_densities_are_torch_s_and_leave_out_what_is_not_known():
    own, frames = normals(), made()
    frames[1, 0], frames[2] = np.nan, np.nan
    found = own.log_densities(frames)
    expected = Normal(torch.from_numpy(own.means), torch.from_numpy(own.variances).sqrt())
    each = expected.log_prob(torch.from_numpy(frames)[:, None].nan_to_num()).numpy()
    np.testing.assert_allclose(found[0], each[0].sum(-1))
    np.testing.assert_allclose(found[1], each[1, :, 1])
    assert not found[2].any()
    table, factors = scaled(found - 5000.0)
    np.testing.assert_allclose(np.log(table) + factors[:, None], found - 5000.0)


def test_means_and_variances_are_numpys():
    frames = made(steps=50)
    frames[3, 1] = np.nan
    states = np.random.default_rng(3).integers(0, K - 1, 50)  # the last state has nothing
    found = weighted(frames, np.eye(K)[states], LEAST)
    for state in range(K - 1):
        np.testing.assert_allclose(found.means[state], np.nanmean(frames[states == state], 0))
        np.testing.assert_allclose(found.variances[state], np.nanvar(frames[states == state], 0))
    np.testing.assert_allclose(found.means[-1], np.nanmean(frames, 0))
    np.testing.assert_allclose(found.variances[-1], np.nanvar(frames, 0))
    assert (weighted(np.ones((4, D)), np.ones((4, 1)), LEAST).variances == LEAST).all()


def test_given_states_are_counted():
    frames = [np.array([[0.0], [2.0], [9.0]]), np.array([[1.0]])]
    found = by_counts(frames, [np.array([0, 0, 1]), np.array([0])], 2, smoothing=0.5)
    np.testing.assert_allclose(found.first, [2.5 / 3, 0.5 / 3])
    np.testing.assert_allclose(found.moves, [[0.5, 0.5], [0.5, 0.5]])
    np.testing.assert_allclose(found.normals.means, [[1.0], [9.0]])
    least = FLOOR * np.var([0, 2, 9, 1])
    np.testing.assert_allclose(found.normals.variances, [[2 / 3], [least]])
    with pytest.raises(UserError, match="row 2 has 1 frames and 1 states; allowed: one or more, a state from 0 to 1"):
        by_counts(frames, [np.array([0, 0, 1]), np.array([2])], 2)


def test_posteriors_and_the_best_path_are_those_over_all_paths():
    own, frames = chain(), made()
    b = np.exp(own.normals.log_densities(frames))
    joint = {}
    for path in itertools.product(range(K), repeat=T):
        p = own.first[path[0]] * b[0, path[0]]
        for t in range(1, T):
            p *= own.moves[path[t - 1], path[t]] * b[t, path[t]]
        joint[path] = p
    filtered, smoothed = own.posteriors(frames)
    whole = np.zeros((T, K))
    for path, p in joint.items():
        whole[range(T), path] += p / sum(joint.values())
    np.testing.assert_allclose(smoothed, whole, rtol=1e-9)
    np.testing.assert_allclose(filtered[-1], smoothed[-1], rtol=1e-9)
    start = own.first * b[0]
    np.testing.assert_allclose(filtered[0], start / start.sum(), rtol=1e-9)
    assert tuple(own.best(frames)) == max(joint, key=joint.__getitem__)


@pytest.mark.parametrize("seed", range(3))
def test_the_likelihood_never_falls_and_hidden_states_are_found(seed):
    """Two states far from each other, which last: their means are found up to their order."""
    chance = np.random.default_rng(seed)
    states = np.repeat(chance.integers(0, 2, 60), chance.integers(3, 9, 60))
    frames = np.array([[-3.0], [3.0]])[states] + chance.normal(size=(len(states), 1))
    start = Normals(np.array([[-0.1], [0.1]]), np.full((2, 1), frames.var()), np.full(1, 1e-3))
    hidden = Chain(np.full(2, 0.5), np.array([[0.6, 0.4], [0.4, 0.6]]), Frames(frames, start))
    rows = Rows(np.arange(len(frames), dtype=np.int32), np.array([0, 100, len(frames)]))
    learn(hidden, rows, How(40, 0.0, 0.0), lambda _: None)
    assert (np.diff(hidden.goals) >= -1e-8 * abs(hidden.goals[0])).all() and hidden.goals[-1] > hidden.goals[0] + 10
    assert isinstance(hidden.emissions, Frames)
    np.testing.assert_allclose(np.sort(hidden.emissions.normals.means[:, 0]), [-3, 3], atol=0.35)


def test_hmmlearn_agrees():
    hmm = pytest.importorskip("hmmlearn.hmm")
    frames, own = made(4, 60), chain(4)
    given = {"init_params": "", "n_iter": 5, "tol": -np.inf, "implementation": "scaling", "min_covar": 0.0}
    other = hmm.GaussianHMM(K, "diag", covars_prior=0.0, covars_weight=0.0, means_weight=0.0, **given)
    other.startprob_, other.transmat_ = own.first, own.moves
    other.means_, other.covars_ = own.normals.means, own.normals.variances
    other.covars_prior, other.covars_weight = 0.0, 1.0  # the share of squares alone
    other.fit(frames, [40, 20])
    hidden = Chain(own.first, own.moves, Frames(frames, Normals(own.normals.means, own.normals.variances, np.zeros(D))))
    learn(hidden, Rows(np.arange(60, dtype=np.int32), np.array([0, 40, 60])), How(5, 0.0, 0.0), lambda _: None)
    assert isinstance(hidden.emissions, Frames)
    np.testing.assert_allclose(hidden.moves, other.transmat_, rtol=1e-5, atol=1e-8)
    np.testing.assert_allclose(hidden.emissions.normals.means, other.means_, rtol=1e-5)
