"""The compiled loops and their plain twin, both against the sum over every path of states, in float64 to 1e-9."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import torch

from foresay.kernels import markov
from foresay.kernels.markov_loops import PIECE

K, M = 3, 5


def chain(seed: int = 1, states: int = K) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """b (M, K), A and pi."""
    chance = np.random.default_rng(seed)
    b = chance.dirichlet(np.ones(M), states).T.copy()
    return b, chance.dirichlet(np.ones(states), states), chance.dirichlet(np.ones(states))


def paths_of(ids: list[int], b: np.ndarray, a: np.ndarray, first: np.ndarray) -> dict[tuple[int, ...], float]:
    """P(states, symbols) of every path of states."""
    found = {}
    for path in itertools.product(range(len(first)), repeat=len(ids)):
        p = first[path[0]] * b[ids[0], path[0]]
        for t in range(1, len(ids)):
            p *= a[path[t - 1], path[t]] * b[ids[t], path[t]]
        found[path] = p
    return found


@pytest.fixture(params=["loops", "plain"])
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("FORESAY_PLAIN", "1" if request.param == "plain" else "0")
    return request.param


def test_expected_counts_are_those_over_all_paths(way):
    rows = [[0, 3, 3, 1], [2], [4, 4, 0, 1, 2, 3], [1, 0]]
    b, a, first = chain()
    ids, edges = np.concatenate(rows).astype(np.int32), np.cumsum([0, *map(len, rows)])
    found = markov.expected(b, ids, edges, a, first)
    log_prob, began, moved, emitted = 0.0, np.zeros(K), np.zeros((K, K)), np.zeros((M, K))
    for row in rows:
        every = paths_of(row, b, a, first)
        whole = sum(every.values())
        log_prob += np.log(whole)
        for path, p in every.items():
            began[path[0]] += p / whole
            for t, state in enumerate(path):
                emitted[row[t], state] += p / whole
                if t:
                    moved[path[t - 1], state] += p / whole
    assert found.log_prob == pytest.approx(log_prob, rel=1e-12)
    np.testing.assert_allclose(found.began, began, rtol=1e-9)
    np.testing.assert_allclose(found.moved, moved, rtol=1e-9)
    np.testing.assert_allclose(found.emitted, emitted, rtol=1e-9, atol=1e-12)


def test_a_row_of_many_pieces(monkeypatch):
    """Two whole pieces and a bit, beside a short row; the counts are the plain twin's."""
    b, a, first = chain(2, 5)
    sizes = [2 * PIECE + 7, 3]
    ids, edges = np.random.default_rng(3).integers(0, M, sum(sizes)).astype(np.int32), np.cumsum([0, *sizes])
    found = markov.expected(b, ids, edges, a, first)
    monkeypatch.setenv("FORESAY_PLAIN", "1")
    twin = markov.expected(b, ids, edges, a, first)
    assert found.log_prob == pytest.approx(twin.log_prob, rel=1e-12)
    for name in ("began", "moved", "emitted"):
        np.testing.assert_allclose(getattr(found, name), getattr(twin, name), rtol=1e-9)
    assert found.moved.sum() == pytest.approx(sum(sizes) - 2) and found.emitted.sum() == pytest.approx(sum(sizes))


def test_threads_change_no_digit():
    b, a, first = chain(4, 6)
    ids, edges = np.random.default_rng(5).integers(0, M, 400).astype(np.int32), np.arange(0, 401, 8)
    before = torch.get_num_threads()
    try:
        found = []
        for threads in (1, 3):
            torch.set_num_threads(threads)
            found.append(markov.expected(b, ids, edges, a, first))
    finally:
        torch.set_num_threads(before)
    one, other = found
    assert one.log_prob == other.log_prob and (one.emitted == other.emitted).all() and (one.moved == other.moved).all()


def test_steps_with_rows_of_their_own():
    """`own`: the counts of every step are P(s_t | all of its row), in one table for all groups."""
    _, a, first = chain(6)
    table, edges = np.random.default_rng(7).random((40, K)), np.array([0, 7, 8, 25, 40])
    found = markov.expected(table, np.arange(40, dtype=np.int32), edges, a, first, own=True)
    for low, high in itertools.pairwise(edges):
        _, smoothed = markov.both(table, np.arange(low, high, dtype=np.int32), a, first)
        np.testing.assert_allclose(found.emitted[low:high], smoothed, rtol=1e-9)


def test_filtered_and_smoothed_are_those_over_all_paths(way):
    ids, (b, a, first) = [0, 3, 1, 1, 4], chain(8)
    filtered, smoothed = markov.both(b, np.array(ids), a, first)
    every = paths_of(ids, b, a, first)
    for t in range(len(ids)):
        until, whole = np.zeros(K), np.zeros(K)
        for path, p in paths_of(ids[: t + 1], b, a, first).items():
            until[path[t]] += p
        for path, p in every.items():
            whole[path[t]] += p
        np.testing.assert_allclose(filtered[t], until / until.sum(), rtol=1e-9)
        np.testing.assert_allclose(smoothed[t], whole / whole.sum(), rtol=1e-9)


def test_followed_from_a_state_and_begun_anew_behind_a_stop(way):
    b, a, first = (torch.from_numpy(one) for one in chain(9))
    ids = torch.tensor([[0, 2, 1, 3], [4, 1, 0, 0], [1, 1, 1, 1]])
    sizes = torch.tensor([4, 2, 0])
    found, after = markov.follow(b, ids, sizes, a, first, first.expand(3, -1), stop=2)
    every = paths_of([0, 2], *(one.numpy() for one in (b, a, first)))
    assert float(found[0, :2].sum()) == pytest.approx(np.log(sum(every.values())))
    anew = paths_of([1, 3], *(one.numpy() for one in (b, a, first)))
    assert float(found[0, 2:].sum()) == pytest.approx(np.log(sum(anew.values())))
    assert not found[1, 2:].any() and not found[2].any()
    torch.testing.assert_close(after[2], first)
    known = first
    for symbol in (4, 1):
        known = known * b[symbol]
        known = known / known.sum() @ a
    torch.testing.assert_close(after[1], known)


def test_what_no_state_allows(way):
    """Its log P is -inf; nothing is learnt of it, and what follows is finite."""
    b, a, first = chain(10)
    b[3] = 0.0
    given = [torch.from_numpy(one) for one in (a, first)]
    ids = torch.tensor([[0, 3, 1]])
    found, _ = markov.follow(torch.from_numpy(b), ids, torch.tensor([3]), *given, given[1].expand(1, -1))
    assert float(found[0, 1]) == -np.inf and bool(found[0, [0, 2]].isfinite().all())
    filtered, smoothed = markov.both(b, ids[0].numpy(), a, first)
    np.testing.assert_allclose(filtered[1], filtered[0] @ a, rtol=1e-12)
    np.testing.assert_allclose(smoothed.sum(1), 1.0)
