"""Memory and cores while a large text is prepared and trained on: a generated text, `foresay train` with no settings.

Peak: all processes of the run together, sampled every 50 ms, less what an interpreter with Foresay imported holds.
Cores: CPU seconds of all of them by wall seconds, over the preparation.

    python -m bench.memory [--quick]        2 GB of text, or 200 MB
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import IO, Any

import numpy as np
import psutil

WORDS = 400_000  # made-up words, Zipf-distributed: about as many as a large corpus has
BARE = "import foresay.start, psutil; print(psutil.Process().memory_info().rss)"


def write_text(file: IO[str], size: int) -> None:
    """Lines of made-up words, seeded; written in pieces."""
    random = np.random.default_rng(1)
    letters = list("etaoinshrdlucmfwypvbgkqjxz")
    lengths = random.integers(1, 12, WORDS).tolist()
    words = ["".join(letters[int(x)] for x in random.exponential(6, n) % 26) for n in lengths]
    written = 0
    while written < size:
        drawn = [words[i] for i in (random.zipf(1.1, 200_000) % WORDS).tolist()]
        lines = [" ".join(drawn[i : i + 12]) for i in range(0, len(drawn), 12)]
        written += file.write(".\n".join([*lines, ""]))


class Watched:
    """A process and its children: memory now, CPU seconds so far."""

    def __init__(self, pid: int):
        self.root = psutil.Process(pid)
        self.cpu: dict[int, float] = {}
        self.peak = 0

    def look(self) -> None:
        total = 0
        for process in [self.root, *self.root.children(recursive=True)]:
            try:
                total += process.memory_info().rss
                times = process.cpu_times()
                self.cpu[process.pid] = times.user + times.system
            except psutil.NoSuchProcess:
                continue
        self.peak = max(self.peak, total)

    @property
    def seconds(self) -> float:
        return sum(self.cpu.values())


def measure(text: Path, folder: Path) -> dict[str, Any]:
    bare = int(subprocess.run([sys.executable, "-c", BARE], check=True, capture_output=True, text=True).stdout)
    out = folder / "run"
    command = [
        sys.executable,
        "-m",
        "foresay",
        "train",
        str(text),
        "train.steps=20",
        "--out",
        str(out),
        "--device",
        "cpu",
    ]
    environment = os.environ | {"FORESAY_CACHE": str(folder / "cache")}
    began = time.perf_counter()
    with (folder / "log").open("w") as log:
        process = subprocess.Popen(command, env=environment, stdout=log, stderr=log)
    watched = Watched(process.pid)
    prepared: dict[str, float] = {}
    while process.poll() is None:
        try:
            watched.look()
        except psutil.NoSuchProcess:
            break
        if not prepared and (out / "recipe.yaml").exists():
            wall = time.perf_counter() - began
            prepared = {"seconds": wall, "cores": watched.seconds / wall, "peak": watched.peak - bare}
        time.sleep(0.05)
    if process.wait():
        raise SystemExit((folder / "log").read_text())
    parameters = json.loads((out / "results.json").read_text())["parameters"]
    return prepared | {"whole_peak": watched.peak - bare, "bare": bare, "parameters": parameters}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--quick", action="store_true", help="200 MB instead of 2 GB")
    size = 200_000_000 if parser.parse_args().quick else 2_000_000_000
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with (folder / "text.txt").open("w", encoding="utf-8") as file:
            write_text(file, size)
        found = measure(folder / "text.txt", folder)
    limit = 1e9
    figure = {
        "ours": round(found["peak"] / 1e6, 1),
        "peer": limit / 1e6,
        "unit": "MB above the interpreter while preparing",
        "ratio": round(limit / found["peak"], 3),
        "whole_run_MB": round(found["whole_peak"] / 1e6, 1),
        "interpreter_MB": round(found["bare"] / 1e6, 1),
        "cores_busy": round(found["cores"], 2),
        "prepare_seconds": round(found["seconds"], 1),
        "MB_per_second": round(size / 1e6 / found["seconds"], 2),
        "parameters": found["parameters"],
    }
    print(json.dumps({"memory": figure}))


if __name__ == "__main__":
    main()
