"""Claim: causal convolutions with doubled dilations see L steps by O(log L) layers. By gradient: docs/claims.md.

field    f = 1 + sum_l (k-1) d_l     k the kernel's width, d_l the dilation of layer l
plain    d = 1, 1, 1 ..    f = 1 + (k-1) n            n = ceil((L-1) / (k-1)) layers see L steps
doubled  d = 1, 2, 4 ..    f = 1 + (k-1) (2^n - 1)    n = ceil(log2((L-1) / (k-1) + 1))

Measured: how many steps have a gradient that is not 0 when the last output is squared and led back, in float64. Over
thousands of layers a gradient leaves the numbers there are, so below each block that of every step is brought to
length 1: zeros stay, and nothing else becomes zero.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from foresay.encode.dilated import Dilated
from foresay.parts import make
from foresay.study.claims.claim import Figure, Result, Verdict, claim
from foresay.study.claims.words_picture import GREY, LOOKS, plain, sheet
from foresay.train.progress import Tell

PLAIN, DOUBLED = "plain", "doubled dilations"
KERNELS = (2, 3)
WIDTH, SKIP, ROWS = 2, 16, 2  # outputs enough that not all of them are zero after their ReLU
BEYOND = 8  # steps before the field, which must have no gradient
SHOWN = 8  # layers whose gradient the picture has


@dataclass(frozen=True)
class Size:
    """The numbers of steps to see."""

    lengths: tuple[int, ...]


QUICK = Size(tuple(2**power for power in range(2, 9)))
FULL = Size(tuple(2**power for power in range(2, 12)))


@dataclass(frozen=True)
class Seen:
    """A stack's field by gradient, the steps inside it without one, and the field that the encoder states."""

    kind: str
    kernel: int
    layers: int
    field: int
    holes: int
    stated: int


@dataclass(frozen=True)
class Needed:
    """The fewest layers whose measured field has so many steps, and the formula's."""

    kind: str
    kernel: int
    steps: int
    layers: int
    formula: int


@claim(
    "dilation",
    lecture="004",
    sentence="With dilations doubled by every layer, causal convolutions see L steps with O(log L) layers.",
    rule=(
        "by gradient, kernels k of 2 and 3, L by powers of two: holds when for every L the fewest layers that see L "
        "steps are ceil((L-1)/(k-1)) without dilation and ceil(log2((L-1)/(k-1) + 1)) with dilations 1, 2, 4 .., and "
        "every field measured is without holes and the one that the encoder states; does not hold otherwise"
    ),
)
def run(quick: bool, seed: int, tell: Tell) -> Result:
    size = QUICK if quick else FULL
    found, looked = measure(size, seed, tell)
    figures = [figure for kernel in KERNELS for figure in figures_of(found, kernel)]
    details = {"size": asdict(size), "needed": [asdict(one) for one in found], "seen": [asdict(one) for one in looked]}
    return Result(judge(found, looked), figures, details, draw(found, seed))


def judge(found: Sequence[Needed], looked: Sequence[Seen]) -> Verdict:
    """The rule."""
    as_formula = all(one.layers == one.formula for one in found)
    as_stated = all(one.field == one.stated and not one.holes for one in looked)
    return "holds" if as_formula and as_stated else "does not hold"


def measure(size: Size, seed: int, tell: Tell) -> tuple[list[Needed], list[Seen]]:
    found, looked = [], []
    jobs = [(kind, kernel, steps) for kind in (PLAIN, DOUBLED) for kernel in KERNELS for steps in size.lengths]

    @cache
    def look(kind: str, kernel: int, layers: int) -> Seen:
        encoder = built(dilations_of(kind, layers), kernel, seed)
        field, holes = extent(gradient(encoder, encoder.receptive_field + BEYOND, seed))
        looked.append(Seen(kind, kernel, layers, field, holes, encoder.receptive_field))
        return looked[-1]

    for done, (kind, kernel, steps) in enumerate(jobs, 1):
        formula = layers_for(kind, kernel, steps)
        layers = fewest(lambda n, kind=kind, kernel=kernel: look(kind, kernel, n).field, steps, formula)
        found.append(Needed(kind, kernel, steps, layers, formula))
        tell(done / len(jobs))
    return found, looked


def dilations_of(kind: str, layers: int) -> list[int]:
    return [2**level if kind == DOUBLED else 1 for level in range(layers)]


