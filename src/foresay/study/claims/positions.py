"""Claim: self-attention needs positions. Permuted input, and a question of order: docs/claims.md.

permuted:  |f(P x) - P f(x)| / |f(x)|     0 for a Transformer that sees both sides and has no positions
order:     of ten symbols one is A and one is B; which comes first? Chance is 50 %.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from foresay.encode.transformer import Transformer
from foresay.parts import make
from foresay.study.claims.claim import Figure, Result, Verdict, claim
from foresay.study.claims.words_learning import average_of, seeds_of
from foresay.study.claims.words_picture import GREY, LOOKS, plain, sheet
from foresay.train.clip import ByNorm
from foresay.train.optimise import Adam
from foresay.train.progress import Tell

NONE, CAUSAL = "none", "none, causal"
KINDS = {NONE: "none", "sinusoidal": "sinusoidal", "learnt": "learnt", "rotary": "rotary", CAUSAL: "none"}
WITH = ("sinusoidal", "learnt", "rotary")
SYMBOLS, STEPS, WIDTH = 12, 10, 32
A, B = 0, 1
CHANCE, LEARNT, SAME = 60.0, 90.0, 1e-5


@dataclass(frozen=True)
class Size:
    """Updates of every network, and the fresh sequences it is tested on."""

    updates: int
    rows: int = 64
    tested: int = 2000


QUICK, FULL = Size(250), Size(1000)


@dataclass(frozen=True)
class Learnt:
    """Of one kind of positions and seed: how far a permutation changes more than the order, and % right."""

    kind: str
    seed: int
    changed: float
    right: float


class Orderer(nn.Module):
    """A Transformer over symbols and an answer from the mean of its features; causal, from the last."""

    def __init__(self, kind: str) -> None:
        super().__init__()
        self.causal = kind == CAUSAL
        self.table = nn.Embedding(SYMBOLS, WIDTH)
        self.encoder: Transformer = make("encoder", {
            "kind": "transformer", "size": WIDTH, "heads": 4, "layers": 2, "causal": self.causal,
            "positions": KINDS[kind],
        })  # fmt: skip
        self.encoder.build(WIDTH)
        for dense in (module for module in self.encoder.modules() if isinstance(module, nn.Linear)):
            nn.init.normal_(dense.weight, std=WIDTH**-0.5)
        self.answer = nn.Linear(WIDTH, 2)

    def features(self, ids: Tensor) -> Tensor:
        return self.encoder(self.table(ids))[0]

    def forward(self, ids: Tensor) -> Tensor:
        y = self.features(ids)
        return self.answer(y[:, -1] if self.causal else y.mean(1))


@claim(
    "positions",
    lecture="003",
    sentence="A Transformer needs positions: without them it does not see the order.",
    rule=(
        f"holds when without positions a permutation changes features by no more than {SAME:g} of their length, the "
        f"95 % interval over seeds of the order told right lies below {CHANCE:g} % without positions, and above "
        f"{LEARNT:g} % with each of sinusoidal, learnt and rotary; does not hold when without positions it lies above "
        f"{CHANCE:g} %; else not decided. Both sides seen, 3 seeds (full: 5)"
    ),
)
def run(quick: bool, seed: int, tell: Tell) -> Result:
    size, seeds, found = QUICK if quick else FULL, seeds_of(seed, quick), []
    jobs = [(kind, one) for kind in KINDS for one in seeds]
    for done, (kind, one) in enumerate(jobs, 1):
        found.append(learn(kind, one, size))
        tell(done / len(jobs))
    right = {kind: average_of(f"{kind}: order told right", of(found, kind, "right"), "%") for kind in KINDS}
    changed = {kind: Figure(f"{kind}: changed by a permutation", *spread(of(found, kind, "changed"))) for kind in KINDS}
    details = {"size": asdict(size), "runs": [asdict(one) for one in found]}
    figures = [*right.values(), *changed.values()]
    return Result(judge(right, max(of(found, NONE, "changed"))), figures, details, draw(found))


def of(found: Sequence[Learnt], kind: str, field: str) -> list[float]:
    return [getattr(one, field) for one in found if one.kind == kind]


def spread(values: Sequence[float]) -> tuple[float, float, float]:
    """The middle of what was found, and its ends: of an identity there is nothing to estimate."""
    ordered = sorted(values)
    return ordered[len(ordered) // 2], ordered[0], ordered[-1]


def judge(right: dict[str, Figure], changed: float) -> Verdict:
    """The rule."""
    low, high = right[NONE].low, right[NONE].high
    assert low is not None and high is not None
    if low > CHANCE:
        return "does not hold"
    told = all((right[kind].low or 0) > LEARNT for kind in WITH)
    return "holds" if changed <= SAME and high < CHANCE and told else "not decided at this size"


def draw_sequences(rows: int, chance: torch.Generator) -> tuple[Tensor, Tensor]:
    """Symbols (B, T) with one A and one B among others, and whether A comes first (B,)."""
    ids = torch.randint(2, SYMBOLS, (rows, STEPS), generator=chance)
    places = torch.rand(rows, STEPS, generator=chance).argsort(1)[:, :2]
    ids.scatter_(1, places, torch.tensor([A, B]).expand(rows, 2))
    return ids, (places[:, 0] < places[:, 1]).long()


def learn(kind: str, seed: int, size: Size) -> Learnt:
    """One network trained and tested."""
    chance = torch.Generator().manual_seed(seed)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        model = Orderer(kind)
    moved = changed_by_a_permutation(model, chance)
    optimizer, clip = Adam(lr=2e-3).open(model), ByNorm(limit=1.0)
    for update in range(size.updates):
        ids, answers = draw_sequences(size.rows, chance)
        optimizer.zero_grad()
        F.cross_entropy(model(ids), answers).backward()
        clip.apply(model, update)
        optimizer.step()
    ids, answers = draw_sequences(size.tested, chance)
    with torch.no_grad():
        return Learnt(kind, seed, moved, 100 * float((model(ids).argmax(1) == answers).float().mean()))


@torch.no_grad()
def changed_by_a_permutation(model: Orderer, chance: torch.Generator) -> float:
    """|f(P x) - P f(x)| / |f(x)|"""
    ids, order = draw_sequences(32, chance)[0], torch.randperm(STEPS, generator=chance)
    y = model.features(ids)[:, order]
    return float((model.features(ids[:, order]) - y).norm() / y.norm())


def draw(found: Sequence[Learnt]) -> Any:
    """Both measures by kind of positions, every seed a mark."""
    picture, (left, right) = sheet(2)
    for axes, field in ((left, "changed"), (right, "right")):
        for place, (kind, (colour, mark)) in enumerate(zip(KINDS, LOOKS, strict=False)):
            values = [max(value, 1e-9) for value in of(found, kind, field)]
            axes.plot([place] * len(values), values, mark, color=colour, markersize=8, alpha=0.7)
        axes.set_xticks(range(len(KINDS)), [kind.replace(", ", ",\n") for kind in KINDS])
        axes.set_xlim(-0.5, len(KINDS) - 0.5)
    left.set_yscale("log")
    left.axhline(SAME, color=GREY, linestyle="--", linewidth=1)
    left.set_ylabel("‖f(Px) − P f(x)‖ / ‖f(x)‖")
    plain(left, "What a permutation changes, before training")
    right.axhline(50, color=GREY, linestyle="--", linewidth=1)
    right.set_ylim(40, 101)
    right.set_ylabel("A or B first: told right, %")
    plain(right, "A question of order, after training")
    return picture
