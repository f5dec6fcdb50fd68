"""Claim: the same word in another context has another vector. Words of two senses in made sentences: docs/claims.md.

    the brown bear slept in the forest          bear: an animal
    they can not bear the pain                  bear: to endure

A bidirectional language model learns sentences of eight frames, four with a slot for a noun and four with one for a
verb. Some words stand in both slots, others in one. Nothing tells it what a sense is. Two occurrences of a word are
compared only where their frames differ, so that nothing beside the word is the same because the frame is.
"""

from __future__ import annotations

import random
import statistics
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from foresay.data.batch import Batch
from foresay.models.bilm import BiLM
from foresay.parts import make
from foresay.study.claims.claim import Figure, Result, Verdict, claim
from foresay.study.claims.text_learning import learn as train
from foresay.study.claims.text_learning import padded, whole_rows
from foresay.study.claims.words_learning import average_of, seeds_of
from foresay.study.claims.words_picture import GREY, LOOKS, plain, sheet
from foresay.text.tokens import SPECIALS
from foresay.train.progress import Tell

BOTH = ("bear", "duck", "seal", "fly", "weather", "fish")
NOUNS = (*BOTH, "wolf", "fox", "deer", "cow", "hare", "owl")
VERBS = (*BOTH, "face", "hate", "avoid", "cause", "watch", "fear")
FRAMES = (
    ("noun", "the brown|old|wild _ slept|rested in|behind the forest|barn"),
    ("noun", "we|i saw|met one _ near|beside that river|lake"),
    ("noun", "every|no young|small _ eats|likes grass|bread"),
    ("noun", "there lives|sits a _ on our hill|roof"),
    ("verb", "they|men can|could not _ such pain|noise"),
    ("verb", "you should|must never _ these questions|letters"),
    ("verb", "nobody|somebody would _ this|his anger|work"),
    ("verb", "she|he tried|wanted to _ it again|alone"),
)
EXAMPLE = ("the brown bear slept in the forest", "they can not bear such pain")
WORDS = [*SPECIALS, *dict.fromkeys(word for _, one in FRAMES for word in one.replace("|", " ").split() if word != "_")]
WORDS += [word for word in dict.fromkeys([*NOUNS, *VERBS]) if word not in WORDS]
IDS = {word: number for number, word in enumerate(WORDS)}
WIDTH, ENOUGH = 32, 80.0
LAYERS = ("the word's own vector", "layer 1", "layer 2")


@dataclass(frozen=True)
class Size:
    """Updates of a model, sentences in each, and how often each word is looked at in each frame."""

    updates: int
    rows: int = 64
    looked: int = 4


QUICK, FULL = Size(300), Size(1200)


@dataclass(frozen=True)
class Looked:
    """Of one seed and layer: cosines of two occurrences of a word, and % whose nearest has the same sense."""

    seed: int
    layer: int
    trained: bool
    within: float
    between: float
    nearest: float


@claim(
    "same-word",
    lecture="004",
    sentence="The same word in another context has another vector.",
    rule=(
        "holds when, of both layers of a trained bidirectional language model, the 95 % interval over seeds of the "
        "cosine of two occurrences of a word in one sense, less that in two senses, lies above 0, and that of the "
        f"share of occurrences whose nearest has the same sense above {ENOUGH:g} %; does not hold when of both layers "
        "the first lies below 0; else not decided. Only occurrences in different frames are compared; 3 seeds (full: 5)"
    ),
)
def run(quick: bool, seed: int, tell: Tell) -> Result:
    size, seeds, found, example = QUICK if quick else FULL, seeds_of(seed, quick), [], []
    for done, one in enumerate(seeds, 1):
        draw_from = random.Random(one)
        model = build(one)
        found += look(model, one, size, trained=False)
        learn(model, draw_from, size)
        found += look(model, one, size, trained=True)
        example.append(bear(model))
        tell(done / len(seeds))
    figures = {}
    for layer, name in enumerate(LAYERS):
        for trained in (True, False):
            when, own = "" if trained else ", before training", of(found, layer, trained)
            if layer or trained:
                apart = [one.within - one.between for one in own]
                figures["apart", layer, trained] = average_of(f"{name}: one sense less two{when}", apart)
                shares = [one.nearest for one in own]
                figures["nearest", layer, trained] = average_of(f"{name}: nearest of the same sense{when}", shares, "%")
    for layer, name in enumerate(LAYERS[1:], 1):
        figures["bear", layer] = average_of(f"{name}: bear in the two sentences", [one[layer] for one in example])
    details = {"size": asdict(size), "runs": [asdict(one) for one in found], "bear": example, "sentences": EXAMPLE}
    return Result(judge(figures), [*figures.values()], details, draw(found))


def of(found: Sequence[Looked], layer: int, trained: bool) -> list[Looked]:
    return [one for one in found if one.layer == layer and one.trained == trained]


def judge(figures: dict[Any, Figure]) -> Verdict:
    """The rule."""
    apart = [figures["apart", layer, True] for layer in (1, 2)]
    if all((one.high or 0) < 0 for one in apart):
        return "does not hold"
    near = all((figures["nearest", layer, True].low or 0) > ENOUGH for layer in (1, 2))
    return "holds" if near and all((one.low or 0) > 0 for one in apart) else "not decided at this size"


