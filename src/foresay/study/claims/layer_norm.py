"""Claim: layer norm and residuals keep gradients in range. Norms per layer of a deep Transformer: docs/claims.md.

    both        x + f(norm(x))            residual only    x + f(x)
    norm only   f(norm(x))                neither          f(x)                f: attention, then dense layers

    g_l = |dJ / dx_l|,  x_l what block l reads;   spread = log10 (largest g / smallest g)      before any training

The gradient of a block's weights would not do: it is about |x_l| g_l, and without norm and residuals the one falls
upwards as the other falls downwards, so that all blocks' are equally tiny. It stands in the details.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.attention import SDPBackend, sdpa_kernel

from foresay.encode.transformer import Transformer
from foresay.parts import make
from foresay.study.claims.claim import Figure, Result, Verdict, claim
from foresay.study.claims.words_learning import average_of
from foresay.study.claims.words_picture import Panel
from foresay.study.claims.words_picture import draw as draw_panels
from foresay.train.progress import Tell

BOTH, NORM, RESIDUAL, NEITHER = "both", "norm only", "residual only", "neither"
KINDS = (BOTH, NORM, RESIDUAL, NEITHER)
LAYERS, WIDTH, STEPS = 48, 32, 16
SEEDS = 10
RANGE = 1.0  # a factor of ten between the layers
TINY, HUGE = 1e-150, 1e150  # what is beyond counts as this


@dataclass(frozen=True)
class Size:
    """How many sequences, and how deep."""

    rows: int
    layers: int = LAYERS


QUICK, FULL = Size(8), Size(128)


@dataclass(frozen=True)
class Measured:
    """The norm of the gradient that reaches what every block reads, and of its weights', the lowest block first."""

    kind: str
    seed: int
    norms: list[float]
    weights: list[float]

    @property
    def spread(self) -> float:
        """Powers of ten between the largest and the smallest."""
        return math.log10(max(self.norms) / min(self.norms))


@claim(
    "layer-norm",
    lecture="002",
    sentence="Layer norm and residuals keep gradients in range.",
    rule=(
        "spread: powers of ten between the largest and the smallest norm of the gradient at the blocks' inputs; holds "
        f"when its 95 % interval over seeds lies below {RANGE:g} with both, and above that interval and {RANGE:g} "
        "without residuals, without norm, and without both; does not hold when with both it lies above "
        f"{RANGE:g}, or without one of them below {RANGE:g}, in the full form only; else not decided. A Transformer of "
        f"{LAYERS} layers, weights of deviation 1/√fan-in, {SEEDS} seeds"
    ),
)
def run(quick: bool, seed: int, tell: Tell) -> Result:
    size, seeds, found = QUICK if quick else FULL, range(SEEDS * seed, SEEDS * seed + SEEDS), []
    jobs = [(kind, one) for kind in KINDS for one in seeds]
    for done, (kind, one) in enumerate(jobs, 1):
        found.append(measure(kind, one, size))
        tell(done / len(jobs))
    spreads = {kind: average_of(f"{kind}: spread", of(found, kind), "powers of ten") for kind in KINDS}
    details = {"size": asdict(size), "runs": [asdict(one) for one in found]}
    return Result(judge(spreads, quick), list(spreads.values()), details, draw(found))


def of(found: Sequence[Measured], kind: str) -> list[float]:
    return [one.spread for one in found if one.kind == kind]


def judge(spreads: dict[str, Figure], quick: bool) -> Verdict:
    """The rule."""
    low, high = ({kind: getattr(one, end) for kind, one in spreads.items()} for end in ("low", "high"))
    if high[BOTH] < RANGE and all(low[kind] > max(RANGE, high[BOTH]) for kind in KINDS if kind != BOTH):
        return "holds"
    refuted = low[BOTH] > RANGE or high[NORM] < RANGE or high[RESIDUAL] < RANGE
    return "does not hold" if refuted and not quick else "not decided at this size"


def build(kind: str, layers: int) -> Transformer:
    """A Transformer without its norms, its residuals, or both."""
    encoder: Transformer = make("encoder", {
        "kind": "transformer", "size": WIDTH, "heads": 4, "layers": layers, "causal": False,
    })  # fmt: skip
    encoder.build(WIDTH)
    for dense in (module for module in encoder.modules() if isinstance(module, nn.Linear)):
        nn.init.normal_(dense.weight, std=dense.in_features**-0.5)
    for block in encoder.blocks:
        if kind in (RESIDUAL, NEITHER):
            block.norm_attention, block.norm_dense = nn.Identity(), nn.Identity()
        if kind in (NORM, NEITHER):
            block.add = _without_residual  # pyright: ignore[reportAttributeAccessIssue]
    encoder.norm = nn.Identity()
    return encoder


def _without_residual(x: Tensor, norm: nn.Module, found: Tensor) -> Tensor:
    return found


def measure(kind: str, seed: int, size: Size) -> Measured:
    """J pulls at all features of the last block, each in a direction of its own; in double precision.

    Attention is as it is written down: without norms queries grow beyond 10⁸, where the backward pass of torch 2's
    fused kernel on a CPU is wrong (queries, keys and values of 10⁹: |dy/dq| 2128, of 10¹⁰ NaN; in truth 0).
    """
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        encoder = build(kind, size.layers).double()
        x, pull = (torch.randn(size.rows, STEPS, WIDTH, dtype=torch.float64) for _ in range(2))
    weights = [[one.weight for one in block.modules() if isinstance(one, nn.Linear)] for block in encoder.blocks]
    with sdpa_kernel(SDPBackend.MATH):
        outputs = encoder.layers(x.requires_grad_())
    read = [x, *outputs[:-1]]
    grads = torch.autograd.grad(outputs[-1].mul(pull).mean(), [*read, *(weight for own in weights for weight in own)])
    norms, rest = [bounded(one.norm()) for one in grads[: len(read)]], list(grads[len(read) :])
    of_weights = [bounded(torch.stack([rest.pop(0).norm() for _ in own]).norm()) for own in weights]
    return Measured(kind, seed, norms, of_weights)


def bounded(norm: Tensor) -> float:
    """A positive number, the infinite as huge; what is no number was not measured."""
    if norm.isnan():
        raise ArithmeticError("the norm of a gradient is NaN, which says nothing of its size; allowed: 0 to infinity")
    return min(max(float(norm), TINY), HUGE)


def draw(found: Sequence[Measured]) -> Any:
    """Norms by layer, relative to the highest one."""
    lines = {
        kind: {
            layer: [math.log10(one.norms[layer - 1] / one.norms[-1]) for one in found if one.kind == kind]
            for layer in range(1, len(found[0].norms) + 1)
        }
        for kind in KINDS
    }
    own = {kind: lines[kind] for kind in (BOTH, NORM)}
    across, up = "layer, 1 is the lowest", "log10 of |dJ/dx| / that of the highest layer"
    return draw_panels([
        Panel("The gradient that reaches each layer", across, up, lines),
        Panel("With norm, on a scale of its own", across, up, own),
    ])  # fmt: skip
