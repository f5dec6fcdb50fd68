"""Claim: the full softmax is best when it is affordable. Perplexity at equal steps and in equal time: docs/claims.md.

One LSTM under every output layer, by words of the built-in text, at a constant rate. Time is the CPU's, of the training
steps alone; each training is a process of its own with one thread.
"""

from __future__ import annotations

import multiprocessing
import signal
import tempfile
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch

from foresay import recipe as recipes
from foresay.building import build
from foresay.counts.threads import threads
from foresay.data.prepare import Prepared, prepare
from foresay.recipe import Recipe
from foresay.study.claims.claim import Figure, Result, Verdict, claim, mean_of
from foresay.study.claims.full_softmax_picture import draw
from foresay.study.claims.words_learning import seeds_of
from foresay.train.evaluate import evaluate
from foresay.train.loop import Trainer
from foresay.train.progress import Tell, Watch

TEXT = "builtin:python-reference"
BEST = "full softmax"
OUTPUTS: dict[str, dict[str, Any]] = {
    BEST: {"kind": "softmax", "begin": "shares"},
    "Monte-Carlo": {"kind": "monte-carlo", "number": 20, "begin": "shares"},
    "sampled": {"kind": "sampled", "number": 200},
    "NCE": {"kind": "nce", "number": 200},
    "negative": {"kind": "negative", "number": 200},
    "hierarchical": {"kind": "hierarchical", "tree": "huffman"},
    "adaptive": {"kind": "adaptive"},
}


@dataclass(frozen=True)
class Size:
    """An LSTM of this width; so many steps of `rows` rows of `chunk` words."""

    steps: int
    width: int
    rows: int = 16
    chunk: int = 32


QUICK, FULL = Size(80, 64), Size(400, 128)


@dataclass(frozen=True)
class Job:
    """`seconds`: the time the full softmax took for its steps; None for itself."""

    output: str
    seed: int
    size: Size
    seconds: float | None = None


@dataclass(frozen=True)
class Trained:
    """Perplexity of the held-out text after the steps of all, and after as many as the full softmax's time allows."""

    output: str
    seed: int
    seconds: float  # of the steps of all
    at_steps: float
    steps_in_time: int
    in_time: float


@claim(
    "full-softmax",
    lecture="004",
    sentence="The full softmax is best when it is affordable.",
    rule=(
        "holds when after equal steps no other output layer's mean perplexity lies below the 95 % interval over seeds "
        "of the full softmax's; does not hold when another's whole interval lies below it, in the full form only; else "
        "not decided. Equal time is shown beside it and does not count. 3 seeds (full: 5)"
    ),
)
def run(quick: bool, seed: int, tell: Tell) -> Result:
    size, seeds = QUICK if quick else FULL, seeds_of(seed, quick)
    words = len(texts(recipe(OUTPUTS[BEST], size, seeds[0])).tokens)  # prepared once, before the processes need it
    first = [Job(BEST, one, size) for one in seeds]
    found = in_processes(first, lambda done: tell(done / len(OUTPUTS)))
    taken = {one.seed: one.seconds for one in found}
    rest = [Job(name, one, size, taken[one]) for name in OUTPUTS if name != BEST for one in seeds]
    share = 1 / len(OUTPUTS)
    found += in_processes(rest, lambda done: tell(share + (1 - share) * done))
    steps = {name: figure(found, name, f"after {size.steps} steps") for name in OUTPUTS}
    times = {name: figure(found, name, "in equal time") for name in OUTPUTS if name != BEST}
    details = {"words": words, "size": asdict(size), "runs": [asdict(one) for one in found]}
    figures = [*steps.values(), *times.values(), *speeds(found)]
    others = [one for name, one in steps.items() if name != BEST]
    return Result(judge(steps[BEST], others, quick), figures, details, draw(steps, times, BEST))


