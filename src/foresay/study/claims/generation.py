"""Claim: a WaveNet's likelihood is computed for all steps in parallel, generation takes O(L): docs/claims.md.

scored        log P(w_t | w_1 .. w_{t-1}) of all t by one pass of the encoder
from rings    w_t by one step of the encoder, which holds what its convolutions saw last (encode/taps.py)
anew          w_t by a pass over <start> w_1 .. w_{t-1}, of which the last output alone is used

calls    passes of the encoder, each of which needs the symbol that the one before it gave
time     seconds of the CPU, one thread, the quickest of several;  time ~ L^e, e the slope of log time on log L

Writing is timed symbol by symbol, in one text of the longest length: its first L symbols took what a text of L takes.

The model is WaveNet's stack over 16 symbols with random weights; what it writes does not change what it costs.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import asdict, dataclass
from itertools import accumulate, pairwise
from typing import Any

import torch
from torch import Tensor

from foresay.data.batch import Batch
from foresay.models.language_model import LanguageModel
from foresay.parts import make
from foresay.study.claims.claim import Figure, Result, Verdict, claim, mean_of
from foresay.study.claims.parallel import Measured, exponent
from foresay.study.claims.words_picture import Panel, draw
from foresay.text.tokens import SPECIALS, START
from foresay.train.progress import Tell

SCORED, CACHED, ANEW = "scored", "written from rings", "written anew"
KINDS = (SCORED, CACHED, ANEW)
CALLS = {SCORED: 50, CACHED: 3, ANEW: 2}  # the quickest counts; of what is written, symbol by symbol
SYMBOLS, WIDTH, FIRST = 16, 32, len(SPECIALS)
DILATIONS = [1, 2, 4, 8, 16, 32, 64, 128]
LEAST, MOST, QUADRATIC = 0.8, 1.2, 1.5
SAME = 1e-9  # nats, in float64
Follow = Callable[[list[int]], Tensor]  # what follows a text: -> (1, V)


@dataclass(frozen=True)
class Size:
    """Lengths, how often each is timed, and the length of the text that is compared."""

    lengths: tuple[int, ...]
    repeats: int = 5
    compared: int = 512  # more than a step sees, so that every ring has gone round


QUICK, FULL = Size((128, 256, 512, 1024)), Size((256, 512, 1024, 2048))


@claim(
    "generation",
    lecture="004",
    sentence="A WaveNet's likelihood is computed for all steps in parallel; generation takes L steps in a row: O(L).",
    rule=(
        "holds when to score L symbols takes one call of the encoder whatever L and to write them L and a constant, "
        "rings and passes anew write the same text, of the same probability as scored, the 95 % interval over repeats "
        f"of the exponent of time over L lies within {LEAST} and {MOST} from rings, and above both {MOST} and that "
        "interval anew, and at the largest L to score is quicker than to write from rings, its interval above 1; does "
        f"not hold when calls or texts say otherwise or the exponent from rings lies above {QUADRATIC}; else not "
        "decided"
    ),
)
def run(quick: bool, seed: int, tell: Tell) -> Result:
    size = QUICK if quick else FULL
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        with torch.inference_mode():
            model, noise = built(seed), noise_of(max(size.lengths), seed)
            same = agree(model, noise[: size.compared])
            found = measure(model, noise, size, tell)
    finally:
        torch.set_num_threads(threads)
    spent = {kind: exponent(found, kind, "time") for kind in KINDS}
    quicker = [speed_up(found, SCORED, CACHED), speed_up(found, CACHED, ANEW)]
    verdict = judge(found, same, spent, quicker[0])
    details = {"size": asdict(size), "same": same, "measured": [asdict(one) for one in found]}
    return Result(verdict, [*calls_of(found), *spent.values(), *quicker], details, picture(found))


def judge(found: Sequence[Measured], same: bool, spent: dict[str, Figure], quicker: Figure) -> Verdict:
    """The rule."""
    calls = [one for one in found if one.what == "calls"]
    scored = {one.value for one in calls if one.kind == SCORED}
    written = {one.value - one.steps for one in calls if one.kind == CACHED}
    low, high, anew, saved = spent[CACHED].low, spent[CACHED].high, spent[ANEW].low, quicker.low
    assert low is not None and high is not None and anew is not None and saved is not None
    if scored != {1} or len(written) > 1 or not same or low > QUADRATIC:
        return "does not hold"
    holds = low >= LEAST and high <= MOST and anew > max(MOST, high) and saved > 1
    return "holds" if holds else "not decided at this size"


def built(seed: int) -> LanguageModel:
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        model: LanguageModel = make("task", {
            "kind": "language-model", "embedding": {"size": WIDTH},
            "encoder": {"kind": "dilated", "size": WIDTH, "dilations": DILATIONS},
        })  # fmt: skip
        model.build(SYMBOLS)
    return model.eval()


def noise_of(length: int, seed: int) -> Tensor:
    """Gumbel's noise for each step: the largest of log P + noise is a draw from P."""
    chance = torch.Generator().manual_seed(seed)
    return -(-torch.rand(length, SYMBOLS - FIRST, generator=chance, dtype=torch.float64).log()).log()


def score(model: LanguageModel, text: Sequence[int]) -> Tensor:
    """log P of each symbol (L,)."""
    ids = torch.tensor([[START, *text]])
    return model.measure(Batch(ids=ids[:, :-1], targets=ids[:, 1:]))[0][0]


def from_rings(model: LanguageModel, length: int) -> Follow:
    """Reads the last symbol alone: texts must grow by one."""
    state = model.begin(1, capacity=length)

    def follow(text: list[int]) -> Tensor:
        nonlocal state
        log_probs, state = model.step(torch.tensor([text[-1:]], dtype=torch.long), state)
        return log_probs

    return follow


