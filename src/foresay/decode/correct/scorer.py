"""The one place where correction asks language models: log P of many variants of a sentence, and of what may be there.

A model that sees both sides gives its pseudo-log-likelihood in place of log P, sum_t log P(w_t | all others), and
P(w_t | all others) in place of P(w_t | before).

A unit is what a change replaces: a character, or a word where the run's tokens are words. A unit that the run does not
know is <unk>, which stands for all of them; which one it is costs

    log P(spelling | unknown) = Σ log p(letter) + log p(end)        p as in the words of the vocabulary
                                -log V                              a character

so that an unknown word has no easier way to be likely than a known one. Several runs are mixed token by token.
A unit of several words (`the cat`, for `thecat`) is as likely as its words.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import torch
from torch import Tensor

from foresay.errors import UserError
from foresay.parts import fits
from foresay.text.tokens import SPECIALS, STOP, UNK

AT_ONCE = 1 << 15  # tokens scored in one batch
KEPT = 1 << 18  # log-probabilities that are remembered
WORDS = ("words", "blanks")


class SequenceModel(Protocol):
    """What is asked of a run's model."""

    sequence: bool
    causal: bool

    @property
    def device(self) -> torch.device: ...

    def eval(self) -> Any: ...

    def score(self, ids: Tensor, mask: Tensor | None = None) -> tuple[Tensor, Any]: ...


class LanguageRun(Protocol):
    """What is asked of a run; `foresay.load` gives one."""

    @property
    def folder(self) -> str | Path: ...

    @property
    def tokens(self) -> Any: ...  # of one of the kinds of foresay.text, with their own ways to split

    @property
    def model(self) -> SequenceModel: ...

    @property
    def ends_count(self) -> bool: ...

    @property
    def context(self) -> Any: ...  # int or None; a checker of types takes a cached property for neither

    def expect(self, before: str, after: str = "") -> Tensor: ...


