"""Claim: max over time suits "contains the word". Accuracy of max, last and mean by the text's length: docs/claims.md.

    w w w KEY w w w w        contains it, at any place; the other half of the texts does not

    max   y_h = max_t h_t     one step that saw the word is enough, wherever it stands
    last  y_h = h_T           the word must be kept until the end
    mean  y_h = sum_t h_t / T     what one step adds is divided by the length, unless the steps after it say it again

The same LSTM under each, trained alike on texts of all lengths together. Beside them, without counting, the same taught
the longest texts alone, where nothing shorter leads the way, and in the full form a ConvNet, which has no memory and so
no last step to ask.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import torch
from torch import Tensor

from foresay.data.batch import Batch
from foresay.data.label_shards import LabelSet
from foresay.models.classifier import Classifier
from foresay.parts import make
from foresay.study.claims.claim import Figure, Result, Verdict, claim
from foresay.study.claims.training import one_thread, train
from foresay.study.claims.words_learning import average_of, seeds_of
from foresay.study.claims.words_picture import Panel
from foresay.study.claims.words_picture import draw as draw_panels
from foresay.text.tokens import SPECIALS
from foresay.train.progress import Tell

MAX, LAST, MEAN = "max", "last", "mean"
LSTM, CONVOLUTION = "LSTM", "ConvNet"
Reader = tuple[str, str, str]  # encoder, pool, the lengths it is taught
ENCODERS: dict[str, Any] = {
    LSTM: {"kind": "recurrent", "cell": "lstm", "size": 32},
    CONVOLUTION: {"kind": "convolution", "kernels": [[3, 32]]},
}
LENGTHS = (10, 20, 50, 100, 200)
LONGEST = LENGTHS[-1]
TOGETHER, ALONE = "all lengths", f"{LONGEST} words alone"
TAUGHT = {TOGETHER: LENGTHS, ALONE: LENGTHS[-1:]}
LSTMS = tuple((LSTM, pool, taught) for taught in TAUGHT for pool in (MAX, LAST, MEAN))
CONVOLUTIONS = tuple((CONVOLUTION, pool, TOGETHER) for pool in (MAX, MEAN))
WORDS, WIDTH = 200, 16  # other words, drawn evenly, and numbers of a vector
KEY = len(SPECIALS) + WORDS
QUARTERS = 4  # of the longest texts, by which quarter has the word
MORE = 5.0  # points


@dataclass(frozen=True)
class Size:
    """Updates of a network, texts in each, and texts of each length that it is asked."""

    updates: int
    readers: tuple[Reader, ...]
    rows: int = 32
    asked: int = 500
    rate: float = 3e-3


QUICK, FULL = Size(250, LSTMS), Size(1500, (*LSTMS, *CONVOLUTIONS), asked=1000)


@dataclass(frozen=True)
class Learnt:
    """In %: right by length; of the longest texts with the word, said to have it, by the quarter it stands in."""

    reader: Reader
    seed: int
    right: dict[int, float]
    found: list[float]


@claim(
    "max-over-time",
    lecture="004",
    sentence='Max over time suits "contains the word".',
    rule=(
        f"accuracy at {LONGEST} words of an LSTM under max over time less that of the same LSTM read off its last "
        f"step, and less that under the mean, taught {LENGTHS[0]} to {LONGEST} words together: holds when the 95 % "
        f"intervals over seeds of both lie above {MORE:g} points; does not hold when one of them lies below {MORE:g} "
        f"points, in the full form only; else not decided. What is taught {LONGEST} words alone, and a ConvNet, do not "
        "count. 3 seeds (full: 5)"
    ),
)
def run(quick: bool, seed: int, tell: Tell) -> Result:
    size, found = QUICK if quick else FULL, list[Learnt]()
    jobs = [(one, reader) for one in seeds_of(seed, quick) for reader in size.readers]
    with one_thread():
        for done, (one, reader) in enumerate(jobs, 1):
            found.append(learnt(reader, one, size))
            tell(done / len(jobs))
    more = {
        (taught, pool): average_of(f"{taught}: max less {pool}", less(found, taught, pool), "points")
        for taught in TAUGHT
        for pool in (LAST, MEAN)
    }
    figures = [
        average_of(f"{name_of(reader)}, {reader[2]}: right at {length} words", [one.right[length] for one in own], "%")
        for reader, own in by_reader(found).items()
        for length in TAUGHT[reader[2]]
    ]
    details = {"size": asdict(size), "runs": [asdict(one) for one in found]}
    verdict = judge([more[TOGETHER, pool] for pool in (LAST, MEAN)], quick)
    return Result(verdict, [*more.values(), *figures], details, draw(found))


def judge(more: Sequence[Figure], quick: bool) -> Verdict:
    """The rule."""
    if all(one.low is not None and one.low > MORE for one in more):
        return "holds"
    less = any(one.high is not None and one.high < MORE for one in more)
    return "does not hold" if less and not quick else "not decided at this size"


def less(found: Sequence[Learnt], taught: str, pool: str) -> list[float]:
    """Max less another pool at the greatest length, seed by seed."""
    own = by_reader(found)
    pairs = zip(own[LSTM, MAX, taught], own[LSTM, pool, taught], strict=True)
    return [one.right[LONGEST] - other.right[LONGEST] for one, other in pairs]


def by_reader(found: Sequence[Learnt]) -> dict[Reader, list[Learnt]]:
    readers = dict.fromkeys(one.reader for one in found)
    return {reader: [one for one in found if one.reader == reader] for reader in readers}


def name_of(reader: Reader) -> str:
    return f"{reader[0]}, {reader[1]}"


def build(encoder: str, pool: str) -> Classifier:
    task = {"kind": "classifier", "embedding": {"kind": "lookup", "size": WIDTH}, "encoder": ENCODERS[encoder]}
    model: Classifier = make("task", task | {"pool": pool})
    model.learn_labels(LabelSet(("without", "with"), False, (1, 1)))
    model.build(KEY + 1)
    return model


def learnt(reader: Reader, seed: int, size: Size) -> Learnt:
    """One network, each batch of one of the lengths it is taught, and asked of fresh texts of all."""
    encoder, pool, taught = reader
    lengths, chance = TAUGHT[taught], torch.Generator().manual_seed(seed)

    def some(_: int) -> Tensor:
        length = lengths[int(torch.randint(len(lengths), (), generator=chance))]
        return model.loss(texts(size.rows, length, chance)[0])[0]

    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        model = build(encoder, pool)
        train(model, some, size.updates, size.rate)
    model.eval()
    right, quarters = {}, list[float]()
    for length in LENGTHS:
        right[length], quarters = ask(model, *texts(size.asked, length, chance))
    return Learnt(reader, seed, right, quarters)


def texts(rows: int, length: int, chance: torch.Generator) -> tuple[Batch, Tensor]:
    """Texts (B, T), every other one with the word at a random place; and the places (B,)."""
    ids = len(SPECIALS) + torch.randint(WORDS, (rows, length), generator=chance)
    places, labels = torch.randint(length, (rows,), generator=chance), torch.arange(rows) % 2
    having = labels.nonzero()[:, 0]
    ids[having, places[having]] = KEY
    return Batch(ids=ids, labels=labels), places


@torch.no_grad()
def ask(model: Classifier, batch: Batch, places: Tensor) -> tuple[float, list[float]]:
    """% right of all, and of those with the word by the quarter of the text that it stands in."""
    assert batch.ids is not None and batch.labels is not None
    hit = (model.scores(batch).argmax(1) == batch.labels).double()
    quarter = places * QUARTERS // batch.ids.shape[1]
    having = batch.labels == 1
    return 100 * float(hit.mean()), [100 * float(hit[having & (quarter == n)].mean()) for n in range(QUARTERS)]


def draw(found: Sequence[Learnt]) -> Any:
    """Accuracy by length, and what is found in the longest texts by the place of the word."""
    own = {taught: {name_of(r): runs for r, runs in by_reader(found).items() if r[2] == taught} for taught in TAUGHT}

    def by_length(taught: str) -> Panel:
        lines = {name: {n: [one.right[n] for one in runs] for n in LENGTHS} for name, runs in own[taught].items()}
        return Panel(
            f"Taught {taught}", "words of the text", "contains the word or not: right, %", lines, {"guessing": 50.0},
            doubling=True, ticks={length: str(length) for length in LENGTHS}, bounds=(0, 104), legend="lower left",
        )  # fmt: skip

    names = dict(enumerate(("first\nquarter", "second", "third", "last\nquarter")))
    where = {name: {n: [one.found[n] for one in runs] for n in names} for name, runs in own[TOGETHER].items()}
    title = f"Taught {TOGETHER}: {LONGEST} with the word"
    placed = Panel(title, "where it stands", "found, %", where, ticks=names, bounds=(0, 104), legend="lower left")
    return draw_panels([by_length(TOGETHER), placed, by_length(ALONE)])
