"""Texts corrected: what a run, a noise model and a chain make of them.

corrector = Corrector([run])                          # the noise for its tokens, by default
corrector = Corrector([run], read_noise("noise.json"))
found = corrector.correct("文学是一种医术形式")
found.text, found.before, found.after, found.changes
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from foresay.decode.correct import tune
from foresay.decode.correct.align import align, joined
from foresay.decode.correct.chain import Annealing, anneal
from foresay.decode.correct.confusions import Confusions
from foresay.decode.correct.keyboard import Keyboard
from foresay.decode.correct.measure import Judged
from foresay.decode.correct.noise import Noise, Rates
from foresay.decode.correct.pairs import Pair
from foresay.decode.correct.posterior import Posterior, Units
from foresay.decode.correct.scorer import Scorer
from foresay.decode.correct.sounds import NearSound, SameSound
from foresay.decode.correct.words import WordNoise
from foresay.errors import UserError
from foresay.text.segment import HAN

MARKS = 5  # <start>, <stop>, and what may be put in
LONGEST = 500  # units of a line; longer ones are refused, for every unit is looked at
GUESSES = 5  # of the model's own for a gap, where letters may have been left out
LETTERS = Rates(wrong=0.002, insert=0.001, delete=0.001, swap=0.001)  # of keys hit, for a text that was typed
CHARACTERS = Rates(wrong=0.01)  # of Chinese ones


@dataclass(frozen=True)
class Change:
    """What stood in the text from `begin` to `end`, and what stands there now."""

    begin: int
    end: int
    before: str
    after: str


@dataclass(frozen=True)
class Candidate:
    """A reading of the text with its -log P, and its posterior (nats, up to a constant)."""

    text: str
    nats: float
    posterior: float


@dataclass(frozen=True)
class Corrected:
    """A text, what became of it, -log P (nats) of both, and the best readings, the chosen one first."""

    given: str
    text: str
    before: float
    after: float
    changes: list[Change]
    best: list[Candidate]

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)

    def marked(self, opening: str = "[", closing: str = "]") -> str:
        """The corrected text with every change marked."""
        pieces, at = [], 0
        for change in self.changes:
            pieces += [self.given[at : change.begin], opening, change.after, closing]
            at = change.end
        return "".join([*pieces, self.given[at:]])


class Corrector:
    """Language models and a noise model that correct lines of text."""

    def __init__(
        self,
        runs: Sequence[Any],
        noise: Noise | None = None,
        *,
        weights: Sequence[float] | None = None,
        annealing: Annealing = Annealing(),  # noqa: B008 - frozen
    ):
        for run in runs:
            if not run.model.sequence:
                raise UserError(f"{run.folder} is no language model and knows no P of a text; train one, as kneser-ney")
        self.scorer, self.annealing = Scorer(runs, weights), annealing
        contexts = [run.context - MARKS for run in runs if run.context is not None]
        self.longest = min([LONGEST, *contexts])
        self.noise = self._built(noise if noise is not None else default_noise(self.scorer))

    def _built(self, noise: Noise) -> Any:
        own = "word" if self.scorer.by_word else "character"
        if noise.unit not in ("", own):
            raise UserError(
                f"a noise model of {noise.unit}s and a run by {own}s; tune one for this run: "
                "foresay correct RUN --tune PAIRS --noise noise.json"
            )
        if not self.scorer.by_word:
            return noise.build(self.scorer.units)
        letters = dict.fromkeys(letter for word in self.scorer.units for letter in word)
        return WordNoise(noise.build(list(letters)), self.scorer.units)

    def correct(self, text: str, *, number: int = 1, seed: int = 1) -> Corrected:
        """One line corrected, with the `number` best readings."""
        units, places = self.units_of(text)
        posterior = self._posterior(units)
        best = anneal(posterior, self.annealing, seed)
        found = sorted(posterior.visited().items(), key=lambda one: (one[0] != best, -one[1], one[0]))[:number]
        before, *nats = -self.scorer.log_probs([tuple(units), *(one for one, _ in found)])
        readings = [
            Candidate(self._text(text, units, places, one)[0], float(own), log)
            for (one, log), own in zip(found, nats, strict=True)
        ]
        whole, made = self._text(text, units, places, best)
        after = float(-self.scorer.log_probs([best])[0])
        self.scorer.forget()
        return Corrected(text, whole, float(before), after, made, readings)

    def judge(self, pair: Pair, seed: int = 1) -> Judged:
        """A pair with what becomes of its wrong side, in units."""
        wrong, right = self.units_of(pair.wrong)[0], self.units_of(pair.right)[0]
        best = anneal(self._posterior(wrong), self.annealing, seed)
        self.scorer.forget()
        return Judged(wrong, right, best)

    def learn(self, pairs: Sequence[Pair], confusions: Sequence[Confusions] | None = None) -> int:
        """Takes its noise from pairs, and says how many it could use: of words, the letters are counted, where both
        sides have the same number of words."""
        before = self._letters()
        given = list(confusions) if confusions is not None else before.confusions
        spelt = [(self.scorer.split(pair.wrong), self.scorer.split(pair.right)) for pair in pairs]
        used = [(one, other) for one, other in spelt if not self.scorer.by_word or len(one) == len(other)]
        if not used:
            raise UserError("no pair has as many words on both sides; nothing is learnt: give some that have")
        letters = self.scorer.units
        if self.scorer.by_word:
            letters = before.units
            spelt = [(list(a), list(b)) for one, other in used for a, b in zip(one, other, strict=True)]
        noise = tune.learn(spelt, given, letters, usual=before.rates, strength=before.strength)
        self.noise = self._built(noise.using(weight=before.weight))
        return len(used)

    def choose(
        self,
        pairs: Sequence[Pair],
        *,
        most_alarms: float = 0.1,
        tell: Callable[[float], None] = lambda share: None,
    ) -> list[dict[str, Any]]:
        """Takes the weight and caution that do best on pairs which were neither counted nor read by the model."""

        def correct(wrong: Sequence[str], noise: Any) -> Units:
            if tuple(wrong) != self._last:
                self.scorer.forget()
                self._last = tuple(wrong)
            return anneal(self._posterior(wrong, noise), self.annealing)

        self._last: Units = ()
        units = [(self.units_of(pair.wrong)[0], self.units_of(pair.right)[0]) for pair in pairs]
        self.noise, tried = tune.choose(correct, self.noise, units, most_alarms=most_alarms, tell=tell)
        return tried

    def saved_noise(self) -> tuple[Noise, str]:
        """The noise to be kept, and what it counts."""
        if self.scorer.by_word:
            return self.noise.letters.using(weight=self.noise.weight, caution=self.noise.caution), "word"
        return self.noise, "character"

    def _letters(self) -> Noise:
        return self.noise.letters if self.scorer.by_word else self.noise

    def _posterior(self, units: Sequence[str], noise: Any = None) -> Posterior:
        noise = self.noise if noise is None else noise
        return Posterior(self.scorer, noise, units, guesses=GUESSES if noise.rates.edits else 0)

    def units_of(self, text: str) -> tuple[list[str], list[int]]:
        """The units of a line and where each begins."""
        units = self.scorer.split(text)
        if not units or not text.strip():
            raise UserError("the text is empty; give at least one character")
        if len(units) > self.longest:
            raise UserError(
                f"the text has {len(units)} units; allowed: up to {self.longest} a line: break it into sentences"
            )
        if not any(map(self.scorer.knows, units)):
            raise UserError(f"the run knows nothing in {text[:30]!r}; give text of the kind it was trained on")
        places, at = [], 0
        for unit in units:
            at = max(text.find(unit, at), at)
            places.append(at)
            at += len(unit)
        return units, places

    def _text(self, text: str, units: list[str], places: list[int], best: Units) -> tuple[str, list[Change]]:
        """The text with the changes put in where they belong, and the changes."""
        ends = [place + len(unit) for unit, place in zip(units, places, strict=True)]
        made, pieces, at = [], [], 0
        for one in joined(align(units, best)):
            begin = places[one.low] if one.low < len(places) else len(text)
            end = ends[one.high - 1] if one.high > one.low else begin
            after = self.scorer.join(best[one.begin : one.end])
            made.append(Change(begin, end, text[begin:end], after))
            pieces += [text[at:begin], after]
            at = end
        return "".join([*pieces, text[at:]]), made


def default_noise(scorer: Scorer) -> Noise:
    """Sounds for a vocabulary that is mostly Chinese characters; else keys."""
    chinese = sum(HAN[0] <= unit[0] for unit in scorer.units if unit) > len(scorer.units) / 2
    if chinese and not scorer.by_word:
        return Noise([SameSound(), NearSound()], CHARACTERS)
    return Noise([Keyboard()], LETTERS)
