"""What a run of a bidirectional language model does beside scoring: it gives the vectors of words in their context.

run = foresay.load("runs/elmo")
found = run.embed("the bear sleeps")[0]
found.layers[2]                               # (T, width), a row for each of found.tokens
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch

from foresay.data.batch import Batch
from foresay.data.row_batches import padded
from foresay.data.strange import spelt, words_of
from foresay.errors import TextError
from foresay.results import Embedded
from foresay.text.given import texts_of
from foresay.text.tokens import START, Tokens

AT_ONCE = 1 << 12  # tokens read at a time


class Representing:
    """The part of a run that knows of vectors; loading.py joins it with the rest."""

    tokens: Tokens
    model: Any

    @torch.inference_mode()
    def embed(self, texts: str | Sequence[str]) -> list[Embedded]:
        """The vectors of each text's tokens, of every layer; each is read whole, those of like length together."""
        self.model.eval()
        given = texts_of(texts)
        ids = self.tokens.encode_many(given) if given else []
        self._check(given, ids)
        order = sorted(range(len(ids)), key=lambda row: -len(ids[row]))
        found: dict[int, Embedded] = {}
        while order:
            many = max(AT_ONCE // len(ids[order[0]]), 1)
            rows, order = order[:many], order[many:]
            found |= zip(rows, self._embedded([given[row] for row in rows], [ids[row] for row in rows]), strict=True)
        return [found[row] for row in range(len(ids))]

    def _check(self, texts: Sequence[str], ids: Sequence[np.ndarray]) -> None:
        """Refuses texts without tokens, and with more than there are positions for, <start> or <stop> beside them."""
        longest = self.model.encoder.longest
        for number, (text, row) in enumerate(zip(texts, ids, strict=True), 1):
            if not len(row):
                raise TextError(number, len(ids), f"has no tokens ({text[:60]!r}); give some words")
            if longest is not None and len(row) >= longest:
                why = f"has {len(row)} tokens; the model has positions for {longest - 1}: divide it"
                raise TextError(number, len(ids), why)

    @torch.inference_mode()
    def embed_none(self, text: str = "") -> Embedded:
        """What stands for a text without tokens: every layer, as wide as it is, without a row."""
        layers = self.model.eval().read(Batch(ids=torch.tensor([[START]], device=self.model.device)))
        return Embedded(text, [], [h[0, :0].float().cpu().clone() for h in layers])

    def _embedded(self, texts: Sequence[str], rows: Sequence[np.ndarray]) -> list[Embedded]:
        """Those of one batch; every text has vectors of its own, that hold no other's in memory."""
        words = [words_of(self.tokens, text, row.tolist()) for text, row in zip(texts, rows, strict=True)]
        ids, mask = padded(rows, max(map(len, rows)))
        batch = spelt(Batch(ids=ids, mask=mask), words, self.tokens).to(self.model.device)
        layers = [h.float().cpu() for h in self.model.read(batch)]
        own = ([h[n, : len(row)].clone() for h in layers] for n, row in enumerate(rows))
        return [Embedded(*one) for one in zip(texts, words, own, strict=True)]
