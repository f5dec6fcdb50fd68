"""Short recordings of two words as WAV files with a table, and runs that have learnt them, for tests of such runs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from foresay import start
from foresay.data.wav import wav_bytes
from foresay.train.progress import Watch

RATE = 2_000
PITCHES = {"low": 150.0, "high": 600.0}
READ = {"window": 0.032, "hop": 0.016, "bands": 12}


def said(words: str, seed: int = 1) -> np.ndarray:
    """A word as 80 ms of its pitch, 60 ms of quiet before and after."""
    draw = np.random.default_rng(seed)
    quiet = np.zeros(120)
    pieces = [quiet]
    for word in words.split():
        pieces += [np.sin(2 * np.pi * PITCHES[word] * np.arange(160) / RATE) * draw.uniform(0.4, 0.8), quiet]
    sound = np.concatenate(pieces)
    return (sound + draw.normal(0, 0.01, len(sound))).astype(np.float32)


def spoken(folder: Path, count: int = 24) -> str:
    """Recordings of one to three words, with their texts in a table."""
    folder.mkdir(parents=True, exist_ok=True)
    draw, lines = np.random.default_rng(3), ["file,text"]
    for number in range(count):
        words = " ".join(draw.choice(["low", "high"], 1 + number % 3))
        (folder / f"{number:02d}.wav").write_bytes(wav_bytes(said(words, number), RATE))
        lines.append(f"{number:02d}.wav,{words}")
    (folder / "labels.csv").write_text("\n".join(lines) + "\n")
    return str(folder)


def train_small(folder: Path, **more: Any) -> Any:
    """A recogniser that has learnt its recordings."""
    place = spoken(folder / "in")
    raw = {
        "task": "recogniser",
        "data": {"kind": "speech", "train": place, "valid": place, "read": READ},
        "encoder": {"kind": "convolution", "kernels": [[5, 24]]},
        "train": {"steps": 120, "batches": {"kind": "speech", "tokens": 300}, "lr": 0.02, "eval_every": 120},
    }
    return start.train(raw | more, out=folder / "run", device="cpu", watch=Watch())


def train_keyword(folder: Path) -> Any:
    """A classifier that has learnt whether `high` is said."""
    place = spoken(folder / "in")
    raw = {
        "task": "classifier",
        "data": {"kind": "keywords", "word": "high", "train": place, "valid": place, "read": READ},
        "embedding": "frames",
        "encoder": {"kind": "convolution", "kernels": [[3, 12]]},
        "train": {"steps": 60, "batches": {"kind": "labels", "tokens": 300}, "lr": 0.02, "eval_every": 60},
    }
    return start.train(raw, out=folder / "run", device="cpu", watch=Watch())
