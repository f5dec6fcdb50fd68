"""Training in two processes of one thread against one process, of one thread and of two: tokens a second, and the loss.

The same recipe and the same batches, one run after another in turn (`foresay train --processes N`, by gloo). Speed is
that of the steps after the first quarter, which compile and warm up; the median over the rounds. Without dropout the
last losses must agree to 1e-3, or the bench fails.

    python -m bench.spread [--quick]        an LSTM of 2 x 256 and a Transformer of 4 x 256; or small ones, one round
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from bench.figure import close

LSTM = ["lstm", "embedding.dropout=0.0", "encoder.dropout=0.0"]
TRANSFORMER = ["transformer", "encoder.dropout=0.0", "embedding.dropout=0.0"]
SMALL = ["encoder.size=64", "embedding.size=64", "encoder.layers=1"]
BY = {"one process, one thread": (1, 1), "one process, two threads": (1, 2), "two processes": (2, 1)}


def speed(folder: Path) -> tuple[float, float]:
    """Tokens a second after the first quarter of the steps, and the last loss."""
    lines = [json.loads(line) for line in (folder / "metrics.jsonl").read_text("utf-8").splitlines()]
    steps = [line for line in lines if "loss" in line]
    first, last = steps[len(steps) // 4], steps[-1]
    return (last["tokens"] - first["tokens"]) / (last["seconds"] - first["seconds"]), last["loss"]


def train(words: list[str], processes: int, threads: int, steps: int, out: Path) -> tuple[float, float]:
    rest = [f"train.steps={steps}", f"train.evaluate.every={steps}", "train.evaluate.tokens=2000"]
    rest += [f"train.save.every={steps}", "--device", "cpu", "--out", str(out)]
    count = ["--processes", str(processes)] if processes > 1 else []
    environment = os.environ | {"OMP_NUM_THREADS": str(threads), "MKL_NUM_THREADS": str(threads)}
    command = [sys.executable, "-m", "foresay", "train", *words, *rest, *count]
    subprocess.run(command, check=True, env=environment, stderr=subprocess.DEVNULL)
    return speed(out)


def measure(words: list[str], steps: int, rounds: int) -> dict[str, dict[str, Any]]:
    """Each way's median speed, two processes against the two ways of one, and that they learn the same."""
    found: dict[str, list[tuple[float, float]]] = {name: [] for name in BY}
    with tempfile.TemporaryDirectory() as folder:
        for turn in range(rounds):
            for name, (processes, threads) in BY.items():
                found[name].append(train(words, processes, threads, steps, Path(folder, f"{name} {turn}")))
    losses = [loss for runs in found.values() for _, loss in runs]
    if max(losses) - min(losses) > 1e-3:
        raise SystemExit(f"{words[0]}: the losses differ: {losses}")
    medians = {name: statistics.median(rate for rate, _ in runs) for name, runs in found.items()}
    ours = medians.pop("two processes")
    return {
        f"{words[0]}, two processes against {name}": {
            "ours": round(ours),
            "peer": round(peer),
            "unit": "tokens/s",
            "ratio": round(ours / peer, 3),
            "loss": round(losses[-1], 4),
            "losses_apart": round(max(losses) - min(losses), 7),
        }
        for name, peer in medians.items()
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    quick = parser.parse_args().quick
    steps, rounds, more = (24, 1, SMALL) if quick else (60, 3, [])
    figures: dict[str, dict[str, Any]] = {}
    for words in (LSTM, TRANSFORMER):
        figures |= measure([*words, *more], steps, rounds)
    close(figures)


if __name__ == "__main__":
    main()
