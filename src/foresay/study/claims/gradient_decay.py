"""Claim: the gradient decays exponentially with distance, ||dL_t / ds_{t-d}|| ~ e^{-a d}. Cell by cell: docs/claims.md.

    exponential   log norm against d             power   log norm against log d            by least squares, d = 1 ... D

s is all that a cell carries, h and c together. L_t is the loss of the last letter of windows of the held-out text, of
language models over letters before and after they have learnt.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import torch
from torch import Tensor

from foresay.encode.recurrent import Recurrent
from foresay.models.language_model import LanguageModel
from foresay.study.claims.claim import Figure, Result, Verdict, claim
from foresay.study.claims.small_text import Size, Text, build, learn, text_of, windows
from foresay.study.claims.training import one_thread
from foresay.study.claims.words_learning import average_of, seeds_of
from foresay.study.claims.words_picture import Panel, draw
from foresay.study.dynamics.gradient import Fall, Norms, fall, line_through, profile
from foresay.train.progress import Tell

CELLS: dict[str, Any] = {"RNN": "elman", "LSTM": "lstm", "GRU": "gru"}
MORE: dict[str, Any] = {"peephole": "peephole", "coupled": "coupled", "additive": "additive"}  # in the full form
HIDDEN, FAR, PLACES = 48, 48, 48
FITS = 0.9  # of the variance of log norm
TINY = 1e-290
QUICK, FULL = Size(300), Size(3000)


@dataclass(frozen=True)
class Profiled:
    """Of one cell and seed: norms of what is carried, d = 1 ... FAR, before and after it has learnt."""

    cell: str
    seed: int
    loss: float
    before: list[float]
    after: list[float]

    def exponential(self, when: str) -> Fall:
        return fall(getattr(self, when))

    def power(self, when: str) -> Fall:
        """The line against log d."""
        norms = getattr(self, when)
        return line_through([(math.log(d), math.log(max(norm, TINY))) for d, norm in enumerate(norms, 1)])


@claim(
    "gradient-decay",
    lecture="002, 004",
    sentence="The gradient decays exponentially with distance.",
    rule=(
        f"the line through log ‖∂L/∂s(t−d)‖ against d = 1 … {FAR}, of language models that have learnt: holds when for "
        "RNN, LSTM and GRU the 95 % interval over seeds of its slope lies below 0, its mean R² is above "
        f"{FITS:g}, and that of the line against log d is below it; does not hold when for one of them the slope's "
        f"interval lies above 0 or that of R² against d less R² against log d below 0; else not decided. {HIDDEN} "
        "units, 3 seeds (full: 5). Other cells, and networks before learning, do not count"
    ),
)
def run(quick: bool, seed: int, tell: Tell) -> Result:
    size, seeds, found = QUICK if quick else FULL, seeds_of(seed, quick), list[Profiled]()
    cells = CELLS if quick else CELLS | MORE
    jobs = [(name, one) for name in cells for one in seeds]
    for done, (name, one) in enumerate(jobs, 1):
        found.append(profiled(name, cells[name], one, size))
        tell(done / len(jobs))
    slopes, fits, better = figures_of(found, "after")
    first = [average_of(f"{name}: slope before learning", [one.exponential("before").slope for one in of(found, name)])
             for name in CELLS]  # fmt: skip
    figures = [*slopes.values(), *fits.values(), *better.values(), *first]
    details = {"size": asdict(size), "runs": [asdict(one) for one in found]}
    return Result(judge(slopes, fits, better), figures, details, picture(found))


def of(found: Sequence[Profiled], cell: str) -> list[Profiled]:
    return [one for one in found if one.cell == cell]


def figures_of(found: Sequence[Profiled], when: str) -> tuple[dict[str, Figure], dict[str, Figure], dict[str, Figure]]:
    """By cell: slopes a step, R² against d, and that less R² against log d."""
    slopes, fits, better = {}, {}, {}
    for name in dict.fromkeys(one.cell for one in found):
        lines = [(one.exponential(when), one.power(when)) for one in of(found, name)]
        slopes[name] = average_of(f"{name}: slope", [one.slope for one, _ in lines], "a step")
        fits[name] = average_of(f"{name}: R²", [one.r_squared for one, _ in lines])
        gaps = [one.r_squared - other.r_squared for one, other in lines]
        better[name] = average_of(f"{name}: R² less that against log d", gaps)
    return slopes, fits, better


def judge(slopes: Mapping[str, Figure], fits: Mapping[str, Figure], better: Mapping[str, Figure]) -> Verdict:
    """The rule."""

    def at(figures: Mapping[str, Figure], end: str) -> list[float]:
        return [getattr(figures[name], end) for name in CELLS]

    if max(at(slopes, "high")) < 0 and min(at(fits, "value")) > FITS and min(at(better, "value")) > 0:
        return "holds"
    wrong = max(at(slopes, "low")) > 0 or min(at(better, "high")) < 0
    return "does not hold" if wrong else "not decided at this size"


def profiled(name: str, cell: Any, seed: int, size: Size) -> Profiled:
    text = text_of(seed)
    model = build({"cell": cell, "size": HIDDEN}, seed, text.vocabulary)
    before = carried(norms_of(model, text, FAR))
    loss = learn(model, text, size, seed)
    return Profiled(name, seed, loss, before, carried(norms_of(model, text, FAR)))


def norms_of(model: LanguageModel, text: Text, far: int, places: int | None = None) -> Norms:
    """The gradient's profile at the last place of windows of the held-out text, a quarter longer than it goes back."""
    batch = windows(text.held_out, places or PLACES, far + far // 4, torch.Generator().manual_seed(-3))
    assert batch.targets is not None and isinstance(model.encoder, Recurrent)
    encoder, targets = model.encoder, batch.targets[:, -1:]

    def loss(features: Tensor) -> Tensor:
        return -model.output.log_prob(features.float()[:, None], targets).sum()

    model.eval()
    with one_thread():
        return profile(encoder, model.embedding(batch), loss, far)


def carried(norms: Norms) -> list[float]:
    """Of all states together, from d = 1."""
    states = [own[1:] for name, own in norms.items() if name != "x"]
    return [max(math.hypot(*at), TINY) for at in zip(*states, strict=True)]


def picture(found: Sequence[Profiled]) -> Any:
    """log10 norm relative to d = 1, before and after."""
    across, up = "distance d", "log10 ‖∂L/∂s(t−d)‖ / ‖∂L/∂s(t−1)‖"

    def lines(when: str) -> dict[str, dict[int, list[float]]]:
        return {
            name: {d: [math.log10(getattr(one, when)[d - 1] / getattr(one, when)[0]) for one in of(found, name)]
                   for d in (1, *range(4, FAR + 1, 4))}
            for name in dict.fromkeys(one.cell for one in found)
        }  # fmt: skip

    return draw([
        Panel("Before learning", across, up, lines("before")),
        Panel("After", across, up, lines("after")),
    ])  # fmt: skip