def layers_for(kind: str, kernel: int, steps: int) -> int:
    """The formula's n; of doubled dilations the least with 2^n > ceil((L-1) / (k-1)), in whole numbers."""
    reach = -(-(steps - 1) // (kernel - 1))
    return reach.bit_length() if kind == DOUBLED else reach


def fewest(field: Callable[[int], int], steps: int, guess: int) -> int:
    """The least number of layers whose field has so many steps; any guess leads to it."""
    layers = guess
    while field(layers) < steps:
        layers += 1
    while layers > 1 and field(layers - 1) >= steps:
        layers -= 1
    return layers


def built(dilations: list[int], kernel: int, seed: int, width: int = WIDTH) -> Dilated:
    """Gated blocks with random weights."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        settings = {"kind": "dilated", "size": width, "kernel": kernel, "dilations": dilations, "skip": SKIP}
        encoder: Dilated = make("encoder", settings)
        encoder.build(width)
    return encoder.double()


def gradient(encoder: Dilated, steps: int, seed: int, *, kept: bool = True) -> Tensor:
    """|dJ/dx| of every step of random rows, J the last output squared: (R, T); `kept` at length 1 below each block."""
    chance = torch.Generator().manual_seed(seed)
    x = torch.randn(ROWS, steps, encoder.size, generator=chance, dtype=torch.float64).requires_grad_()
    hooks = [block.register_forward_pre_hook(lambda _, given: keep(given[0])) for block in encoder.blocks if kept]
    encoder(x)[0][:, -1].square().sum().backward()
    for hook in hooks:
        hook.remove()
    assert x.grad is not None
    return x.grad.norm(dim=-1)


def keep(x: Tensor) -> None:
    """What comes back to x leaves it with length 1 at each step, or 0."""
    x.register_hook(lambda back: F.normalize(back, dim=-1, eps=1e-300))


def extent(size: Tensor) -> tuple[int, int]:
    """Of gradients (R, T): the steps from the first that has one to the last of all, and those between without."""
    felt = (size != 0).any(0)
    field = len(felt) - int(felt.int().argmax()) if felt.any() else 0
    return field, field - int(felt.sum())


def figures_of(found: Sequence[Needed], kernel: int) -> list[Figure]:
    """Nothing is estimated: each interval is a single value."""
    points = {kind: [one for one in found if (one.kind, one.kernel) == (kind, kernel)] for kind in (PLAIN, DOUBLED)}
    values = {}
    for kind, own in points.items():
        values[f"{kind}, kernel {kernel}: layers at L = {own[-1].steps:,}"] = own[-1].layers
    lengths = [math.log2(one.steps) for one in points[PLAIN]]
    steep = statistics.linear_regression(lengths, [math.log2(one.layers) for one in points[PLAIN]]).slope
    values[f"{PLAIN}, kernel {kernel}: exponent of layers over L"] = steep
    added = statistics.linear_regression(lengths, [one.layers for one in points[DOUBLED]]).slope
    values[f"{DOUBLED}, kernel {kernel}: layers more by each doubling of L"] = added
    return [Figure(name, value, value, value) for name, value in values.items()]


def draw(found: Sequence[Needed], seed: int) -> Any:
    """Layers by L, and how the gradient of a stack of each kind fades."""
    picture, (left, right) = sheet(2)
    kinds = [(kind, kernel) for kind in (PLAIN, DOUBLED) for kernel in KERNELS]
    for (kind, kernel), (colour, mark), wide in zip(kinds, LOOKS, (2, 2, 2, 0), strict=False):
        own = [one for one in found if (one.kind, one.kernel) == (kind, kernel)]
        across, up = [one.steps for one in own], [one.layers for one in own]
        hollow = {} if wide else {"markerfacecolor": "none", "markersize": 12}  # beside the other kernel's, the same
        left.plot(across, up, color=colour, marker=mark, linewidth=wide, label=f"{kind}, kernel {kernel}", **hollow)
    left.set_xscale("log", base=2)
    left.set_yscale("log")
    lengths = sorted({one.steps for one in found})
    left.set_xticks(lengths, [f"{steps:,}" for steps in lengths])
    left.yaxis.set_major_formatter(lambda value, _: f"{value:,.10g}")
    left.set_xlabel("L, steps seen")
    left.set_ylabel("layers needed")
    left.legend(frameon=False, fontsize=9)
    plain(left, "Layers that see L steps, by gradient")
    _draw_gradients(right, seed)
    return picture


def _draw_gradients(axes: Any, seed: int) -> None:
    for kind, (colour, mark) in ((DOUBLED, LOOKS[2]), (PLAIN, LOOKS[0])):
        encoder = built(dilations_of(kind, SHOWN), KERNELS[0], seed, width=16)
        field = encoder.receptive_field
        size = gradient(encoder, field, seed, kept=False).mean(0).flip(0)
        axes.plot(range(1, field + 1), size, color=colour, marker=mark, markersize=3, linewidth=1, label=kind)
        axes.axvline(field, color=GREY, linestyle="--", linewidth=1)
        axes.annotate(f"{field}", (field, 1), xycoords=("data", "axes fraction"), xytext=(-3, -2),
                      textcoords="offset points", ha="right", va="top", color=GREY, fontsize=9)  # fmt: skip
    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    axes.xaxis.set_major_formatter(lambda value, _: f"{value:,.10g}")
    axes.set_xlabel("steps back, the last one as 1")
    axes.set_ylabel("gradient of the last output, mean of rows")
    axes.legend(frameon=False, fontsize=9, loc="lower left")
    plain(axes, f"What reaches the input: {SHOWN} layers, kernel {KERNELS[0]}")
