"""Training GPT-2 small (124M, T1024, bfloat16) on a GPU: Foresay's own step against Hugging Face's model, compiled.

Tokens a second, and the share of the GPU's arithmetic (MFU) by the usual count: 6 N + 12 L H T operations a token, N
parameters without positions, of 989e12 dense bfloat16 operations a second (H100, H200).

    python -m bench.transformer_gpu [--quick] [--rows R] [--alone]

`transformers` is needed, unless --alone.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch

from bench.decode import peer_of
from bench.figure import close
from bench.transformer_cpu import Ours, Shape, trainer

PEAK = 989e12
SMALL = Shape(vocabulary=50304, size=768, layers=12, heads=12, rows=64, length=1024)


class Peers:
    """The loop people write around a compiled model of Hugging Face."""

    def __init__(self, trained: Any):
        self.model, self.order, self.step = peer_of(trained.model).train(), trained.order, 0
        self.compiled = torch.compile(self.model)
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=1e-3, weight_decay=0.0, fused=True)

    def __call__(self) -> None:
        batch: Any = self.order.batch(self.step).to("cuda")
        with torch.autocast("cuda", torch.bfloat16):
            logits = self.compiled(batch.ids).logits
            loss = torch.nn.functional.cross_entropy(logits.flatten(0, 1), batch.targets.flatten())
        self.optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
        self.optimizer.step()
        self.step += 1


def speed(step: Callable[[], Any], shape: Shape, steps: int) -> float:
    """Tokens a second after a warm-up."""
    for _ in range(5):
        step()
    torch.cuda.synchronize()
    began = time.perf_counter()
    for _ in range(steps):
        step()
    torch.cuda.synchronize()
    return steps * shape.rows * shape.length / (time.perf_counter() - began)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--quick", action="store_true", help="ten steps instead of forty")
    parser.add_argument("--rows", type=int, default=SMALL.rows)
    parser.add_argument("--alone", action="store_true")
    given = parser.parse_args()
    shape, steps = SMALL._replace(rows=given.rows), 10 if given.quick else 40
    torch.set_float32_matmul_precision("high")
    with tempfile.TemporaryDirectory() as folder:
        trained = trainer(shape, Path(folder), "cuda")
        parameters = trained.model.size() - trained.model.encoder.positions.table.numel()
        work = 6 * parameters + 12 * shape.layers * shape.size * shape.length
        ours = speed(Ours(trained), shape, steps)
        print("ours", round(ours), "MFU", round(ours * work / PEAK, 4), flush=True)
        peer = None if given.alone else speed(Peers(trained), shape, steps)
    figure = {"ours": round(ours), "peer": peer and round(peer), "unit": "tokens/s"}
    figure |= {"ratio": peer and round(ours / peer, 3), "mfu_ours": round(ours * work / PEAK, 4)}
    close({"transformer_gpu GPT-2 124M T1024 bf16": figure | {"mfu_peer": peer and round(peer * work / PEAK, 4)}})


if __name__ == "__main__":
    main()
