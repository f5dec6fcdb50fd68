"""Claim: the Huffman tree is optimal. Mean depths of trees over a text's words and over Zipf's law: docs/claims.md."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from foresay.data.builtin import python_reference
from foresay.parts import make
from foresay.study.claims.claim import Figure, Result, Verdict, claim, interval
from foresay.study.claims.huffman_picture import draw
from foresay.study.cooccurrence import CountedVectors, count_vectors
from foresay.train.progress import Tell

SEEDS = 5
ROUNDING = 1e-9  # bits: what a sum over a million words may be off
TEXT = "Python reference"
EXPONENTS = (0.0, 0.5, 1.0, 1.5, 3.0)
SIZES = (10, 100, 1000, 10_000)
LARGE = (100_000, 1_000_000)  # in the full form


@dataclass(frozen=True)
class Distribution:
    """How often each of V words occurs; `vectors` (V, D) where the words are real ones."""

    name: str
    counts: np.ndarray
    vectors: np.ndarray | None = None


@dataclass(frozen=True)
class Measured:
    """The entropy of a distribution, and the mean depth of each tree over it, one number for each seed."""

    name: str
    words: int
    entropy: float
    depths: dict[str, list[float]]

    @property
    def huffman(self) -> float:
        return self.depths["Huffman"][0]

    @property
    def lowest_other(self) -> float:
        return min(depth for name, own in self.depths.items() if name != "Huffman" for depth in own)


@claim(
    "huffman",
    lecture="004",
    sentence="The Huffman tree is optimal.",
    rule=(
        "holds when on every distribution H(P) <= E[depth] < H(P) + 1 for the Huffman tree and no other tree's "
        f"expected depth is below its own, to {ROUNDING:g} bits; else does not hold. {SEEDS} seeds"
    ),
)
def run(quick: bool, seed: int, tell: Tell) -> Result:
    text = count_vectors(python_reference().decode())
    given = [*texts(text), *zipfs(SIZES if quick else SIZES + LARGE)]
    work, done, found = sum(len(one.counts) for one in given), 0, []
    for one in given:
        found.append(measure(one, range(SEEDS * seed, SEEDS * seed + SEEDS)))
        done += len(one.counts)
        tell(done / work)
    return Result(judge(found), figures(found), {"distributions": [asdict(one) for one in found]}, draw(found, TEXT))


def texts(text: CountedVectors) -> list[Distribution]:
    """The most frequent words of a text: 4, 16, 64, ..., all."""
    every = len(text.words)
    sizes = [size for size in (4**power for power in range(1, 12)) if size < every]
    return [Distribution(TEXT, text.counts[:size], text.matrix[:size]) for size in [*sizes, every]]


def zipfs(sizes: Sequence[int]) -> list[Distribution]:
    """P(r) in proportion to 1 / r^s."""
    return [
        Distribution(f"Zipf, exponent {s:g}", np.arange(1, size + 1, dtype=np.float64) ** -s)
        for s in EXPONENTS
        for size in sizes
    ]


def trees(seeds: Sequence[int], has_vectors: bool) -> dict[str, list[dict[str, Any]]]:
    """The trees compared, each as the parts it is built from, one for each seed."""
    found: dict[str, list[dict[str, Any]]] = {"Huffman": [{"kind": "huffman"}], "balanced": [{"kind": "balanced"}]}
    for cut in ("half", "anywhere"):
        found[f"random, cut {cut}"] = [{"kind": "random", "seed": seed, "cut": cut} for seed in seeds]
    if has_vectors:
        found["semantic"] = [{"kind": "semantic", "seed": seed} for seed in seeds]
    return found


def measure(given: Distribution, seeds: Sequence[int]) -> Measured:
    """Builds every tree over one distribution."""
    depths = {
        name: [make("tree", one).build(given.counts, given.vectors).expected_depth(given.counts) for one in kinds]
        for name, kinds in trees(seeds, given.vectors is not None).items()
    }
    return Measured(given.name, len(given.counts), entropy(given.counts), depths)


def entropy(counts: np.ndarray) -> float:
    """H(P) in bits."""
    p = counts[counts > 0] / counts.sum()
    return float(-(p @ np.log2(p)))


def judge(found: Sequence[Measured]) -> Verdict:
    """The rule."""
    bounded = all(one.entropy - ROUNDING <= one.huffman < one.entropy + 1 for one in found)
    lowest = all(one.huffman <= one.lowest_other + ROUNDING for one in found)
    return "holds" if bounded and lowest else "does not hold"


def figures(found: Sequence[Measured]) -> list[Figure]:
    """Every tree over all words of the text; the margins of both inequalities over all distributions."""
    whole = max((one for one in found if one.name == TEXT), key=lambda one: one.words)
    label = f"{whole.words:,} words of the {TEXT}"
    shown = [_figure(f"H(P) of {label}", [whole.entropy], "bits")]
    shown += [_figure(f"{name}: E[depth] over {label}", own, "turns") for name, own in whole.depths.items()]
    above = [one.huffman - one.entropy for one in found]
    lead = [one.lowest_other - one.huffman for one in found]
    number = f"{len(found)} distributions"
    shown.append(_figure(f"Huffman: E[depth] − H(P), least of {number}", [min(above)], "turns"))
    shown.append(_figure(f"Huffman: E[depth] − H(P), most of {number}", [max(above)], "turns"))
    return [*shown, _figure(f"lowest other tree − Huffman, least of {number}", [min(lead)], "turns")]


def _figure(name: str, values: Sequence[float], unit: str) -> Figure:
    """Mean and interval over seeds; one number alone is exact."""
    middle, low, high = interval(values) if len(values) > 1 else (values[0], values[0], values[0])
    return Figure(name, middle, low, high, unit)