class Scorer:
    """Runs as one judge of sentences in units."""

    def __init__(self, runs: Sequence[LanguageRun], weights: Sequence[float] | None = None):
        self.runs, self.tokens = list(runs), runs[0].tokens
        self.kind: str = self.tokens.part_name
        self.by_word = self.kind in WORDS
        for run in runs[1:]:
            if run.tokens.part_name != self.kind or self.kind not in (*WORDS, "characters"):
                raise UserError(
                    f"{run.folder} has {run.tokens.part_name} for tokens and {runs[0].folder} has {self.kind}; several "
                    "runs are mixed token by token: train them on the same tokens, characters, words or blanks"
                )
            if run.model.causal != runs[0].model.causal:
                both = run if not run.model.causal else runs[0]
                raise UserError(
                    f"{both.folder} sees both sides and others do not; runs are mixed token by token: give one kind"
                )
            if run.ends_count != runs[0].ends_count:
                counts, other = (run, runs[0]) if run.ends_count else (runs[0], run)
                raise UserError(
                    f"{counts.folder} was trained on lines and counts their ends, {other.folder} was not; runs are "
                    "mixed token by token: train both with the same data.unit, such as line"
                )
        given = [1 / len(runs)] * len(runs) if weights is None else weights
        shares = list(fits(list[float] | tuple[float, ...], given, "weights"))
        if len(shares) != len(runs) or not min(shares) >= 0 or not abs(sum(shares) - 1) <= 1e-6:
            raise UserError(f"weights {shares}; allowed: {len(runs)} that are not negative and sum to 1")
        self.logs = [math.log(share) if share > 0 else -math.inf for share in shares]
        pieces = self.tokens.pieces(range(len(self.tokens)))
        direct = self.by_word or self.kind == "characters"
        self.units: list[str] = (
            pieces[len(SPECIALS) :]
            if direct
            else sorted({letter for piece in pieces[len(SPECIALS) :] for letter in piece if letter.isprintable()})
        )
        self.direct = direct  # each unit is a token
        self._spelt = _letters(self.units) if self.by_word else {}
        self._known = frozenset(self.units)
        self._remembered: dict[tuple[str, ...], float] = {}
        self._expected: dict[tuple[tuple[str, ...], tuple[str, ...]], np.ndarray] = {}

    def split(self, text: str) -> list[str]:
        """The units of a text."""
        if self.by_word:
            return [word for chunk in text.split() for word in self.tokens.split(chunk)]
        return list(text)

    def normal(self, unit: str) -> str:
        """The unit as the run's normaliser leaves it; itself where that is not one unit."""
        if self.tokens.normalise is None:
            return unit
        found = self.tokens.normalise(unit)
        return found if self.split(found) == [found] else unit

    @property
    def lowers(self) -> bool:
        """Whether the runs know small letters only."""
        return self.tokens.normalise is not None and self.tokens.normalise("A") == "a"

    def flat(self, units: Sequence[str]) -> tuple[str, ...]:
        """Units of several words as their words."""
        return tuple(word for unit in units for word in unit.split(" ")) if self.by_word else tuple(units)

    def join(self, units: Sequence[str]) -> str:
        return self.tokens.join(units) if self.by_word else "".join(units)

    def knows(self, unit: str) -> bool:
        return unit in self._known

    def forget(self) -> None:
        self._remembered.clear()
        self._expected.clear()

    def log_probs(self, variants: Sequence[tuple[str, ...]]) -> np.ndarray:
        """log P of each sequence of units, the end mark counted where the run counts it."""
        new = list(dict.fromkeys(one for one in variants if one not in self._remembered))
        if len(self._remembered) + len(new) > KEPT:
            self._remembered.clear()
            new = list(dict.fromkeys(variants))
        longest = max(map(len, new), default=1) + 1
        for begin in range(0, len(new), max(AT_ONCE // longest, 1)):
            some = new[begin : begin + max(AT_ONCE // longest, 1)]
            self._remembered.update(zip(some, self._scored(some), strict=True))
        return np.array([self._remembered[one] for one in variants])

    @torch.inference_mode()
    def _scored(self, variants: Sequence[tuple[str, ...]]) -> list[float]:
        totals = [self._by_run(run, variants) for run in self.runs]
        if len({found.shape for found in totals}) > 1:
            raise UserError(
                "the runs divide the text into different tokens; give runs with the same settings of tokens"
            )
        mixed = totals[0] if len(totals) == 1 else np.logaddexp.reduce(
            [found + log for found, log in zip(totals, self.logs, strict=True)], 0
        )  # fmt: skip
        return mixed.sum(1).tolist()

    def _by_run(self, run: LanguageRun, variants: Sequence[tuple[str, ...]]) -> np.ndarray:
        """log P of each token (B, T); past a row's end 0, or 0 in the mixture of several."""
        run.model.eval()
        rows = run.tokens.encode_many([self.join(one) for one in variants])
        ends = [STOP] if run.ends_count else []
        lengths = np.array([len(row) + len(ends) for row in rows])
        ids = np.full((len(rows), max(int(lengths.max(initial=0)), 1)), STOP, np.int64)
        places = np.arange(ids.shape[1])[None]
        mask = places < lengths[:, None]
        ids[places < lengths[:, None] - len(ends)] = np.concatenate(rows)
        device = run.model.device
        found, _ = run.model.score(torch.from_numpy(ids).to(device), torch.from_numpy(mask).to(device))
        found = found.double().cpu().numpy()
        for row, column in zip(*np.nonzero((ids == UNK) & mask), strict=True) if self.direct else ():
            words = self.flat(variants[row])
            found[row, column] += self._spelling(words[column]) if column < len(words) else 0.0
        return found

    def _spelling(self, unit: str) -> float:
        """log P of an unknown unit among all that <unk> stands for."""
        if not self.by_word:
            return -math.log(max(len(self.units), 2))
        if unit == SPECIALS[UNK]:  # the text itself says no more
            return 0.0
        return sum(self._spelt.get(letter, self._spelt["\0"]) for letter in unit) + self._spelt[""]

    @torch.inference_mode()
    def expected(self, before: tuple[str, ...], after: tuple[str, ...] = ()) -> np.ndarray:
        """P(unit | before, after) over `units`, or P(unit | before); even where units are no tokens of the run."""
        between = (before, () if self.runs[0].model.causal else after)
        if between not in self._expected:
            if not self.direct:
                return np.full(len(self.units), 1 / len(self.units))
            total = np.zeros(len(self.units))
            for run, log in zip(self.runs, self.logs, strict=True):
                log_probs = run.expect(*map(self.join, between))
                total += math.exp(log) * self._ordered(run, log_probs.double().exp().cpu().numpy())
            if len(self._expected) > KEPT // len(self.units):
                self._expected.clear()
            self._expected[between] = total / total.sum()
        return self._expected[between]

    def _ordered(self, run: LanguageRun, probs: np.ndarray) -> np.ndarray:
        """What a run gives each unit of the first one."""
        if run is self.runs[0]:
            return probs[len(SPECIALS) :]
        ids = np.concatenate(run.tokens.encode_many(self.units))
        return np.where(ids == UNK, 0.0, probs[ids])


def _letters(words: Sequence[str]) -> dict[str, float]:
    """log p of each letter, of any other ('\\0'), and of the end ('')."""
    counts = Counter(letter for word in words for letter in word)
    counts[""], counts["\0"] = len(words), 1
    total = sum(counts.values())
    return {letter: math.log(count / total) for letter, count in counts.items()}
