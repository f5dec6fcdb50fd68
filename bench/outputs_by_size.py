"""Time and memory of every output layer against the size of the vocabulary, 1,000 to 1,000,000 symbols.

For 512 positions of width 128, symbols by Zipf's law: `train` is loss and gradient, `score` the exact log P of the
targets, `all` the log P of every symbol for 8 positions; microseconds a position, the median of several. Memory is the
peak above what was there before, weights and their gradients taken off, in kilobytes a position of `train`. Each in a
process of its own, one thread.

    python -m bench.outputs_by_size [--quick] [--only NAME ...]

Gradients are dense: a training step also sets V rows to zero, which is in the time of all.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

from bench.outputs import FULL, KINDS

SIZES, QUICK = (1_000, 10_000, 100_000, 1_000_000), (1_000, 10_000)
POSITIONS, WIDTH, FEW = 512, 128, 8


def measure(name: str, vocabulary: int) -> dict[str, float]:
    import numpy as np
    import torch

    from foresay import parts
    from foresay.train.memory import PeakMemory

    torch.manual_seed(1)
    settings = {key: value for key, value in KINDS[name].items() if key != "begin"}
    output = parts.make("output", settings)
    output.build(WIDTH, vocabulary, torch.nn.Parameter(torch.randn(vocabulary, 8)))
    counts = (10 * vocabulary / np.arange(1, vocabulary + 1)).astype(np.int64)
    output.learn_counts(counts)
    features = torch.randn(POSITIONS, WIDTH, requires_grad=True)
    targets = torch.multinomial(torch.from_numpy(counts).double(), POSITIONS, replacement=True)

    def train() -> None:
        output.loss(features, targets).backward()
        output.zero_grad(set_to_none=True)

    @torch.no_grad()
    def score() -> None:
        output.log_prob(features, targets)

    @torch.no_grad()
    def everything() -> None:
        output.log_probs(features[:FEW])

    found = {"train": spent(train, POSITIONS), "score": spent(score, POSITIONS), "all": spent(everything, FEW)}
    memory = PeakMemory(torch.device("cpu"))
    output.loss(features, targets).backward()
    own = sum(parameter.numel() * parameter.element_size() for parameter in output.parameters())
    return found | {"memory": max(memory.bytes() - own, 0) / POSITIONS / 1024}


def spent(call: Callable[[], None], positions: int) -> float:
    """Microseconds a position."""
    call()
    times = []
    for _ in range(5):
        began = time.perf_counter()
        call()
        times.append(time.perf_counter() - began)
    return 1e6 * statistics.median(times) / positions


def in_process(name: str, vocabulary: int) -> dict[str, float]:
    environment = os.environ | {"OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
    command = [sys.executable, "-m", "bench.outputs_by_size", "--worker", name, str(vocabulary)]
    found = subprocess.run(command, env=environment, capture_output=True, text=True)
    if found.returncode:
        raise SystemExit(found.stderr)
    return json.loads(found.stdout.splitlines()[-1])


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--only", nargs="+", default=[name for name in KINDS if "biases" not in name])
    parser.add_argument("--worker", nargs=2)
    given = parser.parse_args()
    if given.worker:
        print(json.dumps(measure(given.worker[0], int(given.worker[1]))))
        return
    figures: dict[str, dict[str, Any]] = {}
    for vocabulary in QUICK if given.quick else SIZES:
        full = in_process(FULL, vocabulary)
        for name in given.only:
            own = full if name == FULL else in_process(name, vocabulary)
            figure = {"ours": round(own["train"], 1), "peer": round(full["train"], 1), "unit": "us a position"}
            figure |= {"ratio": round(full["train"] / own["train"], 3)}
            figure |= {key: round(own[key], 1) for key in ("score", "all", "memory")}
            figures[f"{name}, V = {vocabulary:,}"] = figure
            print(f"{name}, V = {vocabulary:,}", figure, flush=True)
    print(json.dumps(figures))


if __name__ == "__main__":
    main()
