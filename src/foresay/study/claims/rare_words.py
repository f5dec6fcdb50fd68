"""Claim: skip-gram is better than CBOW, particularly for rare words. Scores by frequency band: docs/claims.md."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from foresay.study.claims.claim import Figure, Result, Verdict, claim
from foresay.study.claims.words_learning import (
    CBOW,
    PREDICTORS,
    SKIPGRAM,
    average_of,
    learn,
    seeds_of,
    side_by_side,
    vectors_of,
)  # fmt: skip
from foresay.study.claims.words_picture import Panel, draw
from foresay.study.claims.words_text import JUDGES, judges, needed, wikipedia
from foresay.train.progress import Tell
from foresay.vectors import questions, ratings
from foresay.vectors.bands import NAMES as BANDS
from foresay.vectors.word_vectors import WordVectors

FEWEST = 20  # questions or pairs of a band that count
ALL = "all words"
ANALOGIES, RATINGS = "analogies", "ratings"
QUICK: dict[str, Any] = {"words": 6_000_000, "epochs": 2}
FULL: dict[str, Any] = {"words": None, "epochs": 5}
SETTINGS: dict[str, Any] = {"size": 100, "sample": 1e-4}
Scores = dict[str, dict[str, float]]  # by measure, then by band or ALL; in percent


@dataclass(frozen=True)
class Scored:
    predictor: str
    seed: int
    scores: Scores


@claim(
    "rare-words",
    lecture="004",
    sentence="Skip-gram is better than CBOW, particularly for rare words.",
    rule=(
        "d = skip-gram's score less CBOW's, the mean of analogies (% right) and rated pairs (Spearman x 100; MEN, rare "
        "words and WordSim-353, weighted by pairs): holds when the 95 % interval over seeds of d lies above 0 for all "
        "words, and so does that of d in the rarest band less d in the most frequent one; does not hold when one of "
        f"the two lies below 0, in the full form only; else not decided. Bands: {', '.join(BANDS)}; 3 seeds (full: 5)"
    ),
)
def run(quick: bool, seed: int, tell: Tell) -> Result:
    size = QUICK if quick else FULL
    files, text = judges(*JUDGES), wikipedia(size["words"])
    if files is None or text is None:
        return Result("no data", note=needed(*JUDGES))

    def one(job: tuple[str, int]) -> Scored:
        name, own = job
        model = learn(text, own, SETTINGS | PREDICTORS[name] | {"epochs": size["epochs"]})
        return Scored(name, own, score(vectors_of(model, text), files))

    found = side_by_side(one, [(name, one) for one in seeds_of(seed, quick) for name in PREDICTORS], tell)
    gains = differences(found)
    overall, lead = average_of("skip-gram − CBOW, all words", gains[ALL], "points"), leads(gains)
    by_band = [average_of(f"skip-gram − CBOW, {band}", own, "points") for band, own in gains.items() if band != ALL]
    details = {"words": len(text), "runs": [asdict(one) for one in found], "differences": gains}
    figures = [overall, lead, *by_band, *_of_measures(found)]
    return Result(judge(overall, lead, quick), figures, details, picture(found, gains))


def score(vectors: WordVectors, files: Mapping[str, Path]) -> Scores:
    """Both measures, by band."""
    answered = questions.evaluate(vectors, questions.read(files[ANALOGIES]))
    right = {band: 100 * (one.accuracy or 0.0) for band, one in answered.bands.items() if one.covered >= FEWEST}
    agreed = [ratings.evaluate(vectors, ratings.read(path)) for name, path in files.items() if name != ANALOGIES]
    rated: dict[str, list[tuple[int, float]]] = {ALL: [(one.covered, one.spearman or 0.0) for one in agreed]}
    for band in BANDS:
        own = [one.bands[band] for one in agreed if band in one.bands]
        rated[band] = [(pairs, value) for pairs, value in own if pairs >= FEWEST and value is not None]
    means = {band: 100 * _weighted(own) for band, own in rated.items() if own}
    return {ANALOGIES: {ALL: 100 * (answered.total.accuracy or 0.0)} | right, RATINGS: means}


def _weighted(values: Sequence[tuple[int, float]]) -> float:
    return sum(weight * value for weight, value in values) / sum(weight for weight, _ in values)


def differences(found: Sequence[Scored]) -> dict[str, list[float]]:
    """Skip-gram less CBOW for each seed, by band: the mean of the measures, where all have the band."""
    by = {(one.predictor, one.seed): one.scores for one in found}
    seeds = sorted({one.seed for one in found})
    known = [band for band in (ALL, *BANDS) if all(band in own for scores in by.values() for own in scores.values())]
    return {
        band: [
            statistics.fmean(by[SKIPGRAM, seed][way][band] - by[CBOW, seed][way][band] for way in (ANALOGIES, RATINGS))
            for seed in seeds
        ]
        for band in known
    }


def leads(gains: Mapping[str, Sequence[float]]) -> Figure:
    """The difference in the rarest band less that in the most frequent one."""
    bands = [band for band in BANDS if band in gains]
    pairs = zip(gains[bands[-1]], gains[bands[0]], strict=True)
    return average_of(f"the same, {bands[-1]} less {bands[0]}", [rare - frequent for rare, frequent in pairs], "points")


def judge(overall: Figure, lead: Figure, quick: bool) -> Verdict:
    """The rule."""
    assert overall.low is not None and overall.high is not None and lead.low is not None and lead.high is not None
    if overall.low > 0 and lead.low > 0:
        return "holds"
    if (overall.high < 0 or lead.high < 0) and not quick:
        return "does not hold"
    return "not decided at this size"


def _of_measures(found: Sequence[Scored]) -> list[Figure]:
    return [
        average_of(f"{name}: {way}", [one.scores[way][ALL] for one in found if one.predictor == name], "points")
        for way in (ANALOGIES, RATINGS)
        for name in PREDICTORS
    ]


def picture(found: Sequence[Scored], gains: Mapping[str, Sequence[float]]) -> Any:
    """Both measures by band, and the difference that counts."""
    bands = [band for band in BANDS if band in gains]
    ticks = {place: band.replace("the first ", "first\n").replace(" words", "") for place, band in enumerate(bands)}

    def lines(way: str) -> dict[str, dict[int, list[float]]]:
        return {
            name: {
                place: [one.scores[way][band] for one in found if one.predictor == name]
                for place, band in enumerate(bands)
            }
            for name in PREDICTORS
        }

    across = "rank of the rarest word"
    gain = {"": {place: gains[band] for place, band in enumerate(bands)}}
    return draw([
        Panel("Analogies", across, "right, %", lines(ANALOGIES), ticks=ticks, bounds=(0, None)),
        Panel("Rated pairs", across, "Spearman × 100", lines(RATINGS), ticks=ticks, bounds=(0, None)),
        Panel("Skip-gram − CBOW, mean", across, "points", gain, {"": 0.0}, ticks=ticks),
    ])  # fmt: skip