def in_processes(jobs: Sequence[Job], tell: Tell) -> list[Trained]:
    """Every job, one a core; what they measure does not depend on the order, but for the time."""
    found: list[Trained] = []
    with multiprocessing.get_context("spawn").Pool(min(threads(), len(jobs)), _begin_worker) as pool:
        for one in pool.imap(train, jobs):
            found.append(one)
            tell(len(found) / len(jobs))
    return found


def _begin_worker() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent ends its workers
    torch.set_num_threads(1)


def recipe(output: dict[str, Any], size: Size, seed: int) -> Recipe:
    raw = {
        "task": "language-model",
        "data": {"train": TEXT, "unit": "line"},
        "tokens": {"kind": "words", "size": 20_000},
        "embedding": {"kind": "lookup", "size": size.width},
        "encoder": {"kind": "recurrent", "cell": "lstm", "size": size.width},
        "output": output,
        "train": {
            "steps": size.steps,
            "batches": {"kind": "streams", "rows": size.rows, "chunk": size.chunk},
            "optimizer": "adamw",
            "lr": 0.003,
            "schedule": "constant",
            "clip": 1.0,
        },
        "seed": seed,
    }
    return recipes.complete(recipes.read(raw))


def texts(recipe: Recipe) -> Prepared:
    """The same held-out part for every seed."""
    return prepare(recipe.data, recipe.tokens, 1)


def train(job: Job) -> Trained:
    """Trains one to equal steps and to equal time, whichever comes first, and then to the other."""
    whole = recipe(OUTPUTS[job.output], job.size, job.seed)
    prepared = texts(whole)
    model = build(whole, prepared.tokens, torch.device("cpu"), text=prepared.train)
    with tempfile.TemporaryDirectory() as folder:
        trainer = Trainer(model, whole.train, prepared, job.seed, Path(folder), Watch())
        at: dict[str, tuple[int, float, float]] = {}  # steps, seconds, perplexity
        step, spent = 0, 0.0
        while "steps" not in at or "time" not in at:
            began = time.process_time()
            trainer.train_step([trainer.order.batch(step)])
            spent += time.process_time() - began if step else 0.0  # the first one compiles
            step += 1
            if step == job.size.steps:
                at["steps"] = step, spent, perplexity(trainer, prepared)
            if job.seconds is None and "steps" in at:
                at["time"] = at["steps"]
            elif job.seconds is not None and "time" not in at and spent >= job.seconds:
                at["time"] = step, spent, perplexity(trainer, prepared)
    return Trained(job.output, job.seed, at["steps"][1], at["steps"][2], at["time"][0], at["time"][2])


def perplexity(trainer: Trainer, prepared: Prepared) -> float:
    assert prepared.valid is not None
    return evaluate(trainer.model, trainer.loop.batches, prepared.valid).perplexity


def figure(found: Sequence[Trained], name: str, when: str) -> Figure:
    own = [one for one in found if one.output == name]
    values = [one.in_time if when == "in equal time" else one.at_steps for one in own]
    return mean_of(f"{name}: perplexity {when}", values)


def speeds(found: Sequence[Trained]) -> list[Figure]:
    """The time of equal steps, over the full softmax's with the same seed."""
    taken = {one.seed: one.seconds for one in found if one.output == BEST}
    ratios = {
        name: [one.seconds / taken[one.seed] for one in found if one.output == name] for name in OUTPUTS if name != BEST
    }
    shown = [mean_of(f"{name}: time of a step", own, "of the full one's") for name, own in ratios.items()]
    return [*shown, mean_of(f"{BEST}: CPU time", list(taken.values()), "s")]


def judge(full: Figure, others: Sequence[Figure], quick: bool) -> Verdict:
    """The rule."""
    assert full.low is not None
    low = full.low
    if all(one.value is not None and one.value >= low for one in others):
        return "holds"
    refuted = any(one.high is not None and one.high < low for one in others)
    return "does not hold" if refuted and not quick else "not decided at this size"
