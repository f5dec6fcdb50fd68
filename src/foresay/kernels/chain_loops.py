"""The loops of chain.py, compiled by numba when they are first called.

log sum_i exp(v[i] + A[i, j]) is max v + max A + log sum_i exp(v[i] - max v) exp(A[i, j] - max A): exp of A is taken
once, so a step needs K exponentials and K logarithms in place of K^2. Where such a sum is too small to be exact (TINY),
as when the only way to a tag is from one that is hardly possible, that one sum is taken term by term.

Without numba's compiler (NUMBA_DISABLE_JIT=1) they run as the plain Python they are.
"""

from __future__ import annotations

import numpy as np
from numba import njit

TINY = 1e-200


@njit(cache=True, nogil=True)
def log_sum(values: np.ndarray) -> float:
    """log sum exp, -inf where all are."""
    most = values.max()
    if most == -np.inf:
        return most
    return most + np.log(np.exp(values - most).sum())


@njit(cache=True, nogil=True, fastmath={"reassoc", "contract", "nsz"})
def into(vector: np.ndarray, power: np.ndarray, out: np.ndarray) -> None:
    """out[j] = sum_i vector[i] power[i, j]."""
    out[:] = 0.0
    for i in range(len(vector)):
        weight = vector[i]
        for j in range(len(out)):
            out[j] += weight * power[i, j]


@njit(cache=True, nogil=True)
def carry(
    values: np.ndarray, a: np.ndarray, power: np.ndarray, top: float, out: np.ndarray, shares: np.ndarray
) -> None:
    """out[j] = log sum_i exp(values[i] + a[i, j]); shares[i] = exp(values[i] - max)."""
    most = values.max()
    for i in range(len(values)):
        shares[i] = np.exp(values[i] - most) if most > -np.inf else 0.0
    into(shares, power, out)
    for j in range(len(out)):
        out[j] = most + top + np.log(out[j]) if out[j] > TINY else log_sum(values + a[:, j])


@njit(cache=True, nogil=True)
def raised(a: np.ndarray) -> tuple[np.ndarray, np.ndarray, float]:
    """A in float64, exp(A - max A), and max A."""
    wide = a.astype(np.float64)
    top = wide.max()
    return wide, np.exp(wide - top), top


@njit(cache=True, nogil=True)
def forwards(e: np.ndarray, a: np.ndarray, power: np.ndarray, top: float, b: np.ndarray, alpha: np.ndarray) -> None:
    """alpha of one row, (T, K), for its steps e (T, K)."""
    shares = np.empty(e.shape[1])
    for j in range(e.shape[1]):
        alpha[0, j] = b[j] + e[0, j]
    for t in range(1, len(e)):
        carry(alpha[t - 1], a, power, top, alpha[t], shares)
        for j in range(e.shape[1]):
            alpha[t, j] += e[t, j]


@njit(cache=True, nogil=True)
def score(
    scores: np.ndarray, a: np.ndarray, b: np.ndarray, c: np.ndarray, tags: np.ndarray, sizes: np.ndarray,
    alpha: np.ndarray, whole: np.ndarray, found: np.ndarray, low: int, high: int,
) -> None:  # fmt: skip
    """Rows low..high: alpha, log Z and log P of the tags."""
    wide, power, top = raised(a)
    for row in range(low, high):
        size = sizes[row]
        if size == 0:
            continue
        forwards(scores[row, :size], wide, power, top, b, alpha[row])
        whole[row] = log_sum(alpha[row, size - 1] + c)
        total = np.float64(b[tags[row, 0]]) + c[tags[row, size - 1]]
        for t in range(size):
            total += scores[row, t, tags[row, t]]
            if t:
                total += wide[tags[row, t - 1], tags[row, t]]
        found[row] = total - whole[row]


