"""Claim: an RNN is sequential, attention parallel and O(T^2); down-sampling helps. Exponents over T: docs/claims.md.

depth    the longest chain of operations of which each waits for the one before, in the graph of one pass
time     seconds of the CPU for a pass forward and back, one thread, the quickest of several
memory   bytes that are kept for the way back, each storage once; but for weights and input

a ~ T^e:   e is the slope of log a on log T
"""

from __future__ import annotations

import math
import os
import statistics
import time
from collections.abc import Callable, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from typing import Any

import torch
from torch import Tensor

from foresay.encode.attention import Seen
from foresay.encode.encoder import Encoder
from foresay.encode.transformer import Transformer
from foresay.parts import make
from foresay.study.claims.claim import Figure, Result, Verdict, claim
from foresay.study.claims.words_learning import average_of
from foresay.study.claims.words_picture import Panel, draw
from foresay.train.progress import Tell

RNN, ATTENTION, SHRUNK, TABLE = "LSTM", "attention", "attention, every 4 as one", "attention, all weights kept"
WIDTH, BY = 32, 4
QUADRATIC, FLAT, LINEAR = 1.5, 0.1, 0.9
LAYER = {"kind": "transformer", "size": WIDTH, "heads": 1, "layers": 1, "causal": False}
KINDS: dict[str, dict[str, Any]] = {
    RNN: {"kind": "recurrent", "cell": "lstm", "size": WIDTH},
    ATTENTION: LAYER,
    SHRUNK: {"kind": "shrunk", "encoder": LAYER, "by": BY},
}
Pass = Callable[[Tensor], Tensor]


@dataclass(frozen=True)
class Size:
    """Lengths for time, for memory, and for depth, whose graphs are walked in Python."""

    timed: tuple[int, ...]
    kept: tuple[int, ...] = (512, 1024, 2048, 4096)
    walked: tuple[int, ...] = (16, 32, 64, 128)
    repeats: int = 5
    calls: int = 3


QUICK = Size((1024, 2048, 4096, 8192))
FULL = Size((2048, 4096, 8192, 16_384), kept=(512, 1024, 2048, 4096, 8192))


@dataclass(frozen=True)
class Measured:
    """One figure of one encoder at one length; `repeat` 0 for what is counted."""

    kind: str
    what: str
    steps: int
    repeat: int
    value: float


@claim(
    "parallel",
    lecture="000",
    sentence="An RNN is sequential; attention is parallel and O(T²), and down-sampling before it helps.",
    rule=(
        "by exponents over T: holds when the depth of the LSTM's exceeds 0.9 and attention's is below 0.1, the 95 % "
        "interval over repeats of attention's exponent of time lies above 1.5 and above the LSTM's, that of the memory "
        "of its whole table of weights exceeds 1.5, and at the longest T every 4 as one is quicker, its interval above "
        "1; "
        "does not hold when depth says otherwise or attention's exponent of time lies below 1.5; else not decided"
    ),
)
def run(quick: bool, seed: int, tell: Tell) -> Result:
    size = QUICK if quick else FULL
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        found = measure(size, seed, tell)
    finally:
        torch.set_num_threads(threads)
    depth = {kind: exponent(found, kind, "depth") for kind in (RNN, ATTENTION)}
    spent = {kind: exponent(found, kind, "time") for kind in KINDS}
    kept = {kind: exponent(found, kind, "memory") for kind in (RNN, ATTENTION, TABLE)}
    quicker = speed_up(found, max(size.timed))
    figures = [*depth.values(), *spent.values(), *kept.values(), quicker]
    details = {"size": asdict(size), "measured": [asdict(one) for one in found]}
    return Result(judge(depth, spent, kept[TABLE], quicker), figures, details, picture(found))


def judge(depth: dict[str, Figure], spent: dict[str, Figure], table: Figure, quicker: Figure) -> Verdict:
    """The rule."""
    chain = (depth[RNN].value or 0) > LINEAR and (depth[ATTENTION].value or 0) < FLAT
    low, high = spent[ATTENTION].low, spent[ATTENTION].high
    rnn, saved = spent[RNN].high, quicker.low
    assert low is not None and high is not None and rnn is not None and saved is not None and table.value is not None
    if not chain or high < QUADRATIC:
        return "does not hold"
    holds = low > max(QUADRATIC, rnn) and table.value > QUADRATIC and saved > 1
    return "holds" if holds else "not decided at this size"


def measure(size: Size, seed: int, tell: Tell) -> list[Measured]:
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        encoders = {kind: built(kind) for kind in KINDS}
        x = torch.randn(1, max(*size.timed, *size.kept, *size.walked), WIDTH)
    passes: dict[str, Pass] = {kind: forward(encoder) for kind, encoder in encoders.items()}
    found = []
    with plainly():
        for steps in size.walked:
            found += [Measured(kind, "depth", steps, 0, depth_of(passes[kind], x[:, :steps])) for kind in KINDS]
    tables = {**passes, TABLE: with_table(encoders[ATTENTION])}
    for steps in size.kept:
        found += [Measured(kind, "memory", steps, 0, memory_of(call, x[:, :steps])) for kind, call in tables.items()]
    for call in passes.values():
        time_of(call, x[:, : min(size.timed)], 1)  # what is compiled is compiled now
    jobs = [(repeat, steps) for repeat in range(size.repeats) for steps in size.timed]
    for done, (repeat, steps) in enumerate(jobs, 1):
        for kind, call in passes.items():
            found.append(Measured(kind, "time", steps, repeat, time_of(call, x[:, :steps], size.calls)))
        tell(done / len(jobs))
    return found


