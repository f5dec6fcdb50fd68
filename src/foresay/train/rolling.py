"""How good forecasts are: from many points of held-out series so many steps are forecast, and compared with what came.

    crps        mean over steps of E|X - x| - 1/2 E|X - X'|, X and X' of the paths, x what came; of a single path the
                mean absolute error
    naive_crps  of the last season, over and over, as the only path
    mase        mean |median - x| over the mean |x_t - x_{t-season}| of the history: below 1 it beats the season before
    covered     the share of x between the 10 % and the 90 % quantile of the paths: 80 % where they are right

Numbers that are not known are left out. Each column counts the same within `mase`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from foresay.data.series_shards import SeriesShards
from foresay.decode.paths import paths

MOST = 64  # points that are forecast from, evenly spread
PATHS = 100
LOW, HIGH = 0.1, 0.9
Origin = tuple[int, int, int]  # the number of a series, the point, and how many steps are forecast from there


@dataclass(frozen=True)
class Rolled:
    """Figures of forecasts over `horizon` steps from `origins` points."""

    horizon: int
    origins: int
    crps: float
    naive_crps: float
    mase: float | None  # None: no history has changed over a season
    covered: float

    def as_dict(self) -> dict[str, Any]:
        return {
            "horizon": self.horizon,
            "origins": self.origins,
            "crps": self.crps,
            "naive_crps": self.naive_crps,
            "mase": self.mase,
            "covered_80": self.covered,
        }


def origins(shards: SeriesShards, horizon: int) -> list[Origin]:
    """Points a horizon apart, a step behind the beginning or more; the last of a series may have fewer steps left."""
    found = []
    for number, (steps, begin) in enumerate(zip(shards.lengths().tolist(), shards.begins.tolist(), strict=True)):
        found += [(number, at, min(horizon, steps - at)) for at in range(max(begin, 1), steps, horizon)]
    return found if len(found) <= MOST else [found[n * len(found) // MOST] for n in range(MOST)]


def rolled(
    shards: SeriesShards, places: Sequence[Origin], after: Callable[[np.ndarray], Any], model: Any, season: int
) -> Rolled:
    """Forecasts from every point, by paths of the model from the state `after` the history."""
    sums = {"crps": 0.0, "naive": 0.0, "covered": 0.0, "count": 0.0}
    scaled: list[float] = []
    for number, at, steps in places:
        whole = shards.series(number)
        history, came = whole[:at].copy(), whole[at : at + steps].astype(np.float64)
        drawn = paths(model, after(history), steps, PATHS, seed=1, first=number * PATHS)[0].numpy().astype(np.float64)
        known = ~np.isnan(came)
        before = naive(history, steps, season)
        sums["crps"] += float(crps(drawn, came)[known].sum())
        sums["naive"] += float(np.abs(before - came)[known & ~np.isnan(before)].sum())
        low, high = np.quantile(drawn, [LOW, HIGH], axis=0)
        sums["covered"] += float(((came >= low) & (came <= high))[known].sum())
        sums["count"] += float(known.sum())
        scaled += errors(history, came, np.median(drawn, 0), season)
    count = max(sums["count"], 1.0)
    mase = float(np.mean(scaled)) if scaled else None
    found = {name: sums[name] / count for name in ("crps", "naive", "covered")}
    horizon = max(steps for _, _, steps in places)
    return Rolled(horizon, len(places), found["crps"], found["naive"], mase, found["covered"])


def crps(drawn: np.ndarray, came: np.ndarray) -> np.ndarray:
    """Of paths (N, ...) and what came (...): E|X - x| - 1/2 E|X - X'|, the second over all pairs, by sorting."""
    number = len(drawn)
    ordered = np.sort(drawn, 0)
    weights = (2 * np.arange(1, number + 1) - number - 1).reshape(-1, *[1] * came.ndim)
    apart = 2 * (weights * ordered).sum(0) / (number * max(number - 1, 1))  # mean |X - X'| of two different ones
    return np.abs(drawn - came).mean(0) - 0.5 * apart


def naive(history: np.ndarray, steps: int, season: int) -> np.ndarray:
    """The last season of a history over and over, (steps, D); of a shorter one its last step."""
    season = season if len(history) >= season else 1
    return history[-season:][np.arange(steps) % season].astype(np.float64)


def errors(history: np.ndarray, came: np.ndarray, median: np.ndarray, season: int) -> list[float]:
    """Of each column the mean |median - x| over that of x_{t-season} in the history, where this is above 0."""
    season = season if len(history) > season else 1
    change = np.abs(history[season:].astype(np.float64) - history[:-season])
    found = []
    for column in range(came.shape[1]):
        known, own = ~np.isnan(came[:, column]), change[:, column][~np.isnan(change[:, column])]
        if known.any() and len(own) and own.mean() > 0:
            found.append(float(np.abs(median - came)[known, column].mean() / own.mean()))
    return found
