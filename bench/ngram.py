"""n-grams: training time and memory of modified Kneser-Ney in a process without torch, and scoring against kenlm.

KenLM's trainer is no Python package, so training has no peer in the run: the seconds of the anchors stand beside ours
for information. Scoring: the same lines of text by both, from strings to log-probabilities, the model written by us as
an ARPA file that both read. Quality: the test perplexity, of both.

    python -m bench.ngram [--quick]          data: ptb and wikitext-2 under FORESAY_DATA, else a made-up text
"""

from __future__ import annotations

import argparse
import json
import math
import os
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from bench.figure import close, in_turn

SETS = {"ptb": ("ptb.train.txt", "ptb.test.txt"), "wikitext-2": ("train.txt", "test.txt")}
LMPLZ = {"ptb": 3.1, "wikitext-2": 5.7}  # seconds of KenLM's lmplz for a 5-gram, and 3.5 GB


def lines_of(path: Path, *, empty: bool = False) -> list[str]:
    """The lines of a file; KenLM trains on empty ones too, and perplexities are given without them."""
    with path.open(encoding="utf-8") as file:
        return [line for line in file if empty or line.strip()]


def peak_megabytes() -> float:
    """The most memory this process has held; `getrusage` would begin with what its parent held."""
    status = Path("/proc/self/status").read_text()
    return int(next(line for line in status.splitlines() if line.startswith("VmHWM")).split()[1]) / 1024


def train_alone(train: str, test: str, order: int, out: str) -> None:
    """Runs in a process of its own and prints one line of JSON."""
    began = time.perf_counter()
    from foresay.counts.words import WordModel

    WordModel.train(["a b a", "a b b"], 3).score(["a b"])
    compiled = time.perf_counter() - began
    before = peak_megabytes()
    began = time.perf_counter()
    model = WordModel.train(lines_of(Path(train), empty=True), order)
    seconds = time.perf_counter() - began
    peak = peak_megabytes()
    perplexity = model.perplexity(lines_of(Path(test)))
    began = time.perf_counter()
    if out:
        model.write(out)
    print(
        json.dumps(
            {
                "seconds": round(seconds, 2),
                "compile_s": round(compiled, 2),
                "peak_mb": round(peak, 1),
                "interpreter_mb": round(before, 1),
                "write_s": round(time.perf_counter() - began, 2),
                "ngrams": int(model.table.orders[-1]) - 1,
                "perplexity": round(perplexity, 4),
                "torch": "torch" in sys.modules,
            }
        )
    )


def train_apart(train: Path, test: Path, order: int, out: Path | None) -> dict[str, Any]:
    command = [sys.executable, "-m", "bench.ngram", "--alone", str(train), str(test), str(order), str(out or "")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(done.stderr)
    return json.loads(done.stdout.splitlines()[-1])


def scoring(file: Path, test: Path, rounds: int) -> dict[str, Any] | None:
    try:
        import kenlm  # pyright: ignore[reportMissingImports]
    except ImportError:
        print("scoring: kenlm is not installed (it has no wheel): no peer")
        return None
    from foresay.counts.words import WordModel

    ours, peer = WordModel.read(file), kenlm.Model(str(file))
    lines = lines_of(test)
    words = sum(len(line.split()) + 1 for line in lines)
    mine = ours.score(lines)
    # word by word, as kenlm's own sum over a line is of single precision
    theirs = [math.fsum(word[0] for word in peer.full_scores(line)) * math.log(10) for line in lines]
    seconds = in_turn(lambda: ours.score(lines), lambda: [peer.score(line) for line in lines], rounds, 3)
    return {
        "ours": round(words / seconds[0]),
        "peer": round(words / seconds[1]),
        "unit": "words/s",
        "ratio": round(seconds[1] / seconds[0], 3),
        "perplexity_ours": round(math.exp(-float(mine.sum()) / words), 4),
        "perplexity_peer": round(math.exp(-sum(theirs) / words), 4),
        "largest_difference": max(abs(a - b) for a, b in zip(mine.tolist(), theirs, strict=True)),
    }


def made_up(folder: Path) -> dict[str, tuple[Path, Path]]:
    draw = random.Random(1)
    words = [f"w{number}" for number in range(5000)]
    weights = [1 / (number + 1) for number in range(5000)]
    for name, count in (("train", 50_000), ("test", 4_000)):
        with (folder / name).open("w") as file:
            for _ in range(count):
                file.write(" ".join(draw.choices(words, weights, k=draw.randint(3, 30))) + "\n")
    return {"made up": (folder / "train", folder / "test")}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--quick", action="store_true", help="ptb alone, three rounds instead of nine")
    parser.add_argument("--alone", nargs=4, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.alone:
        train, test, order, out = given.alone
        train_alone(train, test, int(order), out)
        return
    root = Path(os.environ.get("FORESAY_DATA", "."))
    figures: dict[str, dict[str, Any]] = {}
    with tempfile.TemporaryDirectory() as folder:
        sets = {name: tuple(root / name / file for file in files) for name, files in SETS.items()}
        sets = {name: files for name, files in sets.items() if all(file.exists() for file in files)}
        for name, (train, test) in (sets or made_up(Path(folder))).items():
            for order in (3, 5):
                file = Path(folder) / "model.arpa" if order == 5 else None
                found = train_apart(train, test, order, file)
                peer = LMPLZ.get(name) if order == 5 else None
                figures[f"{name}, {order}-gram, training"] = {
                    "ours": found.pop("seconds"),
                    "peer": peer,
                    "unit": "s",
                    "ratio": None,  # not in one run: for information
                    **found,
                }
                print(name, order, figures[f"{name}, {order}-gram, training"], flush=True)
                if file is not None:
                    scored = scoring(file, test, 3 if given.quick else 9)
                    if scored is not None:
                        figures[f"{name}, scoring"] = scored
            if given.quick:
                break
    close(figures)


if __name__ == "__main__":
    main()
