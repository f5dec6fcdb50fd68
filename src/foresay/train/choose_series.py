"""No settings needed for series of numbers and music: looks at some of them and writes a recipe, with reasons.

Of series the season is the lag at which they are most like themselves, and the model is of differences where these vary
far less than the values.
"""

from __future__ import annotations

from itertools import islice
from typing import Any, cast

import numpy as np

from foresay.data.music import Music
from foresay.data.series import Series
from foresay.data.series_files import SeriesText

LOOK = 64  # series that are looked at
STEPS = 20_000  # of each
ALIKE = 0.3  # a season's correlation, at least
SEASONS = (2, 400)
WANDERS = 0.5  # the share of the values' variance that differences have, at most
Choice = tuple[dict[str, Any], dict[str, str]]  # a raw recipe, and why: the path of a setting -> the reason


def choose_series(data: Series, raw: dict[str, Any], device: str) -> Choice:
    """A recipe for series or music; `raw` is what the recipe says of them so far."""
    text = cast(SeriesText, data.find(1)["train"])
    looked = [values[:STEPS].astype(np.float64) for _, values, _ in islice(text, LOOK)]
    binary = all(bool(np.isin(values[~np.isnan(values)], (0, 1)).all()) for values in looked)
    length, wide = max(map(len, looked)), looked[0].shape[1]
    values = sum(values.size for values in looked)
    size = 256 if device == "cuda" or isinstance(data, Music) else 32 if values < 5_000 else 64
    size = size if wide < 20 else max(size, 128)
    dropout = 0.3 if binary and wide >= 20 else 0.1
    reasons = {"encoder": f"an LSTM {size} wide, with dropout {dropout}: {_told(looked, len(looked) < LOOK)}"}
    found: dict[str, Any] = {"task": "series", "data": raw, "embedding": {"kind": "frames", "dropout": dropout}}
    found["encoder"] = {"kind": "recurrent", "cell": "lstm", "size": size, "dropout": dropout}
    if binary:
        found["output"] = {"kind": "bernoulli", "mixtures": 1 if wide == 1 else 8}
        reasons["output"] = "probabilities of ones: all numbers are 0 or 1"
    else:
        found |= _for_numbers(looked, reasons)
    season = found.get("season", 1)
    window = min(max(128, 4 * season), max(length, 1))
    found["train"] = {
        "batches": {"kind": "series", "rows": 32, "length": window},
        "optimizer": {"kind": "adamw", "lr": 0.004, "schedule": {"kind": "cosine", "warmup": 50, "floor": 0.02}},
        "clip": 1.0,
    }
    return found, reasons


def _for_numbers(looked: list[np.ndarray], reasons: dict[str, str]) -> dict[str, Any]:
    """What is of other numbers than 0 and 1: the density, the season, and whether it is of differences."""
    found: dict[str, Any] = {"output": {"kind": "gaussian", "mixtures": 3}}
    season = season_of(looked)
    shortest = min(map(len, looked))
    found["horizon"] = max(min(season if season > 1 else 12, shortest // 4), 1)
    if season > 1:
        found["season"] = season
        reasons["season"] = f"a season of {season} steps, at which they are most like themselves; so far is forecast"
    if wanders(looked):
        found["relative"] = True
        reasons["relative"] = "how far the next step is from the last: they wander"
    return found


def _told(looked: list[np.ndarray], whole: bool) -> str:
    steps = sum(map(len, looked))
    return f"{'there are' if whole else 'the first'} {len(looked)} series with {steps:,} steps"


def wanders(looked: list[np.ndarray]) -> bool:
    """Whether the differences of a series vary by far less than its values, in the mean over columns."""
    shares = []
    for values in looked:
        change, spread = np.diff(values, axis=0), values - np.nanmean(values, 0, keepdims=True)
        known = (~np.isnan(change)).any(0) & (np.nan_to_num(spread) != 0).any(0)
        shares += (np.nanmean(change[:, known] ** 2, 0) / np.nanmean(spread[:, known] ** 2, 0)).tolist()
    return bool(shares) and float(np.mean(shares)) < WANDERS


def season_of(looked: list[np.ndarray]) -> int:
    """The lag with the highest mean autocorrelation, if it is a peak behind the first lag below 0; 1 where none is."""
    longest = min(SEASONS[1], min(map(len, looked)) // 3)
    if longest <= SEASONS[0]:
        return 1
    found = np.mean([_alike(values, longest + 1) for values in looked], 0)
    below = np.flatnonzero(found < 0)
    if not len(below):
        return 1
    lags = np.arange(len(found))
    peak = (lags >= SEASONS[0]) & (lags > below[0]) & (lags <= longest) & (found >= ALIKE)
    peak[1:-1] &= (found[1:-1] >= found[:-2]) & (found[1:-1] >= found[2:])
    return int(np.where(peak, found, -np.inf).argmax()) if peak.any() else 1


def _alike(values: np.ndarray, lags: int) -> np.ndarray:
    """Autocorrelations, (lags + 1,), of what a straight line leaves: the mean over columns; not known is 0."""
    left = np.stack([_level(column) for column in values.T], 1)
    size = 1 << (2 * len(left)).bit_length()
    power = np.abs(np.fft.rfft(left, size, axis=0)) ** 2
    found = np.fft.irfft(power, size, axis=0)[: lags + 1]
    return (found / np.maximum(found[:1], 1e-12)).mean(1)


def _level(column: np.ndarray) -> np.ndarray:
    """A column without its straight line."""
    known, at = ~np.isnan(column), np.arange(len(column))
    line = np.polyfit(at[known], column[known], 1) if known.sum() > 2 else np.zeros(2)
    return np.where(known, column - np.polyval(line, at), 0.0)
