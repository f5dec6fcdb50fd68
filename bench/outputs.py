"""Every output layer under one language model on Penn Treebank words: perplexity and CPU seconds.

An LSTM (one layer of 200, embeddings of 200, V = 10,000) is trained by each, in a process of its own on `--threads`
threads: first for equal steps, then for as many steps as fit into the CPU time that the full softmax took for them (the
schedule is stretched to the new number). Perplexity is exact for all, on the validation text. Biases begin at the
text's shares in all but one. `--processes` run side by side, on cores of their own.

    python -m bench.outputs [--quick] [--only NAME ...] [--steps N] [--threads T] [--processes P]

Data: ptb under FORESAY_DATA. The tree of `semantic` is made from skip-gram vectors of the same text, learnt before; the
time for that is not counted.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from bench.figure import close

FULL = "softmax"
KINDS: dict[str, dict[str, Any]] = {
    FULL: {"kind": "softmax", "begin": "shares"},
    "softmax, biases from 0": {"kind": "softmax"},
    "monte-carlo": {"kind": "monte-carlo", "number": 20, "begin": "shares"},
    "sampled": {"kind": "sampled", "number": 500},
    "nce": {"kind": "nce", "number": 500},
    "negative": {"kind": "negative", "number": 500},
    "hierarchical, Huffman": {"kind": "hierarchical", "tree": "huffman"},
    "hierarchical, balanced": {"kind": "hierarchical", "tree": "balanced"},
    "hierarchical, semantic": {"kind": "hierarchical", "tree": "semantic"},
    "adaptive": {"kind": "adaptive"},
}
STEPS, QUICK = 1327, 60  # an epoch of 20 rows of 35


def recipe(folder: Path, output: dict[str, Any], steps: int) -> dict[str, Any]:
    return {
        "task": "language-model",
        "data": {
            "train": str(folder / "ptb.train.txt"),
            "valid": str(folder / "ptb.valid.txt"),
            "unit": "line",
        },
        "tokens": {"kind": "blanks", "size": 20_000},
        "embedding": {"kind": "lookup", "size": 200, "dropout": 0.1},
        "encoder": {"kind": "recurrent", "cell": "lstm", "layers": 1, "size": 200, "dropout": 0.1},
        "output": output,
        "train": {
            "steps": steps,
            "batches": {"kind": "streams", "rows": 20, "chunk": 35},
            "optimizer": "adamw",
            "lr": 0.003,
            "schedule": {"kind": "cosine", "warmup": 50, "floor": 0.02},
            "clip": 1.0,
        },
    }


def measure(name: str, steps: int, folder: Path) -> dict[str, Any]:
    """Trains one; runs in a process of its own."""
    import torch

    from foresay import recipe as recipes
    from foresay import start
    from foresay.building import build
    from foresay.data.prepare import prepare
    from foresay.train.evaluate import evaluate
    from foresay.train.loop import Trainer
    from foresay.train.progress import Watch

    output = dict(KINDS[name])
    with tempfile.TemporaryDirectory() as out:
        if output.get("tree") == "semantic":
            words = [f"data.train={folder / 'ptb.train.txt'}", "tokens=blanks", "tokens.size=20000"]
            start.train("skipgram", words, out=Path(out) / "vectors", watch=Watch())
            output["pretrained"] = str(Path(out) / "vectors")
        whole = recipes.complete(recipes.read(recipe(folder, output, steps)))
        prepared = prepare(whole.data, whole.tokens, whole.seed)
        model = build(whole, prepared.tokens, torch.device("cpu"), text=prepared.train)
        trainer = Trainer(model, whole.train, prepared, whole.seed, Path(out), Watch())
        trainer.train_step([trainer.order.batch(0)])  # what is compiled is compiled before the clock runs
        began, cpu = time.perf_counter(), time.process_time()
        for step in range(1, steps):
            trainer.train_step([trainer.order.batch(step)])
        seconds, cpu = time.perf_counter() - began, time.process_time() - cpu
        measured = evaluate(model.eval(), whole.train.batches, prepared.valid)
    return {"steps": steps, "cpu_s": round(cpu, 2), "wall_s": round(seconds, 2), "perplexity": measured.perplexity}


def in_process(name: str, steps: int, threads: int) -> dict[str, Any]:
    environment = os.environ | {"OMP_NUM_THREADS": str(threads), "MKL_NUM_THREADS": str(threads)}
    command = [sys.executable, "-m", "bench.outputs", "--worker", name, "--steps", str(steps)]
    found = subprocess.run(command, env=environment, capture_output=True, text=True)
    if found.returncode:
        raise SystemExit(found.stderr)
    told = json.loads(found.stdout.splitlines()[-1])
    print(name, told, flush=True)
    return told


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--only", nargs="+", default=list(KINDS))
    parser.add_argument("--steps", type=int)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--worker")
    given = parser.parse_args()
    root = os.environ.get("FORESAY_DATA")
    if not root or not (Path(root) / "ptb").is_dir():
        raise SystemExit("set FORESAY_DATA to a folder that holds ptb")
    steps = given.steps or (QUICK if given.quick else STEPS)
    if given.worker:
        print(json.dumps(measure(given.worker, steps, Path(root) / "ptb")))
        return
    names = [FULL, *(name for name in given.only if name != FULL)]
    with ThreadPoolExecutor(given.processes) as pool:
        equal = dict(zip(names, pool.map(lambda name: in_process(name, steps, given.threads), names), strict=True))
        budget = equal[FULL]["cpu_s"]
        longer = {name: max(round(steps * budget / equal[name]["cpu_s"]), 2) for name in names}
        timed = dict(
            zip(names, pool.map(lambda name: in_process(name, longer[name], given.threads), names), strict=True)
        )
    figures = {}
    for name in names:
        figures[f"{name}, equal steps"] = {
            "ours": equal[name]["cpu_s"],
            "peer": budget,
            "unit": "CPU s",
            "ratio": round(budget / equal[name]["cpu_s"], 3),
            "perplexity": round(equal[name]["perplexity"], 2),
            "to_full": round(equal[name]["perplexity"] / equal[FULL]["perplexity"], 4),
        }
        figures[f"{name}, equal time"] = {
            "ours": timed[name]["cpu_s"],
            "peer": budget,
            "unit": "CPU s",
            "ratio": round(budget / timed[name]["cpu_s"], 3),
            "steps": timed[name]["steps"],
            "perplexity": round(timed[name]["perplexity"], 2),
            "to_full": round(timed[name]["perplexity"] / equal[FULL]["perplexity"], 4),
        }
    close(figures)


if __name__ == "__main__":
    main()
