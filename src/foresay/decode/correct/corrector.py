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
from foresay.decode.correct.casing import cased
from foresay.decode.correct.chain import Annealing, anneal
from foresay.decode.correct.confusions import Confusions
from foresay.decode.correct.measure import Judged
from foresay.decode.correct.noise import Noise
from foresay.decode.correct.pairs import Pair
from foresay.decode.correct.posterior import Posterior, Units
from foresay.decode.correct.scorer import LanguageRun, Scorer
from foresay.decode.correct.usual import default_noise
from foresay.decode.correct.words import WordNoise
from foresay.errors import UserError
from foresay.parts import Size, fits, shown

MARKS = 5  # <start>, <stop>, and what may be put in
LONGEST = 500  # units of a line; longer ones are refused, for every unit is looked at
GUESSES = 5  # of the model's own for a gap, where letters may have been left out


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


@dataclass(frozen=True)
class Line:
    """A text in units, as the runs read them, and where each begins and ends."""

    text: str
    units: Units
    begins: list[int]
    ends: list[int]


class Corrector:
    """Language models and a noise model that correct lines of text."""

    def __init__(
        self,
        runs: Sequence[LanguageRun],
        noise: Noise | None = None,
        *,
        weights: Sequence[float] | None = None,
        annealing: Annealing = Annealing(),  # noqa: B008 - frozen
    ):
        if not isinstance(runs, list | tuple) or not runs or not all(hasattr(run, "model") for run in runs):
            raise UserError(f"runs={shown(runs)}; allowed: a list of one run or more, such as [foresay.load(folder)]")
        for run in runs:
            if not run.model.sequence:
                raise UserError(f"{run.folder} is no language model and knows no P of a text; train one, as kneser-ney")
        if noise is not None and not isinstance(noise, Noise):
            raise UserError(f"noise={shown(noise)}; allowed: a Noise, such as read_noise(file) gives")
        self.scorer, self.annealing = Scorer(runs, weights), annealing
        contexts = [run.context - MARKS for run in runs if run.context is not None]
        self.longest = min([LONGEST, *contexts])
        self.noise: Noise | WordNoise = self._built(noise if noise is not None else default_noise(self.scorer))

    def _built(self, noise: Noise) -> Noise | WordNoise:
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
        number, seed = fits(Size, number, "number"), fits(int, seed, "seed")
        why_not = self.unfit(text)
        if why_not is not None:
            raise UserError(why_not)
        line = self._line(text)
        posterior = self._posterior(line.units)
        best = anneal(posterior, self.annealing, seed)
        found = sorted(posterior.visited().items(), key=lambda one: (one[0] != best, -one[1], one[0]))[:number]
        before, after, *nats = -self.scorer.log_probs([line.units, best, *(one for one, _ in found)])
        readings = [
            Candidate(self._text(line, one)[0], float(own), log) for (one, log), own in zip(found, nats, strict=True)
        ]
        whole, made = self._text(line, best)
        self.scorer.forget()
        return Corrected(text, whole, float(before), float(after), made, readings)

    def judge(self, pair: Pair, seed: int = 1) -> Judged:
        """A pair with what becomes of its wrong side, in units; one that cannot be corrected stays as it is."""
        wrong, right = self._line(pair.wrong).units, self._line(pair.right).units
        best = self._best(wrong, self.noise, seed)
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
        last: Units = ()

        def correct(wrong: Sequence[str], noise: Noise | WordNoise) -> Units:
            nonlocal last
            if tuple(wrong) != last:  # the same text with another noise: what the model said of it stays
                self.scorer.forget()
                last = tuple(wrong)
            return self._best(last, noise)

        units = [(self._line(pair.wrong).units, self._line(pair.right).units) for pair in pairs]
        self.noise, tried = tune.choose(correct, self.noise, units, most_alarms=most_alarms, tell=tell)
        return tried

    def saved_noise(self) -> tuple[Noise, str]:
        """The noise to be kept, and what it counts."""
        if isinstance(self.noise, WordNoise):
            return self.noise.letters.using(weight=self.noise.weight, caution=self.noise.caution), "word"
        return self.noise, "character"

    def unfit(self, text: str) -> str | None:
        """Why a text cannot be corrected; None where it can."""
        units = self._line(fits(str, text, "text")).units
        if not units or not text.strip():
            return "the text is empty; give at least one character"
        return self._unfit(units)

    def _unfit(self, units: Units) -> str | None:
        if len(units) > self.longest:
            return f"the text has {len(units)} units; allowed: up to {self.longest} a line: break it into sentences"
        if not any(map(self._understood, units)):
            start = self.scorer.join(units[:30])[:30]
            return f"the run knows nothing in {start!r}; give text of the kind it was trained on"
        return None

    def _understood(self, unit: str) -> bool:
        """Whether a unit is known, or one that shares a letter with it may have been meant."""
        return self.scorer.knows(unit) or any(
            other != unit and set(other) & set(unit) for other in self.noise.candidates(unit)
        )

    def _best(self, units: Units, noise: Noise | WordNoise, seed: int = 1) -> Units:
        if not units or self._unfit(units) is not None:
            return units
        return self.scorer.flat(anneal(self._posterior(units, noise), self.annealing, seed))

    def _letters(self) -> Noise:
        return self.noise.letters if isinstance(self.noise, WordNoise) else self.noise

    def _posterior(self, units: Units, noise: Noise | WordNoise | None = None) -> Posterior:
        noise = self.noise if noise is None else noise
        return Posterior(self.scorer, noise, units, guesses=GUESSES if noise.rates.edits else 0)

    def _line(self, text: str) -> Line:
        spelt, begins, at = self.scorer.split(text), [], 0
        for unit in spelt:
            at = max(text.find(unit, at), at)
            begins.append(at)
            at += len(unit)
        ends = [begin + len(unit) for begin, unit in zip(begins, spelt, strict=True)]
        return Line(text, tuple(map(self.scorer.normal, spelt)), begins, ends)

    def _text(self, line: Line, best: Units) -> tuple[str, list[Change]]:
        """The text with the changes put in where they belong, and the changes."""
        made, pieces, at, words = [], [], 0, self.scorer.flat(best)
        for one in joined(align(line.units, words)):
            begin = line.begins[one.low] if one.low < len(line.begins) else len(line.text)
            end = line.ends[one.high - 1] if one.high > one.low else begin
            after = self.scorer.join(words[one.begin : one.end])
            if self.scorer.lowers:
                after = cased(after, line.text, begin, end)
            made.append(Change(begin, end, line.text[begin:end], after))
            pieces += [line.text[at:begin], after]
            at = end
        return "".join([*pieces, line.text[at:]]), made
