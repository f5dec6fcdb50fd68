"""Claim: n-grams ignore wide context. Five models of one text and one vocabulary, by perplexity: docs/claims.md.

    loss      mean -log P(w | all words before it in its row), nats;  perplexity = exp(loss)
    far loss  the same over the words that need wide context

In a made language (wide_context_text.py) the first word of a sentence decides one word near its end, and nothing else
tells it: an n-gram, and an MLP over a window of as many words, can only guess, log K nats. In the built-in text the
words that stood earlier in the paragraph, but not among the last four, are far. All models read the same rows; the
networks have as many parameters and take as many updates, the n-gram counts each row once.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from typing import Any

import torch

from foresay.models.language_model import LanguageModel
from foresay.parts import make
from foresay.study.claims.claim import Figure, Result, Verdict, claim
from foresay.study.claims.text_learning import whole_rows
from foresay.study.claims.training import one_thread, train
from foresay.study.claims.wide_context_text import KINDS, MADE, REAL, Corpus, built, made
from foresay.study.claims.words_learning import average_of, seeds_of
from foresay.study.claims.words_picture import Panel
from foresay.study.claims.words_picture import draw as draw_panels
from foresay.study.claims.words_text import WordsText
from foresay.study.recall import count, nearest_width
from foresay.text.tokens import STOP
from foresay.train.progress import Tell

NGRAM, MLP, RNN, LSTM, TRANSFORMER = "n-gram", "MLP", "RNN", "LSTM", "Transformer"
ORDER = 5  # of the n-gram: four words before; the window has as many
WIDTH = 32  # of a word's vector
RECURRENT = {"kind": "recurrent"}
NETWORKS: dict[str, dict[str, Any]] = {
    MLP: {"kind": "window", "span": ORDER - 1},
    RNN: RECURRENT | {"cell": "elman"},
    LSTM: RECURRENT | {"cell": "lstm"},
    TRANSFORMER: {"kind": "transformer", "layers": 2, "heads": 4, "size": WIDTH},  # has the parameters all others get
}
MODELS = (NGRAM, *NETWORKS)
WIDE = (RNN, LSTM, TRANSFORMER)
GUESSED, TOLD = 0.9, 0.5  # of log K: what is no better than guessing, and what is told
PART = 64  # rows scored at a time


@dataclass(frozen=True)
class Size:
    """Updates on the made language and on the built-in text, sentences of the first to learn, and rows a batch."""

    made: int
    real: int
    sentences: int = 3000
    asked: int = 500
    rows: int = 32
    rate: float = 5e-3


QUICK, FULL = Size(made=300, real=100), Size(made=1000, real=300)


@dataclass(frozen=True)
class Learnt:
    """Nats a word of a held-out text: of all words, and of those that need wide context."""

    text: str
    model: str
    seed: int
    parameters: int
    loss: float
    far: float


@claim(
    "wide-context",
    lecture="002",
    sentence="n-grams ignore wide context.",
    rule=(
        f"loss of a made language at the words that only a word 5 to 11 places before tells: holds when the 95 % "
        f"interval over seeds lies above {GUESSED:g} log {KINDS} for a {ORDER}-gram, which is to guess, and below "
        f"{TOLD:g} log {KINDS} for RNN, LSTM or Transformer; does not hold when it lies below {GUESSED:g} log {KINDS} "
        f"for the n-gram, or above {TOLD:g} log {KINDS} for all three, the last in the full form only; else not "
        "decided. The built-in text does not count. 3 seeds (full: 5)"
    ),
)
def run(quick: bool, seed: int, tell: Tell) -> Result:
    size, found = QUICK if quick else FULL, list[Learnt]()
    texts: dict[str, Callable[[int], Corpus]] = {
        MADE: lambda one: made(one, size.sentences, size.asked),
        REAL: built,
    }
    jobs = [(text, one, model) for text in texts for one in seeds_of(seed, quick) for model in MODELS]
    with one_thread():
        for done, (text, one, model) in enumerate(jobs, 1):
            found.append(learnt(texts[text](one), text, model, one, size))
            tell(done / len(jobs))
    far = {model: average_of(f"{MADE}: far words, {model}", of(found, MADE, model, "far"), "nats") for model in MODELS}
    figures = [*far.values()]
    figures += [average_of(f"{REAL}: far words, {model}", of(found, REAL, model, "far"), "nats") for model in MODELS]
    for text in texts:
        for model in MODELS:
            values = [math.exp(loss) for loss in of(found, text, model, "loss")]
            figures.append(average_of(f"{text}: perplexity, {model}", values))
    details = {"size": asdict(size), "guessing": math.log(KINDS), "runs": [asdict(one) for one in found]}
    return Result(judge(far, quick), figures, details, draw(found))


def judge(far: Mapping[str, Figure], quick: bool) -> Verdict:
    """The rule."""
    guess, told = GUESSED * math.log(KINDS), TOLD * math.log(KINDS)
    ngram = far[NGRAM]
    assert ngram.low is not None and ngram.high is not None
    if ngram.high < guess:
        return "does not hold"
    if ngram.low > guess and any((far[name].high or 0) < told for name in WIDE):
        return "holds"
    none = all((far[name].low or 0) > told for name in WIDE)
    return "does not hold" if none and not quick else "not decided at this size"


def of(found: Sequence[Learnt], text: str, model: str, field: str) -> list[float]:
    return [getattr(one, field) for one in found if (one.text, one.model) == (text, model)]


def learnt(corpus: Corpus, text: str, name: str, seed: int, size: Size) -> Learnt:
    """One model, what it learnt, asked of the rows held out."""
    if name == NGRAM:
        model = make("task", {"kind": "ngram", "order": ORDER})
        model.build(len(corpus.words))
        model.fit(flat(corpus))
        return Learnt(text, name, seed, model.size(), *losses(model.eval(), corpus))
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        model = build(name, len(corpus.words))
        chance = torch.Generator().manual_seed(seed)

        def loss(_: int) -> torch.Tensor:
            drawn = torch.randint(len(corpus.learnt), (size.rows,), generator=chance)
            return model.loss(whole_rows([corpus.learnt[row] for row in drawn.tolist()]))[0]

        train(model, loss, size.made if text == MADE else size.real, size.rate)
    return Learnt(text, name, seed, count(model), *losses(model.eval(), corpus))


def build(name: str, vocabulary: int) -> LanguageModel:
    """A language model with as many parameters as the Transformer."""
    if name == TRANSFORMER:
        return joined(name, vocabulary, WIDTH)
    return joined(name, vocabulary, width_of(name, vocabulary))


@cache
def width_of(name: str, vocabulary: int) -> int:
    wanted = count(joined(TRANSFORMER, vocabulary, WIDTH))
    return nearest_width(lambda width: joined(name, vocabulary, width), wanted)


def joined(name: str, vocabulary: int, size: int) -> LanguageModel:
    model: LanguageModel = make("task", {
        "kind": "language-model", "embedding": {"kind": "lookup", "size": WIDTH},
        "encoder": NETWORKS[name] | {"size": size}, "output": {"kind": "softmax", "tied": False},
    })  # fmt: skip
    model.build(vocabulary)
    return model


def flat(corpus: Corpus) -> WordsText:
    """The rows one after the other, for counting."""
    rows = [torch.tensor([*row, STOP], dtype=torch.int32) for row in corpus.learnt]
    return WordsText(corpus.words, torch.cat(rows).numpy())


@torch.no_grad()
def losses(model: Any, corpus: Corpus) -> tuple[float, float]:
    """Nats a word over all of the held-out rows, <stop> among them, and over the far words."""
    every, far = [], []
    for first in range(0, len(corpus.held_out), PART):
        rows, marks = (side[first : first + PART] for side in (corpus.held_out, corpus.far))
        batch = whole_rows(rows)
        found = -model.measure(batch)[0].double()
        every += [float(value) for value in found[batch.mask]]
        far += [float(found[row, place]) for row, places in enumerate(marks) for place in places]
    return sum(every) / len(every), sum(far) / len(far)


def draw(found: Sequence[Learnt]) -> Any:
    """What far words cost in both texts, and the perplexity."""
    ticks = dict(enumerate(MODELS))

    def lines(field: str, text: str) -> dict[int, list[float]]:
        own = {place: of(found, text, model, field) for place, model in ticks.items()}
        return {n: [math.exp(one) for one in values] if field == "loss" else values for n, values in own.items()}

    guess = {f"guessing, log {KINDS}": math.log(KINDS)}
    return draw_panels([
        Panel("Made language", "", "loss at far words, nats", {MADE: lines("far", MADE)}, guess, ticks=ticks,
              bounds=(0, None)),
        Panel("Built-in text", "", "loss at far words, nats", {REAL: lines("far", REAL)}, ticks=ticks),
        Panel("All words", "", "perplexity of held-out text", {t: lines("loss", t) for t in (MADE, REAL)},
              ticks=ticks, powers=True),
    ])  # fmt: skip
