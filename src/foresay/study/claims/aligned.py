"""Claim: attention weights align. Where a writer looks as it copies and reverses: docs/claims.md.

    copy       a b c d  ->  a b c d        symbol tau of the target is that of place tau
    reversal   a b c d  ->  d c b a        of place S + 1 - tau

    error = share of target symbols whose most looked-at place is not theirs

That is the alignment error rate of Och and Ney (2003) where every symbol has one sure link and one is given. Symbols
repeat in a sequence: to look at the right symbol is not to look at the right place.

An encoder of recurrent cells knows at each place what stands beside it too. Beside it, without counting, is one that
passes the symbols' own vectors on: a_t = rnn(x)_t + W x_t.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import torch
from torch import Tensor

from foresay.models.seq2seq.task import Seq2Seq
from foresay.study.claims.claim import Figure, Result, Verdict, claim
from foresay.study.claims.rewriting import Pairs, build, ended, learn, write
from foresay.study.claims.words_learning import average_of, seeds_of
from foresay.study.claims.words_picture import GREY, LOOKS, plain, sheet
from foresay.text.tokens import SPECIALS
from foresay.train.progress import Tell

COPY, REVERSAL = "copy", "reversal"
COUNTED = (COPY, REVERSAL)
PASSED = {COPY: "copy, vectors passed on", REVERSAL: "reversal, vectors passed on"}
SYMBOLS, SHORTEST, LONGEST = 10, 4, 12
MOST, WROTE = 10.0, 90.0  # %: of error, and of sequences written right, without which a network has not learnt


@dataclass(frozen=True)
class Size:
    """Updates of a model, and the sequences of each length that it is tested on."""

    updates: int
    tested: int
    kinds: tuple[str, ...]
    rows: int = 64


QUICK, FULL = Size(300, 50, COUNTED), Size(500, 300, (*COUNTED, *PASSED.values()))


@dataclass(frozen=True)
class Aligned:
    """In %: the error before and after training, what is off by one place, the mass on the right place, and sequences
    written right."""

    kind: str
    seed: int
    begun: float
    error: float
    beside: float
    mass: float
    wrote: float


@claim(
    "aligned",
    lecture="002",
    sentence="Attention weights align: each target symbol looks at the source symbol it comes from.",
    rule=(
        "error: share of target symbols whose most looked-at place is not the one they come from; holds when its 95 % "
        f"interval over seeds lies below {MOST:g} % for copies and for reversals; does not hold when for one of them "
        f"it lies above, in the full form only; else, or when a network writes under {WROTE:g} % of fresh sequences "
        "right, not decided. 3 seeds (full: 5)"
    ),
)
def run(quick: bool, seed: int, tell: Tell) -> Result:
    size, found, maps = QUICK if quick else FULL, [], {}
    jobs = [(kind, one) for one in seeds_of(seed, quick) for kind in size.kinds]
    for done, (kind, one) in enumerate(jobs, 1):
        aligned, drawn = look(kind, one, size)
        found.append(aligned)
        maps.setdefault(kind, drawn)
        tell(done / len(jobs))
    names = {"error": "alignment error", "begun": "before training", "beside": "off by one place",
             "mass": "mass on the right place", "wrote": "sequences written right"}  # fmt: skip
    figures = {
        (kind, field): average_of(f"{kind}: {name}", of(found, kind, field), "%")
        for kind in size.kinds
        for field, name in names.items()
    }
    errors = [figures[kind, "error"] for kind in COUNTED]
    verdict = judge(errors, min(one.wrote for one in found if one.kind in COUNTED), quick)
    details = {"size": asdict(size), "runs": [asdict(one) for one in found]}
    return Result(verdict, list(figures.values()), details, draw(found, maps))


def of(found: Sequence[Aligned], kind: str, field: str) -> list[float]:
    return [getattr(one, field) for one in found if one.kind == kind]


def judge(errors: Sequence[Figure], wrote: float, quick: bool) -> Verdict:
    """The rule."""
    if wrote < WROTE:
        return "not decided at this size"
    if all(one.high is not None and one.high < MOST for one in errors):
        return "holds"
    refuted = any(one.low is not None and one.low > MOST for one in errors)
    return "does not hold" if refuted and not quick else "not decided at this size"


def draw_pairs(kind: str, rows: int, length: int, chance: torch.Generator) -> Pairs:
    """Sequences of random symbols, and the same or turned round."""
    ids = len(SPECIALS) + torch.randint(SYMBOLS, (rows, length), generator=chance)
    return ended(ids), ended(ids.flip(1) if turned(kind) else ids)


def places(kind: str, length: int) -> Tensor:
    """Where each symbol of a target comes from, (T,)."""
    along = torch.arange(length)
    return along.flip(0) if turned(kind) else along


def turned(kind: str) -> bool:
    return kind in (REVERSAL, PASSED[REVERSAL])


def look(kind: str, seed: int, size: Size) -> tuple[Aligned, Tensor]:
    """What one network does, and its weights for the first of the longest sequences, (T, S)."""
    chance = torch.Generator().manual_seed(seed)

    def some() -> Pairs:
        length = int(torch.randint(SHORTEST, LONGEST + 1, (), generator=chance))
        return draw_pairs(kind, size.rows, length, chance)

    wiring = "residual" if kind in PASSED.values() else "none"
    model = build({"form": "attention"}, len(SPECIALS) + SYMBOLS, seed, wiring)
    tests = [draw_pairs(kind, size.tested, length, chance) for length in range(SHORTEST, LONGEST + 1)]
    begun = errors_of(kind, model.eval(), tests)[0]
    learn(model, some, size.updates)
    error, beside, mass = errors_of(kind, model, tests)
    right = [
        own == wanted
        for source, target in tests
        for own, wanted in zip(write(model, source, 2 * LONGEST), target[:, :-1].tolist(), strict=True)
    ]
    shown = weights_of(model, *tests[-1])[0]
    return Aligned(kind, seed, begun, error, beside, mass, 100 * sum(right) / len(right)), shown


def weights_of(model: Seq2Seq, source: Tensor, target: Tensor) -> Tensor:
    """(B, T, S), without those of <stop>."""
    return model.align(source, target)[:, :-1]


def errors_of(kind: str, model: Seq2Seq, tests: Sequence[Pairs]) -> tuple[float, float, float]:
    """In % of target symbols: most looked-at places that are wrong, those off by one, and the mass on right ones."""
    found = [compare(weights_of(model, *pairs), places(kind, pairs[1].shape[1] - 1)) for pairs in tests]
    wrong, beside, mass = (100 * float(torch.cat(own).mean()) for own in zip(*found, strict=True))
    return wrong, beside, mass


def compare(weights: Tensor, right: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Weights (B, T, S) and true places (T,) -> for each symbol whether it is wrong, off by one, and the mass."""
    off = (weights.argmax(2) - right).abs()
    mass = weights.gather(2, right.expand(len(weights), -1)[:, :, None])
    return (off > 0).float().flatten(), (off == 1).float().flatten(), mass.flatten()


