"""Stacks of LSTM layers that learn letters: what the claims on depth compare (study/claims/small_text.py).

Equal width: every layer has as many units. Equal parameters: as many in the whole model, so that deeper is narrower.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from foresay.study.claims.claim import Figure
from foresay.study.claims.small_text import Size, build, learn, text_of, width_for
from foresay.study.claims.words_learning import average_of
from foresay.study.recall import count

WIDTH, PARAMETERS = 48, 40_000
EQUAL_WIDTH, EQUAL_PARAMETERS = "equal width", "equal parameters"


@dataclass(frozen=True)
class Stack:
    """Of one stack and seed: how many layers, what was equal or how they are joined, and the loss."""

    layers: int
    kind: str
    seed: int
    width: int
    parameters: int
    loss: float


def encoder_of(layers: int, wiring: str = "none") -> dict[str, Any]:
    return {"cell": "lstm", "layers": layers, "between": {"wiring": wiring}}


@functools.cache
def width_of(layers: int, parameters: int, vocabulary: int) -> int:
    """The width with which that many layers have as nearly so many parameters."""
    return width_for(encoder_of(layers), parameters, vocabulary)


def stack(layers: int, kind: str, seed: int, size: Size, *, wiring: str = "none", width: int | None = None) -> Stack:
    """Trains one; `width` takes the place of what is equal."""
    text = text_of(seed)
    if width is None:
        width = WIDTH if kind == EQUAL_WIDTH else width_of(layers, PARAMETERS, text.vocabulary)
    model = build({**encoder_of(layers, wiring), "size": width}, seed, text.vocabulary)
    return Stack(layers, kind, seed, width, count(model), learn(model, text, size, seed))


def of(found: Sequence[Stack], layers: int, kind: str) -> list[float]:
    return [one.loss for one in found if (one.layers, one.kind) == (layers, kind)]


def gain(found: Sequence[Stack], kind: str, few: int, many: int) -> Figure:
    """How much less the loss is with more layers, seed by seed."""
    pairs = zip(of(found, few, kind), of(found, many, kind), strict=True)
    return average_of(f"{kind}: loss with {few} less that with {many}", [one - other for one, other in pairs], "nats")
