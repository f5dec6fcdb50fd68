"""Claim: averaged word vectors fail on "lacking a good script, good actors". Accuracy on made reviews: docs/claims.md.

    lacking a good script , there is a fine cast        good: the last remark counts, and denial turns it round
    there is a fine cast , lacking a good script        bad

Four readers of the same reviews (data/negation.py), trained alike: averaged vectors, an Elman RNN's last step, a
bidirectional LSTM with max over time, and a ConvNet of kernels of 2 and 3 words with max over time.
"""

from __future__ import annotations

import random
import statistics
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from foresay.data.batch import Batch
from foresay.data.label_shards import LabelSet
from foresay.data.negation import negation
from foresay.data.row_batches import padded
from foresay.models.classifier import Classifier
from foresay.parts import make
from foresay.study.claims.bars import side_by_side
from foresay.study.claims.claim import Figure, Result, Verdict, claim
from foresay.study.claims.training import train
from foresay.study.claims.words_learning import average_of
from foresay.study.claims.words_picture import plain, sheet
from foresay.text.tokens import SPECIALS
from foresay.train.progress import Tell

NAMES = ("bad", "good")
AVERAGED, RECURRENT, BOTH_WAYS, CONVOLUTION = "averaged", "RNN", "biLSTM", "ConvNet"
READERS: dict[str, tuple[Any, str]] = {
    AVERAGED: (None, "mean"),
    RECURRENT: ({"kind": "recurrent", "cell": "elman", "size": 64}, "last"),
    BOTH_WAYS: ({"kind": "recurrent", "cell": "lstm", "size": 64, "bidirectional": True}, "max"),
    CONVOLUTION: ({"kind": "convolution", "kernels": [[2, 32], [3, 32]]}, "max"),
}
FAILS, APART = 65.0, 20.0  # %: what counts as failing, and how much better the other must be
Rows = list[tuple[np.ndarray, int]]


@dataclass(frozen=True)
class Size:
    """Steps of training, and seeds."""

    steps: int
    seeds: int
    rows: int = 64


QUICK, FULL = Size(steps=200, seeds=3), Size(steps=1000, seeds=5)


@claim(
    "negation",
    lecture="002",
    sentence='Averaged word vectors fail on "lacking a good script, good actors"; a recurrent network reads it.',
    rule=(
        f"holds when the 95 % intervals over seeds of accuracy on held-out reviews lie below {FAILS:g} % for averaged "
        f"vectors, and above {APART:g} points for the biLSTM less these; does not hold when one of them lies on the "
        "other side; else not decided. 3 seeds (full: 5)"
    ),
)
def run(quick: bool, seed: int, tell: Tell) -> Result:
    size = QUICK if quick else FULL
    seeds, found = range(size.seeds * seed, size.seeds * seed + size.seeds), {name: [] for name in READERS}
    for done, one in enumerate(seeds, 1):
        for name in READERS:
            found[name].append(100 * learnt(name, one, size))
        tell(done / len(seeds))
    averaged = average_of(f"accuracy, {AVERAGED}", found[AVERAGED], "%")
    pairs = zip(found[BOTH_WAYS], found[AVERAGED], strict=True)
    apart = average_of(f"{BOTH_WAYS} less {AVERAGED}", [one - other for one, other in pairs], "points")
    others = [average_of(f"accuracy, {name}", found[name], "%") for name in READERS if name != AVERAGED]
    return Result(judge(averaged, apart), [averaged, *others, apart], {"accuracy": found}, draw(found))


def judge(averaged: Figure, apart: Figure) -> Verdict:
    """The rule."""
    assert averaged.low is not None and averaged.high is not None and apart.low is not None and apart.high is not None
    if averaged.high < FAILS and apart.low > APART:
        return "holds"
    return "does not hold" if averaged.low > FAILS or apart.high < APART else "not decided at this size"


def learnt(name: str, seed: int, size: Size) -> float:
    """The share of held-out reviews that a reader labels rightly once it is trained."""
    texts = negation(seed)
    words = sorted({word for own in texts.values() for text, _ in own for word in text.split()})
    ids = {word: number for number, word in enumerate(words, len(SPECIALS))}
    rows = {
        part: [(np.array([ids[word] for word in text.split()]), NAMES.index(label)) for text, label in own]
        for part, own in texts.items()
    }
    encoder, pool = READERS[name]
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        task = {"kind": "classifier", "embedding": {"kind": "lookup", "size": 32}, "encoder": encoder, "pool": pool}
        model: Classifier = make("task", task)
        model.learn_labels(LabelSet(NAMES, False, (1, 1)))
        model.build(len(SPECIALS) + len(words))
        chance = random.Random(seed)
        train(model, lambda _: model.loss(batch_of(chance.sample(rows["train"], size.rows)))[0], size.steps, 5e-3)
    with torch.no_grad():
        batch = batch_of(rows["test"])
        assert batch.labels is not None
        return float((model.eval().scores(batch).argmax(1) == batch.labels).double().mean())


def batch_of(rows: Rows) -> Batch:
    ids, mask = padded([row for row, _ in rows], max(len(row) for row, _ in rows))
    return Batch(ids=ids, mask=mask, labels=torch.tensor([label for _, label in rows]))


def draw(found: dict[str, list[float]]) -> Any:
    """The accuracy of each reader, a dot for every seed."""
    picture, (axes,) = sheet(1)
    for place, (name, values) in enumerate(found.items()):
        colour = "#D55E00" if name == AVERAGED else "#0072B2"
        axes.bar(place, statistics.fmean(values), 0.6, color=colour, alpha=0.55)
        axes.plot(side_by_side(place, 0.3, len(values)), values, ".", color=colour, markersize=8)
        axes.text(place, max(values) + 2.5, f"{statistics.fmean(values):.1f} %", ha="center")
    axes.axhline(50, color="#5A5A5A", linestyle="--", linewidth=1, label="guessing")
    axes.legend(frameon=False, loc="upper left")
    axes.set_xticks(range(len(found)), list(found))
    axes.set_ylim(0, 110)
    axes.set_yticks(range(0, 101, 20))
    axes.set_ylabel("held-out reviews labelled rightly, %")
    plain(axes, "Good or bad, where only order tells: a dot is one seed")
    return picture
