"""P(observed | X) of whole sequences: every way to get from X to what was observed, summed.

X is read from left to right. Before each unit, and at the end, units are put in, each with probability `insert` and
drawn evenly from the A known ones. Then a unit is left out (`delete`), exchanged with the next one (`swap`; the last
has no next one and stays), or else observed as noise.log_sub says.

    B_i(j) = P(o_j.. | x_i..) = insert/A B_i(j+1) + (1 - insert) (
                 (1 - delete - swap) P(o_j | x_i) B_{i+1}(j+1) + delete B_{i+1}(j)
                 + swap [x_i = o_{j+1}] [x_{i+1} = o_j] B_{i+2}(j+2) )

A change of a few units in the middle needs only their rows: rows from the left before it and from the right after it
stay. Where there are no edits, only sequences of equal length have a probability, and it is a product.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Protocol

from foresay.decode.correct.noise import Rates

BAND = 5  # how far the two may have drifted apart


class UnitNoise(Protocol):
    """What a channel needs to know of the units."""

    rates: Rates
    units: list[str]

    def log_sub(self, right: str, observed: str) -> float: ...

    def candidates(self, observed: str) -> dict[str, float]: ...


class Channel:
    """The channel that ended in `observed`."""

    def __init__(self, noise: UnitNoise, observed: Sequence[str]):
        self.noise, self.observed, self.rates = noise, tuple(observed), noise.rates
        self.put_in = noise.rates.insert / max(len(noise.units), 1)

    def log_prob(self, x: Sequence[str]) -> float:
        """log P(observed | x)."""
        return self.many(x, [x])[0]

    def many(self, x: Sequence[str], variants: Sequence[Sequence[str]]) -> list[float]:
        """log P(observed | variant) of sequences that differ from x in a few places each."""
        if not self.rates.edits:
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

    def _insert(self, row: list[float]) -> list[float]:
        """Units put in at a gap: the row when it is left again."""
        for j in range(1, len(row)):
            row[j] += self.put_in * row[j - 1]
        return [(1 - self.rates.insert) * p for p in row]

    def _enter(self, before: list[float], two_before: list[float] | None, x: Sequence[str], i: int) -> list[float]:
        """The row after unit i of x, from the rows left before it and before its neighbour on the left."""
        o, rates, found = self.observed, self.rates, [0.0] * (len(self.observed) + 1)
        stays = rates.swap if i == len(x) - 1 else 0.0
        for j in self._reach(i + 1):
            p = rates.delete * before[j]
            if j and before[j - 1]:
                p += before[j - 1] * (1 - rates.delete - rates.swap) * math.exp(self.noise.log_sub(x[i], o[j - 1]))
                p += before[j - 1] * stays * (x[i] == o[j - 1])
            if j > 1 and two_before is not None and x[i] == o[j - 2] and x[i - 1] == o[j - 1]:
                p += two_before[j - 2] * rates.swap
            found[j] = p
        return found

    def _from_left(self, x: Sequence[str]) -> list[list[float]]:
        """Rows entered at gap 0 .. |x|, before anything is put in there."""
        rows = [[1.0] + [0.0] * len(self.observed)]
        gone: list[list[float]] = []
        for i in range(len(x)):
            gone.append(self._insert(list(rows[-1])))
            rows.append(self._enter(gone[-1], gone[-2] if i else None, x, i))
        return rows

    def _from_right(self, x: Sequence[str]) -> list[list[float]]:
        """B_0 .. B_|x|."""
        o, rates, m = self.observed, self.rates, len(self.observed)
        rows: list[list[float]] = [[0.0] * (m + 1) for _ in range(len(x) + 1)]
        for i in range(len(x), -1, -1):
            for j in reversed(self._reach(i)):
                p = float(j == m) if i == len(x) else rates.delete * rows[i + 1][j]
                if i < len(x) and j < m:
                    sub = math.exp(self.noise.log_sub(x[i], o[j]))
                    stays = rates.swap if i == len(x) - 1 and x[i] == o[j] else 0.0
                    p += rows[i + 1][j + 1] * ((1 - rates.delete - rates.swap) * sub + stays)
                if i < len(x) - 1 and j < m - 1 and x[i] == o[j + 1] and x[i + 1] == o[j]:
                    p += rates.swap * rows[i + 2][j + 2]
                rows[i][j] = (1 - rates.insert) * p + (self.put_in * rows[i][j + 1] if j < m else 0.0)
        return rows

    def _spliced(
        self, x: Sequence[str], variant: Sequence[str], left: list[list[float]], right: list[list[float]]
    ) -> float:
        shorter = min(len(x), len(variant))
        begin = next((i for i in range(shorter) if x[i] != variant[i]), shorter)
        same = next((i for i in range(shorter - begin) if x[-1 - i] != variant[-1 - i]), shorter - begin)
        begin = max(begin - 1, 0)  # the unit before may be the last one now, or have another neighbour
        end, after = len(variant) - same, len(x) - same
        rows = [left[begin]]
        gone: list[list[float] | None] = [self._insert(list(left[begin - 1])) if begin else None]
        for i in range(begin, end):
            left_again = self._insert(list(rows[-1]))
            rows.append(self._enter(left_again, gone[-1], variant, i))
            gone.append(left_again)
        total = sum(map(float.__mul__, rows[-1], right[after]))
        if same and end and gone[-1] is not None:  # exchanged across the seam
            a, b, o = variant[end - 1], variant[end], self.observed
            total += self.rates.swap * sum(
                gone[-1][j] * right[after + 1][j + 2] for j in range(len(o) - 1) if o[j] == b and o[j + 1] == a
            )
        return math.log(total) if total > 0 else -math.inf
