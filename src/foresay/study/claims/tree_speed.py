"""Claim: hierarchical softmax takes O(log V) where the full one takes O(V). Time of a token by V: docs/claims.md."""

from __future__ import annotations

import math
import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from foresay.output.hierarchical import Hierarchical
from foresay.output.output import Output
from foresay.output.softmax import Softmax
from foresay.output.trees.huffman import Huffman
from foresay.study.claims.claim import Figure, Result, Verdict, claim
from foresay.study.claims.words_learning import average_of
from foresay.study.claims.words_picture import Panel, draw
from foresay.train.progress import Tell

FULL_SOFTMAX, TREE = "full", "hierarchical"
SCORE, TRAIN = "log P of one word", "loss and gradient"
STEEP, FLAT = 0.7, 0.3
REPEATS = 5
CALLS = 9  # of a repeat, each with words of its own, so that rows come from memory; their median counts
TOKENS, WIDTH = 128, 64
QUICK = (1000, 3000, 10_000, 30_000, 100_000)
LARGE = (300_000, 1_000_000)  # in the full form


@dataclass(frozen=True)
class Timed:
    """Microseconds of a token."""

    output: str
    task: str
    words: int
    repeat: int
    microseconds: float


@claim(
    "tree-speed",
    lecture="004",
    sentence="Hierarchical softmax takes O(log V) in place of O(V).",
    rule=(
        "by the slopes of log time on log V for log P of one word: holds when the 95 % interval of the full softmax's "
        f"lies above {STEEP:g} and that of the tree's below {FLAT:g}; does not hold when the first lies below "
        f"{STEEP:g} or the second above {FLAT:g}, in the full form only; else not decided. Huffman's tree, Zipf's law, "
        f"{REPEATS} repeats, one thread"
    ),
)
def run(quick: bool, seed: int, tell: Tell) -> Result:
    sizes, found = QUICK if quick else QUICK + LARGE, []
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        for done, words in enumerate(sizes, 1):
            found += measure(words, seed)
            tell(done / len(sizes))
    finally:
        torch.set_num_threads(threads)
    slopes = {(name, task): slope_of(found, name, task) for task in (SCORE, TRAIN) for name in (FULL_SOFTMAX, TREE)}
    verdict = judge(slopes[FULL_SOFTMAX, SCORE], slopes[TREE, SCORE], quick)
    details = {"times": [asdict(one) for one in found]}
    return Result(verdict, [*slopes.values(), *figures(found)], details, picture(found))


def measure(words: int, seed: int) -> list[Timed]:
    """Both layers over so many words, in turn."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        counts = (1e9 / np.arange(1, words + 1)).astype(np.int64)
        outputs: dict[str, Output] = {FULL_SOFTMAX: Softmax(), TREE: Hierarchical(Huffman())}
        for output in outputs.values():
            output.build(WIDTH, words)
            output.learn_counts(counts)
        h = torch.randn(TOKENS, WIDTH)
        drawn = torch.multinomial(torch.from_numpy(counts).double(), REPEATS * CALLS * TOKENS, replacement=True)
    targets = drawn.view(REPEATS, CALLS, TOKENS)
    calls = {(name, SCORE): scoring(output, h) for name, output in outputs.items()}
    calls |= {(name, TRAIN): training(output, h) for name, output in outputs.items()}
    for call in calls.values():
        call(targets[0, 0])  # loops are compiled and the tree is walked once
    return [
        Timed(name, task, words, repeat, usual(call, targets[repeat]))
        for repeat in range(REPEATS)
        for (name, task), call in calls.items()
    ]


def scoring(output: Output, h: Tensor) -> Callable[[Tensor], Any]:
    return torch.inference_mode()(lambda targets: output.log_prob(h, targets))


def training(output: Output, h: Tensor) -> Callable[[Tensor], Any]:
    h = h.clone().requires_grad_()
    wanted = [h, *output.parameters()]
    return lambda targets: torch.autograd.grad(output.loss(h, targets), wanted)


def usual(call: Callable[[Tensor], Any], batches: Tensor) -> float:
    """Microseconds of a token: the median over batches of targets (CALLS, TOKENS)."""
    times = []
    for targets in batches:
        began = time.perf_counter()
        call(targets)
        times.append(time.perf_counter() - began)
    return 1e6 * statistics.median(times) / batches.shape[1]


def slope_of(found: Sequence[Timed], name: str, task: str) -> Figure:
    """Of log time on log V, over repeats."""
    slopes = []
    for repeat in sorted({one.repeat for one in found}):
        own = [one for one in found if (one.output, one.task, one.repeat) == (name, task, repeat)]
        across, up = [math.log(one.words) for one in own], [math.log(one.microseconds) for one in own]
        slopes.append(statistics.linear_regression(across, up).slope)
    return average_of(f"{name}, {task}: slope of log time on log V", slopes)


def judge(full: Figure, tree: Figure, quick: bool) -> Verdict:
    """The rule."""
    assert full.low is not None and full.high is not None and tree.low is not None and tree.high is not None
    if full.low > STEEP and tree.high < FLAT:
        return "holds"
    refuted = full.high < STEEP or tree.low > FLAT
    return "does not hold" if refuted and not quick else "not decided at this size"


def times_of(found: Sequence[Timed], name: str, task: str, words: int) -> list[float]:
    return [one.microseconds for one in found if (one.output, one.task, one.words) == (name, task, words)]


def figures(found: Sequence[Timed]) -> list[Figure]:
    """The times over the smallest and the largest vocabulary."""
    sizes = sorted({one.words for one in found})
    return [
        average_of(f"{name}, {task}, V = {words:,}", times_of(found, name, task, words), "µs a token")
        for task in (SCORE, TRAIN)
        for name in (FULL_SOFTMAX, TREE)
        for words in (sizes[0], sizes[-1])
    ]


def picture(found: Sequence[Timed]) -> Any:
    """Times against V, both on logarithmic scales."""
    sizes = sorted({one.words for one in found})
    ticks = {words: f"{words // 1000}k" if words < 1_000_000 else f"{words // 1_000_000}M" for words in sizes}
    return draw([
        Panel(
            task[0].upper() + task[1:],
            "words in the vocabulary, V",
            "µs a token",
            {name: {words: times_of(found, name, task, words) for words in sizes} for name in (FULL_SOFTMAX, TREE)},
            doubling=True,
            ticks=ticks,
            powers=True,
            over="repeats",
        )
        for task in (SCORE, TRAIN)
    ])  # fmt: skip
