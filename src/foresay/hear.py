"""What a run on recordings does: it writes what is said in them, or tells whether a word is.

run = foresay.load("runs/digits")
run.recognise(["a.wav"])[0].text                          # the best path
run.recognise("a.wav", beam=8, lm=foresay.load("runs/lm"), weight=0.5)  # with a language model
run.log_prob("a.wav", "four zero seven")                  # log P(text | recording)
run.evaluate(split="test", beam=8).error_rate
foresay.load("runs/keyword").predict(["a.wav"])           # of task classifier: yes or no, and how probable

A recording is a file, a folder of them, or samples of -1 .. 1 at `run.form.rate` a second.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from foresay.classify import Classifying, Prediction
from foresay.data.batch import Batch
from foresay.data.frame_shards import stacked
from foresay.data.mel import frames_of
from foresay.data.row_batches import padded
from foresay.data.series_form import SeriesForm
from foresay.data.speech import Speech
from foresay.decode.prefix import Beside, Heard, Search, numbered
from foresay.errors import UserError
from foresay.models.recogniser import Recogniser
from foresay.output.ctc import best_path, log_likelihood
from foresay.parts import Amount, Size, fits
from foresay.run import Run
from foresay.text.tokens import MASK, PAD, START, STOP, UNK
from foresay.train.heard import SpeechFigures, measure_speech

AT_ONCE = 32  # recordings heard together
MARKS = (PAD, START, STOP, MASK)  # what no text has
WEIGHT = 0.5  # of a language model beside, where none is given
BEAM = 8  # of a search with one, where none is given
Sound = str | Path | np.ndarray


@dataclass(frozen=True)
class Recognised:
    """What is said in a recording: its text and symbols, log P of the text given the sound, and the search's score."""

    text: str
    symbols: list[str]
    log_prob: float
    score: float

    def as_dict(self) -> dict[str, Any]:
        return {"text": self.text, "symbols": self.symbols, "log_prob": self.log_prob, "score": self.score}


class Hearing(Run):
    """The part that any run on recordings has: hearing them as its own were."""

    @cached_property
    def form(self) -> SeriesForm:
        """What its frames are like."""
        return SeriesForm.read(self.folder)

    @property
    def _data(self) -> Speech:
        assert isinstance(self.recipe.data, Speech)
        return self.recipe.data

    def documents(self, given: Sound | Sequence[Sound]) -> Iterator[tuple[str, np.ndarray]]:
        """The frames (T, D) of recordings, each with where it is from: of files, of all files of folders, of arrays."""
        each = [given] if isinstance(given, (str, Path, np.ndarray)) else given
        for number, one in enumerate(each, 1):
            if isinstance(one, np.ndarray):
                yield f"array {number}", self._framed(one, f"array {number}")
                continue
            if not Path(one).expanduser().exists():
                raise UserError(f"{one} is no file and no folder; give recordings: files, or folders of them")
            for row in self._data.another(str(one), self.form).unlabelled(str(one)):
                yield row.where, row.frames

    def _framed(self, samples: np.ndarray, where: str) -> np.ndarray:
        if samples.ndim == 2 and samples.shape[1] == self.form.width:  # frames as `documents` gives them
            return samples
        if samples.ndim != 1 or not len(samples) or samples.dtype.kind != "f" or not np.isfinite(samples).all():
            raise UserError(
                f"{where} is {samples.dtype} {samples.shape}; allowed: samples of -1 to 1 at {self.form.rate:,} Hz, "
                "(N,) of floats"
            )
        return frames_of(samples, self.form.rate, self._data.read)

    def of_no_text(self, *_: Any, **__: Any) -> Any:
        """What `generate`, `search`, `step`, `correct` and `perplexity` of texts are here: a UserError."""
        raise UserError(f"{self.folder} is of {self.form.told()} and goes on from no text; use foresay predict")

    generate = search = step = correct = perplexity = score = of_no_text

    def _corpus(self, data: Any, split: str, read: Any) -> Speech:
        return self._data.another(str(data), self.form)


class KeywordRun(Classifying, Hearing):  # pyright: ignore[reportIncompatibleMethodOverride]
    """A classifier of recordings."""

    @torch.inference_mode()
    def predict(self, texts: Any) -> list[Prediction]:  # pyright: ignore[reportIncompatibleMethodOverride]
        """Of each recording its label and the probability of every label."""
        rows = [found for _, found in self.documents(texts)]
        longest = self.recipe.train.batches.longest

        def batch_of(some: list[int]) -> Batch:
            cut = [rows[row][:longest] for row in some]
            frames, mask = stacked(cut, max(map(len, cut)))
            return Batch(frames=frames, mask=mask)

        return self.answers(rows, batch_of)

    def _corpus(self, data: Any, split: str, read: Any) -> Any:
        return Hearing._corpus(self, data, split, read)


