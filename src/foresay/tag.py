"""What a run of a tagger does: it tags texts and is measured.

run = foresay.load("runs/ner")
found = run.predict("Anna lives in New York.")[0]
found.tags                                    # one for each word of found.words
found.spans                                   # [Span(type='location', begin=3, end=5)]
run.evaluate(split="test").spans.f1
run.posteriors("Anna lives in New York.")[0].filtered    # P(tag | words so far), (words, tags)
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch

from foresay.data.answers import BETWEEN
from foresay.data.batch import Batch
from foresay.data.row_batches import padded
from foresay.data.spans import Scheme, Span, spans_of
from foresay.data.strange import spelt
from foresay.data.tag_prepare import word_ids
from foresay.data.tags import Tags
from foresay.embed.elmo import elmos
from foresay.errors import TextError
from foresay.measuring import Measuring
from foresay.models.tagging import Tagging
from foresay.parts import shown
from foresay.text.characters import Characters
from foresay.text.given import SHOWN, listed
from foresay.text.words import Words

AT_ONCE = 1 << 14  # words tagged at a time
_WORDS = Words()  # made once: 0.1 ms each


@dataclass(frozen=True)
class Predicted:
    """The words of a text, the tag of each, and how probable that tag is."""

    words: list[str]
    tags: list[str]  # of spans, as their scheme allows
    probabilities: list[float]  # P(tag | all words)
    spans: list[Span]
    scheme: Scheme = "none"  # how the tags write spans; none: they write none

    def as_dict(self) -> dict[str, Any]:
        spans = [one._asdict() | {"text": " ".join(self.words[one.begin : one.end])} for one in self.spans]
        told = {"words": self.words, "tags": self.tags, "probabilities": self.probabilities}
        return told | ({} if self.scheme == "none" else {"spans": spans})


@dataclass(frozen=True)
class Posteriors:
    """How probable every tag of every word is: by the words so far (`filtered`), by all (`smoothed`), each (T, K)."""

    words: list[str]
    names: tuple[str, ...]  # of the tags
    filtered: np.ndarray
    smoothed: np.ndarray

    def as_dict(self) -> dict[str, Any]:
        both = {"filtered": self.filtered, "smoothed": self.smoothed}
        told = {
            name: [dict(zip(self.names, map(float, row), strict=True)) for row in own] for name, own in both.items()
        }
        return {"words": self.words, **told}


class TagUsing(Measuring):
    """The part of a run that knows of tags; loading.py joins it with the rest."""

    @property
    def _task(self) -> Tagging:
        assert isinstance(self.model, Tagging)
        return self.model.eval()

    @torch.inference_mode()
    def predict(self, texts: str | Sequence[str | Sequence[str]], *, blanks: bool = False) -> list[Predicted]:
        """The tags of each text; a text is cut into words and punctuation, with `blanks` at blanks alone.

        A run whose tokens are characters tags every character but blanks. A list of words in place of a text is taken
        as it is; a word with a blank within is unknown, as it is in training.
        """
        given = listed(texts, "text, a list of texts, or a list of lists of words")
        letters = isinstance(self.tokens, Characters)
        apart = (lambda text: list("".join(text.split()))) if letters else (lambda text: cut(text, blanks=blanks))
        for number, text in enumerate(given, 1):
            if isinstance(text, bytes) or not isinstance(text, Iterable):
                raise TextError(number, len(given), f"is {shown(text)[:SHOWN]}; allowed: text, or a list of words")
        sentences = [apart(text) if isinstance(text, str) else list(text) for text in given]
        ids = self._checked(sentences)
        order = sorted(range(len(sentences)), key=lambda row: -len(sentences[row]))
        found: dict[int, Predicted] = {}
        while order:
            many = max(AT_ONCE // max(len(sentences[order[0]]), 1), 1)
            rows, order = order[:many], order[many:]
            found |= zip(rows, self._tagged([sentences[row] for row in rows], [ids[row] for row in rows]), strict=True)
        return [found[row] for row in range(len(sentences))]

    @torch.inference_mode()
    def posteriors(self, texts: str | Sequence[str | Sequence[str]], *, blanks: bool = False) -> list[Posteriors]:
        """P(tag | words so far) and P(tag | all words) of every tag of every word; texts are cut as by `predict`.

        A hidden Markov model knows the first by its own recursion. Of others it is what they say of the last word of
        every beginning of the text, read as if it were all of it; with an encoder that sees one way and a softmax the
        two are the same.
        """
        tags = self._task.tags
        assert tags is not None
        found = []
        for one in self.predict(texts, blanks=blanks):
            batch = self._batch([one.words])
            _, log_probs = self._task.predict(batch)
            until = self._task.filtered(batch)
            until = self._of_beginnings(one.words) if until is None else until[0]
            shares = [rows.exp().double().cpu().numpy() for rows in (until, log_probs[0])]
            found.append(Posteriors(one.words, tuple(tags.names), *shares))
        return found

    def _of_beginnings(self, words: list[str]) -> torch.Tensor:
        """log P (T, K) of the tag of every word, by a text that ends with it."""
        found, at_once = [], max(AT_ONCE // len(words), 1)
        for low in range(1, len(words) + 1, at_once):
            sizes = range(low, min(low + at_once, len(words) + 1))
            _, log_probs = self._task.predict(self._batch([words[:size] for size in sizes]))
            found += [log_probs[row, size - 1] for row, size in enumerate(sizes)]
        return torch.stack(found)

    def _checked(self, sentences: list[list[str]]) -> list[np.ndarray]:
        """The ids of the words of every sentence."""
        longest = self._positions()
        for number, words in enumerate(sentences, 1):
            if others := [word for word in words if not isinstance(word, str)]:
                why = f"has {shown(others[0])[:SHOWN]} among its words; allowed: text"
                raise TextError(number, len(sentences), why)
            if not words or not all(map(str.strip, words)):
                what = "has an empty word" if words else "is empty"
                raise TextError(number, len(sentences), f"{what}; give a text with words")
            if longest is not None and len(words) > longest:
                why = f"has {len(words)} words; the model has positions for {longest}: divide it"
                raise TextError(number, len(sentences), why)
        found = []
        for number, row in enumerate(word_ids(self.tokens, sentences), 1):
            if row is None:
                why = f"has a word that the run's tokens cut ({' '.join(sentences[number - 1])[:60]!r}); give words"
                raise TextError(number, len(sentences), f"{why} that they keep")
            found.append(row)
        return found

    def _positions(self) -> int | None:
        """The most words that the encoder, or a bilm under it, has positions for."""
        ends = [getattr(getattr(self._task, "encoder", None), "longest", None)]
        ends += [elmo.longest for elmo in elmos(self._task)]
        return min((end for end in ends if end is not None), default=None)

    def _tagged(self, sentences: list[list[str]], ids: list[np.ndarray]) -> list[Predicted]:
        tags = self._task.tags
        assert tags is not None
        best, log_probs = self._task.predict(self._batch(sentences, ids))
        found = []
        for words, row, sure in zip(sentences, best.tolist(), log_probs.exp().cpu(), strict=True):
            own = [tags.names[tag] for tag in row[: len(words)]]
            chosen = sure[torch.arange(len(words)), torch.tensor(row[: len(words)])]
            spans = [] if tags.scheme == "none" else spans_of(own)
            found.append(Predicted(words, own, chosen.tolist(), spans, tags.scheme))
        return found

    def _batch(self, sentences: list[list[str]], ids: list[np.ndarray] | None = None) -> Batch:
        padded_ids, mask = padded(self._checked(sentences) if ids is None else ids, max(map(len, sentences)))
        return spelt(Batch(ids=padded_ids, mask=mask), sentences, self.tokens).to(self.model.device)

    def _corpus(self, data: Any, split: str, read: Any) -> Tags:
        """Another file, read as the run's were and held to its tags."""
        tags = self._task.tags
        assert tags is not None
        read = replace(read, scheme=tags.scheme if not read.rewrite else "auto")
        corpus = Tags(str(data), share=0.0, tags=list(tags.names), read=read)
        corpus.known = True
        return corpus


def cut(text: str, *, blanks: bool) -> list[str]:
    """The words of a text: at blanks, or words and punctuation apart; what stands between two texts stays whole."""
    if blanks:
        return text.split()
    return [word for chunk in text.split() for word in ([chunk] if chunk == BETWEEN else _WORDS.split(chunk))]
