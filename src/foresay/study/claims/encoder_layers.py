"""Claim: two to four encoder layers and four decoder layers translate best. A grid of both: docs/claims.md.

    encoder 1, 2, 4 layers x decoder 1, 2, 4 layers        claimed: 2 or 4 below, 4 above      (Britz et al. 2017)

    loss = mean -log P of the symbols of right translations of held-out sentences, nats
    gain = loss of the best other cell of the grid - loss of the best claimed one

All layers of the grid are equally wide; all models take equal updates. The quick form translates the made language of
claim `long-sentences`, whose translations have another order; the full form the captions of Multi30k.
"""

from __future__ import annotations

import statistics
import tempfile
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch

from foresay.data.builtin import known_pairs
from foresay.errors import UserError
from foresay.extras import need
from foresay.start import train
from foresay.study.claims.claim import Figure, Result, Verdict, claim
from foresay.study.claims.long_sentences import CLAUSE, WORDS, draw_sentences
from foresay.study.claims.rewriting import Pairs, batch_of, bleu, build, learn, write
from foresay.study.claims.training import one_thread
from foresay.study.claims.words_learning import average_of, seeds_of
from foresay.study.claims.words_picture import plain, sheet
from foresay.study.recall import count
from foresay.text.tokens import SPECIALS
from foresay.train.progress import Tell, Watch
from foresay.train.report import read_results

LAYERS = (1, 2, 4)
GRID = tuple((below, above) for below in LAYERS for above in LAYERS)  # encoder, decoder
CLAIMED = ((2, 4), (4, 4))
CAPTIONS, WRITTEN = "multi30k", 200  # and how many of its validation sentences are translated for BLEU
Cell = tuple[int, int]


@dataclass(frozen=True)
class Size:
    """Updates of a model, widths of its layers; of the made language the most clauses, and sentences of each length
    that are asked; of Multi30k the tokens of a batch."""

    updates: int
    width: int
    clauses: int = 1
    asked: int = 100
    rows: int = 32
    tokens: int = 4096
    subwords: int = 4000


QUICK, FULL = Size(120, 64), Size(600, 256)


@dataclass(frozen=True)
class Translated:
    """One model: layers of its encoder and decoder, its loss, and BLEU of what it writes."""

    encoder: int
    decoder: int
    seed: int
    parameters: int
    loss: float
    bleu: float

    @property
    def cell(self) -> Cell:
        return self.encoder, self.decoder


@claim(
    "encoder-layers",
    lecture="002",
    sentence="Two to four encoder layers and four decoder layers are best for translation.",
    rule=(
        "loss on held-out pairs of models with 1, 2 or 4 encoder layers and 1, 2 or 4 decoder layers, equally wide, "
        "after equal updates; gain: that of the best other one less that of the better of 2 + 4 and 4 + 4 layers, both "
        "chosen by their mean over seeds: holds when its 95 % interval over seeds lies above 0; does not hold when it "
        "lies below 0, in the full form only; else not decided. Quick: a made language; full: Multi30k. 3 seeds"
    ),
)
def run(quick: bool, seed: int, tell: Tell) -> Result:
    size, found = QUICK if quick else FULL, list[Translated]()
    if not quick:
        need("sacrebleu", "translate", "the full form of the claim encoder-layers")
        try:
            known_pairs(CAPTIONS)
        except UserError as missing:
            return Result("no data", note=str(missing))
    jobs = [(cell, one) for one in seeds_of(seed, quick=True) for cell in GRID]
    with one_thread():
        for done, (cell, one) in enumerate(jobs, 1):
            found.append(made(cell, one, size) if quick else captions(cell, one, size))
            tell(done / len(jobs))
    claimed, other = (best(found, cells) for cells in (CLAIMED, [cell for cell in GRID if cell not in CLAIMED]))
    pairs = zip(of(found, other, "loss"), of(found, claimed, "loss"), strict=True)
    gain = average_of(f"{named(other)} less {named(claimed)}: loss", [a - b for a, b in pairs], "nats")
    figures = [average_of(f"{named(cell)}: loss", of(found, cell, "loss"), "nats") for cell in GRID]
    figures += [average_of(f"{named(cell)}: BLEU", of(found, cell, "bleu")) for cell in GRID]
    details = {"size": asdict(size), "runs": [asdict(one) for one in found]}
    if not quick and torch.cuda.is_available():
        details["device"] = torch.cuda.get_device_name()
    return Result(judge(gain, quick), [gain, *figures], details, draw(found))


def judge(gain: Figure, quick: bool) -> Verdict:
    """The rule."""
    assert gain.low is not None and gain.high is not None
    if gain.low > 0:
        return "holds"
    return "does not hold" if gain.high < 0 and not quick else "not decided at this size"


