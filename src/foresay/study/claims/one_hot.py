"""Claim: one-hot words overfit and cost more. A language model over one-hot words and over vectors: docs/claims.md.

    gap  = mean -log P(next word) of the held-out text less that of the text it learnt, nats
    cost = CPU time of an update over one-hot words / that over vectors, in turns

One LSTM reads words as one-hot vectors (its input weights have a row of 4 H numbers for each word), another of the same
size reads learnt vectors of D numbers (a row of D for each word). Same text, same batches, same softmax. The text is
the built-in one with its V most frequent words; the others are unknown.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from foresay.data.batch import Batch
from foresay.models.language_model import LanguageModel
from foresay.parts import make
from foresay.study.claims.claim import Figure, Result, Verdict, claim, mean_of
from foresay.study.claims.training import updating
from foresay.study.claims.words_learning import average_of, seeds_of
from foresay.study.claims.words_picture import Panel, draw
from foresay.study.claims.words_text import built_in
from foresay.study.recall import count
from foresay.text.tokens import SPECIALS, UNK
from foresay.train.progress import Tell

ONE_HOT, EMBEDDED = "one-hot", "embedding"
READERS: dict[str, Any] = {ONE_HOT: "onehot", EMBEDDED: {"kind": "lookup", "size": 32}}
HIDDEN = 64
VOCABULARIES = (250, 1000, 2500)  # symbols: the most frequent words and the marks
WARM = 3  # updates that are not timed


@dataclass(frozen=True)
class Size:
    """Updates of a network, words of the text that it learns and of the one held out, rows and words of a batch."""

    updates: int
    words: int = 2000
    asked: int = 8000
    rows: int = 16
    chunk: int = 24
    rate: float = 5e-3


QUICK, FULL = Size(updates=100), Size(updates=300)


@dataclass(frozen=True)
class Trained:
    """Of one reader, seed and vocabulary: nats a word of the text learnt and of the one held out, seconds an update."""

    reader: str
    seed: int
    vocabulary: int
    learnt: float
    held_out: float
    seconds: float
    parameters: int

    @property
    def gap(self) -> float:
        return self.held_out - self.learnt


@claim(
    "one-hot",
    lecture="002",
    sentence="One-hot words overfit and cost more than embeddings.",
    rule=(
        f"at the largest vocabulary ({VOCABULARIES[-1]:,}), after equal updates of the same LSTM: holds when the 95 % "
        "intervals over seeds lie above 0 for the gap of held-out to learnt text with one-hot words less that with an "
        "embedding, and above 1 for the time of an update with one-hot words over that with an embedding; does not "
        "hold when the first lies below 0, or the second below 1, in the full form only; else not decided. Smaller "
        "vocabularies do not count. 3 seeds (full: 5)"
    ),
)
def run(quick: bool, seed: int, tell: Tell) -> Result:
    size, found = QUICK if quick else FULL, list[Trained]()
    jobs = [(one, many) for one in seeds_of(seed, quick) for many in VOCABULARIES]
    for done, (one, many) in enumerate(jobs, 1):
        found += trained(one, many, size)
        tell(done / len(jobs))
    more, slower, figures = {}, {}, []
    for many in VOCABULARIES:
        hot, table = of(found, ONE_HOT, many), of(found, EMBEDDED, many)
        pairs = list(zip(hot, table, strict=True))
        more[many] = average_of(f"V = {many:,}: gap, one-hot less embedding", [a.gap - b.gap for a, b in pairs], "nats")
        slower[many] = mean_of(f"V = {many:,}: time, one-hot over embedding", [a.seconds / b.seconds for a, b in pairs])
        for name, own in ((ONE_HOT, hot), (EMBEDDED, table)):
            figures.append(average_of(f"V = {many:,}: gap, {name}", [one.gap for one in own], "nats"))
            figures.append(average_of(f"V = {many:,}: held out, {name}", [one.held_out for one in own], "nats"))
    verdict = judge(more[VOCABULARIES[-1]], slower[VOCABULARIES[-1]], quick)
    details = {"size": asdict(size), "runs": [asdict(one) for one in found]}
    return Result(verdict, [*more.values(), *slower.values(), *figures], details, picture(found))


def of(found: Sequence[Trained], reader: str, vocabulary: int) -> list[Trained]:
    return [one for one in found if (one.reader, one.vocabulary) == (reader, vocabulary)]


def judge(more: Figure, slower: Figure, quick: bool) -> Verdict:
    """The rule."""
    assert more.low is not None and more.high is not None and slower.low is not None and slower.high is not None
    if more.low > 0 and slower.low > 1:
        return "holds"
    wrong = more.high < 0 or slower.high < 1
    return "does not hold" if wrong and not quick else "not decided at this size"


def trained(seed: int, vocabulary: int, size: Size) -> list[Trained]:
    """Both readers, update by update in turns."""
    texts = zip(built_in(seed, least=1), (size.words, size.asked), strict=True)
    learnt, held_out = (limited(text.ids[:most], vocabulary) for text, most in texts)
    models = {name: build(name, vocabulary, seed) for name in READERS}
    steps = {}
    for name, model in models.items():
        chance = np.random.default_rng(seed)  # the same batches for both
        steps[name] = updating(model, lambda _, m=model, c=chance: m.loss(windows(learnt, size, c))[0], size.rate)
    seconds: dict[str, list[float]] = {name: [] for name in READERS}
    for update in range(size.updates):
        for name in list(READERS) if update % 2 else list(reversed(READERS)):
            began = time.process_time()
            next(steps[name])
            seconds[name].append(time.process_time() - began)
    return [
        Trained(
            name, seed, vocabulary, nats(model, learnt, size), nats(model, held_out, size),
            statistics.median(seconds[name][WARM:]), count(model),
        )
        for name, model in models.items()
    ]  # fmt: skip


def limited(ids: np.ndarray, vocabulary: int) -> np.ndarray:
    """Ids above the vocabulary, which are of rarer words, become unknown."""
    return np.where(ids < vocabulary, ids, UNK).astype(np.int64)


def build(name: str, vocabulary: int, seed: int) -> LanguageModel:
    assert vocabulary > len(SPECIALS)
    encoder = {"kind": "recurrent", "cell": "lstm", "size": HIDDEN}
    task = {"kind": "language-model", "embedding": READERS[name], "encoder": encoder}
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        model: LanguageModel = make("task", task | {"output": {"kind": "softmax", "tied": False}})
        model.build(vocabulary)
    return model


def windows(ids: np.ndarray, size: Size, chance: np.random.Generator) -> Batch:
    """Pieces of the text by chance."""
    return pieces(ids, chance.integers(0, len(ids) - size.chunk, size.rows), size.chunk)


def pieces(ids: np.ndarray, starts: np.ndarray, chunk: int) -> Batch:
    rows = torch.from_numpy(ids[starts[:, None] + np.arange(chunk + 1)])
    return Batch(ids=rows[:, :-1], targets=rows[:, 1:])


@torch.no_grad()
def nats(model: LanguageModel, ids: np.ndarray, size: Size) -> float:
    """Mean -log P of the text, in pieces that follow each other."""
    starts = np.arange(0, len(ids) - size.chunk, size.chunk)
    found: list[Tensor] = [
        model.eval().measure(pieces(ids, some, size.chunk))[0].flatten()
        for some in np.array_split(starts, -(-len(starts) // size.rows))
    ]
    return -float(torch.cat(found).double().mean())


def picture(found: Sequence[Trained]) -> Any:
    """Gap, and time of an update over that with an embedding of the same seed, by vocabulary."""
    ticks = {many: f"{many:,}" for many in VOCABULARIES}
    gaps = {name: {many: [one.gap for one in of(found, name, many)] for many in VOCABULARIES} for name in READERS}
    pairs = {many: zip(of(found, ONE_HOT, many), of(found, EMBEDDED, many), strict=True) for many in VOCABULARIES}
    ratios = {many: [a.seconds / b.seconds for a, b in own] for many, own in pairs.items()}
    up = "-log P, held-out less learnt text, nats"
    return draw(
        [
            Panel("Overfitting", "words of the vocabulary", up, gaps, doubling=True, ticks=ticks),
            Panel(
                "Cost of an update", "words of the vocabulary", "CPU time, one-hot / embedding", {ONE_HOT: ratios},
                {"as long as with an embedding": 1.0}, doubling=True, ticks=ticks, bounds=(0, None),
            ),
        ]
    )  # fmt: skip
