"""Claim: CBOW trains faster than skip-gram. Words a second, and seconds to the same score: docs/claims.md."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from foresay.counts.threads import threads
from foresay.study.claims.claim import Figure, Result, Verdict, claim, mean_of
from foresay.study.claims.words_learning import CBOW, PREDICTORS, SKIPGRAM, learn, seeds_of, side_by_side, vectors_of
from foresay.study.claims.words_picture import Panel, draw
from foresay.study.claims.words_text import WordsText, built_in, judges, needed, wikipedia
from foresay.train.progress import Tell
from foresay.vectors import ratings


@dataclass(frozen=True)
class Size:
    """So many words, timed so often; and learnt for so many epochs each to be judged."""

    words: int
    repeats: int
    epochs: tuple[int, ...]


QUICK, FULL = Size(2_000_000, 6, (1, 2, 4)), Size(8_000_000, 10, (1, 2, 4, 8))
SETTINGS: dict[str, Any] = {"size": 100, "sample": 1e-4}
SMALL: dict[str, Any] = {"epochs": 20, "sample": 1e-3}  # over the built-in text: half a second
WARM = 20_000  # words on which the loops are compiled


@dataclass(frozen=True)
class Judged:
    """Spearman's correlation with people's ratings, times 100, after so many epochs."""

    predictor: str
    seed: int
    epochs: int
    score: float


@claim(
    "cbow-speed",
    lecture="004",
    sentence="CBOW trains faster than skip-gram.",
    rule=(
        "holds when the 95 % interval of the ratio of words a second, CBOW to skip-gram, lies above 1; does not hold "
        "when it lies below 1, in the full form only; else not decided. Same text, width, window, drawn words, epochs "
        f"and threads, in turn, {QUICK.repeats} times (full: {FULL.repeats})"
    ),
)
def run(quick: bool, seed: int, tell: Tell) -> Result:
    size = QUICK if quick else FULL
    text, files = wikipedia(size.words), judges("WordSim-353")
    share = 0.3 if text and files else 1.0
    timed, settings = (text, SETTINGS | {"epochs": 1}) if text else (built_in(seed)[0], SETTINGS | SMALL)
    speeds = time_both(timed, settings, size.repeats, seed, lambda done: tell(share * done))
    ratio = mean_of("CBOW to skip-gram", [a / b for a, b in zip(speeds[CBOW], speeds[SKIPGRAM], strict=True)])
    figures = [mean_of(name, own, "words a second") for name, own in speeds.items()]
    details = {"words": len(timed), "threads": threads(), "words_a_second": speeds}
    panels, note = [_speeds(speeds)], ""
    if text and files:
        rated, rest = ratings.read(files["WordSim-353"]), lambda done: tell(share + (1 - share) * done)
        found = judge_all(text, rated, size.epochs, seeds_of(seed, quick), rest)
        figures += time_to_quality(found, speeds, len(text))
        details["judged"] = [asdict(one) for one in found]
        panels.append(_scores(found, speeds, len(text)))
    else:
        note = f"timed on the built-in text, and no time to quality; {needed('WordSim-353')}"
    return Result(judge(ratio, quick), [ratio, *figures], details, draw(panels), note)


def time_both(text: WordsText, settings: dict[str, Any], repeats: int, seed: int, tell: Tell) -> dict[str, list[float]]:
    """Words a second of each, on all cores; they take turns to be first."""
    speeds: dict[str, list[float]] = {name: [] for name in PREDICTORS}
    for own in PREDICTORS.values():
        learn(text.first(WARM), seed, settings | own, many=0)
    for repeat in range(repeats):
        names = list(PREDICTORS) if repeat % 2 else list(reversed(PREDICTORS))
        for name in names:
            model = learn(text, seed + repeat, settings | PREDICTORS[name], many=0)
            speeds[name].append(model.epochs * len(text) / model.history[-1].seconds)
        tell((repeat + 1) / repeats)
    return speeds


def judge_all(
    text: WordsText, rated: ratings.Ratings, epochs: Sequence[int], seeds: Sequence[int], tell: Tell
) -> list[Judged]:
    """Every predictor with every seed, learnt anew for each number of epochs."""

    def one(job: tuple[str, int, int]) -> Judged:
        name, seed, many = job
        model = learn(text, seed, SETTINGS | PREDICTORS[name] | {"epochs": many})
        agreement = ratings.evaluate(vectors_of(model, text), rated).spearman
        return Judged(name, seed, many, 100 * (agreement or 0.0))

    return side_by_side(
        one, [(name, one, many) for many in reversed(epochs) for name in PREDICTORS for one in seeds], tell
    )


def time_to_quality(found: Sequence[Judged], speeds: Mapping[str, Sequence[float]], words: int) -> list[Figure]:
    """Seconds until each has the score of the slower one at its end: the first number of epochs that reaches it."""
    slower = min(speeds, key=lambda name: statistics.fmean(speeds[name]))
    wanted = score_after(found, slower, max(one.epochs for one in found))
    shown = []
    for name, own in speeds.items():
        every = sorted({one.epochs for one in found})
        reached = next((many for many in every if score_after(found, name, many) >= wanted), None)
        label = f"{name} to WordSim-353 {wanted:.1f}, {'not reached' if reached is None else f'{reached} epochs'}"
        never = Figure(label, None, None, None, "s")
        shown.append(never if reached is None else mean_of(label, [reached * words / speed for speed in own], "s"))
    return shown


def score_after(found: Sequence[Judged], name: str, epochs: int) -> float:
    """The mean over seeds."""
    return statistics.fmean(one.score for one in found if (one.predictor, one.epochs) == (name, epochs))


def judge(ratio: Figure, quick: bool) -> Verdict:
    """The rule."""
    assert ratio.low is not None and ratio.high is not None
    if ratio.low > 1:
        return "holds"
    return "does not hold" if ratio.high < 1 and not quick else "not decided at this size"


def _speeds(speeds: Mapping[str, Sequence[float]]) -> Panel:
    lines = {
        name: {number: [speed / 1e6] for number, speed in enumerate(own, 1)} for name, own in speeds.items()
    }  # fmt: skip
    ticks = {number: str(number) for number in range(1, len(speeds[CBOW]) + 1)}
    return Panel(
        f"Speed, {threads()} threads", "repeat", "million words a second", lines, ticks=ticks, bounds=(0, None)
    )


def _scores(found: Sequence[Judged], speeds: Mapping[str, Sequence[float]], words: int) -> Panel:
    lines = {
        name: {
            many * words / statistics.fmean(speeds[name]): [
                one.score for one in found if (one.predictor, one.epochs) == (name, many)
            ]
            for many in sorted({one.epochs for one in found})
        }
        for name in speeds
    }
    return Panel(
        "Quality against time", "seconds of training", "WordSim-353, Spearman × 100", lines, legend="lower right"
    )
