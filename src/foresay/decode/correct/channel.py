"""P(observed | X) of whole sequences: every way to get from X to what was observed, summed.

X is read from left to right. Before each unit, and at the end, units are put in, each with probability `insert` and
drawn evenly from the A known ones and the unknown, which count as one. Then a unit is left out (`delete`), exchanged
with the next one (`swap`; the last has no next one and stays), or else observed as noise.log_sub says. Each rate is
that of the noise times exp(-caution): a change of any kind must win so many nats more.

    B_i(j) = P(o_j.. | x_i..) = insert/(A+1) B_i(j+1) + (1 - insert) (
                 (1 - delete - swap) P(o_j | x_i) B_{i+1}(j+1) + delete B_{i+1}(j)
                 + swap [x_i = o_{j+1}] [x_{i+1} = o_j] B_{i+2}(j+2) )

Ways on which the two drift more than BAND units apart are left out of the sum. A row of the table is scaled by its
largest entry where that is small, so that no text is too long. A change of a few units in the middle needs only their
rows: rows from the left before it and from the right after it stay. Where there are no edits, only sequences of equal
length have a probability, and it is a product.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple, Protocol

import numpy as np

from foresay.decode.correct.noise import Rates

BAND = 5  # how far the two may have drifted apart
SMALL = 1e-30  # below it a row is scaled


class UnitNoise(Protocol):
    """What a channel needs to know of the units, and a chain of how the noise is used."""

    weight: float
    caution: float
    rates: Rates
    cautious: Rates  # with the caution in them
    units: list[str]

    def log_sub(self, right: str, observed: str) -> float: ...

    def candidates(self, observed: str) -> dict[str, float]: ...


class Row(NamedTuple):
    """Probabilities of having seen the first 0 .. m units (or of the rest), times exp(-log)."""

    p: list[float]
    log: float = 0.0

    def scaled(self) -> Row:
        top = max(self.p)
        return self if top >= SMALL or top == 0 else Row([p / top for p in self.p], self.log + math.log(top))


class Channel:
    """The channel that ended in `observed`."""

    def __init__(self, noise: UnitNoise, observed: Sequence[str]):
        self.noise, self.observed, self.rates = noise, tuple(observed), noise.cautious
        self.put_in = self.rates.insert / (len(noise.units) + 1)

    def log_prob(self, x: Sequence[str]) -> float:
        """log P(observed | x)."""
        return self.many(x, [x])[0]

    def many(self, x: Sequence[str], variants: Sequence[Sequence[str]]) -> list[float]:
        """log P(observed | variant) of sequences that differ from x in a few places each."""
        if not self.noise.rates.edits:
            return self._products(x, variants)
        left, right = self._from_left(x), self._from_right(x)
        return [self._spliced(x, variant, left, right) for variant in variants]

    def _products(self, x: Sequence[str], variants: Sequence[Sequence[str]]) -> list[float]:
        """Products over places; only those that differ from x are asked for again."""
        o, log_sub, length = self.observed, self.noise.log_sub, len(self.observed)
        own = list(map(log_sub, x, o)) if len(x) == length else []
        total, found = math.fsum(own), []
        for one in variants:
            if len(one) != length:
                found.append(-math.inf)
            elif len(x) != length or total == -math.inf:
                found.append(math.fsum(map(log_sub, one, o)))
            else:
                other = [i for i, (a, b) in enumerate(zip(x, one, strict=True)) if a != b]
                found.append(total + sum(log_sub(one[i], o[i]) - own[i] for i in other))
        return found

    def _reach(self, i: int) -> range:
        return range(max(i - BAND, 0), min(i + BAND, len(self.observed)) + 1)

    def _insert(self, row: Row, i: int) -> Row:
        """Units put in at gap i: the row when it is left again."""
        p, reach = list(row.p), self._reach(i)
        for j in reach[1:]:
            p[j] += self.put_in * p[j - 1]
        for j in reach:
            p[j] *= 1 - self.rates.insert
        return Row(p, row.log)

    def _enter(self, before: Row, two_before: Row | None, x: Sequence[str], i: int) -> Row:
        """The row after unit i of x, from the rows left before it and before its neighbour on the left."""
        o, rates, found = self.observed, self.rates, [0.0] * (len(self.observed) + 1)
        stays = rates.swap if i == len(x) - 1 else 0.0
        swap = 0.0 if two_before is None else rates.swap * math.exp(two_before.log - before.log)
        for j in self._reach(i + 1):
            p = rates.delete * before.p[j]
            if j and before.p[j - 1]:
                sub = math.exp(self.noise.log_sub(x[i], o[j - 1]))
                p += before.p[j - 1] * ((1 - rates.delete - rates.swap) * sub + stays * (x[i] == o[j - 1]))
            if j > 1 and two_before is not None and x[i] == o[j - 2] and x[i - 1] == o[j - 1]:
                p += two_before.p[j - 2] * swap
            found[j] = p
        return Row(found, before.log).scaled()

    def _from_left(self, x: Sequence[str]) -> list[Row]:
        """Rows entered at gap 0 .. |x|, before anything is put in there."""
        rows = [Row([1.0] + [0.0] * len(self.observed))]
        gone: list[Row] = []
        for i in range(len(x)):
            gone.append(self._insert(rows[-1], i))
            rows.append(self._enter(gone[-1], gone[-2] if i else None, x, i))
        return rows

    def _from_right(self, x: Sequence[str]) -> list[Row]:
        """B_0 .. B_|x|."""
        m = len(self.observed)
        rows = [self._put_in_before([0.0] * m + [1.0], len(x), 0.0)]
        for i in range(len(x) - 1, -1, -1):
            rows.append(self._before(rows[-1], rows[-2] if i < len(x) - 1 else None, x, i))
        return rows[::-1]

    def _before(self, after: Row, two_after: Row | None, x: Sequence[str], i: int) -> Row:
        """B_i from B_{i+1} and B_{i+2}."""
        o, rates, m = self.observed, self.rates, len(self.observed)
        swap = 0.0 if two_after is None else rates.swap * math.exp(two_after.log - after.log)
        stays = rates.swap if two_after is None else 0.0
        found = [0.0] * (m + 1)
        for j in self._reach(i):
            p = rates.delete * after.p[j]
            if j < m and after.p[j + 1]:
                sub = math.exp(self.noise.log_sub(x[i], o[j]))
                p += after.p[j + 1] * ((1 - rates.delete - rates.swap) * sub + stays * (x[i] == o[j]))
            if two_after is not None and j < m - 1 and x[i] == o[j + 1] and x[i + 1] == o[j]:
                p += two_after.p[j + 2] * swap
            found[j] = p
        return self._put_in_before(found, i, after.log)

    def _put_in_before(self, p: list[float], i: int, log: float) -> Row:
        reach, after = self._reach(i), 0.0
        for j in reversed(reach):
            p[j] = after = (1 - self.rates.insert) * p[j] + self.put_in * after
        return Row(p, log).scaled()

    def _spliced(self, x: Sequence[str], variant: Sequence[str], left: list[Row], right: list[Row]) -> float:
        shorter = min(len(x), len(variant))
        begin = next((i for i in range(shorter) if x[i] != variant[i]), shorter)
        same = next((i for i in range(shorter - begin) if x[-1 - i] != variant[-1 - i]), shorter - begin)
        begin = max(begin - 1, 0)  # the unit before may be the last one now, or have another neighbour
        end, after = len(variant) - same, len(x) - same
        row, gone = left[begin], self._insert(left[begin - 1], begin - 1) if begin else None
        for i in range(begin, end):
            left_again = self._insert(row, i)
            row, gone = self._enter(left_again, gone, variant, i), left_again
        found = _log(sum(map(float.__mul__, row.p, right[after].p)), row.log + right[after].log)
        if same and end and gone is not None:  # exchanged across the seam
            a, b, o = variant[end - 1], variant[end], self.observed
            over = right[after + 1]
            across = sum(gone.p[j] * over.p[j + 2] for j in range(len(o) - 1) if o[j] == b and o[j + 1] == a)
            found = float(np.logaddexp(found, _log(self.rates.swap * across, gone.log + over.log)))
        return found


def _log(p: float, log: float) -> float:
    return math.log(p) + log if p > 0 else -math.inf
