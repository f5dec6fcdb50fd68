"""Claim: residual connections and highway layers help. ELMo's parts left out one at a time: docs/claims.md.

    words from their letters -> highway layers (0, 1; full: 2) -> two LSTMs each way, the second fed h_1 + x or h_1

Bidirectional language models of the built-in text, alike but for the part, learn the same batches for as many updates;
what counts is the perplexity of held-out paragraphs. A difference is of two models of one seed: the same batches, the
same held-out text. x and h_1 are equally wide here, so ELMo's W is left out and the residual connection has no weights.
"""

from __future__ import annotations

import math
import random
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import torch

from foresay.data.batch import Batch
from foresay.embed.characters import Characters
from foresay.models.bilm import BiLM
from foresay.parts import make
from foresay.study.claims.claim import Figure, Result, Verdict, claim, mean_of
from foresay.study.claims.text_learning import learn, whole_rows
from foresay.study.claims.words_learning import average_of, seeds_of
from foresay.study.claims.words_picture import LOOKS, plain, sheet
from foresay.study.claims.words_text import WordsText, built_in
from foresay.text.tokens import STOP
from foresay.train.progress import Tell

WHOLE, NO_HIGHWAY, NO_RESIDUAL, NEITHER = "both", "no highway", "no residual", "neither"
PARTS: dict[str, tuple[int, str]] = {  # highway layers, wiring
    WHOLE: (1, "fed"),
    NO_HIGHWAY: (0, "fed"),
    NO_RESIDUAL: (1, "none"),
    NEITHER: (0, "none"),
}
MORE = {"two highways": (2, "fed"), "residual around both": (1, "residual")}  # in the full form


@dataclass(frozen=True)
class Size:
    """Updates, pieces of text in each, their longest, widths, and held-out pieces measured."""

    updates: int
    rows: int = 16
    longest: int = 24
    width: int = 48
    held: int = 200


QUICK, FULL = Size(120), Size(600, width=64, held=600)


@dataclass(frozen=True)
class Learnt:
    """The mean of -log P over held-out words and both ways, in nats."""

    seed: int
    parts: str
    weights: int
    loss: float


@claim(
    "residual-highway",
    lecture="001",
    sentence="Residual connections and highway layers help.",
    rule=(
        "held-out perplexity without a part divided by that with it, at equal updates, the other part there; holds "
        "when the 95 % intervals over seeds lie above 1 for the highway layer and for the residual connection; does "
        "not hold when one of them lies below 1, in the full form only; else not decided. 3 seeds (full: 5)"
    ),
)
def run(quick: bool, seed: int, tell: Tell) -> Result:
    size, parts, seeds = (QUICK, PARTS, seeds_of(seed, quick)) if quick else (FULL, PARTS | MORE, seeds_of(seed, quick))
    found: list[Learnt] = []
    for one in seeds:
        text, held = built_in(one)
        train, test = pieces(text, size.longest), pieces(held, size.longest)[: size.held]
        for name in parts:
            found.append(learnt(name, parts[name], text.words, train, test, one, size))
            tell(len(found) / (len(parts) * len(seeds)))
    highway, residual = (ratio(found, left_out) for left_out in (NO_HIGHWAY, NO_RESIDUAL))
    others = [ratio(found, name) for name in parts if name not in (WHOLE, NO_HIGHWAY, NO_RESIDUAL)]
    each = [average_of(f"perplexity, {name}", [math.exp(loss) for loss in losses(found, name)]) for name in parts]
    details = {"size": asdict(size), "runs": [asdict(one) for one in found]}
    figures = [highway, residual, *others, *each]
    return Result(judge(highway, residual, quick), figures, details, draw(found))


def judge(highway: Figure, residual: Figure, quick: bool) -> Verdict:
    """The rule."""
    assert highway.low is not None and highway.high is not None
    assert residual.low is not None and residual.high is not None
    if highway.low > 1 and residual.low > 1:
        return "holds"
    return "does not hold" if min(highway.high, residual.high) < 1 and not quick else "not decided at this size"


def losses(found: Sequence[Learnt], name: str) -> list[float]:
    return [one.loss for one in found if one.parts == name]


def ratio(found: Sequence[Learnt], name: str) -> Figure:
    """Perplexity divided by that of the whole, seed by seed: geometric mean and its interval."""
    pairs = zip(losses(found, name), losses(found, WHOLE), strict=True)
    return mean_of(f"perplexity, {name} / {WHOLE}", [math.exp(one - whole) for one, whole in pairs])


def pieces(text: WordsText, longest: int) -> list[list[int]]:
    """Paragraphs as ids, cut to pieces of at most so many words."""
    ends = np.flatnonzero(text.ids == STOP)
    paragraphs = [part[part != STOP].tolist() for part in np.split(text.ids, ends + 1)]
    return [one[at : at + longest] for one in paragraphs for at in range(0, len(one), longest)]


def build(parts: tuple[int, str], words: Sequence[str], seed: int, size: Size) -> BiLM:
    highways, wiring = parts
    embedding = {"kind": "characters", "size": size.width, "letters": 8, "kernels": [[1, 8], [2, 16], [3, 40]],
                 "highways": highways, "longest": 16}  # fmt: skip
    encoder = {"kind": "recurrent", "size": size.width, "layers": 2, "between": {"wiring": wiring}}
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        model: BiLM = make("task", {"kind": "bilm", "embedding": embedding, "encoder": encoder})
        assert isinstance(model.embedding, Characters)
        model.embedding.symbols = words
        model.build(len(words))
    return model


def learnt(
    name: str,
    parts: tuple[int, str],
    words: Sequence[str],
    train: Sequence[list[int]],
    test: Sequence[list[int]],
    seed: int,
    size: Size,
) -> Learnt:
    """One model, trained and measured."""
    model, chance = build(parts, words, seed, size), random.Random(seed)

    def batches() -> Iterator[Batch]:
        for _ in range(size.updates):
            yield whole_rows(chance.sample(train, size.rows))

    learn(model, batches(), lr=5e-3)
    weights = sum(one.numel() for one in model.parameters())
    return Learnt(seed, name, weights, measured(model, test))


@torch.no_grad()
def measured(model: BiLM, test: Sequence[list[int]]) -> float:
    """The mean of -log P over words of the pieces and both ways, in nats."""
    total = words = 0.0
    model.eval()
    for at in range(0, len(test), 50):
        batch = whole_rows(test[at : at + 50])
        assert batch.mask is not None
        for way in model.measure_ways(batch).values():
            total -= float(way.double().sum())
            words += int(batch.mask.sum())
    return total / words


def draw(found: Sequence[Learnt]) -> Any:
    """Perplexity of each model against that of the whole, a dot for every seed."""
    picture, (axes,) = sheet(1)
    names = [name for name in dict.fromkeys(one.parts for one in found) if name != WHOLE]
    whole = losses(found, WHOLE)
    for place, name in enumerate(names):
        ratios = [100 * (math.exp(one - other) - 1) for one, other in zip(losses(found, name), whole, strict=True)]
        colour, mark = LOOKS[place % len(LOOKS)]
        axes.plot([place] * len(ratios), ratios, mark, color=colour, markersize=8, alpha=0.7)
    axes.axhline(0, color="#5A5A5A", linestyle="--", linewidth=1)
    axes.set_xticks(range(len(names)), names)
    axes.set_xlim(-0.5, len(names) - 0.5)
    axes.set_ylabel("held-out perplexity against that with both, %")
    plain(axes, "ELMo's parts left out or added: above 0 is worse, a mark is one seed")
    return picture
