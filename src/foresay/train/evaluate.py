"""Measuring a model on held-out tokens: loss, perplexity, bits per character and per byte.

    loss       = -1/N sum log P(token)         N counts the end marks, not the start marks
    perplexity = exp(loss)                     also of the tokens alone that are no <unk>
    bits per character (byte) = -sum log2 P / characters (bytes) of the same text

Of pictures and sounds there are no characters and no bytes: bits per dimension (a colour of a pixel) or per sample, and
nats of a whole picture or sound, are the same sum divided by how many there are.

Word and subword perplexities do not compare. Bits per character and per byte do, where the tokens keep the whole text
(characters, bytes, subwords) and none is <unk>: words leave out spacing, and an <unk> leaves out what it stands for.

A model that sees both sides knows no P of a text: log P is of each token given others, and the figures are pseudo ones.
One of two ways (bilm) knows two, forwards and backwards, and has figures of each; those of both are of their mean.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch

from foresay.data.batches import Batches
from foresay.data.levels import LevelShards
from foresay.data.shards import Shards
from foresay.encode.encoder import State
from foresay.models.bilm import BiLM
from foresay.models.task import Task
from foresay.text.tokens import UNK

DIMENSIONS = {"image": "dimension", "sound": "sample"}
PIECES = 400  # of the evaluated text, at most, that the bootstrap draws from


def perplexity(loss: float) -> float:
    """exp(loss), without overflow; infinite where the loss is."""
    return math.exp(min(loss, 700.0)) if math.isfinite(loss) else loss


def told(value: float, digits: int) -> str:
    """A figure with so many digits after the point; one that is far too large, as of what diverged, in few."""
    return f"{value:.{digits}f}" if abs(value) < 1e9 else f"{value:.3g}"


@dataclass(frozen=True)
class Measured:
    """What an evaluation gives; `tokens` of `of` were read."""

    loss: float
    tokens: int
    of: int
    bits_per_character: float
    bits_per_byte: float
    interval: tuple[float, float]  # 95 % bootstrap interval of the loss
    unknown: float = 0.0  # the share of tokens that are <unk>: what they stand for is not in the figures
    known_loss: float = math.nan  # of the tokens that are no <unk>
    impossible: int = 0  # tokens that the model holds for impossible: one makes the loss infinite
    pseudo: bool = False  # each token given others on both sides: a pseudo-perplexity, which compares with no other
    ways: dict[str, float] = field(default_factory=dict)  # the loss of each way, of a model with two
    noun: str = ""  # `image` or `sound`, where these were read
    documents: int = 0  # how many of these

    @property
    def perplexity(self) -> float:
        return perplexity(self.loss)

    @property
    def named(self) -> str:
        """What comes before `perplexity` and `bits`."""
        return "pseudo-" if self.pseudo else ""

    @property
    def nats_each(self) -> float:
        """Of a picture or a sound, in the mean."""
        return self.loss * self.tokens / max(self.documents, 1)

    @property
    def dimension(self) -> str:
        """What a level of a picture or a sound is called."""
        return DIMENSIONS[self.noun]

    def between(self) -> str:
        """The interval of the perplexity; of one piece of text there is none."""
        low, high = map(perplexity, self.interval)
        return "one piece of text: no interval" if low == high < math.inf else f"95 % interval {low:.3f} – {high:.3f}"

    def spelt(self) -> str:
        """In a line."""
        if self.noun:
            each = f"{told(self.nats_each, 2)} {self.named}nats/{self.noun}"
            bits = f"{told(self.bits_per_character, 3)} {self.named}bits/{self.dimension}"
            return f"valid loss {told(self.loss, 4)}, {each}, {bits}"
        character, byte = told(self.bits_per_character, 3), told(self.bits_per_byte, 3)
        bits = f"{character} {self.named}bits/character, {byte} {self.named}bits/byte"
        ways = "".join(f" {way} {told(perplexity(loss), 2)}," for way, loss in self.ways.items())
        return f"valid loss {told(self.loss, 4)}, {self.named}perplexity {told(self.perplexity, 2)},{ways} {bits}"

    def as_dict(self) -> dict[str, Any]:
        low, high = map(perplexity, self.interval)
        bits = {"bits_per_character": self.bits_per_character, "bits_per_byte": self.bits_per_byte}
        if self.noun:
            bits = {f"nats_per_{self.noun}": self.nats_each, f"bits_per_{self.dimension}": self.bits_per_character}
        return {
            "loss": self.loss,
            "perplexity": self.perplexity,
            "perplexity_interval": [low, high],
            **bits,
            "unknown": self.unknown,
            "perplexity_of_known": perplexity(self.known_loss),
            "impossible": self.impossible,
            "tokens": self.tokens,
            "of_tokens": self.of,
            **({"pseudo": True} if self.pseudo else {}),
            **{f"perplexity_{way}": perplexity(loss) for way, loss in self.ways.items()},
        }


@torch.inference_mode()
def evaluate(
    model: Task,
    batches: Batches,
    shards: Shards,
    *,
    limit: int | None = None,
    on_progress: Callable[[float], None] | None = None,
) -> Measured:
    """Every token once and in order, the state carried; at most about `limit` tokens."""
    was_training, of = model.training, batches.predicted(shards)
    model.eval()
    sums: list[np.ndarray] = []  # one number for each row of each batch: the pieces the bootstrap draws from
    counts: list[np.ndarray] = []
    tokens = unknown = impossible = 0
    of_known, ways = 0.0, dict[str, float]()
    for found in _measured(model, batches, shards):
        sums.append(found.sums)
        counts.append(found.counts)
        tokens += int(found.counts.sum())
        unknown += found.unknown
        of_known += found.of_known
        impossible += found.impossible
        ways = {way: ways.get(way, 0.0) + nats for way, nats in found.ways.items()}
        if on_progress:
            on_progress(tokens / of)
        if limit is not None and tokens >= limit:
            break
    model.train(was_training)
    nats = math.fsum(np.concatenate(sums))
    share = tokens / of
    bits = nats / math.log(2.0)
    noun = shards.form.noun if isinstance(shards, LevelShards) else ""
    return Measured(
        loss=nats / tokens,
        tokens=tokens,
        of=of,
        bits_per_character=bits / (shards.characters * share),
        bits_per_byte=bits / (shards.bytes * share),
        unknown=unknown / tokens,
        known_loss=of_known / (tokens - unknown) if unknown < tokens else math.nan,
        impossible=impossible,
        pseudo=not model.causal and not ways,
        ways={way: nats / tokens for way, nats in ways.items()},
        interval=bootstrap(np.concatenate(sums), np.concatenate(counts)),
        noun=noun,
        documents=round(shards.documents * share) if noun else 0,
    )


@dataclass(frozen=True)
class _Batch:
    """Of one batch."""

    sums: np.ndarray  # -log P, summed over each row
    counts: np.ndarray  # the rows' real lengths
    unknown: int  # targets that are <unk>
    of_known: float  # -log P of the others; by itself, for what is infinite leaves nothing to subtract from
    impossible: int
    ways: dict[str, float]  # -log P of each way, of a model with two


def _measured(model: Task, batches: Batches, shards: Shards) -> Iterator[_Batch]:
    state: State | None = None
    for batch in batches.evaluation(shards):
        ways = model.measure_ways(batch.to(model.device)) if isinstance(model, BiLM) else {}
        if isinstance(model, BiLM):
            log_probs = model.joint(ways, None if batch.mask is None else batch.mask.to(model.device))
        else:
            log_probs, state = model.measure(batch.to(model.device), state)
        assert batch.targets is not None
        rows, width = batch.targets.shape
        counts = np.full(rows, width) if batch.mask is None else batch.mask.sum(1).numpy()
        nats = -log_probs.double().cpu()
        unknown = batch.targets.cpu() == UNK  # padding is another symbol
        impossible = int(nats.isposinf().sum())
        sums = {way: -float(found.double().sum()) for way, found in ways.items()}
        yield _Batch(nats.sum(1).numpy(), counts, int(unknown.sum()), float(nats[~unknown].sum()), impossible, sums)


def bootstrap(sums: np.ndarray, counts: np.ndarray) -> tuple[float, float]:
    """95 % bootstrap interval of the mean loss, over pieces of the text (rows of batches)."""
    sums, counts = sums[counts > 0], counts[counts > 0]
    if not np.isfinite(sums).all():
        return math.inf, math.inf
    if len(sums) > PIECES:  # neighbours together, none left out
        begins = np.arange(PIECES) * len(sums) // PIECES
        sums, counts = np.add.reduceat(sums, begins), np.add.reduceat(counts, begins)
    drawn = np.random.default_rng(0).integers(0, len(sums), (1000, len(sums)))
    means = sums[drawn].sum(1) / counts[drawn].sum(1)
    low, high = np.quantile(means, [0.025, 0.975])
    return float(low), float(high)
