"""Training an LSTM language model: Foresay's own step against a plain hand-written torch.nn.LSTM loop, on the CPU.

Speed: both in one process, in turn, from the same weights on the same batches; the losses stand beside it.
Memory: each in processes of its own, the median of three; the peak of a step above the model with its gradients.

    python -m bench.lstm_lm [--quick]
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

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

from bench.figure import close, in_turn
from foresay import recipe as recipes
from foresay.building import build
from foresay.data.prepare import Prepared
from foresay.data.shards import Shards, ShardWriter
from foresay.train.loop import Trainer
from foresay.train.memory import PeakMemory
from foresay.train.progress import Watch

VOCABULARY = 10_000
SIZES = {"H650x2 B20 T35": (650, 2, 20, 35), "H256x2 B32 T64": (256, 2, 32, 64)}


class Plain(nn.Module):
    """The loop people write by hand: embedding, nn.LSTM, linear, cross_entropy."""

    def __init__(self, size: int, layers: int):
        super().__init__()
        self.embedding = nn.Embedding(VOCABULARY, size)
        self.lstm = nn.LSTM(size, size, layers, batch_first=True)
        self.output = nn.Linear(size, VOCABULARY)

    def take(self, model: Any) -> None:
        """Foresay's weights, so that both begin alike."""
        with torch.no_grad():
            self.embedding.weight.copy_(model.embedding.table)
            self.output.weight.copy_(model.output.weight)
            self.output.bias.copy_(model.output.bias)
            for layer, cell in enumerate(model.encoder.forwards):
                for name in ("weight_ih", "weight_hh", "bias_ih", "bias_hh"):
                    getattr(self.lstm, f"{name}_l{layer}").copy_(getattr(cell, name))


class PlainLoop:
    """One hand-written step with truncated BPTT, clipping and SGD."""

    def __init__(self, model: Plain, order: Any):
        self.model, self.order, self.step, self.state = model, order, 0, None
        self.optimizer = torch.optim.SGD(model.parameters(), lr=1.0)

    def __call__(self) -> float:
        batch = self.order.batch(self.step)
        y, state = self.model.lstm(self.model.embedding(batch.ids), self.state)
        self.state = tuple(s.detach() for s in state)
        logits = self.model.output(y)
        loss = F.cross_entropy(logits.view(-1, VOCABULARY), batch.targets.view(-1))
        self.optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(self.model.parameters(), 5.0)
        self.optimizer.step()
        self.step += 1
        return loss.item()


class OurLoop:
    """One step of Foresay's own trainer."""

    def __init__(self, trainer: Trainer):
        self.trainer, self.step = trainer, 0

    def __call__(self) -> float:
        loss = self.trainer.train_step([self.trainer.order.batch(self.step)])[0]
        self.step += 1
        return loss


def trainer_for(size: int, layers: int, rows: int, chunk: int, folder: Path) -> Trainer:
    """A trainer on made-up tokens with a Zipf-like spread."""
    if not (folder / "train").exists():
        draw = np.random.default_rng(1).zipf(1.2, 400_000) % (VOCABULARY - 5) + 5
        with ShardWriter(folder / "train", VOCABULARY) as writer:
            writer.add([draw.astype(np.uint32)])
            writer.finish()
    encoder = {"kind": "recurrent", "cell": "lstm", "size": size, "layers": layers}
    train = {"batch": rows, "chunk": chunk, "optimizer": {"kind": "sgd", "lr": 1.0}, "clip": 5.0}
    recipe = recipes.complete(
        recipes.read(
            {
                "task": "language-model",
                "data": {"train": "made-up"},
                "embedding": {"kind": "lookup", "size": size},
                "encoder": encoder,
                "train": train,
            }
        )
    )
    model = build(recipe, VOCABULARY, torch.device("cpu"))
    prepared = Prepared(folder, recipe.tokens, Shards(folder / "train"), None, None)
    return Trainer(model, recipe.train, prepared, recipe.seed, folder, Watch())


def sides(name: str, folder: Path) -> tuple[OurLoop, PlainLoop]:
    size, layers, rows, chunk = SIZES[name]
    trainer = trainer_for(size, layers, rows, chunk, folder)
    plain = Plain(size, layers)
    plain.take(trainer.model)
    return OurLoop(trainer), PlainLoop(plain, trainer.order)


def speed(name: str, folder: Path, rounds: int) -> dict[str, Any]:
    ours, peer = sides(name, folder)
    losses = [(ours(), peer()) for _ in range(3)]  # to warm up, and to see that both do the same
    tokens = SIZES[name][2] * SIZES[name][3]
    our_seconds, peer_seconds = in_turn(ours, peer, rounds, 2)
    return {
        "ours": round(tokens / our_seconds, 1),
        "peer": round(tokens / peer_seconds, 1),
        "unit": "tokens/s",
        "ratio": round(peer_seconds / our_seconds, 3),
        "loss_ours": round(losses[-1][0], 5),
        "loss_peer": round(losses[-1][1], 5),
    }


def memory(name: str, side: str, folder: Path) -> int:
    """Peak bytes of a step above the model with its gradients; called in a process of its own."""
    ours, peer = sides(name, folder)
    step = ours if side == "ours" else peer
    model = ours.trainer.model if side == "ours" else peer.model
    other = peer.model if side == "ours" else ours.trainer.model
    for parameter in other.parameters():
        parameter.data = torch.empty(0)
    step()
    model.zero_grad(set_to_none=True)
    gradients = sum(parameter.numel() * parameter.element_size() for parameter in model.parameters())
    peak = PeakMemory(torch.device("cpu"))
    for _ in range(3):
        step()
    return peak.bytes() - gradients


def measured_memory(name: str, side: str, folder: Path) -> int:
    """What the step holds, not what the C library keeps for later: larger pieces go back to the system when freed."""
    command = [sys.executable, "-m", "bench.lstm_lm", "--memory", name, "--side", side, "--folder", str(folder)]
    environment = os.environ | {"MALLOC_MMAP_THRESHOLD_": "131072", "MALLOC_TRIM_THRESHOLD_": "131072"}
    done = subprocess.run(command, check=True, capture_output=True, text=True, env=environment)
    return int(done.stdout.split()[-1])


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--quick", action="store_true", help="three rounds instead of fifteen")
    parser.add_argument("--memory", choices=SIZES)
    parser.add_argument("--side", choices=["ours", "peer"])
    parser.add_argument("--folder", type=Path)
    given = parser.parse_args()
    if given.memory:
        print(memory(given.memory, given.side, given.folder))
        return
    figures: dict[str, dict[str, Any]] = {}
    with tempfile.TemporaryDirectory() as folder:
        for name in SIZES:
            figures[f"lstm_lm {name} speed"] = speed(name, Path(folder), 3 if given.quick else 15)
            ours, peer = (
                statistics.median(measured_memory(name, side, Path(folder)) for _ in range(1 if given.quick else 3))
                for side in ("ours", "peer")
            )
            figures[f"lstm_lm {name} memory"] = {
                "ours": round(ours / 1e6, 1),
                "peer": round(peer / 1e6, 1),
                "unit": "MB",
                "ratio": round(peer / ours, 3),
                "ours_over_peer": round(ours / peer, 3),
            }
            print(json.dumps(figures[f"lstm_lm {name} speed"]), flush=True)
    close(figures)


if __name__ == "__main__":
    main()
