"""Gated PixelCNN: training against masked Conv2d's in a plain loop, and drawing pixel by pixel against passes anew.

Training: Foresay's own step, and the same model as tutorials write it (whole n x n kernels times a mask, channels
first), from the same weights on the same batches; the losses stand beside it.
Drawing: pictures by the model's own step, and naively, by a pass over the rows up to the pixel for every pixel (which
is kind to it: tutorials pass over the whole picture). Of the naive way some pixels alone are timed, evenly spread, and
the levels that they choose compared.

    python -m bench.pixels [--quick]
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
from foresay.data.prepare import prepare
from foresay.decode.generate import generate
from foresay.decode.given import Endless
from foresay.decode.sample import Greedy
from foresay.text.tokens import SPECIALS, START
from foresay.train.loop import Trainer
from foresay.train.progress import Watch

FIRST = len(SPECIALS)  # the id of level 0
SIDE, EMBEDDED = 28, 16
SIZES = {"F32, 8 layers, 16 of 28 x 28, 2 levels": (32, 8, 16), "F64, 12 layers, 8 of 28 x 28, 2 levels": (64, 12, 8)}
DRAWN = {  # side, channels, levels, width, layers, rows
    "28 x 28, 2 levels, 8 layers of 32, one": (28, 1, 2, 32, 8, 1),
    "28 x 28, 2 levels, 8 layers of 32, 16 at once": (28, 1, 2, 32, 8, 16),
    "32 x 32 x 3, 256 levels, 12 layers of 64, one": (32, 3, 256, 64, 12, 1),
    "32 x 32 x 3, 256 levels, 12 layers of 64, 16 at once": (32, 3, 256, 64, 12, 16),
}


class MaskedConv(nn.Module):
    """A whole kernel times its mask."""

    def __init__(self, ins: int, outs: int, mask: Tensor):
        super().__init__()
        self.conv = nn.Conv2d(ins, outs, mask.shape, padding=(mask.shape[0] // 2, mask.shape[1] // 2))
        self.register_buffer("mask", mask[None, None])

    @torch.no_grad()
    def take(self, sight: Any) -> None:
        """Foresay's weights, those of the taps alone: where the mask is 1, in raster order."""
        self.conv.weight.zero_()
        self.conv.weight[:, :, self.mask[0, 0].bool()] = sight.weight.transpose(1, 2)
        self.conv.bias.copy_(sight.bias)

    def forward(self, x: Tensor) -> Tensor:
        return F.conv2d(x, self.conv.weight * self.mask, self.conv.bias, padding=self.conv.padding)


def mask_of(rows: int, columns: int, ones: int) -> Tensor:
    """A kernel whose first `ones` places, in raster order, are seen."""
    return (torch.arange(rows * columns) < ones).float().view(rows, columns)


