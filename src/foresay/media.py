"""What a run does whose documents are pictures or sounds: it draws them, scores them, and tells their labels apart.

run = foresay.load("runs/digits")
run.draw(16, label="7", seed=2)           # arrays: (rows, columns, channels) of 0 .. 255, or samples of -1 .. 1
run.draw(4, begun="half.png", keep=4)     # goes on from the first four rows
run.nats(["a.png"])                       # -log P of each; with label="7" of a seven
run.predict(["a.png"])                    # argmax_n P(picture | n) P(n), where it was trained for labels

P(n) is the share of label n in the training documents.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import torch
from annotated_types import Gt, Le

from foresay.classify import Classifying, Prediction
from foresay.data.batch import Batch
from foresay.data.levels import Form, LevelRows
from foresay.data.row_batches import padded
from foresay.decode.generate import generate
from foresay.decode.given import Endless, Telling
from foresay.decode.sample import Decoder, Greedy, Sample
from foresay.errors import UserError
from foresay.parts import Amount, Count, fits, make
from foresay.run import PIECE, Run
from foresay.text.levels import FIRST, Levels
from foresay.text.tokens import STOP
from foresay.translate import Number

AT_ONCE = 64  # documents read together
Document = str | Path | np.ndarray
Seconds = Annotated[float, Gt(0)]
Drawn = Annotated[float, Gt(0), Le(600)]  # seconds of a sound, a step of the model for each sample


class Showing(Run):
    """The part that any run on pictures or sounds has: reading them as its own were."""

    @cached_property
    def form(self) -> Form:
        """What its documents are like."""
        return Form.read(self.folder)

    @property
    def _data(self) -> LevelRows:
        assert isinstance(self.recipe.data, LevelRows)
        return self.recipe.data

    @property
    def levels(self) -> int:
        """How many levels a pixel's colour or a sample has."""
        assert isinstance(self.tokens, Levels)
        return self.tokens.number

    def documents(self, given: Document | Sequence[Document]) -> Iterator[tuple[str, np.ndarray]]:
        """Pictures or sounds, each with where it is from: of files, of all files of folders, or arrays as they are."""
        each = [given] if isinstance(given, (str, Path, np.ndarray)) else given
        for number, one in enumerate(each, 1):
            if isinstance(one, np.ndarray):
                yield f"array {number}", self._data.admitted(one, f"array {number}", self.form)
                continue
            if not Path(one).expanduser().exists():
                raise UserError(f"{one} is no file and no folder; give {self.form.noun}s: files, or folders of them")
            own = self._data.another(str(one), self._data.read, None, self.form)
            own.labelled = False  # what they are of is not asked
            for where, found, _ in own.opened("the argument", str(one)).named():
                yield where, self._data.admitted(found, where, self.form)

    def ids(self, document: np.ndarray) -> list[int]:
        """The ids of a picture or a sound."""
        return (FIRST + self._data.levels(document, self.levels).reshape(-1)).tolist()

    def of_no_text(self, *_: Any, **__: Any) -> Any:
        """What `generate`, `search`, `step`, `correct` and `score` of texts are here: a UserError."""
        ways = ["predict"] if self._labelled else []
        ways = ways if self.model.reads == "labels" else ["draw", "score", *ways]
        used = " or ".join([", ".join(ways[:-1]), ways[-1]] if ways[1:] else ways)
        raise UserError(f"{self.folder} is of {self.form.told()} and knows no texts; use foresay {used}")

    generate = search = step = correct = score = perplexity = of_no_text

    def _corpus(self, data: Any, split: str, read: Any) -> LevelRows:
        known = getattr(self.model, "labels", None) if self._labelled else None
        return self._data.another(str(data), read, known, self.form)

    @property
    def _labelled(self) -> bool:
        return getattr(self.model, "condition", None) is not None or self.model.reads == "labels"


