"""Recogniser: what is said in a recording, by CTC over the features of its frames.

    y = encoder(embedding(frames)),   log p_t = log softmax(W y_t + b) over the symbols and the blank
    P(text | frames) by output/ctc.py

Any encoder fits. Under `shrunk` a step is a block of frames: of the outputs that it repeats for all frames of a block
one is taken, so that T' = ceil(T / by). A text that needs more steps than there are is refused before training.
The loss is -log P(text | frames) a symbol (of silence, as if it had one), in nats.

frames (B, T, D), targets (B, U) -> log p (B, T', V)
"""

from __future__ import annotations

from typing import Literal

import numpy as np
import torch
from torch import Tensor, nn

from foresay.data.batch import Batch
from foresay.data.frame_shards import SpeechShards
from foresay.data.row_batches import padded
from foresay.embed.embedding import Embedding
from foresay.embed.frames import Frames
from foresay.encode.encoder import Encoder, State
from foresay.encode.shrunk import Shrunk
from foresay.errors import UserError
from foresay.kernels.dropout import dropout
from foresay.models.classifier import BOTH_WAYS
from foresay.models.task import Task
from foresay.output import ctc
from foresay.output.rows import full
from foresay.parts import Share, part


@part("task", "recogniser")
class Recogniser(Task):
    """Embedding of frames and encoder whose every step says a symbol or the blank."""

    sequence = False  # it knows P of a text given a sound, and of none alone
    causal = False
    reads = "speech"

    def __init__(
        self,
        embedding: Embedding | str = "frames",
        encoder: Encoder | str = BOTH_WAYS,
        output: Literal["ctc"] = "ctc",
        dropout: Share = 0.0,
    ):
        super().__init__()
        assert isinstance(embedding, Embedding) and isinstance(encoder, Encoder)
        if not isinstance(embedding, Frames):
            raise UserError(
                f"embedding={embedding.part_name} reads symbols, and recordings are frames of numbers; set "
                "embedding=frames"
            )
        self.embedding, self.encoder, self.dropout = embedding, encoder, dropout

    @property
    def by(self) -> int:
        """How many frames a step is made of."""
        return self.encoder.by if isinstance(self.encoder, Shrunk) else 1

    def build(self, vocabulary: int) -> None:
        self.vocabulary = vocabulary
        self.embedding.build(vocabulary)
        self.encoder.build(self.embedding.width)
        self.head = nn.Linear(self.encoder.width, vocabulary)

    def log_probs(self, batch: Batch) -> tuple[Tensor, Tensor]:
        """log p (B, T', V) of every step, and how many steps of each row are real (B,)."""
        y, _ = self.encoder(self.embedding(batch), batch.mask)
        y = y[:, :: self.by]
        rows, steps = y.shape[:2]
        if batch.mask is None:
            sizes = torch.full((rows,), steps, device=y.device)
        else:
            sizes = batch.mask[:, :: self.by].sum(1)
        return full(self.head(dropout(y, self.dropout, self.training))).log_softmax(-1), sizes

    def loss(self, batch: Batch, state: State | None = None) -> tuple[Tensor, State]:
        assert batch.targets is not None
        found = self.log_likelihood(batch)
        return -found.sum() / counted(batch.targets).sum(), {}

    def log_likelihood(self, batch: Batch) -> Tensor:
        """log P(text | frames) of each row, (B,)."""
        assert batch.targets is not None
        log_p, sizes = self.log_probs(batch)
        return ctc.log_likelihood(log_p, batch.targets, sizes)

    def check_fits(self, shards: SpeechShards, name: str) -> None:
        """Refuses a text that needs more steps than its recording has after the encoder."""
        texts = shards.texts_of(np.arange(shards.documents))
        least = ctc.needed(padded(texts, max(map(len, texts)))[0]).numpy()
        steps = -(-shards.frame_sizes // self.by)
        if (short := np.flatnonzero(least > steps)).size:
            at = int(short[0])
            raise UserError(
                f"{name}: number {shards.lines[at]} has {steps[at]} steps of {self.by} frames for a text that takes "
                f"{least[at]} or more; lower encoder.by or data.hop, or mend the text"
            )


def counted(targets: Tensor) -> Tensor:
    """The symbols of each text, one at least, (B,)."""
    return (targets != ctc.BLANK).sum(1).clamp(min=1)
