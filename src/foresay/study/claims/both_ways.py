"""Claim: bidirectional networks are powerful. Tags and labels, one way against both ways: docs/claims.md.

    then answer the letter        answer: a verb, by what follows
    now answer was late           answer: a noun

An LSTM forwards and one both ways, as many parameters, the same embedding, trained alike on the same rows
(both_ways_text.py). Labels are read off the last step, which has read the whole text; both ways, off the last step of
each direction. With max over time in its place, and parts of speech of UD EWT, they stand beside and do not count.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import torch

from foresay.data.batch import Batch
from foresay.data.label_shards import LabelSet
from foresay.data.row_batches import padded
from foresay.data.tag_set import TagSet
from foresay.errors import UserError
from foresay.models.classifier import Classifier
from foresay.models.tagger import Tagger
from foresay.parts import make
from foresay.study.claims import bars
from foresay.study.claims.both_ways_text import (
    FILLERS,
    KEYS,
    LABELS,
    TAGS,
    WORDS,
    RealText,
    Row,
    labelled,
    real,
    tagged,
)
from foresay.study.claims.claim import Figure, Result, Verdict, claim
from foresay.study.claims.training import train
from foresay.study.claims.words_learning import average_of, seeds_of
from foresay.study.claims.words_picture import plain, sheet
from foresay.study.recall import count, nearest_width
from foresay.text.tokens import SPECIALS
from foresay.train.progress import Tell

ONE, BOTH = "one way", "both ways"
MADE_TAGS, LAST, MAX, REAL = "tags, made", "labels, last step", "labels, max", "tags, UD EWT"
POOLS = {LAST: {ONE: "last", BOTH: "ends"}, MAX: {ONE: "max", BOTH: "max"}}
WIDTH, SIZE = 32, 64  # of an embedding, and of both directions together
MORE = 5.0  # points
Model = Tagger | Classifier


@dataclass(frozen=True)
class Size:
    """Updates of a network, rows in each, rows that are asked; sentences of UD EWT, to learn and to be asked."""

    updates: int
    real: int
    rows: int = 32
    asked: int = 1000
    rate: float = 5e-3


QUICK, FULL = Size(updates=150, real=1000), Size(updates=1000, real=12_000)


@claim(
    "both-ways",
    lecture="002",
    sentence="Bidirectional networks are powerful: what follows says as much as what precedes.",
    rule=(
        "accuracy of an LSTM both ways less that of one forwards, with as many parameters; holds when the 95 % "
        f"intervals over seeds lie above {MORE:g} points for made sentences (tags of words that are noun or verb, half "
        "of them by what follows) and for made texts (labels by the first or last word, read off the last step); does "
        f"not hold when one of them lies below {MORE:g} points, in the full form only; else not decided. Max over "
        "time, and UD EWT where it is there, do not count. 3 seeds (full: 5)"
    ),
)
def run(quick: bool, seed: int, tell: Tell) -> Result:
    size, seeds, note = QUICK if quick else FULL, seeds_of(seed, quick), ""
    try:
        text = real(size.real, size.asked)
    except UserError as missing:
        text, note = None, f"without parts of speech of real text: {missing}"
    found: dict[str, dict[str, list[float]]] = {way: {} for way in (ONE, BOTH)}
    ends: dict[str, list[list[float]]] = {ONE: [], BOTH: []}
    asked = [MADE_TAGS, LAST, MAX, *([] if text is None else [REAL])]
    for done, (one, name) in enumerate([(one, name) for one in seeds for name in asked], 1):
        for way in found:
            right, by_place = learnt(name, way, one, size, text)
            found[way].setdefault(name, []).append(right)
            if name == LAST:
                ends[way].append(by_place)
        tell(done / (len(seeds) * len(asked)))
    more = {name: average_of(f"{name}: both ways less one", differences(found, name), "points") for name in asked}
    figures = [average_of(f"{name}: {way}", found[way][name], "%") for name in asked for way in found]
    for place, where in enumerate(("first", "last")):
        for way, own in ends.items():
            figures.append(average_of(f"{LAST}: {way}, by the {where} word", [one[place] for one in own], "%"))
    sizes = {name: {way: count(build(name, way, text)) for way in found} for name in asked}
    details = {"size": asdict(size), "accuracy": found, "by first and last word": ends, "parameters": sizes}
    verdict = judge([more[MADE_TAGS], more[LAST]], quick)
    return Result(verdict, [*more.values(), *figures], details, draw(found, ends), note)


def differences(found: dict[str, dict[str, list[float]]], name: str) -> list[float]:
    return [both - one for one, both in zip(found[ONE][name], found[BOTH][name], strict=True)]


def judge(more: Sequence[Figure], quick: bool) -> Verdict:
    """The rule."""
    if all(one.low is not None and one.low > MORE for one in more):
        return "holds"
    less = any(one.high is not None and one.high < MORE for one in more)
    return "does not hold" if less and not quick else "not decided at this size"


def build(name: str, way: str, text: RealText | None) -> Model:
    """A tagger or classifier, forwards as wide as it needs to have the parameters of both ways."""
    if way == BOTH:
        return joined(name, way, SIZE, text)
    wanted = count(joined(name, BOTH, SIZE, text))
    return joined(name, ONE, nearest_width(lambda width: joined(name, ONE, width, text), wanted), text)


def joined(name: str, way: str, size: int, text: RealText | None) -> Model:
    encoder = {"kind": "recurrent", "cell": "lstm", "size": size, "bidirectional": way == BOTH}
    reader = {"embedding": {"kind": "lookup", "size": WIDTH}, "encoder": encoder}
    if name in POOLS:
        classifier: Classifier = make("task", {"kind": "classifier", "pool": POOLS[name][way], **reader})
        classifier.learn_labels(LabelSet(tuple(map(str, range(LABELS))), False, (1,) * LABELS))
        classifier.build(len(SPECIALS) + FILLERS + LABELS * KEYS)
        return classifier
    tags, vocabulary, unknown = TAGS, len(SPECIALS) + len(WORDS), 0.0
    if name == REAL:
        assert text is not None
        tags, vocabulary, unknown = text.tags, text.vocabulary, 0.05
    tagger: Tagger = make("task", {"kind": "tagger", "output": "softmax", "unknown": unknown, **reader})
    tagger.tags = TagSet(tags, "none")
    tagger.build(vocabulary)
    return tagger


def learnt(name: str, way: str, seed: int, size: Size, text: RealText | None) -> tuple[float, list[float]]:
    """% right on rows that were not learnt; of labels also by the place of the key word: first, last."""
    chance = random.Random(seed)
    rows_of, asked = source(name, chance, size, text)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        model = build(name, way, text)
        train(model, lambda _: model.loss(batch_of(rows_of(size.rows)))[0], size.updates, size.rate)
    return right(model.eval(), asked)


def source(
    name: str, chance: random.Random, size: Size, text: RealText | None
) -> tuple[Callable[[int], list[Row]], list[Row]]:
    """What gives rows to learn, and the rows that are asked."""
    if name == REAL:
        assert text is not None
        return lambda many: chance.sample(text.train, many), text.valid
    make_row = tagged if name == MADE_TAGS else labelled
    others = random.Random(chance.random())
    return lambda many: [make_row(chance) for _ in range(many)], [make_row(others) for _ in range(size.asked)]


def batch_of(rows: Sequence[Row]) -> Batch:
    wide = max(len(row.ids) for row in rows)
    ids, mask = padded([row.ids for row in rows], wide)
    if rows[0].targets.ndim == 0:
        return Batch(ids=ids, mask=mask, labels=torch.tensor([int(row.targets) for row in rows]))
    return Batch(ids=ids, mask=mask, targets=padded([row.targets for row in rows], wide)[0])


@torch.no_grad()
def right(model: Model, rows: Sequence[Row]) -> tuple[float, list[float]]:
    """% of the tags that are asked for, or of the labels, also by the place of the key word."""
    batch = batch_of(rows)
    if isinstance(model, Tagger):
        best = model.best(batch).numpy()
        hits = [best[n, : len(row.ids)][row.asked] == row.targets[row.asked] for n, row in enumerate(rows)]
        return 100 * float(np.concatenate(hits).mean()), []
    hit = model.scores(batch).argmax(1).numpy() == np.array([int(row.targets) for row in rows])
    place = np.array([int(row.asked) for row in rows])
    return 100 * float(hit.mean()), [100 * float(hit[place == end].mean()) for end in (0, 1)]


def draw(found: dict[str, dict[str, list[float]]], ends: dict[str, list[list[float]]]) -> Any:
    """Each question, and labels by where the key word stands."""
    picture, (left, other) = sheet(2)
    bars.put(left, found, {})
    left.set_ylabel("right, %")
    plain(left, "Tags and labels, as many parameters")
    places = {
        way: {f"by the {where} word": [one[place] for one in own] for place, where in enumerate(("first", "last"))}
        for way, own in ends.items()
    }
    bars.put(other, places, {"guessing": 100 / LABELS})
    other.set_ylabel("labels right, %")
    plain(other, "Labels, read off the last step")
    return picture
