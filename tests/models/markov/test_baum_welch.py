"""Baum and Welch's passes: a step of EM by hand, a goal that never falls, when it ends, which start is kept."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from foresay.models.markov.baum_welch import How, Rows, best_of, learn, random_chain, shares
from foresay.models.markov.words import Symbols
from tests.kernels.test_markov import paths_of

V, K = 6, 3


def text(seed: int = 1, rows: int = 12) -> Rows:
    chance = np.random.default_rng(seed)
    each = [chance.integers(0, V, size) for size in chance.integers(1, 9, rows)]
    return Rows(np.concatenate(each).astype(np.int32), np.cumsum([0, *map(len, each)]))


def begun(chance: np.random.Generator, smoothing: float = 0.0):
    return random_chain(K, Symbols(chance.dirichlet(np.ones(V), K).T.copy(), smoothing), chance)


def test_shares():
    np.testing.assert_allclose(shares(np.array([[1.0, 3.0], [0.0, 0.0]]), 0.0), [[0.25, 0.75], [0.5, 0.5]])
    np.testing.assert_allclose(shares(np.array([1.0, 0.0]), 1.0), [2 / 3, 1 / 3])


@pytest.mark.parametrize("smoothing", [0.0, 0.3])
def test_a_pass_is_em_by_hand(smoothing):
    """New parameters are shares of what is expected over all paths of states; `usual` is how often each state is."""
    rows, chain = text(rows=4), begun(np.random.default_rng(2), smoothing)
    b, a, first = chain.emissions.table()[0], chain.moves, chain.first
    began, moved, emitted = np.zeros(K), np.zeros((K, K)), np.zeros((V, K))
    for low, high in itertools.pairwise(rows.edges.tolist()):
        own = rows.ids[low:high].tolist()
        every = paths_of(own, b, a, first)
        whole = sum(every.values())
        for path, p in every.items():
            began[path[0]] += p / whole
            for t, state in enumerate(path):
                emitted[own[t], state] += p / whole
                if t:
                    moved[path[t - 1], state] += p / whole
    learn(chain, rows, How(1, 0.0, smoothing), lambda _: None)
    np.testing.assert_allclose(chain.first, (began + smoothing) / (began + smoothing).sum())
    np.testing.assert_allclose(chain.moves, (moved + smoothing) / (moved + smoothing).sum(1, keepdims=True))
    np.testing.assert_allclose(chain.emissions.table()[0], (emitted + smoothing) / (emitted + smoothing).sum(0))
    assert chain.usual is not None
    np.testing.assert_allclose(chain.usual, emitted.sum(0) / emitted.sum())


@pytest.mark.parametrize("smoothing", [0.0, 0.5])
@pytest.mark.parametrize("seed", range(4))
def test_the_goal_never_falls(seed, smoothing):
    chain, rows = begun(np.random.default_rng(seed), smoothing), text(seed)
    passes = learn(chain, rows, How(60, 0.0, smoothing), lambda _: None)
    rises = np.diff(chain.goals)
    assert (rises >= -1e-9 * abs(chain.goals[0])).all() and chain.goals[-1] > chain.goals[0] + 0.1
    if not smoothing:
        assert -chain.goals[3] / len(rows.ids) == pytest.approx(passes[3].loss)


def test_it_ends_when_a_pass_pays_no_more():
    rows, done = text(), []
    chain = begun(np.random.default_rng(1))
    passes = learn(chain, rows, How(500, 1e-3, 0.0), done.append)
    assert chain.ended and 2 < len(passes) < 500
    rises = np.diff(chain.goals) / len(rows.ids)
    assert rises[-1] < 1e-3 and (rises[:-1] >= 1e-3).all()
    assert done == [(number + 1) / 500 for number in range(len(passes))]


def test_the_best_start_is_kept():
    rows, how = text(3), How(30, 0.0, 0.0)
    alone = [best_of(1, begun, rows, how, seed, lambda _: None)[0].goals[-1] for seed in (1, 1, 2)]
    assert alone[0] == alone[1] != alone[2]
    done = []
    chain, passes, notes = best_of(4, begun, rows, how, 1, done.append)
    each = [learn_alone(rows, how, start) for start in range(4)]
    assert chain.goals[-1] == max(each) > min(each)
    assert len(passes) == 30 and done[-1] == 1.0 and done == sorted(done)
    assert notes[1].startswith("4 starts ended at ") and notes[1].endswith(f"number {1 + int(np.argmax(each))} is kept")


def learn_alone(rows: Rows, how: How, start: int) -> float:
    chain = begun(np.random.default_rng([1, start]))
    learn(chain, rows, how, lambda _: None)
    return chain.goals[-1]


def test_hmmlearn_agrees():
    """Ten passes from the same beginning end at the same parameters."""
    hmm = pytest.importorskip("hmmlearn.hmm")
    rows, chain = text(5), begun(np.random.default_rng(5))
    other = hmm.CategoricalHMM(K, n_features=V, init_params="", n_iter=10, tol=-np.inf, implementation="scaling")
    other.startprob_, other.transmat_ = chain.first, chain.moves
    other.emissionprob_ = chain.emissions.table()[0].T
    other.fit(rows.ids[:, None], np.diff(rows.edges))
    learn(chain, rows, How(10, 0.0, 0.0), lambda _: None)
    np.testing.assert_allclose(chain.moves, other.transmat_, rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(chain.emissions.table()[0].T, other.emissionprob_, rtol=1e-6, atol=1e-9)
