"""Small models that learn to write made targets from made sources: for the claims on attention.

All pairs of a batch have one length on each side, so that nothing is padded.

    sources (B, S) and targets (B, T), <stop> at the end of both
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor

from foresay.data.batch import Batch
from foresay.decode.generate import generate
from foresay.decode.given import Given
from foresay.decode.sample import Greedy
from foresay.models.seq2seq.task import Seq2Seq
from foresay.parts import make
from foresay.text.tokens import START, STOP
from foresay.train.clip import ByNorm
from foresay.train.optimise import Adam

WIDTH = 64
RATE = 0.005
ORDER = 4  # of BLEU
Pairs = tuple[Tensor, Tensor]


def build(
    writer: dict[str, Any], vocabulary: int, seed: int, wiring: str = "none", *, layers: int = 1, width: int = WIDTH
) -> Seq2Seq:
    """A bidirectional encoder of so many layers and a recurrent writer with these settings, both of gated units."""
    encoder = {"kind": "recurrent", "cell": "gru-cudnn", "size": width, "layers": layers, "bidirectional": True}
    model: Seq2Seq = make("task", {
        "kind": "seq2seq",
        "embedding": {"size": width, "bound": 1.0},
        "encoder": encoder | {"between": {"wiring": wiring}},
        "writer": {"kind": "recurrent", "cell": "gru", "size": width, **writer},
    })  # fmt: skip
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        model.build(vocabulary)
    return model


def learn(model: Seq2Seq, draw: Callable[[], Pairs], updates: int) -> None:
    """So many updates by Adam, each on fresh pairs; the rate rises for a tenth of them and then falls to nothing."""
    schedule = make("schedule", {"kind": "cosine", "warmup": updates // 10, "floor": 0.01})
    settings, clip = Adam(lr=RATE, schedule=schedule), ByNorm(limit=1.0)
    optimizer = settings.open(model.train())
    for update in range(updates):
        for group in optimizer.param_groups:
            group["lr"] = settings.rate(update, updates)
        optimizer.zero_grad()
        model.loss(batch_of(*draw()))[0].backward()
        clip.apply(model, update)
        optimizer.step()
    model.eval()


def batch_of(source: Tensor, targets: Tensor) -> Batch:
    start = torch.full((len(targets), 1), START)
    return Batch(ids=torch.cat([start, targets[:, :-1]], 1), targets=targets, source=source)


def ended(ids: Tensor) -> Tensor:
    """(B, T) -> (B, T + 1), with <stop>"""
    return torch.cat([ids, torch.full((len(ids), 1), STOP)], 1)


def write(model: Seq2Seq, sources: Tensor, length: int) -> list[list[int]]:
    """At most `length` symbols for each source, greedily, without <stop>."""
    return generate(Given(model, sources), [[]] * len(sources), Greedy(), length=length)


def bleu(written: Sequence[Sequence[int]], references: Sequence[Sequence[int]]) -> float:
    """BLEU-4 of all texts together, 0 to 100: exp(min(0, 1 - r / w)) (p_1 p_2 p_3 p_4)^(1/4), nothing smoothed."""
    right, every = [0] * ORDER, [0] * ORDER
    for own, reference in zip(written, references, strict=True):
        for n in range(1, ORDER + 1):
            found, there = grams(own, n), grams(reference, n)
            right[n - 1] += (found & there).total()
            every[n - 1] += found.total()
    if not min(right):
        return 0.0
    precision = sum(math.log(r / e) for r, e in zip(right, every, strict=True)) / ORDER
    wrote, wanted = sum(map(len, written)), sum(map(len, references))
    return 100 * math.exp(precision + min(0.0, 1 - wanted / wrote))


def grams(ids: Sequence[int], n: int) -> Counter[tuple[int, ...]]:
    return Counter(tuple(ids[at : at + n]) for at in range(len(ids) - n + 1))
