"""No settings needed: looks at the text, its size and the device, and writes a recipe for it.

Every choice comes with its reason, is printed, and stands in the saved recipe, where it can be changed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from foresay.text.script import detect

SMALL = 4_000_000  # bytes under which a text has too few words to learn subwords well from
TINY = 300_000


@dataclass(frozen=True)
class Chosen:
    """A raw recipe and why it is as it is."""

    recipe: dict[str, Any]
    reasons: list[str]


def choose(source: str, sample: str, size: int, device: str) -> Chosen:
    """A recipe for the text `source` of `size` bytes, of which `sample` is a part."""
    tokens, why_tokens = _tokens(sample, size)
    encoder, embedding, why_model = _model(size, device, wide=tokens["kind"] != "characters")
    rows = 64 if device == "cuda" else 32
    lr = 0.003 if encoder["size"] <= 512 else 0.002
    recipe = {
        "task": "language-model",
        "data": {"train": source},
        "tokens": tokens,
        "embedding": embedding,
        "encoder": encoder,
        "output": {"kind": "softmax", "tied": embedding["size"] >= 256},
        "train": {
            "batches": {"kind": "streams", "rows": rows, "chunk": 64},
            "optimizer": {"kind": "adamw", "lr": lr, "schedule": {"kind": "cosine", "warmup": 50, "floor": 0.02}},
            "precision": "bfloat16" if device == "cuda" else "float32",
        },
    }
    return Chosen(recipe, [why_tokens, why_model, f"lr {lr}, {rows} rows of 64 tokens: state is carried over"])


def _tokens(sample: str, size: int) -> tuple[dict[str, Any], str]:
    script = detect(sample)
    if script.han > 0.3:
        return {
            "kind": "characters",
            "min_count": 2,
        }, f"characters: {100 * script.han:.0f} % of the text is Chinese or Japanese"
    if size < SMALL:
        return {"kind": "characters"}, f"characters: {size / 1e6:.1f} MB is little text to learn subwords from"
    vocabulary = 4000 if size < 20 * SMALL else 16000
    return {"kind": "subwords", "size": vocabulary}, f"{vocabulary} subwords: {size / 1e6:.0f} MB of text"


def _model(size: int, device: str, wide: bool) -> tuple[dict[str, Any], dict[str, Any], str]:
    encoder: dict[str, Any] = {"kind": "recurrent", "cell": "lstm", "layers": 1, "size": 512, "dropout": 0.1}
    if size < TINY:
        encoder |= {"size": 256, "dropout": 0.3}
        why = "a small LSTM with dropout: little text"
    elif device == "cuda":
        encoder |= {"size": 1024, "layers": 2, "dropout": 0.5 if size < SMALL else 0.2}
        why = "a two-layer LSTM: there is a GPU"
    else:
        why = "a one-layer LSTM: it learns most per minute on a CPU"
    return encoder, {"kind": "lookup", "size": 256 if wide else 128}, why