def sentence(frame: int, word: str, chance: random.Random) -> tuple[list[int], int]:
    """The ids of a sentence of a frame with a word in its slot, and the slot's place."""
    words = [chance.choice(one.split("|")) for one in FRAMES[frame][1].split()]
    place = words.index("_")
    return [IDS[word if one == "_" else one] for one in words], place


def build(seed: int) -> BiLM:
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        encoder = {"kind": "recurrent", "size": WIDTH, "layers": 2, "between": {"wiring": "fed"}}
        model: BiLM = make("task", {"kind": "bilm", "embedding": {"kind": "lookup", "size": WIDTH}, "encoder": encoder})
        model.build(len(WORDS))
    return model


def learn(model: BiLM, chance: random.Random, size: Size) -> None:
    """Sentences of any frame with any word that its slot takes."""

    def row() -> list[int]:
        frame = chance.randrange(len(FRAMES))
        return sentence(frame, chance.choice(NOUNS if FRAMES[frame][0] == "noun" else VERBS), chance)[0]

    train(model, (whole_rows([row() for _ in range(size.rows)]) for _ in range(size.updates)))


@torch.no_grad()
def look(model: BiLM, seed: int, size: Size, *, trained: bool) -> list[Looked]:
    """Every word of two senses, some times in every frame."""
    chance, model = random.Random(seed + 1000), model.eval()
    frames = [frame for frame in range(len(FRAMES)) for _ in range(size.looked)]
    by_word = []
    for word in BOTH:
        rows, places = zip(*(sentence(frame, word, chance) for frame in frames), strict=True)
        ids, mask = padded(rows)
        layers = model.read(Batch(ids=ids, mask=mask))
        by_word.append([h[torch.arange(len(ids)), torch.tensor(places)] for h in layers])
    kinds = [FRAMES[frame][0] == "noun" for frame in frames]
    return [
        Looked(seed, layer, trained, *compared([one[layer] for one in by_word], frames, kinds))
        for layer in range(len(LAYERS))
    ]


def compared(vectors: Sequence[Tensor], frames: Sequence[int], kinds: Sequence[bool]) -> tuple[float, float, float]:
    """Mean cosine within a sense and between the two, over words; % whose nearest has its sense, ties halved."""
    frame, kind = torch.tensor(frames), torch.tensor(kinds)
    other = frame[:, None] != frame  # frames differ
    same, apart = other & (kind[:, None] == kind), kind[:, None] != kind
    within, between, nearest = [], [], []
    for own in vectors:
        cosine = F.normalize(own.double(), dim=1) @ F.normalize(own.double(), dim=1).T
        within.append(float(cosine[same].mean()))
        between.append(float(cosine[apart].mean()))
        best, rest = (cosine.masked_fill(~one, -2).amax(1) for one in (same, apart))
        equal = (best - rest).abs() < 1e-9
        nearest.append(float(torch.where(equal, 0.5, (best > rest).double()).mean()))
    return statistics.fmean(within), statistics.fmean(between), 100 * statistics.fmean(nearest)


@torch.no_grad()
def bear(model: BiLM) -> list[float]:
    """The cosine of `bear` in the two sentences, of every layer."""
    ids, mask = padded([[IDS[word] for word in text.split()] for text in EXAMPLE])
    places = torch.tensor([text.split().index("bear") for text in EXAMPLE])
    layers = model.eval().read(Batch(ids=ids, mask=mask))
    return [float(F.cosine_similarity(h[0, places[0]], h[1, places[1]], dim=0)) for h in layers]


def draw(found: Sequence[Looked]) -> Any:
    """Cosines and nearest neighbours by layer, every seed a mark."""
    picture, (left, right) = sheet(2)
    for (field, name), (colour, mark) in zip((("within", "one sense"), ("between", "two senses")), LOOKS, strict=False):
        for layer in range(len(LAYERS)):
            values = [getattr(one, field) for one in of(found, layer, True)]
            left.plot([layer] * len(values), values, mark, color=colour, markersize=8, alpha=0.7,
                      label=name if layer == 0 else None)  # fmt: skip
    left.set_ylabel("cosine of two occurrences of a word")
    left.legend(frameon=False, fontsize=9)
    plain(left, "The same word in two sentences")
    for (trained, name), (colour, mark) in zip(((True, "trained"), (False, "before training")), LOOKS, strict=False):
        for layer in range(len(LAYERS)):
            values = [one.nearest for one in of(found, layer, trained)]
            right.plot([layer] * len(values), values, mark, color=colour, markersize=8, alpha=0.7,
                       label=name if layer == 0 else None)  # fmt: skip
    right.axhline(50, color=GREY, linestyle="--", linewidth=1)
    right.set_ylim(0, 102)
    right.set_ylabel("nearest occurrence has the same sense, %")
    right.legend(frameon=False, fontsize=9)
    plain(right, "Do they group by sense?")
    for axes in (left, right):
        axes.set_xticks(range(len(LAYERS)), ["own vector", *LAYERS[1:]])
        axes.set_xlim(-0.4, len(LAYERS) - 0.6)
    return picture