class MediaRun(Showing):
    """A language model of pictures or sounds."""

    @torch.inference_mode()
    def draw(
        self,
        number: int = 1,
        *,
        label: str | None = None,
        begun: Document | None = None,
        keep: float | None = None,
        seconds: float | None = None,
        temperature: float = 1.0,
        decoder: Decoder | None = None,
        seed: int = 1,
        tell: Callable[[float], None] | None = None,
    ) -> list[np.ndarray]:
        """`number` new pictures or sounds; `begun` is one to go on from: its first `keep` rows, or seconds, stay.

        `label` is what they are to be of, where the run was trained for labels. A sound ends where the model ends it,
        after `seconds` at the latest (1). `temperature` and `decoder` as of texts. `tell` is called with the share that
        is done, but on a GPU, where many steps are one call.
        """
        self._must_write()
        number, seed = fits(Number, number, "number"), fits(int, seed, "seed")
        temperature = fits(Amount, temperature, "temperature")
        prompt = [] if begun is None else self._kept(begun, keep)
        if begun is None and keep is not None:
            raise UserError(f"keep={keep:g} with nothing begun; give a {self.form.noun} to go on from, or leave it out")
        if self.form.size and seconds is not None:
            raise UserError(f"seconds={seconds:g} is for sounds; this run draws {self.form.told()}: leave it out")
        seconds = float(fits(Drawn, 1.0 if seconds is None else float(seconds), "seconds"))
        length = self.form.size - len(prompt) if self.form.size else math.ceil(seconds * self.form.rate)
        self.model.eval()
        if decoder is None:
            decoder = Sample(temperature=float(temperature)) if temperature > 0 else Greedy()
        model = self.written_for(label, number)
        model = Endless(model) if self.form.size else model
        model = model if tell is None or model.device.type != "cpu" else Telling(model, length, tell)
        context = None if self.form.size else self.context  # of a picture all is kept
        how = {"length": length, "seed": seed, "context": context}
        rows = generate(model, [prompt] * number, make("decoder", decoder), **how)
        return [self._data.values(np.array([*prompt, *row]) - FIRST, self.levels, self.form) for row in rows]

    def _kept(self, begun: Document, keep: float | None) -> list[int]:
        """The ids of the beginning of a document."""
        found = list(self.documents(begun))
        if len(found) != 1:
            raise UserError(f"begun={begun!s} holds {len(found)} {self.form.noun}s; give one")
        ids, form = self.ids(found[0][1]), self.form
        if form.rate:
            seconds = len(ids) / form.rate if keep is None else fits(Seconds, float(keep), "keep")
            return ids[: math.ceil(seconds * form.rate)]
        rows = form.rows // 2 if keep is None else fits(Count, keep if keep != int(keep) else int(keep), "keep")
        if rows >= form.rows:
            raise UserError(f"keep={rows} of {form.rows} rows leaves nothing to draw; allowed: 0 to {form.rows - 1}")
        return ids[: rows * form.columns * form.channels]

    @torch.inference_mode()
    def nats(self, documents: Document | Sequence[Document], label: str | None = None) -> list[float]:
        """-log P of each picture or sound; where the run was trained for labels of a label, or -log sum_n P(., n)."""
        self._must_be_sequence()
        self.model.eval()
        rows = [ids for _, ids in self._rows(documents)]
        if self.labels and label is None:
            return (-np.logaddexp.reduce(self._joint(rows), 1)).tolist()
        return [nats for _, nats in self._scored(rows, self.number_of(label))]

    @torch.inference_mode()
    def predict(self, documents: Document | Sequence[Document]) -> list[Prediction]:
        """Of each picture or sound its likeliest label, and the probability of every label, by Bayes' rule."""
        if not self._labelled:
            raise UserError(f"{self.folder} knows no labels; train a language model with condition=32, or a classifier")
        self.model.eval()
        joint = self._joint([ids for _, ids in self._rows(documents)])
        shares = np.exp(joint - np.logaddexp.reduce(joint, 1, keepdims=True))
        named = [dict(zip(self.labels, map(float, row), strict=True)) for row in shares]
        return [(max(each, key=each.__getitem__), each) for each in named]

    def _joint(self, rows: list[list[int]]) -> np.ndarray:
        """log P(row, n) = log P(row | n) + log P(n) of rows of ids, (B, labels)."""
        counts = np.array(self.model.labels.counts, dtype=float)
        prior = np.log(np.maximum(counts, 1e-9) / counts.sum())
        given = [[-nats for _, nats in self._scored(rows, number)] for number in range(len(counts))]
        return np.array(given).reshape(len(counts), len(rows)).T + prior

    def _rows(self, documents: Document | Sequence[Document]) -> list[tuple[str, list[int]]]:
        return [(where, self.ids(found)) for where, found in self.documents(documents)]

    def _scored(self, rows: list[list[int]], label: int | None) -> Iterator[tuple[int, float]]:
        """-log P of rows of ids, with their numbers; a sound's end counts too."""
        ending = [] if self.form.size else [STOP]
        if not self.model.causal or self.context is not None:  # in windows, as texts are
            for number, row in enumerate(rows):
                ids = torch.tensor([[*row, *ending]], device=self.model.device)
                yield number, 0.0 - math.fsum(self._log_probs(ids, label))
            return
        for first in range(0, len(rows), AT_ONCE):
            some = [[*row, *ending] for row in rows[first : first + AT_ONCE]]
            given = None if label is None else torch.full((len(some),), label, device=self.model.device)
            found, state = torch.zeros(len(some), dtype=torch.float64), None
            ids, mask = padded([np.array(row) for row in some], max(map(len, some)))
            for begin in range(0, ids.shape[1], PIECE):
                piece = ids[:, begin : begin + PIECE].to(self.model.device)
                own = None if mask is None else mask[:, begin : begin + PIECE].to(self.model.device)
                log_probs, state = self.model.score(piece, own, given, state)
                found += log_probs.double().sum(1).cpu()
            yield from enumerate((-found).tolist(), first)


class MediaLabelRun(Classifying, Showing):  # pyright: ignore[reportIncompatibleMethodOverride]
    """A classifier of pictures or sounds."""

    @torch.inference_mode()
    def predict(self, texts: Any) -> list[Prediction]:
        """Of each picture or sound its label and the probability of every label."""
        rows = [np.array(self.ids(found)) for _, found in self.documents(texts)]
        longest = self.recipe.train.batches.longest

        def batch_of(some: list[int]) -> Batch:
            cut = [rows[row][:longest] for row in some]
            ids, mask = padded(cut, max(map(len, cut)))
            return Batch(ids=ids, mask=mask)

        return self.answers(rows, batch_of)

    def _corpus(self, data: Any, split: str, read: Any) -> Any:
        return Showing._corpus(self, data, split, read)