def of(found: Sequence[Translated], cell: Cell, field: str) -> list[float]:
    return [getattr(one, field) for one in found if one.cell == cell]


def best(found: Sequence[Translated], cells: Sequence[Cell]) -> Cell:
    """The cell of the lowest mean loss."""
    return min(cells, key=lambda cell: statistics.fmean(of(found, cell, "loss")))


def named(cell: Cell) -> str:
    return f"{cell[0]} + {cell[1]} layers"


def made(cell: Cell, seed: int, size: Size) -> Translated:
    """A model of the made language, sentences of one clause and more, asked of fresh ones."""
    chance = torch.Generator().manual_seed(seed)

    def some() -> Pairs:
        return draw_sentences(size.rows, 1 + int(torch.randint(size.clauses, (), generator=chance)), chance)

    model = build(
        {"form": "attention", "layers": cell[1]}, len(SPECIALS) + 2 * WORDS, seed, layers=cell[0], width=size.width
    )
    learn(model, some, size.updates)
    asked = [draw_sentences(size.asked, clauses, chance) for clauses in range(1, size.clauses + 1)]
    with torch.no_grad():
        nats = torch.cat([-model.measure(batch_of(*pairs))[0].flatten() for pairs in asked])
    wrote = [text for source, _ in asked for text in write(model, source, 2 * CLAUSE * size.clauses)]
    wanted = [text for _, target in asked for text in target[:, :-1].tolist()]
    return Translated(*cell, seed, count(model), float(nats.double().mean()), bleu(wrote, wanted))


def captions(cell: Cell, seed: int, size: Size) -> Translated:
    """A model of Multi30k's captions, English to German, asked of the validation's."""
    place = "cuda" if torch.cuda.is_available() else "cpu"
    with tempfile.TemporaryDirectory() as folder:
        run: Any = train(recipe(cell, seed, size), out=Path(folder) / "run", device=place, watch=Watch())
        loss = read_results(run.folder)["valid"]["loss"]
        wrote = run.judge(limit=WRITTEN, measures=["bleu"]).as_dict()
        return Translated(*cell, seed, count(run.model), loss, wrote["bleu"])


def recipe(cell: Cell, seed: int, size: Size) -> dict[str, Any]:
    schedule = {"kind": "cosine", "warmup": max(size.updates // 10, 1), "floor": 0.02}
    layer = {"kind": "recurrent", "cell": "lstm", "size": size.width, "dropout": 0.2}
    return {
        "task": "seq2seq",
        "data": {"kind": "pairs", "train": CAPTIONS},
        "tokens": {"kind": "subwords", "size": size.subwords},
        "embedding": {"kind": "lookup", "size": size.width, "dropout": 0.2},
        "encoder": layer | {"layers": cell[0], "bidirectional": True},
        "writer": layer | {"layers": cell[1], "form": "attention"},
        "output": {"kind": "softmax", "tied": True},
        "train": {
            "steps": size.updates,
            "batches": {"kind": "pairs", "tokens": size.tokens, "longest": 128},
            "optimizer": {"kind": "adamw", "lr": 0.002, "schedule": schedule},
            "clip": 1.0,
            "evaluate": {"every": size.updates},
            "save": {"every": size.updates},
        },
        "seed": seed,
    }


def draw(found: Sequence[Translated]) -> Any:
    """The grid: loss and BLEU, means over seeds."""
    picture, panels = sheet(2)
    for axes, (field, title, good) in zip(
        panels, (("loss", "Loss of held-out translations, nats", -1), ("bleu", "BLEU", 1)), strict=True
    ):
        means = [[statistics.fmean(of(found, (below, above), field)) for above in LAYERS] for below in LAYERS]
        shown = [[good * value for value in row] for row in means]
        axes.imshow(shown, cmap="Blues", origin="lower")
        low, high = min(map(min, shown)), max(map(max, shown))
        for row, values in enumerate(means):
            for column, value in enumerate(values):
                dark = good * value > (low + high) / 2
                mark = "\nclaimed" if (LAYERS[row], LAYERS[column]) in CLAIMED else ""
                axes.text(
                    column, row, f"{value:.3g}{mark}", ha="center", va="center", color="white" if dark else "black"
                )
        axes.set_xticks(range(len(LAYERS)), [str(layers) for layers in LAYERS])
        axes.set_yticks(range(len(LAYERS)), [str(layers) for layers in LAYERS])
        axes.set_xlabel("decoder layers")
        axes.set_ylabel("encoder layers")
        plain(axes, title)
        axes.grid(visible=False)
    return picture