@njit(cache=True, nogil=True)
def score_backwards(
    scores: np.ndarray, a: np.ndarray, b: np.ndarray, c: np.ndarray, tags: np.ndarray, sizes: np.ndarray,
    alpha: np.ndarray, whole: np.ndarray, weights: np.ndarray, together: int, d_scores: np.ndarray, d_a: np.ndarray,
    d_b: np.ndarray, d_c: np.ndarray, low: int, high: int,
) -> None:  # fmt: skip
    """Tables low..high, each of `together` rows: 1 where the tags are, less what is expected there, by the weight."""
    wide, power, top = raised(a)
    turned, turned_power = wide.T.copy(), power.T.copy()
    kinds = scores.shape[2]
    beta, ahead, after = np.empty(kinds), np.empty(kinds), np.empty(kinds)
    shares, p = np.empty(kinds), np.empty(kinds)
    pairs = np.empty((kinds, kinds))
    for table in range(low, high):
        pairs[:] = 0.0
        for row in range(table * together, min((table + 1) * together, len(scores))):
            size, weight = sizes[row], np.float64(weights[row])
            if size == 0 or weight == 0.0:
                continue
            for j in range(kinds):
                beta[j] = c[j]
            for t in range(size - 1, -1, -1):
                for j in range(kinds):
                    p[j] = weight * np.exp(alpha[row, t, j] + beta[j] - whole[row])
                    d_scores[row, t, j] = -p[j]
                d_scores[row, t, tags[row, t]] += weight
                if t == size - 1:
                    d_c[table] -= p
                    d_c[table, tags[row, t]] += weight
                if t == 0:
                    d_b[table] -= p
                    d_b[table, tags[row, 0]] += weight
                    break
                d_a[table, tags[row, t - 1], tags[row, t]] += weight
                for j in range(kinds):
                    ahead[j] = scores[row, t, j] + beta[j]
                carry(ahead, turned, turned_power, top, after, shares)
                most = ahead.max() + top
                for i in range(kinds):  # P(y_{t-1} = i) P(y_t = j | i), the second as shares[j] power[i, j] / their sum
                    before = weight * np.exp(alpha[row, t - 1, i] + after[i] - whole[row])
                    if after[i] - most > np.log(TINY):
                        part = before / np.exp(after[i] - most)
                        for j in range(kinds):
                            pairs[i, j] += part * shares[j]
                    elif before != 0.0:
                        for j in range(kinds):
                            d_a[table, i, j] -= before * np.exp(wide[i, j] + ahead[j] - after[i])
                    beta[i] = after[i]
        d_a[table] -= pairs * power


@njit(cache=True, nogil=True)
def marginals(
    scores: np.ndarray, a: np.ndarray, b: np.ndarray, c: np.ndarray, sizes: np.ndarray, found: np.ndarray,
    low: int, high: int,
) -> None:  # fmt: skip
    """Rows low..high: log P of every tag at every step."""
    wide, power, top = raised(a)
    turned, turned_power = wide.T.copy(), power.T.copy()
    kinds = scores.shape[2]
    alpha, shares = np.empty(scores.shape[1:]), np.empty(kinds)
    beta, ahead = np.empty(kinds), np.empty(kinds)
    for row in range(low, high):
        size = sizes[row]
        if size == 0:
            continue
        forwards(scores[row, :size], wide, power, top, b, alpha)
        whole = log_sum(alpha[size - 1] + c)
        for j in range(kinds):
            beta[j] = c[j]
        for t in range(size - 1, -1, -1):
            for j in range(kinds):
                found[row, t, j] = alpha[t, j] + beta[j] - whole
                ahead[j] = scores[row, t, j] + beta[j]
            if t:
                carry(ahead, turned, turned_power, top, beta, shares)


@njit(cache=True, nogil=True)
def best(
    scores: np.ndarray, a: np.ndarray, b: np.ndarray, c: np.ndarray, sizes: np.ndarray, found: np.ndarray,
    low: int, high: int,
) -> None:  # fmt: skip
    """Rows low..high by Viterbi; of equals the first."""
    kinds = scores.shape[2]
    came = np.empty((scores.shape[1], kinds), np.int32)
    reached, most = np.empty(kinds, np.float32), np.empty(kinds, np.float32)
    for row in range(low, high):
        size = sizes[row]
        if size == 0:
            continue
        for j in range(kinds):
            reached[j] = b[j] + scores[row, 0, j]
        for t in range(1, size):
            where = came[t]
            for j in range(kinds):
                most[j] = reached[0] + a[0, j]
                where[j] = 0
            for i in range(1, kinds):
                here = reached[i]
                for j in range(kinds):
                    total = here + a[i, j]
                    better = total > most[j]
                    most[j] = total if better else most[j]
                    where[j] = np.int32(i) if better else where[j]
            for j in range(kinds):
                reached[j] = most[j] + scores[row, t, j]
        tag = (reached + c).argmax()
        for t in range(size - 1, -1, -1):
            found[row, t] = tag
            if t:
                tag = came[t, tag]
