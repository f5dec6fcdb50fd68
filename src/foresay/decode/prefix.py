"""Prefix beam search: the text y with the greatest P(y | x) under CTC, summed over its alignments (Graves 2012).

    b_t[y], n_t[y]   P of all alignments of steps 1 .. t that become y and end with a blank, or with y's last symbol
    b_t[y]   = p_t[_] (b + n)[y]                            of step t - 1
    n_t[y]   = p_t[y_U] n[y]                                the last symbol goes on
    n_t[y c] = p_t[c] (b + n)[y],  or  p_t[c] b[y] where c is y's last symbol

    score(y) = log (b + n)[y] + sum_i weight_i log P_i(y) + bonus U

The `width` texts with the best scores are kept at every step; with as many as there are texts nothing is lost, and the
best one is that of exhaustive search. Language models beside (shallow fusion, H. Hannun et al. 2014) are asked through
`step` alone for the symbols that follow a text that is kept; the end of a text counts for those that know ends.

log p (T, V) -> the best texts of a row, best first.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from foresay.data.row_batches import padded
from foresay.output.ctc import BLANK
from foresay.text.tokens import STOP, UNK

Text = tuple[int, ...]
Sums = dict[Text, list[float]]  # log b and log n of each text
NEVER = -np.inf


@dataclass(frozen=True)
class Heard:
    """A text that was found, its score, and log P(text | x) over the alignments that the search has kept."""

    ids: list[int]
    score: float
    log_prob: float


@dataclass
class Beside:
    """A language model beside: its weight, and the number that each of our symbols has in its vocabulary."""

    model: Any
    weight: float
    numbers: np.ndarray
    ends: bool = True  # whether <stop> ends a text that it scores

    def follows(self, texts: Sequence[Text]) -> np.ndarray:
        """weight log P of each of our symbols after each text, and of the end in the blank's place: (N, V)."""
        rows = [self.numbers[list(text)] for text in texts]
        state = self.model.begin(len(texts), None, max(map(len, rows)) + 1)
        ids, mask = padded(rows, max(map(len, rows)))
        device = self.model.device
        found, _ = self.model.step(ids.to(device), state, None if mask is None else mask.to(device))
        own = found.double().cpu().numpy()
        after = own[:, self.numbers]
        after[:, BLANK] = own[:, STOP] if self.ends else 0.0
        return self.weight * after


class Search:
    """The search through one row of log p."""

    def __init__(self, width: int, beside: Sequence[Beside] = (), bonus: float = 0.0, banned: Sequence[int] = ()):
        self.width, self.beside, self.bonus = width, beside, bonus
        self.banned = [BLANK, *banned]
        self.known: dict[Text, tuple[float, np.ndarray]] = {}  # of a text: what is added to log P, and to what follows

    @torch.inference_mode()
    def find(self, log_p: np.ndarray, best: int = 1) -> list[Heard]:
        """The best texts, best first."""
        self.symbols = log_p.shape[1]
        self.known = {}
        self._ask([()])
        kept: Sums = {(): [0.0, NEVER]}
        for now in log_p.astype(np.float64):
            kept = self._step(kept, now)
        found = [Heard(list(text), log_p + self._added(text), log_p) for text, log_p in totals(kept).items()]
        return sorted(found, key=lambda one: -one.score)[:best]

    def _added(self, text: Text) -> float:
        """What is added to log P of a whole text: the language models' log P with its end, and the bonus."""
        added, after = self.known[text]
        return added + float(after[BLANK])

    def _step(self, kept: Sums, now: np.ndarray) -> Sums:
        """The best texts after one more step."""
        found: Sums = {}
        for text, (blank, symbol) in kept.items():
            whole = float(np.logaddexp(blank, symbol))
            add(found, text, 0, whole + now[BLANK])
            if text:
                add(found, text, 1, symbol + now[text[-1]])
            longer = whole + now
            if text:
                longer[text[-1]] = blank + now[text[-1]]
            longer[self.banned] = NEVER
            likely = longer + self.known[text][1]
            for one in self._worth(likely, text, kept):
                add(found, (*text, one), 1, float(longer[one]))
        scores = {text: float(np.logaddexp(own[0], own[1])) + self._score(text) for text, own in found.items()}
        best = sorted((text for text in found if scores[text] > NEVER), key=lambda text: -scores[text])[: self.width]
        self._ask([text for text in best if text not in self.known])
        return {text: found[text] for text in best}

    def _worth(self, likely: np.ndarray, text: Text, kept: Sums) -> list[int]:
        """The symbols after a text that may be among the best: the likeliest, and those whose text is kept already."""
        if self.width >= len(likely):
            return np.flatnonzero(likely > NEVER).tolist()
        most = np.argpartition(-likely, self.width)[: self.width].tolist()
        there = [one[-1] for one in kept if len(one) == len(text) + 1 and one[:-1] == text]
        return [one for one in {*most, *there} if likely[one] > NEVER]

    def _score(self, text: Text) -> float:
        """What is added to log P of the beginning of a text."""
        if text in self.known:
            return self.known[text][0]
        added, after = self.known[text[:-1]]
        return added + float(after[text[-1]])

    def _ask(self, texts: Sequence[Text]) -> None:
        """Asks the language models what follows some texts."""
        if not texts:
            return
        after = np.full((len(texts), self.symbols), self.bonus)
        after[:, BLANK] = 0.0
        for one in self.beside:
            after += one.follows(texts)
        for text, own in zip(texts, after, strict=True):
            self.known[text] = (self._score(text) if text else 0.0, own)


def add(sums: Sums, text: Text, place: int, value: float) -> None:
    """Adds to a probability, in the logarithm."""
    own = sums.setdefault(text, [NEVER, NEVER])
    own[place] = float(np.logaddexp(own[place], value))


def totals(sums: Sums) -> dict[Text, float]:
    """log (b + n) of each text."""
    return {text: float(np.logaddexp(own[0], own[1])) for text, own in sums.items()}


def numbered(ours: Sequence[str], theirs: Sequence[str]) -> np.ndarray:
    """The number of each of our symbols among theirs, by its spelling; <unk> where they have it not."""
    places = {piece: number for number, piece in enumerate(theirs)}
    return np.array([places.get(piece, UNK) for piece in ours])
