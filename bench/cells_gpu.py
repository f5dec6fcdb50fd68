"""Every recurrent cell on one GPU against cuDNN's LSTM in bf16 and in fp16: one layer, forwards and backwards.

Both sides include the input product, the gradients of the input and of all weights. Each side is run as called and as a
CUDA graph, and the faster of the two counts. Ratio > 1: Foresay is ahead; the goal of the anchors is a time of at most
0.6 of cuDNN bf16's (ratio 1.67) for cells of one product and at most cuDNN fp16's, which keeps the weights on chip.
The quality figure is the distance of y and of the weights' gradient from the plain loop in float64, as a share; cells
that draw noise draw none there.

    python -m bench.cells_gpu [--quick] [--cell NAME ...]
"""

from __future__ import annotations

import argparse
import statistics
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn

from bench.cells import make
from bench.figure import close
from foresay import parts
from foresay.encode.cells.cell import Cell
from foresay.kernels.recurrent.plain import run_plain
from foresay.kernels.switch import as_graph

SIZES = {
    "B32 T256 H512": (32, 256, 512),
    "B64 T256 H1024": (64, 256, 1024),
    "B128 T35 H650": (128, 35, 650),
    "B16 T1024 H768": (16, 1024, 768),
}


def milliseconds(call: Callable[[], None], rounds: int) -> float:
    """The median over rounds of the time of one call on the device."""
    for _ in range(3):
        call()
    times = []
    for _ in range(rounds):
        began, ended = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        began.record()
        for _ in range(5):
            call()
        ended.record()
        torch.cuda.synchronize()
        times.append(began.elapsed_time(ended) / 5)
    return statistics.median(times)


def captured(call: Callable[[], None]) -> Callable[[], None]:
    """The same work as a CUDA graph."""
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with as_graph(), torch.cuda.stream(stream):
        for _ in range(3):
            call()
    torch.cuda.current_stream().wait_stream(stream)
    graph = torch.cuda.CUDAGraph()
    with as_graph(), torch.cuda.graph(graph):
        call()
    return graph.replay


def best(call: Callable[[], None], rounds: int) -> tuple[float, float | None]:
    """Milliseconds as called and as a graph; None where it cannot be captured."""
    eager = milliseconds(call, rounds)
    try:
        return eager, milliseconds(captured(call), rounds)
    except RuntimeError:
        return eager, None


def layer(cell: Cell, x: Tensor, grad: Tensor) -> Callable[[], None]:
    def step() -> None:
        for tensor in (x, *cell.parameters()):
            tensor.grad = None
        y, _ = cell.run(x, cell.begin(x))
        y.backward(grad[..., : y.shape[2]])

    return step


def peer_time(dtype: torch.dtype, size: str, rounds: int) -> float:
    rows, steps, width = SIZES[size]
    peer = nn.LSTM(width, width, batch_first=True, device="cuda", dtype=dtype)
    x = torch.randn(rows, steps, width, device="cuda", dtype=dtype, requires_grad=True)
    grad = torch.randn(rows, steps, width, device="cuda", dtype=dtype)

    def step() -> None:
        for tensor in (x, *peer.parameters()):
            tensor.grad = None
        peer(x)[0].backward(grad)

    return min(time for time in best(step, rounds) if time is not None)


def distance(name: str) -> float:
    """How far y and the gradient of the recurrent weights are from the plain loop in float64, at a small size."""
    torch.manual_seed(1)
    cell = make(name, 512).cuda().eval()
    x, grad = torch.randn(16, 32, 512, device="cuda"), torch.randn(16, 32, 512, device="cuda")
    found = []
    for dtype in (torch.float64, torch.bfloat16):
        cell.to(dtype).zero_grad()
        given = x.to(dtype)
        if dtype == torch.float64:
            y = run_plain(cell.maths, cell.inputs(given, cell.begin(given), None), ("new:h",))[0]["new:h"].transpose(
                0, 1
            )
        else:
            y = cell.run(given, cell.begin(given))[0]
        y.backward(grad.to(dtype)[..., : y.shape[2]])
        weights = [p.grad.double() for n, p in cell.named_parameters() if p.grad is not None and n.startswith("weight")]
        found.append([y.detach().double(), *weights])
    return max(float((a - b).norm() / a.norm()) for a, b in zip(*found, strict=True))


def measure(name: str, size: str, rounds: int, peers: dict[str, float]) -> dict[str, Any]:
    rows, steps, width = SIZES[size]
    torch.manual_seed(1)
    cell = make(name, width).to("cuda", torch.bfloat16)
    x = torch.randn(rows, steps, width, device="cuda", dtype=torch.bfloat16, requires_grad=True)
    eager, graph = best(layer(cell, x, torch.randn_like(x)), rounds)
    ours = eager if graph is None else min(eager, graph)
    return {
        "ours": round(ours, 3),
        "peer": round(peers["bf16"], 3),
        "unit": "ms",
        "ratio": round(peers["bf16"] / ours, 3),
        "ratio_to_fp16": round(peers["fp16"] / ours, 3),
        "eager": round(eager, 3),
        "graph": None if graph is None else round(graph, 3),
    }


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--quick", action="store_true", help="three rounds instead of nine")
    parser.add_argument("--cell", nargs="*", default=[*parts.names("cell"), "leaky, a user's"])
    given = parser.parse_args()
    rounds = 3 if given.quick else 9
    figures: dict[str, dict[str, Any]] = {}
    for size in SIZES:
        peers = {k: peer_time(d, size, rounds) for k, d in (("bf16", torch.bfloat16), ("fp16", torch.float16))}
        print(f"{size}: cuDNN LSTM bf16 {peers['bf16']:.3f} ms, fp16 {peers['fp16']:.3f} ms", flush=True)
        for name in given.cell:
            figures[f"{name}, {size}"] = figure = measure(name, size, rounds, peers)
            print(
                f"  {name}: {figure['ours']} ms, ratio {figure['ratio']}, to fp16 {figure['ratio_to_fp16']}", flush=True
            )
    for name in given.cell:
        off = round(distance(name), 5)
        for size in SIZES:
            figures[f"{name}, {size}"]["distance"] = off
    close(figures)


if __name__ == "__main__":
    main()
