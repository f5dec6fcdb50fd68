"""Subwords: byte-level BPE (Sennrich et al. 2016; Radford et al. 2019) learnt from the text by `tokenizers`.

Beginning with bytes, the most frequent pair of neighbours within words becomes a piece of its own, again and again:

    (a, b) = argmax count(a b)        every a b -> ab
"""

from __future__ import annotations

import json
from collections.abc import Iterable

from tokenizers import Tokenizer, models, trainers

from foresay.parts import Size, part
from foresay.text.byte_spelling import SPELLING
from foresay.text.byte_subwords import ByteSubwords, in_bytes
from foresay.text.normalise import Normalise
from foresay.text.tokens import SPECIALS


@part("tokens", "subwords")
class Subwords(ByteSubwords):
    """Byte-level BPE learnt from at most `sample` characters; nothing is unknown."""

    def __init__(self, size: Size = 2000, sample: Size = 50_000_000, normalise: Normalise | str | None = None):
        super().__init__(size, sample, normalise)
        self._use(in_bytes(models.BPE({piece: i for i, piece in enumerate([*SPECIALS, *SPELLING])}, [])))

    def _learn(self, texts: Iterable[str]) -> None:
        library = in_bytes(models.BPE())
        trainer = trainers.BpeTrainer(
            vocab_size=self.size,
            min_frequency=2,
            special_tokens=list(SPECIALS),
            initial_alphabet=SPELLING,
            show_progress=False,
        )
        library.train_from_iterator(self._sampled(texts), trainer)
        state = json.loads(library.to_str())
        state["added_tokens"] = []  # registered marks would be matched in text
        self._use(Tokenizer.from_str(json.dumps(state)))
