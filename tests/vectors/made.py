"""A run folder of word vectors, as training leaves it, made by hand."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import numpy as np
from safetensors.numpy import save_file

from foresay.text.blanks import Blanks
from foresay.text.tokens import SPECIALS

WORDS = ["the", "cat", "dog", "sat", "ran"]
COUNTS = [90, 40, 30, 20, 10]
WIDTH = 4


def tensors(words: int = len(WORDS), **given: Any) -> dict[str, np.ndarray]:
    """Vectors whose first number is their row, outputs that are their negatives."""
    vectors = np.random.default_rng(1).normal(size=(len(SPECIALS) + words, WIDTH)).astype(np.float32)
    vectors[:, 0] = np.arange(len(vectors))
    counts = np.array([0, 7, 0, 0, 0, *COUNTS][: len(vectors)], np.int64)
    return {"vectors": vectors, "outputs": -vectors, "counts": counts} | given


def run_folder(folder: Path, found: dict[str, np.ndarray], recipe: str = "task: word-vectors\n", **config: Any) -> Path:
    """Writes a run whose vocabulary is WORDS."""
    tokens = Blanks(size=len(SPECIALS) + len(WORDS))
    tokens.learn([" ".join([word] * count) for word, count in zip(WORDS, COUNTS, strict=True)])
    tokens.save(folder)
    save_file(found, folder / "model.safetensors")
    (folder / "recipe.yaml").write_text(recipe)
    names = ("tokenizer.json", "text.json", "model.safetensors")
    hashes = {name: hashlib.sha256((folder / name).read_bytes()).hexdigest() for name in names}
    about = {"model_type": "foresay", "task": "word-vectors", "sha256": hashes} | config
    (folder / "config.json").write_text(json.dumps(about))
    return folder
