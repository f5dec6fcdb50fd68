"""Dilated convolutions: training against torch's Conv1d in a plain loop, and writing with rings against computing anew.

Training: a language model of WaveNet's gated blocks, Foresay's own step, and the same model as people write it with
`nn.Conv1d` (channels first, left padding), from the same weights on the same batches; the losses stand beside it.
Writing: the same tokens by the model's own step, and by a pass over what can still be seen for every symbol (the naive
way; it never reads further back than the receptive field, which is kind to it).

    python -m bench.dilated [--quick]
"""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from bench.figure import close, in_turn
from bench.lstm_lm import OurLoop
from foresay import recipe as recipes
from foresay.building import build
from foresay.data.prepare import Prepared
from foresay.data.shards import Shards, ShardWriter
from foresay.decode.generate import generate
from foresay.decode.sample import Greedy
from foresay.text.tokens import SPECIALS, START
from foresay.train.loop import Trainer
from foresay.train.progress import Watch

VOCABULARY = 256
FIRST = len(SPECIALS)  # of the symbols that are no <stop> and the like
SIZES = {  # width, rows, length, repeats of the dilations
    "H128 B16 T256, 8 layers": (128, 16, 256, 1),
    "H64 B8 T1024, 16 layers": (64, 8, 1024, 2),
}
DOUBLING = [1, 2, 4, 8, 16, 32, 64, 128]


class Plain(nn.Module):
    """The model as it is written by hand: channels first, one Conv1d for each block."""

    def __init__(self, size: int, repeat: int):
        super().__init__()
        dilations = DOUBLING * repeat
        self.embedding = nn.Embedding(VOCABULARY, size)
        self.taps = nn.ModuleList(nn.Conv1d(size, 2 * size, 2, dilation=d) for d in dilations)
        self.onward = nn.ModuleList(nn.Conv1d(size, size, 1) for _ in dilations[1:])
        self.skips = nn.ModuleList(nn.Conv1d(size, size, 1, bias=level == 0) for level in range(len(dilations)))
        self.head, self.output = nn.Conv1d(size, size, 1), nn.Linear(size, VOCABULARY)
        self.dilations = dilations

    @torch.no_grad()
    def take(self, model: Any) -> None:
        """Foresay's weights, so that both begin alike."""
        encoder, size = model.encoder, model.encoder.size
        self.embedding.weight.copy_(model.embedding.table)
        for level, block in enumerate(encoder.blocks):
            weight = block.taps.weight.view(2 * size, 2, size).transpose(1, 2)
            self.taps[level].weight.copy_(weight)
            self.taps[level].bias.copy_(block.taps.bias)
            self.skips[level].weight.copy_(encoder.skips.weight[:, level * size : (level + 1) * size, None])
            if block.onward is not None:
                self.onward[level].weight.copy_(block.onward.weight[..., None])
                self.onward[level].bias.copy_(block.onward.bias)
        self.skips[0].bias.copy_(encoder.skips.bias)
        self.head.weight.copy_(encoder.head.weight[..., None])
        self.head.bias.copy_(encoder.head.bias)
        self.output.weight.copy_(model.output.weight)
        self.output.bias.copy_(model.output.bias)

    def forward(self, ids: Tensor) -> Tensor:
        x, skipped = self.embedding(ids).transpose(1, 2), torch.zeros(())
        for level, (taps, skip) in enumerate(zip(self.taps, self.skips, strict=True)):
            a, g = taps(F.pad(x, (self.dilations[level], 0))).chunk(2, 1)
            z = a.tanh() * g.sigmoid()
            skipped = skipped + skip(z)
            if level < len(self.onward):
                x = x + self.onward[level](z)
        return self.output(self.head(skipped.relu()).relu().transpose(1, 2))


class PlainLoop:
    """One hand-written step with clipping and AdamW."""

    def __init__(self, model: Plain, order: Any):
        self.model, self.order, self.step = model, order, 0
        self.optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, weight_decay=0.0)

    def __call__(self) -> float:
        batch = self.order.batch(self.step)
        loss = F.cross_entropy(self.model(batch.ids).flatten(0, 1), batch.targets.flatten())
        self.optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
        self.optimizer.step()
        self.step += 1
        return loss.item()


