"""Claim: P(I live in Shanghai) without Shanghai in the corpus. Two language models on made sentences: docs/claims.md.

    a large text      we flew to shanghai .    the mayor of shanghai spoke .    they devour fresh bread .
    a small text      i live in london .       she works in madrid .            we cook fresh rice .

The small text has neither shanghai nor one of the verbs, drawn by the seed; neither text says that anybody lives in
shanghai. Skip-gram learns vectors of the large one. Two language models learn the small one, with all words of both in
their vocabulary (`tokens.also`): one begins with these vectors (`pretrained`), one at random, both with as long ones,
and their softmax is tied to them.

    R = P(i live in shanghai) / P(i live in <the verb that is not there either>)
"""

from __future__ import annotations

import math
import random
import tempfile
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from foresay.data.batch import Batch
from foresay.data.row_batches import padded
from foresay.embed.lookup import Lookup
from foresay.models.language_model import LanguageModel
from foresay.parts import make
from foresay.study.claims.claim import Figure, Result, Verdict, claim, mean_of
from foresay.study.claims.training import train
from foresay.study.claims.words_learning import learn, seeds_of, vectors_of
from foresay.study.claims.words_picture import Panel, draw
from foresay.study.claims.words_text import numbered, vocabulary
from foresay.text.blanks import Blanks
from foresay.text.tokens import START, STOP
from foresay.train.progress import Tell
from foresay.vectors.word_vectors import WordVectors

CITY = "shanghai"
WORDS = {
    "CITY": (CITY, "london", "paris", "madrid", "berlin", "rome", "vienna", "oslo"),
    "VERB": ("devour", "cook", "bake", "buy", "sell", "carry", "share", "taste"),
    "FOOD": ("bread", "rice", "soup", "cheese", "cake", "fish", "fruit", "meat"),
    "BEAST": ("dog", "cat", "horse", "cow", "sheep", "goat", "duck", "hen"),
}
LARGE = (
    "we|they flew|drove to CITY", "the mayor|people of CITY spoke|slept", "CITY is a large|old town",
    "trains to|from CITY leave at noon", "they|we VERB fresh|cold FOOD", "you can|must VERB this FOOD",
    "he likes to VERB FOOD", "the BEAST eats grass|corn", "a young|small BEAST ran away", "my|our BEAST is hungry",
    "this FOOD tastes good|bad", "there is FOOD on the table",
)  # fmt: skip
SMALL = (
    "i|we live in CITY", "she|he works in CITY", "they|you stay in CITY", "i|we VERB fresh|cold FOOD",
    "she|he likes to VERB FOOD", "my|our BEAST eats grass|corn", "they|you see a BEAST",
)  # fmt: skip
PROMPT = "i live in"
WITH, WITHOUT, FROZEN = "with vectors", "at random", "with vectors, frozen"
WIDTH, HIDDEN, MORE = 32, 32, 10.0
Rows = list[np.ndarray]


@dataclass(frozen=True)
class Size:
    """Sentences of the texts, epochs of skip-gram, updates of a language model, and updates from look to look."""

    updates: int
    large: int = 6000
    small: int = 600
    epochs: int = 10
    rows: int = 32
    every: int = 50
    rate: float = 5e-3


QUICK, FULL = Size(updates=300), Size(updates=1000, every=100)
Looks = dict[int, tuple[float, float, float]]  # by updates: P with Shanghai, with the verb, with a city of the text


@claim(
    "unseen-word",
    lecture="004",
    sentence="With word vectors a language model knows P(I live in Shanghai) though its corpus has no Shanghai.",
    rule=(
        "R = P(i live in shanghai) / P(i live in <verb>), neither word in the text of the language model; holds when "
        f"the 95 % intervals over seeds lie above {MORE:g} for R of the model that begins with vectors of another "
        f"text, and above {MORE:g} for its R over that of a model that begins at random, and above 1 for P(i live in "
        "shanghai) of the one over the other; does not hold when one of them lies on the other side, in the full "
        "form only; else not decided. 3 seeds (full: 5)"
    ),
)
def run(quick: bool, seed: int, tell: Tell) -> Result:
    size, seeds = QUICK if quick else FULL, seeds_of(seed, quick)
    found: dict[str, list[Looks]] = {name: [] for name in (WITH, WITHOUT, FROZEN)}
    nearest = []
    for done, one in enumerate(seeds, 1):
        looks, near = learnt(one, size)
        for name, own in looks.items():
            found[name].append(own)
        nearest.append(near)
        tell(done / len(seeds))
    last = {name: [one[size.updates] for one in own] for name, own in found.items()}
    ratios = {name: [city / verb for city, verb, _ in own] for name, own in last.items()}
    better = [a / b for a, b in zip(ratios[WITH], ratios[WITHOUT], strict=True)]
    likelier = [a[0] / b[0] for a, b in zip(last[WITH], last[WITHOUT], strict=True)]
    rule = [
        mean_of(f"R, {WITH}", ratios[WITH]),
        mean_of(f"R, {WITH} over {WITHOUT}", better),
        mean_of(f"P({PROMPT} {CITY}), {WITH} over {WITHOUT}", likelier),
    ]
    beside = [mean_of(f"R, {name}", ratios[name]) for name in (WITHOUT, FROZEN)]
    for name, own in last.items():
        beside.append(mean_of(f"P({PROMPT} {CITY}) over a city of the text, {name}", [one[0] / one[2] for one in own]))
    details = {"size": asdict(size), "P by updates: shanghai, verb, city of the text": found, "nearest": nearest}
    return Result(judge(rule, quick), [*rule, *beside], details, picture(found))


