"""Training a GPT-2-shaped Transformer: Foresay's own step against Hugging Face's model in a plain loop, on the CPU.

6 layers of 384, 6 heads, 8,192 symbols, 16 rows of 256, AdamW and clipping. Both in one process, in turn, from the same
weights on the same batches; the losses stand beside the speed. In float32, and where the processor multiplies bfloat16
with both sides in that (autocast).

    python -m bench.transformer_cpu [--quick]

`transformers` is needed.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch

from bench.decode import peer_of
from bench.figure import close, in_turn
from foresay import recipe as recipes
from foresay.building import build
from foresay.checks import has_bfloat16
from foresay.data.prepare import Prepared
from foresay.data.shards import Shards, ShardWriter
from foresay.train.loop import Trainer
from foresay.train.progress import Watch

RATE = 1e-3


class Shape(NamedTuple):
    """Of a model and its batches."""

    vocabulary: int
    size: int
    layers: int
    heads: int
    rows: int
    length: int


SMALL = Shape(vocabulary=8192, size=384, layers=6, heads=6, rows=16, length=256)


def trainer(shape: Shape, folder: Path, device: str, precision: str = "bfloat16") -> Trainer:
    """On made-up tokens with a Zipf-like spread."""
    draw = np.random.default_rng(1).zipf(1.2, 100 * shape.rows * shape.length) % (shape.vocabulary - 5) + 5
    with ShardWriter(folder / "train", shape.vocabulary) as writer:
        writer.add([draw.astype(np.uint32)])
        writer.finish()
    recipe = recipes.complete(
        recipes.read(
            {
                "task": "language-model",
                "data": {"train": "made-up"},
                "embedding": {"kind": "lookup", "size": shape.size},
                "encoder": {
                    "kind": "transformer",
                    "size": shape.size,
                    "layers": shape.layers,
                    "heads": shape.heads,
                    "positions": "learnt",
                    "block": {"activation": "gelu-tanh"},
                },
                "output": {"kind": "softmax", "tied": True, "bias": False},
                "train": {
                    "batches": {"kind": "packed", "rows": shape.rows, "length": shape.length},
                    "optimizer": {"kind": "adamw", "lr": RATE, "weight_decay": 0.0},
                    "clip": 1.0,
                    "compute": {"compile": device == "cuda"},
                    "precision": precision,
                },
            }
        )
    )
    model = build(recipe, shape.vocabulary, torch.device(device))
    prepared = Prepared(folder, recipe.tokens, Shards(folder / "train"), None, None)
    return Trainer(model, recipe.train, prepared, recipe.seed, folder, Watch())


class Ours:
    def __init__(self, trainer: Trainer):
        self.trainer, self.step = trainer, 0

    def __call__(self) -> float:
        loss = self.trainer.train_step([self.trainer.order.batch(self.step)])[0]
        self.step += 1
        return loss


class Peers:
    """The loop people write around a model of Hugging Face."""

    def __init__(self, trainer: Trainer, precision: str):
        self.model, self.order, self.step = peer_of(trainer.model).train(), trainer.order, 0
        self.half = precision == "bfloat16"
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=RATE, weight_decay=0.0)

    def __call__(self) -> float:
        batch: Any = self.order.batch(self.step)
        with torch.autocast("cpu", torch.bfloat16, enabled=self.half):
            logits = self.model(batch.ids).logits
        loss = torch.nn.functional.cross_entropy(logits.float().flatten(0, 1), batch.targets.flatten())
        self.optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
        self.optimizer.step()
        self.step += 1
        return loss.item()


def figure(precision: str, rounds: int) -> dict[str, Any]:
    """Both sides in turn."""
    with tempfile.TemporaryDirectory() as folder:
        trained = trainer(SMALL, Path(folder), "cpu", precision)
        ours, peer = Ours(trained), Peers(trained, precision)
        losses = [(ours(), peer()) for _ in range(2)]  # to warm up, and to see that both do the same
        seconds, peer_seconds = in_turn(lambda: ours() and None, lambda: peer() and None, rounds, 1)
    tokens = SMALL.rows * SMALL.length
    return {
        "ours": round(tokens / seconds, 1),
        "peer": round(tokens / peer_seconds, 1),
        "unit": "tokens/s",
        "ratio": round(peer_seconds / seconds, 3),
        "loss_ours": round(losses[-1][0], 5),
        "loss_peer": round(losses[-1][1], 5),
    }


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--quick", action="store_true", help="one round instead of five")
    given = parser.parse_args()
    precisions = ["float32", *(["bfloat16"] if has_bfloat16() else [])]
    figures = {}
    for precision in precisions:
        name = f"transformer_cpu 6x384 B16 T256 {precision}"
        figures[name] = figure(precision, 1 if given.quick else 5)
        print(name, figures[name], flush=True)
    close(figures)


if __name__ == "__main__":
    main()