def trainer(size: int, rows: int, length: int, repeat: int, folder: Path) -> Trainer:
    """A trainer on made-up tokens with a Zipf-like spread."""
    draw = np.random.default_rng(1).zipf(1.2, 400_000) % (VOCABULARY - FIRST) + FIRST
    with ShardWriter(folder / "train", VOCABULARY) as writer:
        writer.add([draw.astype(np.uint32)])
        writer.finish()
    recipe = recipes.complete(
        {
            "task": "language-model",
            "data": {"train": "made-up"},
            "embedding": {"kind": "lookup", "size": size},
            "encoder": {"kind": "dilated", "size": size, "dilations": DOUBLING, "repeat": repeat},
            "train": {
                "batches": {"kind": "packed", "rows": rows, "length": length, "across": True},
                "optimizer": {"kind": "adamw", "lr": 1e-3, "weight_decay": 0.0},
                "clip": {"kind": "norm", "limit": 1.0},
            },
        }
    )
    model = build(recipe, VOCABULARY, torch.device("cpu"))
    prepared = Prepared(folder, recipe.tokens, Shards(folder / "train"), None, None)
    return Trainer(model, recipe.train, prepared, recipe.seed, folder, Watch())


def training(name: str, quick: bool) -> dict[str, Any]:
    """Tokens a second of both."""
    size, rows, length, repeat = SIZES[name]
    with tempfile.TemporaryDirectory() as folder:
        torch.manual_seed(1)
        trained = trainer(size, rows, length, repeat, Path(folder))
        plain = Plain(size, repeat)
        plain.take(trained.model)
        ours, peer = OurLoop(trained), PlainLoop(plain, trained.order)
        losses = [[side() for _ in range(3)] for side in (ours, peer)]
        seconds = in_turn(ours, peer, rounds=3 if quick else 7, calls=3)
    speed = [rows * length / one for one in seconds]
    about = {"ours": round(speed[0], 1), "peer": round(speed[1], 1), "unit": "tokens/s"}
    return about | {
        "ratio": round(speed[0] / speed[1], 3),
        "loss": round(losses[0][2], 5),
        "peer's": round(losses[1][2], 5),
    }


@torch.inference_mode()
def naively(model: Any, rows: int, length: int) -> list[list[int]]:
    """Each symbol from a pass over what it can see."""
    ids = torch.full((rows, 1), START)
    for _ in range(length):
        seen = ids[:, -model.encoder.receptive_field :]
        y, _ = model.encoder(F.embedding(seen, model.embedding.table))
        log_probs = model.output.log_probs(y[:, -1])
        log_probs[:, :FIRST] = -torch.inf
        ids = torch.cat([ids, log_probs.argmax(1, keepdim=True)], 1)
    return ids[:, 1:].tolist()


def writing(repeat: int, rows: int, length: int) -> dict[str, Any]:
    """Symbols a second by rings and naively, the same symbols."""
    torch.manual_seed(1)
    with tempfile.TemporaryDirectory() as folder:
        model: Any = trainer(64, 1, 64, repeat, Path(folder)).model.eval()
    with torch.no_grad():
        model.output.weight.normal_(std=20)  # so that no two symbols are nearly alike
        for weight in model.encoder.parameters():
            if weight.ndim == 2:
                weight.mul_(2)
        model.output.bias[:FIRST] = -1e4

    def ours() -> list[list[int]]:
        return generate(model, [[]] * rows, Greedy(), length=length)

    found: list[list[list[int]]] = []
    took = []
    for way in (ours, lambda: naively(model, rows, length)):
        way() if way is ours else None
        times = []
        for _ in range(3 if way is ours else 1):
            began = time.perf_counter()
            texts = way()
            times.append(time.perf_counter() - began)
        found.append(texts)
        took.append(min(times))
    speed = [rows * length / one for one in took]
    about = {"ours": round(speed[0], 1), "peer": round(speed[1], 1), "unit": "symbols/s"}
    same = sum(one == other for one, other in zip(*found, strict=True)) / rows
    return about | {"ratio": round(speed[0] / speed[1], 2), "same": same, "sees": model.encoder.receptive_field}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--quick", action="store_true", help="fewer rounds, shorter texts")
    quick = parser.parse_args().quick
    figures = {f"training, {name}": training(name, quick) for name in SIZES}
    for repeat, rows, length in ((1, 1, 2048), (4, 1, 2048), (4, 16, 512)):
        name = f"writing, {8 * repeat} layers, {rows} rows of {256 if quick else length}"
        figures[name] = writing(repeat, rows, 256 if quick else length)
    close(figures)


if __name__ == "__main__":
    main()