def judge(rule: Sequence[Figure], quick: bool) -> Verdict:
    """The rule: R, R over R at random, P over P at random."""
    limits = (MORE, MORE, 1.0)
    if all(one.low is not None and one.low > limit for one, limit in zip(rule, limits, strict=True)):
        return "holds"
    less = any(one.high is not None and one.high < limit for one, limit in zip(rule, limits, strict=True))
    return "does not hold" if less and not quick else "not decided at this size"


def sentences(frames: Sequence[str], number: int, chance: random.Random, left_out: Sequence[str] = ()) -> list[str]:
    """So many of these frames, words of each kind by chance but those left out."""
    kinds = {kind: [word for word in words if word not in left_out] for kind, words in WORDS.items()}
    return [
        " ".join(chance.choice(kinds.get(one) or one.split("|")) for one in chance.choice(frames).split())
        for _ in range(number)
    ]


def vectors(seed: int, size: Size) -> WordVectors:
    """Skip-gram's vectors of a large text, all brought to a mean length of 1, that of vectors at random."""
    documents = [text.split() for text in sentences(LARGE, size.large, random.Random(seed))]
    text = numbered(documents, vocabulary(documents))
    settings = {"size": WIDTH, "predict": {"kind": "skipgram", "window": 3}, "sample": 0.0, "epochs": size.epochs}
    found = vectors_of(learn(text, seed, settings), text)
    return WordVectors(found.words, found.matrix / np.linalg.norm(found.matrix, axis=1).mean())


def learnt(seed: int, size: Size) -> tuple[dict[str, Looks], list[str]]:
    """What each model says of the sentences as it learns, and the words nearest to Shanghai's vector."""
    chance, known = random.Random(seed), vectors(seed, size)
    verb = chance.choice(WORDS["VERB"])
    texts = sentences(SMALL, size.small, chance, (CITY, verb))
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / "vectors.txt"
        known.save(place, "glove")  # without a first line of numbers, which would join the words
        tokens = Blanks(also=str(place))
        tokens.learn(texts)
        models = {WITH: build(tokens, seed, str(place)), WITHOUT: build(tokens, seed)}
        models[FROZEN] = build(tokens, seed, str(place), frozen=True)
    rows = [tokens.encode(text) for text in texts]
    asked = torch.tensor([[*tokens.encode(f"{PROMPT} {word}").tolist(), STOP] for word in (CITY, verb, *cities())])
    looks = {name: follow(model, rows, asked, random.Random(seed), size) for name, model in models.items()}
    return looks, [word for word, _ in known.near(CITY, 5)]


def cities() -> list[str]:
    return [word for word in WORDS["CITY"] if word != CITY]


def build(tokens: Blanks, seed: int, pretrained: str | None = None, *, frozen: bool = False) -> LanguageModel:
    table = {"kind": "lookup", "size": WIDTH, "pretrained": pretrained, "frozen": frozen}
    encoder = {"kind": "recurrent", "cell": "lstm", "size": HIDDEN}
    task = {
        "kind": "language-model",
        "embedding": table,
        "encoder": encoder,
        "output": {"kind": "softmax", "tied": True},
    }
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        model: LanguageModel = make("task", task)
        assert isinstance(model.embedding, Lookup)
        model.embedding.symbols = tokens.words
        model.build(len(tokens))
    return model


def follow(model: LanguageModel, rows: Rows, asked: Tensor, chance: random.Random, size: Size) -> Looks:
    """Learns the rows; what it says of the sentences on the way."""
    looks: Looks = {}

    def loss(update: int) -> Tensor:
        if update % size.every == 0:
            looks[update] = probabilities(model, asked)
        return model.loss(batch_of(chance.sample(rows, size.rows)))[0]

    train(model, loss, size.updates, size.rate)
    looks[size.updates] = probabilities(model, asked)
    return looks


def batch_of(rows: Rows) -> Batch:
    wide = 1 + max(len(row) for row in rows)
    ids, mask = padded([np.array([START, *row]) for row in rows], wide)
    return Batch(ids=ids, targets=padded([np.array([*row, STOP]) for row in rows], wide)[0], mask=mask)


@torch.no_grad()
def probabilities(model: LanguageModel, asked: Tensor) -> tuple[float, float, float]:
    """P of the sentences of Shanghai and of the verb, and the mean of the others; a STOP ends each."""
    model.eval()
    found = model.score(asked)[0].double().sum(1).exp()
    model.train()
    return float(found[0]), float(found[1]), float(found[2:].mean())


def picture(found: dict[str, list[Looks]]) -> Any:
    """R, and P with Shanghai over P with a city of the text, in powers of ten, as the models learn."""
    lines = [
        {
            name: {done: [math.log10(one[done][0] / one[done][at]) for one in own] for done in own[0]}
            for name, own in found.items()
        }
        for at in (1, 2)
    ]
    titles = ("Shanghai over a verb, neither in the text", "Shanghai over the cities of the text")
    ups = (f"P({PROMPT} {CITY}) / P({PROMPT} <verb>)", f"P({PROMPT} {CITY}) / P({PROMPT} <city>)")
    return draw(
        [
            Panel(title, "updates of the language model", f"{up}, powers of ten", own, legend=place, bounds=(low, None))
            for title, up, own, place, low in zip(titles, ups, lines, ("lower left", "best"), (-2, None), strict=True)
        ]
    )
