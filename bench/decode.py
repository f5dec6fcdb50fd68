"""Writing with a Transformer: tokens a second against Hugging Face's `generate`, the same weights, the same tokens out.

On a CPU a GPT-2 of 6 layers of 384 over 8,192 symbols in float32; on a GPU (`--gpu`) GPT-2 small over 50,304 in
bfloat16. Weights are random but spread out, so that no two tokens are nearly alike; prompts have 16 tokens, 128 are
written (512 on a GPU), and no text ends before. `same` is the share of rows whose tokens are the same. Both sides are
warmed up and take turns. On a GPU an LSTM of two layers of 1,024 over the same symbols writes beside it, alone.

    python -m bench.decode [--quick] [--gpu]

`transformers` is needed.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from typing import Any

import torch

from bench.figure import close, in_turn
from foresay import parts
from foresay.decode.beam import Beam
from foresay.decode.generate import generate
from foresay.decode.sample import Greedy
from foresay.decode.search import NEVER, Limits
from foresay.export import gpt2
from foresay.text.tokens import START, STOP

PROMPT, LENGTH, GPU_LENGTH = 16, 128, 512
CPU = {"size": 384, "layers": 6, "heads": 6, "vocabulary": 8192}
GPU = {"size": 768, "layers": 12, "heads": 12, "vocabulary": 50304}


def ours(size: int, layers: int, heads: int, vocabulary: int) -> Any:
    torch.manual_seed(1)
    block, positions = {"activation": "gelu-tanh"}, {"kind": "learnt", "longest": 1024}
    model = parts.make(
        "task",
        {
            "kind": "language-model",
            "embedding": {"kind": "lookup", "size": size},
            "encoder": {
                "kind": "transformer", "size": size, "layers": layers, "heads": heads, "block": block,
                "positions": positions,
            },
            "output": {"kind": "softmax", "tied": True, "bias": False},
        },
    )  # fmt: skip
    model.build(vocabulary)
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if parameter.ndim == 2 and "blocks" in name:
                parameter.mul_(4)
        model.embedding.table[STOP] = 0.0  # never the likeliest
    return model.eval()


def recurrent(size: int, layers: int, vocabulary: int) -> Any:
    torch.manual_seed(1)
    model = parts.make(
        "task",
        {
            "kind": "language-model",
            "embedding": {"kind": "lookup", "size": size},
            "encoder": {"kind": "recurrent", "cell": "lstm", "size": size, "layers": layers},
            "output": {"kind": "softmax", "tied": True, "bias": False},
        },
    )
    model.build(vocabulary)
    with torch.no_grad():
        model.embedding.table[STOP] = 0.0  # never the likeliest
    return model.eval()


def peer_of(model: Any) -> Any:
    import transformers  # pyright: ignore[reportMissingImports]

    peer = transformers.GPT2LMHeadModel(transformers.GPT2Config(**gpt2.config(model)))
    peer.load_state_dict(gpt2.tensors(model), strict=False)
    return peer.eval().to(model.device, next(model.parameters()).dtype)


def greedily(model: Any, prompts: list[list[int]], length: int) -> list[list[int]]:
    return generate(model, prompts, Greedy(), length=length)


def by_beam(model: Any, prompts: list[list[int]], length: int) -> list[list[int]]:
    found = Beam(width=5).find(model, prompts, Limits(length, least=length))
    return [best[0].ids for best in found]


@torch.inference_mode()
def of_peer(peer: Any, prompts: list[list[int]], length: int, beams: int) -> list[list[int]]:
    given = torch.tensor([[START, *prompt] for prompt in prompts], device=peer.device)
    written = peer.generate(
        given, attention_mask=torch.ones_like(given), max_new_tokens=length, min_new_tokens=length, do_sample=False,
        num_beams=beams, pad_token_id=0, suppress_tokens=[*NEVER],
    )  # fmt: skip
    return written[:, given.shape[1] :].tolist()


def case(model: Any, rows: int, beams: int) -> tuple[list[list[int]], Callable[..., list[list[int]]], int]:
    """Prompts, how to write on, and how much."""
    generator = torch.Generator().manual_seed(rows)
    prompts = torch.randint(5, model.vocabulary, (rows, PROMPT), generator=generator).tolist()
    return prompts, greedily if beams == 1 else by_beam, LENGTH if model.device.type == "cpu" else GPU_LENGTH


def alone(model: Any, rows: int, beams: int, rounds: int) -> dict[str, Any]:
    """Without a peer: the best of some rounds."""
    prompts, write, length = case(model, rows, beams)
    seconds = []
    for _ in range(rounds + 2):
        began = time.perf_counter()
        write(model, prompts, length)
        seconds.append(time.perf_counter() - began)
    return {"ours": round(rows * length / min(seconds), 1), "peer": None, "unit": "tokens/s", "ratio": None}


def figure(model: Any, peer: Any, rows: int, beams: int, rounds: int) -> dict[str, Any]:
    prompts, write, length = case(model, rows, beams)
    mine, theirs = write(model, prompts, length), of_peer(peer, prompts, length, beams)
    same = sum(a == b for a, b in zip(mine, theirs, strict=True)) / rows
    seconds, peer_seconds = in_turn(
        lambda: write(model, prompts, length) and None,
        lambda: of_peer(peer, prompts, length, beams) and None,
        rounds,
        1,
    )
    return {
        "ours": round(rows * length / seconds, 1),
        "peer": round(rows * length / peer_seconds, 1),
        "unit": "tokens/s",
        "ratio": round(peer_seconds / seconds, 3),
        "same": same,
    }


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--quick", action="store_true", help="one round")
    parser.add_argument("--gpu", action="store_true")
    given = parser.parse_args()
    torch.set_grad_enabled(False)
    model = ours(**(GPU if given.gpu else CPU))
    if given.gpu:
        model = model.to("cuda", torch.bfloat16)
    peer, rounds = peer_of(model), 1 if given.quick else 5
    cases = {"greedy, 1 row": (1, 1), "greedy, 16 rows": (16, 1), "beam 5, 1 row": (1, 5)}
    if given.gpu:
        cases = {"greedy, 1 row": (1, 1), "greedy, 32 rows": (32, 1), "beam 5, 1 row": (1, 5), "beam 5, 8 rows": (8, 5)}
    figures = {}
    for name, (rows, beams) in cases.items():
        figures[name] = figure(model, peer, rows, beams, rounds)
        print(name, figures[name], flush=True)
    if given.gpu:
        model = recurrent(1024, 2, GPU["vocabulary"]).to("cuda", torch.bfloat16)
        for name, (rows, beams) in cases.items():
            figures[f"LSTM 2x1024, {name}"] = alone(model, rows, beams, rounds)
            print("LSTM 2x1024", name, figures[f"LSTM 2x1024, {name}"], flush=True)
    close(figures)


if __name__ == "__main__":
    main()