def anew(model: LanguageModel) -> Follow:
    def follow(text: list[int]) -> Tensor:
        features, _ = model.encoder(model.embedding(Batch(ids=torch.tensor([[START, *text]]))))
        return model.output.log_probs(features[:, -1])

    return follow


def write(follow: Follow, noise: Tensor) -> tuple[list[int], list[float]]:
    """A text as long as the noise, without special symbols, and log P of each symbol."""
    text, found = [], []
    for row in noise:
        log_probs = follow(text)[0]
        text.append(FIRST + int((log_probs[FIRST:] + row).argmax()))
        found.append(float(log_probs[text[-1]]))
    return text, found


def agree(model: LanguageModel, noise: Tensor) -> bool:
    """Whether both ways write the same text and scoring gives it the same log-probabilities; in float64."""
    exact = deepcopy(model).double()
    (one, first), (other, second) = (write(follow, noise) for follow in (from_rings(exact, len(noise)), anew(exact)))
    scored = score(exact, one).tolist()
    apart = max(max(three) - min(three) for three in zip(first, second, scored, strict=True))
    return one == other and apart <= SAME


def measure(model: LanguageModel, noise: Tensor, size: Size, tell: Tell) -> list[Measured]:
    text, _ = write(from_rings(model, len(noise)), noise)
    jobs, found = [(repeat, kind) for repeat in range(size.repeats) for kind in KINDS], []
    for done, (repeat, kind) in enumerate(jobs, 1):
        spent, calls = scoring(model, text, size) if kind == SCORED else writing(model, kind, noise, size)
        found += [Measured(kind, "time", length, repeat, spent[length]) for length in size.lengths]
        if not repeat:
            found += [Measured(kind, "calls", length, repeat, calls[length]) for length in size.lengths]
        tell(done / len(jobs))
    return found


def scoring(model: LanguageModel, text: Sequence[int], size: Size) -> tuple[dict[int, float], dict[int, int]]:
    """Milliseconds and calls by length."""
    spent, made = {}, {}
    for length in size.lengths:
        times = []
        for _ in range(CALLS[SCORED]):
            with counted(model.encoder) as calls:
                began = time.process_time()
                score(model, text[:length])
                times.append(1000 * (time.process_time() - began))
            made[length] = len(calls)
        spent[length] = max(min(times), 1e-3)
    return spent, made


def writing(model: LanguageModel, kind: str, noise: Tensor, size: Size) -> tuple[dict[int, float], dict[int, int]]:
    """Milliseconds and calls by length, as the symbols of the longest text come."""
    runs, made = [], []
    for _ in range(CALLS[kind]):
        marks, made = trail(model, kind, noise)
        runs.append([later - earlier for earlier, later in pairwise(marks)])
    quickest = list(accumulate(min(times) for times in zip(*runs, strict=True)))
    spent = {length: max(quickest[length - 1], 1e-3) for length in size.lengths}
    return spent, {length: made[length - 1] for length in size.lengths}


def trail(model: LanguageModel, kind: str, noise: Tensor) -> tuple[list[float], list[int]]:
    """The CPU's clock in milliseconds before the first symbol and at each, and the calls made up to each."""
    marks, made = [1000 * time.process_time()], []
    with counted(model.encoder) as calls:
        follow = from_rings(model, len(noise)) if kind == CACHED else anew(model)

        def marked(text: list[int]) -> Tensor:
            log_probs = follow(text)
            marks.append(1000 * time.process_time())
            made.append(len(calls))
            return log_probs

        write(marked, noise)
    return marks, made


@contextmanager
def counted(module: torch.nn.Module) -> Iterator[list[int]]:
    """The number of steps of each call."""
    calls: list[int] = []
    hook = module.register_forward_hook(lambda _, given, __: calls.append(given[0].shape[1]))
    try:
        yield calls
    finally:
        hook.remove()


def calls_of(found: Sequence[Measured]) -> list[Figure]:
    """Those at the largest length, which are counted: each interval is a single value."""
    calls = [one for one in found if one.what == "calls"]
    last = max(one.steps for one in calls)
    own = [one for one in calls if one.steps == last]
    name = f"calls in a row at L = {last:,}"
    return [Figure(f"{one.kind}: {name}", one.value, one.value, one.value) for one in own]


def speed_up(found: Sequence[Measured], fast: str, slow: str) -> Figure:
    """How many times as quick one way is for each symbol of the longest text."""
    own = [one for one in found if one.what == "time"]
    last = max(one.steps for one in own)
    fasts, slows = ([one.value for one in own if (one.kind, one.steps) == (kind, last)] for kind in (fast, slow))
    ratios = [second / first for first, second in zip(fasts, slows, strict=True)]
    return mean_of(f"{fast}: times as quick as {slow}, L = {last:,}", ratios)


def picture(found: Sequence[Measured]) -> Any:
    """Time of the whole and for each symbol, against L."""
    own = [one for one in found if one.what == "time"]
    lengths = sorted({one.steps for one in own})
    panels = []
    for title, up, each in (("Time", "ms of the CPU", False), ("Time for each symbol", "ms of the CPU / L", True)):
        lines = {
            kind: {
                length: [one.value / (length if each else 1) for one in own if (one.kind, one.steps) == (kind, length)]
                for length in lengths
            }
            for kind in KINDS
        }
        ticks = {length: f"{length:,}" for length in lengths}
        panels.append(Panel(title, "L, symbols", up, lines, doubling=True, ticks=ticks, powers=True, over="repeats"))
    return draw(panels)
