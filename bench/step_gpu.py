"""A whole training step on one GPU: Foresay's, as a CUDA graph, against a plain hand-written PyTorch loop.

Zaremba's medium LSTM (two layers of 650, 20 rows of 35, dropout 0.5, SGD, clipping) on made-up tokens, both in the same
precision; the peer reads its loss once in fifty steps, as a careful person would. AWD-LSTM's step stands beside itself
without a graph. Ratio > 1: Foresay is ahead.

    python -m bench.step_gpu [--quick] [--profile]
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

from bench.figure import close
from foresay import recipe as recipes
from foresay.building import build
from foresay.data.prepare import Prepared
from foresay.data.shards import Shards, ShardWriter
from foresay.train.loop import Trainer
from foresay.train.progress import Watch

VOCABULARY = 10_003
READS = 50  # steps between two looks at the loss


class Plain(nn.Module):
    """The model people write by hand."""

    def __init__(self, size: int, layers: int = 2, dropout: float = 0.5):
        super().__init__()
        self.embedding = nn.Embedding(VOCABULARY, size)
        self.lstm = nn.LSTM(size, size, layers, batch_first=True, dropout=dropout)
        self.output = nn.Linear(size, VOCABULARY)
        self.dropout = dropout

    def forward(self, ids: torch.Tensor, state: Any) -> tuple[torch.Tensor, Any]:
        y, state = self.lstm(F.dropout(self.embedding(ids), self.dropout, self.training), state)
        return self.output(F.dropout(y, self.dropout, self.training)), state


class PlainLoop:
    """The loop people write by hand."""

    def __init__(self, order: Any, precision: str, device: str, size: int = 650):
        self.model, self.order, self.device = Plain(size).to(device), order, device
        self.half, self.step, self.state = precision == "bfloat16", 0, None
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=1.0)

    def __call__(self) -> None:
        batch = self.order.batch(self.step)
        ids, targets = batch.ids.to(self.device), batch.targets.to(self.device)
        with torch.autocast(self.device, torch.bfloat16, enabled=self.half):
            logits, state = self.model(ids, self.state)
            loss = F.cross_entropy(logits.view(-1, VOCABULARY), targets.view(-1))
        self.state = tuple(s.detach() for s in state)
        self.optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(self.model.parameters(), 5.0)
        self.optimizer.step()
        self.step += 1
        if self.step % READS == 0:
            loss.item()


class OurLoop:
    """Foresay's own trainer."""

    def __init__(self, trainer: Trainer):
        self.trainer, self.step = trainer, 0
        shapes = {batch.ids.shape: batch for batch in map(trainer.order.batch, range(1, 400)) if batch.ids is not None}
        for batch in shapes.values():  # each is captured when it first comes
            trainer.train_step([batch])

    def __call__(self) -> None:
        self.trainer.train_step([self.trainer.order.batch(self.step)])
        self.step += 1
        if self.step % READS == 0:
            self.trainer.settle()


def trainer_for(name: str, folder: Path, device: str, *words: str) -> Trainer:
    """The trainer of a built-in recipe on made-up tokens with a Zipf-like spread."""
    if not (folder / "train").exists():
        draw = np.random.default_rng(1).zipf(1.2, 930_000) % (VOCABULARY - 5) + 5
        with ShardWriter(folder / "train", VOCABULARY) as writer:
            writer.add([draw.astype(np.uint32)])
            writer.finish()
    recipe = recipes.complete(recipes.override(recipes.read(name), list(words))[0])
    prepared = Prepared(folder, recipe.tokens, Shards(folder / "train"), None, None)
    model = build(recipe, VOCABULARY, torch.device(device))
    return Trainer(model, recipe.train, prepared, recipe.seed, folder, Watch())


def tokens_per_second(loop: Callable[[], None], tokens: Callable[[int], int], steps: int) -> float:
    """After as many steps to warm up."""
    for _ in range(steps):
        loop()
    torch.cuda.synchronize()
    began = time.perf_counter()
    for _ in range(steps):
        loop()
    torch.cuda.synchronize()
    return tokens(steps) / (time.perf_counter() - began)


def compare(name: str, precision: str, folder: Path, steps: int) -> dict[str, Any]:
    word = f"train.precision={precision}"
    trainer = trainer_for(name, folder, "cuda", word)

    def tokens(count: int) -> int:
        return sum(trainer.order.batch(step).tokens for step in range(count, 2 * count))

    ours = tokens_per_second(OurLoop(trainer), tokens, steps)
    graph = trainer.graphs is not None
    if name == "zaremba-medium":
        peer = tokens_per_second(PlainLoop(trainer.order, precision, "cuda"), tokens, steps)
    else:
        peer = tokens_per_second(OurLoop(trainer_for(name, folder, "cuda", word, "train.graph=false")), tokens, steps)
    about = {"ours": round(ours), "peer": round(peer), "unit": "tokens/s", "ratio": round(ours / peer, 3)}
    return about | {"graph": graph, "milliseconds": round(1e3 * tokens(steps) / steps / ours, 3)}


def profile(name: str, precision: str, folder: Path) -> None:
    """Where the time of a step goes."""
    loop = OurLoop(trainer_for(name, folder, "cuda", f"train.precision={precision}"))
    for _ in range(10):
        loop()
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CUDA]) as found:
        for _ in range(10):
            loop()
        torch.cuda.synchronize()
    print(found.key_averages().table(sort_by="cuda_time_total", row_limit=30, max_name_column_width=90))


def main() -> None:
    reader = argparse.ArgumentParser(description=__doc__)
    reader.add_argument("--quick", action="store_true")
    reader.add_argument("--profile", action="store_true")
    given = reader.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        if given.profile:
            profile("zaremba-medium", "bfloat16", Path(folder))
            profile("awd-lstm", "bfloat16", Path(folder))
            return
        figures = {}
        for name, steps in (("zaremba-medium", 400), ("awd-lstm", 400)):
            for precision in ("bfloat16",) if given.quick else ("bfloat16", "float32"):
                figures[f"{name} {precision}"] = compare(
                    name, precision, Path(folder), steps // (4 if given.quick else 1)
                )
        close(figures)


if __name__ == "__main__":
    main()