def draw(found: Sequence[Aligned], maps: dict[str, Tensor]) -> Any:
    """Where the first network of each kind looked, and the errors of all."""
    picture, axes = sheet(3)
    for panel, kind in zip(axes, COUNTED, strict=False):
        target, source = maps[kind].shape
        panel.imshow(maps[kind].numpy(), cmap="Blues", vmin=0, vmax=1, extent=(0.5, source + 0.5, target + 0.5, 0.5))
        panel.plot(places(kind, target) + 1, range(1, target + 1), ".", color=LOOKS[1][0], label="comes from")
        panel.set_xlabel("place of the source, <stop> last")
        panel.set_ylabel("symbol of the target")
        panel.legend(frameon=False, loc="lower left" if kind == COPY else "lower right", fontsize=9)
        plain(panel, f"Looked at: {kind}, first seed")
        panel.grid(visible=False)
    last, kinds = axes[-1], list(maps)
    for place, (kind, (colour, mark)) in enumerate(zip(kinds, LOOKS, strict=False)):
        for shift, field in ((-0.15, "begun"), (0.15, "error")):
            values = of(found, kind, field)
            filled = colour if field == "error" else "none"
            last.plot([place + shift] * len(values), values, mark, color=colour, markerfacecolor=filled, markersize=7)
    last.axhline(MOST, color=GREY, linestyle="--", linewidth=1)
    last.set_xticks(range(len(kinds)), [kind.replace(", ", ",\n").replace(" passed", "\npassed") for kind in kinds])
    last.set_xlim(-0.5, len(kinds) - 0.5)
    last.set_ylim(-3, 103)
    last.set_ylabel("alignment error, %: empty before training, full after")
    plain(last, "Every seed")
    return picture