class Plain(nn.Module):
    """Gated PixelCNN by hand, for pictures of one channel."""

    def __init__(self, size: int, layers: int, vocabulary: int):
        super().__init__()
        self.embedding = nn.Embedding(vocabulary, EMBEDDED)
        wide, kernel, first = 2 * size, 3, 7
        down, along = mask_of(first, first, first * (first // 2)), mask_of(1, first, first // 2)
        self.down = nn.ModuleList([MaskedConv(EMBEDDED, wide, down)])
        self.along = nn.ModuleList([MaskedConv(EMBEDDED, wide, along)])
        for _ in range(layers - 1):
            self.down.append(MaskedConv(size, wide, mask_of(kernel, kernel, kernel * 2)))
            self.along.append(MaskedConv(size, wide, mask_of(1, kernel, 2)))
        self.links = nn.ModuleList(nn.Conv2d(wide, wide, 1, bias=False) for _ in range(layers))
        self.outs = nn.ModuleList(nn.Conv2d(size, size, 1) for _ in range(layers - 1))
        self.skips, self.head = nn.Conv2d(layers * size, size, 1), nn.Conv2d(size, size, 1)
        self.output = nn.Linear(size, vocabulary)

    @torch.no_grad()
    def take(self, model: Any) -> None:
        """Foresay's weights, so that both begin alike; <start>, which is not in this model, is set to 0 there."""
        model.embedding.table[START] = 0
        self.embedding.weight.copy_(model.embedding.table)
        stack = model.encoder.stack
        for mine, theirs in ((self.down, stack.down), (self.along, stack.along)):
            for conv, sight in zip(mine, theirs, strict=True):
                conv.take(sight)
        ones = [*zip(self.links, stack.links, strict=True), *zip(self.outs, stack.outs, strict=True)]
        for conv, layer in [*ones, (self.skips, stack.skips), (self.head, stack.head)]:
            conv.weight.copy_(layer.weight[..., None, None])
            if conv.bias is not None:
                conv.bias.copy_(layer.bias)
        self.output.load_state_dict({"weight": model.output.weight, "bias": model.output.bias})

    def forward(self, levels: Tensor) -> Tensor:
        picture = self.embedding(levels.unflatten(1, (SIDE, SIDE))).permute(0, 3, 1, 2)
        v, h, skips = picture, picture, []
        for level, (down, along, link) in enumerate(zip(self.down, self.along, self.links, strict=True)):
            v = down(v)
            a, g = (along(h) + link(v)).chunk(2, 1)
            skips.append(a.tanh() * g.sigmoid())
            if level < len(self.outs):
                own = self.outs[level](skips[-1])
                h = own if level == 0 else h + own
                a, g = v.chunk(2, 1)
                v = a.tanh() * g.sigmoid()
        y = self.head(self.skips(torch.cat(skips, 1)).relu()).relu()
        return self.output(y.permute(0, 2, 3, 1))


class PlainLoop:
    """One hand-written step with clipping and AdamW."""

    def __init__(self, model: Plain, order: Any):
        self.model, self.order, self.step = model, order, 0
        self.optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, weight_decay=0.0)

    def __call__(self) -> float:
        batch = self.order.batch(self.step)
        loss = F.cross_entropy(self.model(batch.targets).flatten(0, 2), batch.targets.flatten())
        self.optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
        self.optimizer.step()
        self.step += 1
        return loss.item()


def recipe_of(place: str, size: int, layers: int, rows: int, levels: int) -> Any:
    return recipes.complete(
        {
            "task": "language-model",
            "data": {"kind": "images", "train": place, "share": 0.0},
            "tokens": {"kind": "levels", "number": levels},
            "embedding": {"kind": "lookup", "size": EMBEDDED},
            "encoder": {"kind": "masked", "size": size, "layers": layers},
            "train": {
                "batches": {"kind": "images", "rows": rows},
                "optimizer": {"kind": "adamw", "lr": 1e-3, "weight_decay": 0.0},
                "clip": {"kind": "norm", "limit": 1.0},
            },
        }
    )


def trainer(size: int, layers: int, rows: int, folder: Path, side: int, channels: int = 1, levels: int = 2) -> Trainer:
    """A trainer on made-up pictures: blots of two brightnesses."""
    draw = np.random.default_rng(1)
    coarse = draw.integers(0, 2, (16 * rows, side // 4, side // 4, channels), np.uint8) * 255
    np.save(folder / "pictures.npy", coarse.repeat(4, 1).repeat(4, 2))
    recipe = recipe_of(str(folder / "pictures.npy"), size, layers, rows, levels)
    prepared = prepare(recipe.data, recipe.tokens, recipe.seed, cache=folder / "cache")
    model = build(recipe, len(recipe.tokens), torch.device("cpu"), text=prepared.train)
    return Trainer(model, recipe.train, prepared, recipe.seed, folder, Watch())


def training(name: str, quick: bool) -> dict[str, Any]:
    """Pictures a second of both."""
    size, layers, rows = SIZES[name]
    with tempfile.TemporaryDirectory() as folder:
        torch.manual_seed(1)
        trained = trainer(size, layers, rows, Path(folder), SIDE)
        plain = Plain(size, layers, len(trained.prepared.tokens))
        plain.take(trained.model)
        ours, peer = OurLoop(trained), PlainLoop(plain, trained.order)
        losses = [[side() for _ in range(3)] for side in (ours, peer)]
        seconds = in_turn(ours, peer, rounds=3 if quick else 7, calls=2)
    speed = [rows / one for one in seconds]
    about = {"ours": round(speed[0], 1), "peer": round(speed[1], 1), "unit": "pictures/s"}
    return about | {
        "ratio": round(speed[0] / speed[1], 3),
        "loss": round(losses[0][2], 5),
        "peer's": round(losses[1][2], 5),
    }


@torch.inference_mode()
def naively(model: Any, pictures: Tensor, steps: list[int], across: int) -> tuple[float, float]:
    """Seconds a pixel by passes anew, and the share of levels that they choose as the pictures have them."""
    ids = torch.cat([torch.full_like(pictures[:, :1], START), pictures[:, :-1]], 1)
    took, same = [], []
    for step in [steps[-1], *steps]:  # a large pass first, which loads kernels and is not counted
        began = time.perf_counter()
        y, _ = model.encoder(model.embedding_of(ids[:, : (step // across + 1) * across]))
        log_probs = model.output.log_probs(y[:, step])
        log_probs[:, :FIRST] = -torch.inf
        chosen = log_probs.argmax(1)
        took.append(time.perf_counter() - began)
        same.append((chosen == pictures[:, step]).float().mean().item())
    return sum(took[1:]) / len(steps), sum(same[1:]) / len(steps)


def drawing(name: str, quick: bool) -> dict[str, Any]:
    """Pixels' levels a second step by step and naively, the same ones."""
    side, channels, levels, size, layers, rows = DRAWN[name]
    torch.manual_seed(1)
    with tempfile.TemporaryDirectory() as folder:
        model: Any = trainer(size, layers, 2, Path(folder), side, channels, levels).model.eval()
    with torch.no_grad():
        model.output.weight.normal_(std=20)  # so that no two levels are nearly alike
    model.embedding_of = lambda ids: F.embedding(ids, model.embedding.table)
    across, whole = side * channels, side * side * channels
    length = whole if not quick else 8 * across
    generate(Endless(model), [[]] * rows, Greedy(), length=across)
    began = time.perf_counter()
    pictures = generate(Endless(model), [[]] * rows, Greedy(), length=length)
    ours = (time.perf_counter() - began) / length
    spread = list(range(length // 32, length, length // 16))
    peer, same = naively(model, torch.tensor(pictures), spread, across)
    about = {"ours": round(rows / ours, 1), "peer": round(rows / peer, 1), "unit": "levels/s"}
    return about | {"ratio": round(peer / ours, 1), "same": round(same, 4)}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--quick", action="store_true", help="fewer rounds, the top of the pictures alone")
    quick = parser.parse_args().quick
    figures = {f"training, {name}": training(name, quick) for name in SIZES}
    figures |= {f"drawing {name}": drawing(name, quick) for name in DRAWN}
    close(figures)


if __name__ == "__main__":
    main()
