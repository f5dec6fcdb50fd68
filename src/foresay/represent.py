"""What a run of a bidirectional language model does beside scoring: it gives the vectors of words in their context.

run = foresay.load("runs/elmo")
found = run.embed("the bear sleeps")[0]
found.layers[2]                               # (T, width), a row for each of found.tokens
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from foresay.data.batch import Batch
from foresay.data.strange import spelt, words_of
from foresay.errors import UserError
from foresay.parts import fits
from foresay.results import Embedded
from foresay.text.tokens import Tokens


class Representing:
    """The part of a run that knows of vectors; loading.py joins it with the rest."""

    tokens: Tokens
    model: Any

    @torch.inference_mode()
    def embed(self, texts: str | Sequence[str]) -> list[Embedded]:
        """The vectors of each text's tokens, of every layer; each text is read whole."""
        self.model.eval()
        given = [texts] if isinstance(texts, str) else list(texts)
        return [self._embedded(text) for text in fits(list[str], given, "texts")]

    def _embedded(self, text: str) -> Embedded:
        ids = self.tokens.encode(text).tolist()
        words = words_of(self.tokens, text, ids)
        if not words:
            raise UserError("a text has no tokens; give a text with words")
        batch = spelt(Batch(ids=torch.tensor([ids])), [words], self.tokens)
        return Embedded(text, words, [h[0].float().cpu() for h in self.model.read(batch.to(self.model.device))])
