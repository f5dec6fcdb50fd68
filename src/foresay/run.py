"""A trained model with its text side, ready to use: what `foresay.train` and `foresay.load` return.

run = foresay.load("runs/lstm")
run.score("to be or not to be")[0].nats      # -log P
run.perplexity(["a sentence", "another"])
run.generate("Once upon", length=200, temperature=0.8)
log_probs, state = run.step("to be")         # the distribution of what follows
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from foresay.decode.asked import Asked
from foresay.decode.beam import Beam
from foresay.decode.beams import Trail
from foresay.decode.correct.corrector import Corrected, Corrector
from foresay.decode.correct.saved import read_noise
from foresay.decode.fused import Fused
from foresay.decode.generate import Writing, generate
from foresay.decode.given import Given
from foresay.decode.sample import Decoder, Greedy, Sample
from foresay.decode.search import Limits, Search
from foresay.encode.encoder import State
from foresay.errors import UserError, nearest
from foresay.measuring import Measuring
from foresay.models.language_model import LanguageModel
from foresay.models.task import Task
from foresay.parts import Amount, Count, fits, make
from foresay.recipe import Recipe
from foresay.results import Scored, Written
from foresay.text.tokens import MASK, START, STOP, UNK, Tokens
from foresay.train.evaluate import perplexity
from foresay.translate import Length, Number

ELSEWHERE = {  # methods of other tasks, and who has them
    "embed": "vectors in context are given by a run of task bilm: foresay train elmo",
    "predict": "a run of task tagger, hmm, classifier or bag-of-words has it: foresay train pos, sentiment, ...",
    **dict.fromkeys(
        ("translate", "find", "align", "judge"), "a run of task seq2seq has it: foresay train translate-transformer"
    ),
}
PIECE = 1024  # tokens scored at a time; the state is carried between pieces


def _room(most: int) -> str:
    return f"length={most} at most, or shorten the prompt" if most > 0 else "shorten the prompt"


class Run(Measuring):
    """A model, its tokeniser and its recipe."""

    def __init__(self, folder: Path, recipe: Recipe, tokens: Tokens, model: Task):
        self.folder, self.recipe, self.tokens, self.model = folder, recipe, tokens, model

    if not TYPE_CHECKING:  # where types are checked, what is not there is a mistake

        def __getattr__(self, name):
            """Only of what is not there: a method of another task is told by who has it."""
            if name in ELSEWHERE and "recipe" in self.__dict__:
                task = self.recipe.task.part_name
                raise AttributeError(f"{self.folder} is of task {task} and has no {name}; {ELSEWHERE[name]}")
            return object.__getattribute__(self, name)  # which says what is wrong

    @cached_property
    def context(self) -> int | None:
        """How many tokens a model was trained on at a time that keeps them all, or whose positions end; else None."""
        encoder = getattr(self.model, "encoder", None)
        if self.model.conditional or encoder is None:  # with a source, nothing is begun anew
            return None
        return self.recipe.train.batches.longest if encoder.grows or encoder.longest is not None else None

    @property
    def ends_count(self) -> bool:
        """Whether a text given to `score` ends with <stop>: it does where the run was trained on lines."""
        return self.recipe.data.unit == "line"

    def _must_write(self) -> None:
        self._must_be_sequence()
        if not self.model.causal:
            self.model.begin(1)  # says why not

    @property
    def labels(self) -> tuple[str, ...]:
        """The labels that the run writes for; none where it was trained without `condition`."""
        return self.model.labels.names if getattr(self.model, "condition", None) is not None else ()

    def number_of(self, label: str | None) -> int | None:
        """The number of a label that the run writes for; None where it writes for none."""
        if not self.labels:
            if label is not None:
                raise UserError(f"label={label!r}, but {self.folder} writes for no labels; leave it out")
            return None
        if label not in self.labels:
            allowed = f"allowed: {', '.join(self.labels)}"
            given = "no label is given" if label is None else f"label={label!r} is none of this run's"
            raise UserError(f"{given}, and {self.folder} writes for one; {allowed}{nearest(str(label), self.labels)}")
        return self.labels.index(label)

    def written_for(self, label: str | None, rows: int) -> Any:
        """The model as it writes so many texts for a label."""
        number = self.number_of(label)
        given = None if number is None else torch.full((rows,), number, device=self.model.device)
        return self.model if given is None else Given(self.model, given)

    @torch.inference_mode()
    def score(self, texts: str | Sequence[str], *, label: str | None = None) -> list[Scored]:
        """-log P of each text and of each of its tokens, as the beginning of a document (or as a line).

        `label` is what they are given, where the run was trained for labels.
        """
        self._must_be_sequence()
        self.model.eval()
        number = self.number_of(label)
        return [self._score(text, number) for text in fits(list[str], list_of(texts), "texts")]

    def _score(self, text: str, label: int | None) -> Scored:
        ids = [*self.tokens.encode(text).tolist(), *([STOP] if self.ends_count else [])]
        log_probs = self._log_probs(torch.tensor([ids], dtype=torch.long, device=self.model.device), label)
        return Scored(text, self.tokens.pieces(ids), log_probs, not self.model.causal)

    def _log_probs(self, ids: Tensor, label: int | None) -> list[float]:
        if not self.model.causal:
            return self._given_others(ids)
        given = None if label is None else torch.tensor([label], device=self.model.device)
        if self.context is None:
            found, state = [], self.model.begin(1, given)
            for piece in ids.split(PIECE, 1) if ids.shape[1] else []:
                log_probs, state = self.model.score(piece, state=state)
                found += log_probs[0].tolist()
            return found
        # Windows of the trained length, <start> included; each but the first reads half a window again, for context.
        half = max((self.context - 1) // 2, 1)
        found = []
        for begin in range(0, ids.shape[1], half):
            window = ids[:, max(begin - half, 0) : begin + half]
            found += self.model.score(window, condition=given)[0][0].tolist()[-min(half, ids.shape[1] - begin) :]
        return found

    def _given_others(self, ids: Tensor) -> list[float]:
        """Windows of the trained length, each from the middle of the one before: a token stands where it sees most."""
        batches, number = self.recipe.train.batches, ids.shape[1]
        wide = max(batches.longest or getattr(batches, "chunk", PIECE), 2)
        begins = [*range(0, max(number - wide, 0), wide // 2), max(number - wide, 0)]
        found: list[float] = []
        for begin, after in zip(begins, [*begins[1:], number], strict=True):
            window = self.model.score(ids[:, begin : begin + wide])[0][0].tolist()
            upto = (begin + wide + after) // 2 if after < number else number  # half of what two windows share
            found += window[len(found) - begin : upto - begin]
        return found

    def perplexity(self, texts: str | Sequence[str]) -> float:
        """exp of the mean -log P per token over all texts."""
        scored = self.score(texts)
        tokens = sum(len(s.log_probs) for s in scored)
        if not tokens:
            raise UserError("the text has no tokens; give at least one")
        return perplexity(math.fsum(s.nats for s in scored) / tokens)

    def generate(
        self,
        prompt: str = "",
        *,
        length: int = 200,
        number: int = 1,
        temperature: float = 1.0,
        decoder: Decoder | None = None,
        seed: int = 1,
        stop: str | Sequence[str] = (),
        on_text: Any = None,
        label: str | None = None,
    ) -> list[str]:
        """`number` texts of up to `length` tokens that go on from the prompt; temperature 0 is greedy.

        `label` is what they are to be of, where the run was trained for labels. `decoder` (such as `Sample(top_p=0.9)`)
        takes the place of `temperature`. A text ends before the first of the strings in `stop` that it comes to.
        `on_text` is called with the first text as it grows.
        """
        asked = self.asked(
            prompt,
            length=length,
            number=number,
            temperature=temperature,
            decoder=decoder,
            seed=seed,
            stop=stop,
            label=label,
        )
        grown: list[int] = []

        def show(chosen: list[int]) -> None:
            grown.append(chosen[0])
            on_text(self.tokens.decode(grown))

        how = asked.how
        rows = generate(
            self.written_for(label, asked.number),
            [asked.ids] * asked.number,
            asked.decoder,
            length=how.length,
            seed=how.seed,
            context=how.context,
            ends=how.ends,
            on_step=show if on_text else None,
        )
        return [self.joined(asked.prompt, asked.ids, row, asked.stops) for row in rows]

    def asked(
        self,
        prompt: str = "",
        *,
        length: int = 200,
        number: int = 1,
        temperature: float = 1.0,
        decoder: Decoder | None = None,
        seed: int = 1,
        stop: str | Sequence[str] = (),
        label: str | None = None,
    ) -> Asked:
        """What `generate` is asked, checked and in ids: for who writes it beside others."""
        self._must_write()
        length, number = fits(Length, length, "length"), fits(Number, number, "number")
        temperature, seed = fits(Amount, temperature, "temperature"), fits(int, seed, "seed")
        prompt = fits(str, prompt, "prompt")
        stops = fits(list[str], list_of(stop), "stop")
        if not all(stops):
            raise UserError("stop='' is in every text; give strings that are not empty")
        if decoder is not None:
            decoder = make("decoder", decoder)
        self.model.eval()
        if decoder is None:
            decoder = Sample(temperature=float(temperature)) if temperature > 0 else Greedy()
        last = 4 * max((len(one) for one in stops), default=0) + 8  # tokens: one may be a quarter of a character

        def ended(row: list[int]) -> bool:
            text = self.tokens.decode(row[-last:])
            return any(one in text for one in stops)

        how = Writing(length, seed, self.context, ended if stops else None)
        ids = self.tokens.encode(prompt).tolist()
        return Asked(prompt, ids, number, decoder, how, stops, self.number_of(label))

    def correct(
        self, texts: str | Sequence[str], *, noise: str | Path | None = None, number: int = 1, seed: int = 1
    ) -> list[Corrected]:
        """What was meant by each text, by this model and a noise model (a file of `--tune`, or the default one)."""
        self._must_be_sequence()
        given = [texts] if isinstance(texts, str) else fits(list[str] | tuple[str, ...], texts, "texts")
        corrector = Corrector([self], None if noise is None else read_noise(noise))
        return [corrector.correct(text, number=number, seed=seed) for text in given]

    @torch.inference_mode()
    def search(
        self,
        prompts: str | Sequence[str] = "",
        *,
        length: int = 200,
        search: Search | None = None,
        least: int = 0,
        banned: Sequence[str] = (),
        required: Sequence[str] = (),
        fuse: Sequence[tuple[Run, float]] = (),
        trail: Trail | None = None,
        label: str | None = None,
    ) -> list[list[Written]]:
        """The best texts that go on from each prompt, best first: by default those of `Beam(width=5)`.

        No text has one of the tokens in `banned`, every one has those in `required`, and it has at least `least`
        tokens and at most `length`. `fuse` adds weight * log P of other runs of the same vocabulary. `trail` is filled
        with every step of the first search.
        """
        self._must_write()
        given = fits(list[str], list_of(prompts), "prompts")
        how = Beam() if search is None else make("search", search)
        if trail is not None and not isinstance(how, Beam):
            raise UserError("a trail is of a beam search; leave it out, or search with Beam")
        banned, required = fits(list[str], list_of(banned), "banned"), fits(list[str], list_of(required), "required")
        both = sorted({*banned} & {*required})
        if both:
            raise UserError(f"{both[0]!r} is banned and required; leave it out of one of the two")
        ids = [self.tokens.encode(prompt).tolist() for prompt in given]
        longest = max(map(len, ids), default=0)
        if self.context is not None and 1 + longest + length > self.context:
            raise UserError(
                f"a prompt of {longest} tokens and length={length}; a search keeps all of it, and <start>, in the "
                f"{self.context} tokens that the model was trained on: {_room(self.context - 1 - longest)}"
            )
        limits = Limits(
            fits(Length, length, "length"),
            fits(Count, least, "least"),
            tuple(self._token(one, "banned") for one in banned),
            tuple(self._token(one, "required") for one in required),
        )
        self.model.eval()
        model = self.written_for(label, len(ids))
        model = Fused(model, [(self._beside(other), weight) for other, weight in fuse]) if fuse else model
        more = {} if trail is None else {"trail": trail}
        found = how.find(model, ids, limits, **more)
        return [
            [Written(self.joined(prompt, own, one.ids), self.tokens.pieces(one.ids), one) for one in best]
            for prompt, own, best in zip(given, ids, found, strict=True)
        ]

    def _beside(self, other: Run) -> Task:
        """The model of another run, if it reads the same symbols."""
        other._must_be_sequence()
        if other.labels:
            raise UserError(f"{other.folder} writes for a label, and nothing can be fused with it; use another model")
        if other.model.conditional:
            raise UserError(
                f"{other.folder} writes from a source, and nothing can be fused with it; use a language model"
            )
        mine, theirs = (run.tokens.pieces(range(len(run.tokens))) for run in (self, other))
        if mine != theirs:
            raise UserError(
                f"{other.folder} has another vocabulary than {self.folder}; train both with the same tokens on one text"
            )
        return other.model.eval()

    def _token(self, text: str, name: str) -> int:
        """The one token that a text is."""
        ids = self.tokens.encode(fits(str, text, name)).tolist()
        if len(ids) != 1 or ids[0] == UNK:
            how = "unknown" if UNK in ids else f"{len(ids)} tokens"
            raise UserError(f"{name}={text!r} is {how}; allowed: texts that are one token of this run")
        return ids[0]

    def joined(self, prompt: str, ids: list[int], row: list[int], stops: Sequence[str] = ()) -> str:
        """The prompt as given and what was written, up to the first of `stops`; the tokeniser says what is between."""
        whole, begun = self.tokens.decode([*ids, *row]), self.tokens.decode(ids)
        begun, new = (prompt, whole[len(begun) :]) if whole.startswith(begun) else ("", whole)
        end = min((place for one in stops if (place := new.find(one)) >= 0), default=len(new))
        if begun[-1:].isspace() and new[:1].isspace():  # the blank that was typed is the one that is written
            begun = begun[:-1]
        return begun + new[:end]

    @torch.inference_mode()
    def step(self, text: str, state: State | None = None) -> tuple[Tensor, State]:
        """log P (V,) of the token after `text`, read from the beginning or on from `state`."""
        self._must_be_sequence()
        self.model.eval()
        state = self.model.begin(1) if state is None else state
        ids = torch.tensor(
            [self.tokens.encode(fits(str, text, "text")).tolist()], dtype=torch.long, device=self.model.device
        )
        log_probs, after = self.model.step(ids.view(1, -1), state)
        return log_probs[0], after

    @torch.inference_mode()
    def expect(self, before: str, after: str = "") -> Tensor:
        """log P (V,) of the token between two texts; a model that reads from left to right looks at `before` alone."""
        if self.model.causal:
            return self.step(before)[0]
        self.model.eval()
        first, last = (self.tokens.encode(text).tolist() for text in fits(list[str], [before, after], "texts"))
        ids = torch.tensor([[*first, MASK, *last, *([STOP] if self.ends_count else [])]], device=self.model.device)
        model: Any = self.model
        return model.fill(ids, torch.tensor([len(first)], device=self.model.device))[0]

    @torch.inference_mode()
    def trace(self, text: str) -> dict[str, Any]:
        """What the model computes while it reads a text: its tokens, <start> first, and by name a row for each.

        `encoder.0.f` (T, H) is the gate f of the lowest layer, `encoder.1.h` the state h of the next.
        """
        if not isinstance(self.model, LanguageModel):
            raise UserError(
                f"task {getattr(self.model, 'part_name', '')} has no trace; allowed: a neural model of task "
                "language-model"
            )
        self.model.eval()
        ids = self.tokens.encode(fits(str, text, "text")).tolist()
        found = self.model.trace(torch.tensor([ids], dtype=torch.long, device=self.model.device).view(1, -1))
        return {"tokens": self.tokens.pieces([START, *ids]), **{name: value[0] for name, value in found.items()}}


def list_of(texts: Any) -> Any:
    """A text by itself as a list of one."""
    if isinstance(texts, str):
        return [texts]
    return list(texts) if isinstance(texts, Sequence) else texts
