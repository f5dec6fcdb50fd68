"""Claim: a hidden Markov model ignores history; an RNN uses it, one way and both. States of frames: docs/claims.md.

    P(s_t | x_1 .. x_t)     hidden Markov model, filtered      LSTM forwards      one that knows the law
    P(s_t | x_1 .. x_T)     the same, smoothed                 LSTM both ways     one that knows the law

Frames are made (history_frames.py). States follow a law of the last two states, or of the last alone, which is what a
hidden Markov model of first order assumes. That model has its shares, means and variances from rows whose states it is
given; the networks learn rows of the same law without end. In the full form parts of speech of UD EWT stand beside: the
same readers over words.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from foresay.errors import UserError
from foresay.kernels.markov import both
from foresay.models.markov.baum_welch import shares
from foresay.models.markov.frames import by_counts
from foresay.parts import make
from foresay.study.claims import bars
from foresay.study.claims.both_ways import BOTH, REAL, learnt
from foresay.study.claims.both_ways import ONE as FORWARDS
from foresay.study.claims.both_ways import Size as TagSize
from foresay.study.claims.both_ways_text import RealText, real
from foresay.study.claims.claim import Figure, Result, Verdict, claim
from foresay.study.claims.history_frames import LAWS, ONE, STATES, TWO, knowing, made, of_last
from foresay.study.claims.training import one_thread, train
from foresay.study.claims.words_learning import average_of, seeds_of
from foresay.study.claims.words_picture import plain, sheet
from foresay.train.progress import Tell

FILTERED, SMOOTHED = "HMM, filtered", "HMM, smoothed"
CAUSAL, BIDIRECTIONAL = "LSTM, forwards", "LSTM, both ways"
BEST, BEST_ALL = "law, filtered", "law, smoothed"
WORDS = "tags, UD EWT"
PAIRS = ((FILTERED, CAUSAL), (SMOOTHED, BIDIRECTIONAL))
MORE, ALIKE = 5.0, 2.0  # points: what counts as better, and as no better
STEPS = 40


@dataclass(frozen=True)
class Size:
    """Updates of a network, rows in each; rows the hidden Markov model counts; rows that are asked."""

    updates: int
    rows: int = 32
    counted: int = 1000
    asked: int = 200
    width: int = 48
    rate: float = 1e-2


QUICK, FULL = Size(updates=200), Size(updates=1500)
TAGS = TagSize(updates=1000, real=12_000)


@claim(
    "history",
    lecture="000",
    sentence="A hidden Markov model ignores history; an RNN and a bidirectional RNN use it.",
    rule=(
        "share of frames whose state is right; holds when the 95 % intervals over seeds of LSTM forwards less filtered "
        f"hidden Markov model and of LSTM both ways less smoothed lie above {MORE:g} points where the state depends on "
        f"the last two, and below {ALIKE:g} points where it depends on the last alone; does not hold when one of the "
        f"first two lies below {MORE:g} points, in the full form only; else not decided. Real tags do not count. 3 "
        "seeds (full: 5)"
    ),
)
def run(quick: bool, seed: int, tell: Tell) -> Result:
    size, seeds, note = QUICK if quick else FULL, seeds_of(seed, quick), ""
    found: dict[str, dict[str, list[float]]] = {law: {} for law in LAWS}
    with one_thread():
        for done, (one, law) in enumerate([(one, law) for one in seeds for law in LAWS], 1):
            for name, share in frames_right(law, one, size).items():
                found[law].setdefault(name, []).append(share)
            tell(done / (len(seeds) * len(LAWS)))
        if not quick:
            try:
                text = real(TAGS.real, TAGS.asked)
                found[WORDS] = words_right(text, seeds)
            except UserError as missing:
                note = f"without parts of speech of real text: {missing}"
    less = {law: [difference(law, found[law], pair) for pair in PAIRS] for law in found}
    each = [average_of(f"{law}: {name}", own, "%") for law in found for name, own in varying(found[law]).items()]
    figures = [*(one for own in less.values() for one in own), *each]
    details = {"size": asdict(size), "right, %": found}
    return Result(judge(less[TWO], less[ONE], quick), figures, details, draw(found), note)


def varying(found: Mapping[str, Sequence[float]]) -> dict[str, list[float]]:
    """What has a value of each seed."""
    return {name: list(own) for name, own in found.items() if len(own) > 1}


def difference(law: str, found: Mapping[str, Sequence[float]], pair: tuple[str, str]) -> Figure:
    """How many points the network is better than the hidden Markov model."""
    less, more = pair
    apart = [one - other for one, other in zip(found[more], found[less], strict=True)]
    return average_of(f"{law}: {more} less {less}", apart, "points")


def judge(history: Sequence[Figure], last: Sequence[Figure], quick: bool) -> Verdict:
    """The rule."""
    if all(one.low is not None and one.low > MORE for one in history) and all(
        one.high is not None and one.high < ALIKE for one in last
    ):
        return "holds"
    less = any(one.high is not None and one.high < MORE for one in history)
    return "does not hold" if less and not quick else "not decided at this size"


class Reader(nn.Module):
    """Frames (B, T, 2) -> scores of states (B, T, K)."""

    def __init__(self, width: int, *, both_ways: bool):
        super().__init__()
        self.encoder = make("encoder", {"kind": "recurrent", "cell": "lstm", "size": width, "bidirectional": both_ways})
        self.encoder.build(2)
        self.head = nn.Linear(width, STATES)

    def forward(self, frames: Tensor) -> Tensor:
        return self.head(self.encoder(frames)[0])


def frames_right(law: str, seed: int, size: Size) -> dict[str, float]:
    """% of the frames of fresh rows whose state each reader finds."""
    chance = np.random.default_rng(seed)
    frames, states = made(law, chance, size.counted, STEPS)
    chain = by_counts(list(frames), list(states), STATES)
    asked, wanted = made(law, chance, size.asked, STEPS)
    marks: dict[str, list[np.ndarray]] = {FILTERED: [], SMOOTHED: [], BEST: [], BEST_ALL: []}
    law_itself = knowing(law)
    for row, own in zip(asked, wanted, strict=True):
        best = [of_last(one) for one in law_itself.posteriors(row)]
        for name, told in zip(marks, [*chain.posteriors(row), *best], strict=True):
            marks[name].append(told.argmax(1) == own)
    found = {name: 100 * float(np.mean(one)) for name, one in marks.items()}
    for name in (CAUSAL, BIDIRECTIONAL):
        found[name] = network_right(name, law, seed, size, (asked, wanted))
    return {name: found[name] for name in (FILTERED, CAUSAL, BEST, SMOOTHED, BIDIRECTIONAL, BEST_ALL)}


def network_right(name: str, law: str, seed: int, size: Size, asked: tuple[np.ndarray, np.ndarray]) -> float:
    """The same of a network, learnt on rows that are never met again."""
    chance = np.random.default_rng([seed, 1])
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        reader = Reader(size.width, both_ways=name == BIDIRECTIONAL)

        def loss(_: int) -> Tensor:
            frames, states = made(law, chance, size.rows, STEPS)
            return F.cross_entropy(reader(torch.from_numpy(frames)).flatten(0, 1), torch.from_numpy(states).flatten())

        train(reader, loss, size.updates, size.rate)
    with torch.no_grad():
        answers = reader.eval()(torch.from_numpy(asked[0])).argmax(2).numpy()
    return 100 * float((answers == asked[1]).mean())


def words_right(text: RealText, seeds: Sequence[int]) -> dict[str, list[float]]:
    """% of the tags of UD EWT, by counts once, by networks for each seed."""
    filtered, smoothed = tags_by_counts(text)
    found = {way: [learnt(REAL, way, one, TAGS, text)[0] for one in seeds] for way in (FORWARDS, BOTH)}
    counted = {FILTERED: [filtered] * len(seeds), SMOOTHED: [smoothed] * len(seeds)}
    return counted | {CAUSAL: found[FORWARDS], BIDIRECTIONAL: found[BOTH]}


def tags_by_counts(text: RealText, smoothing: float = 0.1) -> tuple[float, float]:
    """A hidden Markov model of the tags, from the same sentences: filtered and smoothed."""
    kinds = len(text.tags)
    began, moved, emitted = np.zeros(kinds), np.zeros((kinds, kinds)), np.zeros((kinds, text.vocabulary))
    for row in text.train:
        began[row.targets[0]] += 1
        np.add.at(moved, (row.targets[:-1], row.targets[1:]), 1)
        np.add.at(emitted, (row.targets, row.ids), 1)
    first, moves = shares(began, smoothing), shares(moved, smoothing)
    table = np.ascontiguousarray(shares(emitted, smoothing).T)
    marks: tuple[list[np.ndarray], list[np.ndarray]] = ([], [])
    for row in text.valid:
        for own, told in zip(marks, both(table, row.ids, moves, first), strict=True):
            own.append(told.argmax(1) == row.targets)
    filtered, smoothed = (100 * float(np.concatenate(own).mean()) for own in marks)
    return filtered, smoothed


def draw(found: dict[str, dict[str, list[float]]]) -> Any:
    """Past alone, and both sides: each reader on each law."""
    picture, places = sheet(2)
    sides = (("By what came before", (FILTERED, CAUSAL, BEST)), ("By both sides", (SMOOTHED, BIDIRECTIONAL, BEST_ALL)))
    for axes, (title, names) in zip(places, sides, strict=True):
        readers = zip(("HMM", "LSTM", "who knows the law"), names, strict=True)
        groups = {reader: {law: own[name] for law, own in found.items() if name in own} for reader, name in readers}
        bars.put(axes, groups, {})
        axes.set_xlabel("what the state depends on")
        axes.set_ylabel("states right, %")
        plain(axes, title)
    return picture