class SpeechRun(Hearing):
    """A recogniser."""

    @property
    def _recogniser(self) -> Recogniser:
        assert isinstance(self.model, Recogniser)
        return self.model.eval()

    def recognise(
        self,
        sounds: Sound | Sequence[Sound],
        *,
        beam: int | None = None,
        lm: Run | None = None,
        weight: float = WEIGHT,
        bonus: float = 0.0,
    ) -> list[Recognised]:
        """What is said in each recording, by the best path, or with `beam` by prefix beam search."""
        return [best[0] for best in self.recognise_many(sounds, beam=beam, lm=lm, weight=weight, bonus=bonus)]

    predict = recognise

    def recognise_many(
        self,
        sounds: Sound | Sequence[Sound],
        *,
        best: int = 1,
        beam: int | None = None,
        lm: Run | None = None,
        weight: float = WEIGHT,
        bonus: float = 0.0,
    ) -> list[list[Recognised]]:
        """The `best` texts of each recording, best first.

        The score is log P(text | sound) + weight * log P of the language model `lm`, a run, + bonus for
        each symbol. `beam` is how many texts are kept at each step; 8 where there is a language model or a bonus.
        """
        rows, found = [frames for _, frames in self.documents(sounds)], []
        search = self.searching(beam, lm, weight, bonus)
        best = fits(Size, best, "best")
        if search is None and best > 1:
            raise UserError(f"best={best} without a beam; give beam={max(best, BEAM)}")
        for first in range(0, len(rows), AT_ONCE):
            log_p, sizes = self._heard(rows[first : first + AT_ONCE])
            if search is None:
                texts = best_path(log_p, sizes)
                own = log_likelihood(log_p, _targets(texts, log_p.device), sizes).tolist()
                found += [[self._told(Heard(ids, p, p))] for ids, p in zip(texts, own, strict=True)]
                continue
            for row, size in zip(log_p.cpu().numpy(), sizes.tolist(), strict=True):
                found.append([self._told(one) for one in search.find(row[:size], best)])
        return found

    def searching(self, beam: int | None, lm: Run | None, weight: float = WEIGHT, bonus: float = 0.0) -> Search | None:
        """The search that is asked for; None for the best path."""
        if beam is None and lm is None and not bonus:
            return None
        width = fits(Size, BEAM if beam is None else beam, "beam")
        weight, bonus = fits(Amount, weight, "weight"), fits(float, bonus, "bonus")
        return Search(width, [] if lm is None else [self._beside_us(lm, weight)], bonus, MARKS)

    def _beside_us(self, run: Run, weight: float) -> Beside:
        """A language model whose symbols are spelt as ours are."""
        if not isinstance(run, Run):
            raise UserError(f"lm={run!r}; allowed: a run, such as foresay.load('runs/lm')")
        if (
            not run.model.sequence
            or not run.model.causal
            or run.model.conditional
            or run.labels
            or hasattr(run, "form")
        ):
            raise UserError(
                f"lm={run.folder} is of task {run.recipe.task.part_name} and says no P of what follows in a text; give "
                "a language model, such as foresay train kneser-ney makes"
            )
        ours, theirs = (one.tokens.pieces(range(len(one.tokens))) for one in (self, run))
        numbers = numbered(ours, theirs)
        strange = [piece for piece, number in zip(ours, numbers, strict=True) if number == UNK and piece != ours[UNK]]
        if len(strange) * 2 > len(ours) - len(MARKS):
            raise UserError(
                f"lm={run.folder} does not know {len(strange)} of {len(ours) - len(MARKS) - 1} symbols of "
                f"{self.folder}, the first {strange[0]!r}; train it on such texts with tokens={self._cut}"
            )
        return Beside(run.model.eval(), weight, numbers, run.ends_count)

    @property
    def _cut(self) -> str:
        return self.recipe.tokens.part_name

    @torch.inference_mode()
    def _heard(self, rows: Sequence[np.ndarray]) -> tuple[Tensor, Tensor]:
        """log p (B, T', V) of frames, and how many steps are real."""
        frames, mask = stacked(rows, max(map(len, rows)))
        return self._recogniser.log_probs(Batch(frames=frames, mask=mask).to(self.model.device))

    def _told(self, found: Heard) -> Recognised:
        pieces = self.tokens.pieces(found.ids)
        return Recognised(self.tokens.decode(found.ids), pieces, found.log_prob, found.score)

    def log_prob(self, sound: Sound, text: str) -> float:
        """log P(text | recording), summed over all alignments."""
        found = list(self.documents(sound))
        if len(found) != 1:
            raise UserError(f"{sound} holds {len(found)} recordings; give one")
        ids = self.tokens.encode(fits(str, text, "text")).tolist()
        log_p, sizes = self._heard([found[0][1]])
        return float(log_likelihood(log_p, _targets([ids], log_p.device), sizes)[0])

    def posteriors(self, sound: Sound) -> tuple[np.ndarray, np.ndarray]:
        """The frames (T, D) of a recording, and p (T', V) of every symbol and of the blank, <pad>, at every step."""
        found = list(self.documents(sound))
        if len(found) != 1:
            raise UserError(f"{sound} holds {len(found)} recordings; give one")
        return found[0][1], self._heard([found[0][1]])[0][0].exp().cpu().numpy()

    def evaluate(  # pyright: ignore[reportIncompatibleMethodOverride]
        self,
        data: str | None = None,
        *,
        split: str = "valid",
        limit: int | None = None,
        encoding: str | None = None,
        columns: Sequence[str | int] | None = None,
        rows: int | None = None,
        beam: int | None = None,
        lm: Run | None = None,
        weight: float = WEIGHT,
        bonus: float = 0.0,
    ) -> SpeechFigures:
        """How many symbols and texts are right, on the run's own recordings or on others; at most `limit` frames."""
        if rows is not None:
            raise UserError(f"rows={rows}, but recordings are heard one a row; leave it out")
        search = self.searching(beam, lm, weight, bonus)
        _, shards = self.held_out(data, split, self.reading(encoding, columns))

        def decode(log_p: Tensor, sizes: Tensor) -> list[list[int]]:
            assert search is not None
            each = zip(log_p.cpu().numpy(), sizes.tolist(), strict=True)
            return [search.find(row[:size])[0].ids for row, size in each]

        how = {} if search is None else {"decode": decode}
        return measure_speech(self._recogniser, self.recipe.train.batches, shards, limit=limit, **how)


def _targets(texts: Sequence[Sequence[int]], device: torch.device) -> Tensor:
    """Texts as ids (B, U), <pad> on the right."""
    rows = [np.array(text, np.int64) for text in texts]
    return padded(rows, max(map(len, rows)))[0].to(device)
