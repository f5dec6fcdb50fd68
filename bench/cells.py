"""Every recurrent cell against torch.nn.LSTM on the CPU: one layer, forwards and backwards, per equal multiply-adds.

The time of a cell is held against the peer's time scaled to the cell's number of multiply-adds (three gates: three
quarters of the LSTM's; a full peephole, whose step needs more products: more). Elman is held against nn.RNN and
gru-cudnn against nn.GRU. Cells whose states need no product run as a scan: reported, with no peer of their kind.

    python -m bench.cells [--quick] [--cell NAME ...]
"""

from __future__ import annotations

import argparse
import time
from typing import Any

import torch
from torch import Tensor, nn

from bench.figure import close, in_turn
from foresay import parts
from foresay.encode.cells.cell import Cell

SIZES = {"B64 T128 H512": (64, 128, 512), "B32 T64 H256": (32, 64, 256)}
LIMITS = {"B64 T128 H512": 0.83, "B32 T64 H256": 0.625}
PEERS = {"elman": nn.RNN, "gru-cudnn": nn.GRU}


class Leaky(Cell):
    """The cell that the page on cells of one's own builds."""

    gates = ("leak", "new")

    def step(self, leak: Tensor, new: Tensor, h: Tensor) -> dict[str, Tensor]:
        leak = leak.sigmoid()
        return {"h": h + leak * (new.tanh() - h), "leak": leak}


def make(name: str, size: int) -> Cell:
    settings: dict[str, Any] = {"projection": size // 2} if name == "lstm-projected" else {}
    cell = Leaky() if name == "leaky, a user's" else parts.make("cell", {"kind": name, **settings})
    cell.build(size, size)
    return cell


def multiply_adds(cell: Cell, size: int) -> int:
    """Of one row and one step."""
    maths = cell.maths
    return maths.columns(maths.fed) * size + sum(
        maths.columns(gates) * maths.width(source) for source, gates in maths.sources.items()
    )


def training_step(cell: Cell, x: Tensor, grad: Tensor) -> None:
    y, _ = cell.run(x, cell.begin(x))
    y.backward(grad[..., : y.shape[2]])


def measure(name: str, size: str, rounds: int) -> dict[str, Any]:
    rows, steps, width = SIZES[size]
    cell = make(name, width)
    peer = PEERS.get(name, nn.LSTM)(width, width, batch_first=True)
    x = torch.randn(rows, steps, width, requires_grad=True)
    grad = torch.randn(rows, steps, width)

    def theirs() -> None:
        peer(x)[0].backward(grad)

    began = time.perf_counter()
    training_step(cell, x, grad)
    first = time.perf_counter() - began
    began = time.perf_counter()
    training_step(cell, x, grad)
    compiled = first - (time.perf_counter() - began)
    theirs()
    ours, other = in_turn(lambda: training_step(cell, x, grad), theirs, rounds, 1)
    work = multiply_adds(cell, width) / sum(p.numel() for p in peer.parameters() if p.dim() == 2)
    return {
        "ours": round(ours * 1e3, 1),
        "peer": round(other * 1e3, 1),
        "unit": "ms",
        "ratio": round(other * work / ours, 3),
        "multiply_adds_over_peer": round(work, 2),
        "compile_s": round(max(compiled, 0.0), 2),
        "limit": LIMITS[size],
    }


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--quick", action="store_true", help="three rounds instead of nine")
    parser.add_argument("--cell", nargs="*", default=[*parts.names("cell"), "leaky, a user's"])
    given = parser.parse_args()
    torch.manual_seed(1)
    figures: dict[str, dict[str, Any]] = {}
    for size in SIZES:
        for name in given.cell:
            figures[f"{name}, {size}"] = figure = measure(name, size, 3 if given.quick else 9)
            print(f"{name}, {size}: ratio {figure['ratio']} ({figure['ours']} ms)", flush=True)
    close(figures)


if __name__ == "__main__":
    main()
