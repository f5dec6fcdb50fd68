"""A run as ONNX against the run itself: onnxruntime and Foresay read the same ids, as writers do and as judges do.

    step   one symbol for each of 8 rows at a time, the state carried on
    score  256 symbols of each of 8 rows at once, and log P of what follows every one of them

Symbols a second, one thread each; ratio > 1 means that the run is ahead of onnxruntime. The largest difference of the
two sides, in nats, stands beside it.

    python -m bench.onnx [--quick]
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch

from bench.figure import close, in_turn
from foresay import parts
from foresay.export.onnx.graph import TextGraph
from foresay.export.onnx.parity import difference, opened
from foresay.export.onnx.tracing import traced

V, ROWS, STEPS, WIDTH = 2000, 8, 256, 512
ENCODERS = {
    "LSTM": {"kind": "recurrent", "cell": "lstm"},
    "GRU of the lecture": {"kind": "recurrent", "cell": "gru"},
    "Transformer, 4 layers": {"kind": "transformer", "layers": 4, "heads": 8},
}

Side = Callable[[], np.ndarray]


def made(encoder: dict[str, Any], width: int) -> Any:
    """A language model as it begins."""
    torch.manual_seed(1)
    model: Any = parts.make(
        "task",
        {
            "kind": "language-model",
            "embedding": {"kind": "lookup", "size": width},
            "encoder": encoder | {"size": width},
        },
    )
    model.build(V)
    return model.eval()


def sides(model: Any, folder: Path, steps: int) -> dict[str, tuple[Side, Side]]:
    """What the run and onnxruntime compute, by name: log P, of the last symbol or of all."""
    graph = TextGraph(model)
    traced(graph, "the bench").save(folder / "model.onnx")
    session: Any = opened(folder / "model.onnx")
    ids = torch.randint(5, V, (ROWS, steps), generator=torch.Generator().manual_seed(2))
    first = {name: one.expand(ROWS, *one.shape[1:]).numpy() for name, one in graph.first.items()}

    @torch.inference_mode()
    def our_steps() -> np.ndarray:
        state, log_probs = model.encoder.begin(ROWS, steps), None
        state = {"encoder": state, "features": torch.zeros(ROWS, model.encoder.width)}
        for chunk in ids.split(1, 1):
            log_probs, state = model.step(chunk, state)
        assert log_probs is not None
        return log_probs.numpy()

    def peer_steps() -> np.ndarray:
        states, log_probs = first, np.zeros(())
        for chunk in ids.numpy().T[:, :, None]:
            log_probs, *after = session.run(None, {"ids": chunk, **states})
            states = dict(zip(first, after, strict=True))
        return log_probs[:, -1]

    @torch.inference_mode()
    def our_score() -> np.ndarray:
        return graph.reference(ids)["log_probs"].numpy()

    def peer_score() -> np.ndarray:
        return session.run(None, {"ids": ids.numpy(), **first})[0]

    return {"step": (our_steps, peer_steps), "score": (our_score, peer_score)}


def measured(ours: Side, peer: Side, symbols: int, rounds: int) -> dict[str, Any]:
    """Symbols a second of both, which give the same numbers."""
    apart = difference(peer(), ours())
    speed = [symbols / one for one in in_turn(lambda: void(ours), lambda: void(peer), rounds=rounds, calls=1)]
    about = {"ours": round(speed[0], 1), "peer": round(speed[1], 1), "unit": "symbols/s"}
    return about | {"ratio": round(speed[0] / speed[1], 3), "difference": float(f"{apart:.2g}")}


def void(side: Side) -> None:
    side()


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--quick", action="store_true", help="fewer rounds, narrower models, shorter texts")
    quick = parser.parse_args().quick
    torch.set_num_threads(1)
    steps, figures = 64 if quick else STEPS, {}
    for name, encoder in ENCODERS.items():
        with tempfile.TemporaryDirectory() as folder:
            both = sides(made(encoder, 128 if quick else WIDTH), Path(folder), steps)
            for way, (ours, peer) in both.items():
                figures[f"{way}, {name}"] = measured(ours, peer, ROWS * steps, 3 if quick else 7)
    close(figures)


if __name__ == "__main__":
    main()