def built(kind: str) -> Encoder:
    encoder = make("encoder", KINDS[kind])
    encoder.build(WIDTH)
    return encoder


def forward(encoder: Encoder) -> Pass:
    return lambda x: encoder(x)[0].square().mean()


def with_table(encoder: Any) -> Pass:
    """The same attention by softmax(s Q K') V with its (T, T) weights, as it is written down."""
    assert isinstance(encoder, Transformer)
    attention = encoder.blocks[0].attention

    def call(x: Tensor) -> Tensor:
        q, k, v = attention.project(x)
        mixed = attention.weights(q, k, Seen()) @ v.transpose(1, 2)
        return attention.joined(mixed.transpose(1, 2).flatten(2)).square().mean()

    return call


@contextmanager
def plainly() -> Any:
    """Every operation by itself: a fused loop is one node, however many steps it takes."""
    before = os.environ.get("FORESAY_PLAIN")
    os.environ["FORESAY_PLAIN"] = "1"
    try:
        yield
    finally:
        os.environ.pop("FORESAY_PLAIN") if before is None else os.environ.update(FORESAY_PLAIN=before)


def depth_of(call: Pass, x: Tensor) -> int:
    """The longest path in the graph of a pass, found from its end."""
    last = call(x.clone().requires_grad_()).grad_fn
    depths: dict[Any, int] = {}
    stack = [last]
    while stack:
        node = stack[-1]
        below = [one for one, _ in node.next_functions if one is not None]  # pyright: ignore[reportOptionalMemberAccess]
        waiting = [one for one in below if one not in depths]
        if waiting:
            stack += waiting
            continue
        depths[stack.pop()] = 1 + max((depths[one] for one in below), default=0)
    return depths[last]


def memory_of(call: Pass, x: Tensor) -> int:
    """Bytes that a pass keeps for its way back and that were not there before."""
    kept: dict[int, int] = {}

    def keep(tensor: Tensor) -> Tensor:
        storage = tensor.untyped_storage()
        if not isinstance(tensor, torch.nn.Parameter):
            kept[storage.data_ptr()] = storage.nbytes()
        return tensor

    given = x.clone().requires_grad_()
    with torch.autograd.graph.saved_tensors_hooks(keep, lambda tensor: tensor):
        loss = call(given)
    kept.pop(given.untyped_storage().data_ptr(), None)
    assert loss.requires_grad
    return sum(kept.values())


def time_of(call: Pass, x: Tensor, calls: int) -> float:
    """Milliseconds of the CPU, the quickest of several: other work does not count."""
    found = []
    for _ in range(calls):
        given = x.clone().requires_grad_()
        began = time.process_time()
        call(given).backward()
        found.append(1000 * (time.process_time() - began))
    return max(min(found), 1e-3)


def exponent(found: Sequence[Measured], kind: str, what: str) -> Figure:
    """The slope of log value on log T; over repeats where it is timed."""
    own = [one for one in found if (one.kind, one.what) == (kind, what)]
    slopes = []
    for repeat in sorted({one.repeat for one in own}):
        points = [(math.log(one.steps), math.log(one.value)) for one in own if one.repeat == repeat]
        slopes.append(statistics.linear_regression(*zip(*points, strict=True)).slope)
    name = f"{kind}: exponent of {what}"
    return average_of(name, slopes) if len(slopes) > 1 else Figure(name, slopes[0], slopes[0], slopes[0])


def speed_up(found: Sequence[Measured], steps: int) -> Figure:
    """How much quicker down-sampling makes it."""
    times = {
        kind: [one.value for one in found if (one.kind, one.what, one.steps) == (kind, "time", steps)] for kind in KINDS
    }
    ratios = [whole / short for whole, short in zip(times[ATTENTION], times[SHRUNK], strict=True)]
    return average_of(f"every {BY} as one: times as quick at T = {steps:,}", ratios)


def picture(found: Sequence[Measured]) -> Any:
    """The three measures against T, on logarithmic scales."""
    titles = {
        "depth": ("Depth", "operations in a row", 1.0),
        "time": ("Time", "ms of the CPU", 1.0),
        "memory": ("Memory", "MB kept for the way back", 1e6),
    }
    panels = []
    for what, (title, up, unit) in titles.items():
        own = [one for one in found if one.what == what]
        lines = {
            kind: {
                steps: [one.value / unit for one in own if (one.kind, one.steps) == (kind, steps)]
                for steps in sorted({one.steps for one in own})
            }
            for kind in dict.fromkeys(one.kind for one in own)
        }
        ticks = {steps: f"{steps:,}" for steps in sorted({one.steps for one in own})}
        panels.append(Panel(title, "T, steps", up, lines, doubling=True, ticks=ticks, powers=True, over="repeats"))
    return draw(panels)
