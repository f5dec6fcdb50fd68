"""`foresay prepare` with 8,000 subwords against `tokenizers` `encode_batch` alone, and its memory on a packed text.

Speed: a text is prepared as a user would (read, learn, encode, write), then with the vocabulary known; the peer encodes
the same lines with the same tokeniser, on all cores, from memory to memory. MB of text per second; a ratio above 1
means that reading and writing cost less than the remembered words save. The ids are compared.
Memory: a generated text packed with gzip; all processes together, less an interpreter with Foresay imported; the work
is killed twice on the way (SIGKILL) and gone on with, and its shards compared with those of work left alone.

    python -m bench.prepare [--quick] [--text FILE]        200 MB and 2 GB of generated text, or 20 MB and 50 MB
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import psutil
from tokenizers import Tokenizer

from bench.figure import close
from bench.memory import Watched, write_text
from foresay.data.corpus import Corpus
from foresay.data.prepare import prepare
from foresay.text.subwords import Subwords

SIZE = 8000
LINES = 2**20  # bytes of lines handed to the library at a time
BARE = "import foresay.ready, psutil; print(psutil.Process().memory_info().rss)"


def blocks(text: Path) -> Iterator[list[str]]:
    """The lines of a file, about 1 MiB at a time, each with its newline."""
    with text.open(encoding="utf-8", newline="") as file:
        while lines := file.readlines(LINES):
            yield lines


def peer(text: Path, folder: Path) -> tuple[float, np.ndarray]:
    """Seconds inside `encode_batch`, and the ids."""
    library = Tokenizer.from_file(str(folder / "tokenizer.json"))
    seconds, found = 0.0, []
    for lines in blocks(text):
        began = time.perf_counter()
        encoded = library.encode_batch(lines, add_special_tokens=False)
        seconds += time.perf_counter() - began
        found.append(np.array([i for one in encoded for i in one.ids], dtype=np.uint32))
    return seconds, np.concatenate(found)


def speed(text: Path, folder: Path) -> dict[str, dict[str, Any]]:
    corpus, megabytes = Corpus(str(text), share=0.0), text.stat().st_size / 1e6
    began = time.perf_counter()
    first = prepare(corpus, Subwords(size=SIZE), 1, cache=folder / "whole")
    whole = time.perf_counter() - began
    theirs, ids = peer(text, first.folder)
    began = time.perf_counter()
    known = prepare(corpus, first.tokens, 1, cache=folder / "known", learnt=True)
    encoded = time.perf_counter() - began
    for found in (first, known):
        same = np.array_equal(found.train.slice(0, len(found.train) - 1), ids)
        if not same:
            raise SystemExit(f"{found.folder}: the ids are not the library's")
    rate = megabytes / theirs

    def figure(seconds: float) -> dict[str, Any]:
        ours = megabytes / seconds
        shown = {"ours": round(ours, 2), "peer": round(rate, 2), "unit": "MB/s", "ratio": round(ours / rate, 3)}
        return shown | {"MB": round(megabytes), "tokens": len(ids), "same_ids": True}

    return {"prepare, all of it": figure(whole), "prepare, vocabulary known": figure(encoded)}


def start(text: Path, cache: Path) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "foresay", "prepare", str(text), "tokens=subwords", f"tokens.size={SIZE}"]
    environment = os.environ | {"FORESAY_CACHE": str(cache)}
    return subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, start_new_session=True)


def watch(process: subprocess.Popen[bytes], watched: Watched, seconds: float | None) -> bool:
    """Looks until the process ends, or kills it and its children after some seconds; whether it ended."""
    began = time.perf_counter()
    watched.root = psutil.Process(process.pid)
    while process.poll() is None:
        try:
            watched.look()
        except psutil.NoSuchProcess:
            break
        if seconds is not None and time.perf_counter() - began > seconds:
            process.send_signal(signal.SIGKILL)  # its children end when their input does
            process.wait()
            return False
        time.sleep(0.05)
    if process.wait():
        raise SystemExit("foresay prepare failed")
    return True


def digest(cache: Path) -> str:
    """SHA-256 over every file of the one prepared text in a cache."""
    (folder,) = (path.parent for path in cache.glob("*/text.json"))
    whole = hashlib.sha256()
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            whole.update(str(path.relative_to(folder)).encode())
            with path.open("rb") as file:
                whole.update(hashlib.file_digest(file, "sha256").digest())
    return whole.hexdigest()


def memory(text: Path, size: int, folder: Path) -> dict[str, Any]:
    bare = int(subprocess.run([sys.executable, "-c", BARE], check=True, capture_output=True, text=True).stdout)
    began, alone = time.perf_counter(), Watched(os.getpid())
    watch(start(text, folder / "alone"), alone, None)
    seconds = time.perf_counter() - began
    killed, watched = 0, Watched(os.getpid())
    for share in (random.uniform(0.3, 0.5), random.uniform(0.3, 0.5), None):
        limit = None if share is None else share * seconds
        killed += not watch(start(text, folder / "killed"), watched, limit)
    same = digest(folder / "alone") == digest(folder / "killed")
    if not same or killed != 2:
        raise SystemExit(f"killed {killed} times, the same shards: {same}")
    limit, peak = 1000.0, (max(alone.peak, watched.peak) - bare) / 1e6
    return {
        "ours": round(peak, 1),
        "peer": limit,
        "unit": "MB above the interpreter",
        "ratio": round(limit / peak, 3),
        "text_MB": round(size / 1e6),
        "packed_MB": round(text.stat().st_size / 1e6),
        "seconds": round(seconds, 1),
        "cores_busy": round(alone.seconds / seconds, 2),
        "killed": killed,
        "same_shards": same,
    }


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--quick", action="store_true", help="20 MB and 50 MB instead of 200 MB and 2 GB")
    parser.add_argument("--text", type=Path, help="a text of your own for the speed; the memory is left out")
    options = parser.parse_args()
    small, large = (20_000_000, 50_000_000) if options.quick else (200_000_000, 2_000_000_000)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        if options.text is not None:
            close(speed(options.text, folder))
            return
        with (folder / "text.txt").open("w", encoding="utf-8") as file:
            write_text(file, small)
        figures = speed(folder / "text.txt", folder)
        with gzip.open(folder / "large.txt.gz", "wt", compresslevel=1, encoding="utf-8") as file:
            write_text(file, large)
        figures["prepare, memory"] = memory(folder / "large.txt.gz", large, folder)
    close(figures)


if __name__ == "__main__":
    main()
