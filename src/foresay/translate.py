"""What a run of a sequence-to-sequence model does: it writes from a source, scores pairs, aligns, and is measured.

run = foresay.load("runs/translate")
run.translate(["A man sleeps.", "Two dogs run."])              # by beam search
run.search("A man sleeps.", search=Beam(width=5, best=3))
run.score([("A man sleeps.", "Ein Mann schläft.")])[0].nats    # -log P(target | source)
run.align("A man sleeps.", "Ein Mann schläft.").weights        # (T, S)
run.judge(split="test").overlap.bleu
"""

from __future__ import annotations

import copy
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any

import numpy as np
import torch
from annotated_types import Gt, Le
from torch import Tensor

from foresay import parts
from foresay.data.pair_prepare import LEAST, coverage
from foresay.data.pair_shards import PairShards
from foresay.data.pairs import Pairs
from foresay.data.row_batches import padded
from foresay.data.shards import Shards
from foresay.decode.beam import Beam
from foresay.decode.beams import Trail
from foresay.decode.fused import Fused
from foresay.decode.generate import generate
from foresay.decode.given import Given
from foresay.decode.sample import Decoder, Greedy, Sample
from foresay.decode.search import Found, Limits, Search
from foresay.errors import UserError
from foresay.measuring import Measuring
from foresay.models.seq2seq.task import Measure, Seq2Seq
from foresay.parts import Amount, Count, Size, fits
from foresay.text.tokens import PAD, STOP, Tokens
from foresay.train.evaluate import Measured, evaluate
from foresay.train.overlap import Overlap, overlap
from foresay.train.resume import own_text

ROWS = 64  # sources searched at a time, at the most
ROUND = 512  # sources after which those that are done are told of
SPAN = 16  # tokens that their lengths may differ by
LOOKED = 63  # tokens that are written to be looked at; a picture has room for these and <stop>
Length = Annotated[int, Gt(0), Le(10_000_000)]
Number = Annotated[int, Gt(0), Le(100_000)]


@dataclass(frozen=True)
class Aligned:
    """Which places of the source each target symbol looked at."""

    source: list[str]
    target: list[str]
    weights: list[list[float]]  # a row for each target symbol

    def as_dict(self) -> dict[str, Any]:
        return {"source": self.source, "target": self.target, "weights": self.weights}


@dataclass(frozen=True)
class Judged:
    """What an evaluation of pairs gives: of the targets their probability, of what is written how near it comes."""

    measured: Measured
    overlap: Overlap | None  # None: no measure was asked for
    written: list[str]

    def as_dict(self) -> dict[str, Any]:
        return self.measured.as_dict() | (self.overlap.as_dict() if self.overlap else {})


class Translating(Measuring):
    """The part of a run that knows of sources; loading.py joins it with the rest."""

    @property
    def source_tokens(self) -> Tokens:
        return self.recipe.data.source_tokens or self.tokens

    @property
    def _task(self) -> Seq2Seq:
        assert isinstance(self.model, Seq2Seq)
        return self.model.eval()

    def conditions(self, sources: Sequence[str]) -> Tensor:
        """The sources as the model takes them, (B, S); what cannot be right is said."""
        if not sources:
            raise UserError("no source is given; give at least one text")
        rows, longest = [], self._task.encoder.longest
        for number, text in enumerate(sources, 1):
            ids = self.source_tokens.encode(self.recipe.data.source_of(text)).tolist()
            if not ids or text.isspace():
                raise UserError(f"source {number} of {len(sources)} is empty ({text!r}); give a text")
            if longest is not None and len(ids) >= longest:
                raise UserError(
                    f"source {number} has {len(ids) + 1} tokens, <stop> among them; encoder.positions=learnt ends at "
                    f"{longest}: shorten it, or train with more"
                )
            rows.append([*ids, STOP])
        self._warn(sources, rows)
        return padded(rows, max(map(len, rows)))[0].to(self.model.device)

    def _warn(self, sources: Sequence[str], rows: list[list[int]]) -> None:
        """Says which sources are strange to the model: longer than any it learnt from, or in the targets' language."""
        longest = getattr(self.recipe.train.batches, "longest", None)
        long = [n for n, row in enumerate(rows) if longest is not None and len(row) > longest]
        if long:
            warnings.warn(
                f"{len(long)} of {len(sources)} sources have more tokens than training read, the first "
                f"{len(rows[long[0]])} with train.batches.longest={longest}; expect little of them",
                stacklevel=4,
            )
        known = self._task.known.tolist()
        strange = [n for n, row in enumerate(rows) if coverage(row[:-1], known) < LEAST]
        if strange:
            share, text = coverage(rows[strange[0]][:-1], known), sources[strange[0]]
            if self.recipe.data.pictured:
                warnings.warn(
                    f"{len(strange)} of {len(sources)} pictures have under {100 * LEAST:.0f} % of their levels from "
                    f"train pictures; expect little of them. The first has {100 * share:.0f} %: {text[:60]!r}",
                    stacklevel=4,
                )
                return
            reverse = self.recipe.data.reverse
            back = " (data.reverse=true: the second of data.train's sides is the source)" if reverse else ""
            warnings.warn(
                f"{len(strange)} of {len(sources)} sources have under {100 * LEAST:.0f} % of their tokens from train "
                f"sources; are the languages swapped{back}? The first has {100 * share:.0f} %: {text[:60]!r}",
                stacklevel=4,
            )

    def _length(self, size: int, length: int | None) -> int:
        """The most symbols to write: those asked for, else by the source's own size, so that no other counts."""
        size = -(-size // getattr(self.recipe.data.read, "height", 1))  # columns, of pictures
        most, longest = 3 * SPAN * -(-size // SPAN) + 50, self._task.writer.longest
        found = most if length is None else fits(Length, length, "length")
        return found if longest is None else min(found, longest - 1)

    def _check_room(self, length: int | None) -> None:
        """Says, once for all sources, that a writer has no positions for all that was asked for."""
        longest = self._task.writer.longest
        if length is not None and longest is not None and fits(Length, length, "length") >= longest:
            warnings.warn(
                f"length={length}, and writer.positions=learnt ends at {longest}, <stop> among them: at most "
                f"{longest - 1} tokens are written",
                stacklevel=4,
            )

    def _target(self, text: str) -> list[int]:
        """A target's tokens and <stop>, as many as the writer has positions for."""
        ids, longest = [*self.tokens.encode(text).tolist(), STOP], self._task.writer.longest
        if longest is not None and len(ids) > longest:
            raise UserError(
                f"the target {text[:60]!r} has {len(ids)} tokens, <stop> among them; writer.positions=learnt ends at "
                f"{longest}: shorten it, or train with more"
            )
        return ids

    def _together(self, condition: Tensor) -> Iterator[tuple[list[int], Tensor, int]]:
        """Sources of like size: their places, themselves, and a size that they have in common."""
        sizes = (condition != PAD).sum(1).tolist()
        for span in dict.fromkeys(-(-size // SPAN) for size in sizes):
            own = [row for row, size in enumerate(sizes) if -(-size // SPAN) == span]
            for begin in range(0, len(own), ROWS):
                rows = own[begin : begin + ROWS]
                widest = max(sizes[row] for row in rows)
                yield rows, condition[torch.tensor(rows, device=condition.device), :widest], SPAN * span

    def write(
        self,
        prompt: str | Sequence[str] = "",
        *,
        length: int | None = None,
        number: int = 1,
        temperature: float = 0.0,
        decoder: Decoder | None = None,
        seed: int = 1,
    ) -> list[str]:
        """`number` texts for each source, greedily or by sampling; temperature 0 is greedy."""
        sources, number, seed = texts_of(prompt, "prompt"), fits(Number, number, "number"), fits(int, seed, "seed")
        temperature = fits(Amount, temperature, "temperature")
        if decoder is None:
            decoder = Sample(temperature=float(temperature)) if temperature > 0 else Greedy()
        how, written = parts.make("decoder", decoder), {}
        self._check_room(length)
        for rows, own, size in self._together(self.conditions(sources).repeat_interleave(number, 0)):
            given, most = Given(self._task, own), self._length(size, length)
            written |= zip(
                rows, generate(given, [[]] * len(rows), how, length=most, seed=seed, numbers=rows), strict=True
            )
        return [self.tokens.decode(written[row]) for row in range(len(written))]

    @torch.inference_mode()
    def find(
        self,
        sources: Sequence[str],
        *,
        length: int | None = None,
        search: Search | None = None,
        least: int = 0,
        banned: Sequence[int] = (),
        required: Sequence[int] = (),
        beside: Sequence[tuple[Any, float]] = (),
        trail: Trail | None = None,
        on_found: Callable[[list[Found]], None] | None = None,
    ) -> list[list[Found]]:
        """The best targets of each source, best first; sources of like length are searched together.

        `on_found` is called with those of each source, in their order, as soon as all before them are found.
        """
        how = Beam(alpha=1.0) if search is None else parts.make("search", search)
        if trail is not None and not isinstance(how, Beam):
            raise UserError("a trail is of a beam search; leave it out, or search with Beam")
        self._check_room(length)
        found: list[list[Found]] = []
        for some in self.conditions(sources).split(ROUND):
            round_: dict[int, list[Found]] = {}
            for rows, own, size in self._together(some):
                model: Any = Given(self._task, own)
                model = Fused(model, beside) if beside else model
                limits = Limits(self._length(size, length), fits(Count, least, "least"), tuple(banned), tuple(required))
                more = {"trail": trail} if trail is not None and not found and rows[0] == 0 else {}
                round_ |= zip(rows, how.find(model, [[]] * len(rows), limits, **more), strict=True)
            found += [round_[row] for row in range(len(some))]
            if on_found is not None:
                for best in found[-len(some) :]:
                    on_found(best)
        return found

    def translate(
        self, sources: str | Sequence[str], *, search: Search | None = None, length: int | None = None
    ) -> list[str]:
        """The best target of each source, by default that of `Beam(width=5, alpha=1)`."""
        given = texts_of(sources, "sources")
        return [self.tokens.decode(best[0].ids) for best in self.find(given, search=search, length=length)]

    @torch.inference_mode()
    def log_probs(self, source: str, target: str) -> tuple[list[str], list[float]]:
        """log P of each token of a target, <stop> too, given its source."""
        source, target = fits(str, source, "source"), fits(str, target, "target")
        if not target.strip():
            raise UserError(f"the target of {source[:60]!r} is empty; give a text")
        ids = self._target(target)
        given = torch.tensor([ids], dtype=torch.long, device=self.model.device)
        found, state = self._task.score(given[:, :-1], None, self.conditions([source]))
        last = self._task.next_log_prob(given[:, -1:], state)
        return self.tokens.pieces(ids), [*found[0].tolist(), last.item()]

    @torch.inference_mode()
    def align(self, source: str, target: str | None = None) -> Aligned:
        """How much each target symbol looked at each of the source; without a target, of what the model writes (63)."""
        condition = self.conditions([fits(str, source, "source")])
        if target is not None and not fits(str, target, "target").strip():
            raise UserError("target is empty; give a text, or leave it out for what the model writes")
        ids = self._written(source, condition.shape[1]) if target is None else self._target(target)
        weights = self._task.align(condition, torch.tensor([ids], dtype=torch.long, device=condition.device))[0]
        pieces = self.source_tokens.pieces(condition[0].tolist())
        return Aligned(pieces, self.tokens.pieces(ids), weights.tolist())

    def _written(self, source: str, size: int) -> list[int]:
        """What the model writes, as far as a picture has room, and <stop> where it has come to its end."""
        most = min(self._length(size, None), LOOKED)
        best = self.find([source], length=most)[0][0]
        if not best.finished:
            warnings.warn(f"what is written has not ended after {most} tokens, and is shown up to there", stacklevel=3)
        return [*best.ids, *([STOP] if best.finished else [])]

    def _limited(self, shards: PairShards, limit: int | None) -> tuple[Shards, int | None]:
        """The first so many pairs, whole."""
        return first_of(shards, limit), None

    def judge(
        self,
        data: str | Sequence[str] | None = None,
        *,
        split: str = "valid",
        limit: int | None = None,
        encoding: str | None = None,
        columns: Sequence[str | int] | None = None,
        search: Search | None = None,
        length: int | None = None,
        measures: Sequence[Measure] | None = None,
    ) -> Judged:
        """Perplexity of the targets, and how near to them comes what is written for the sources.

        `data` is a table, read from `columns` where these are given, or two files; of the run's own pairs, `split` is
        taken. With `limit`, of the first so many.
        `measures` are those of the recipe, by default BLEU, chrF and exact match; with none, nothing is written.
        """
        asked = (
            self._task.measures
            if measures is None
            else fits(list[Measure], [measures] if isinstance(measures, str) else list(measures), "measures")
        )
        read = self.reading(encoding, columns)
        part, whole = self.held_out(data, split, read)
        shards = first_of(whole, limit)
        measured = evaluate(self._task, self.recipe.train.batches, shards)
        if not asked:
            return Judged(measured, None, [])
        corpus = own_text(self.folder, self.recipe) if data is None else self._corpus(data, split, read)
        pairs = list(corpus.rows(part, self.recipe.seed))[: shards.documents]
        self._check_same(pairs, shards, split)
        written = self.translate([source for _, source, _ in pairs], search=search, length=length)
        return Judged(measured, overlap(written, [target for _, _, target in pairs], asked), written)

    def _check_same(self, pairs: list[Any], shards: PairShards, split: str) -> None:
        """Refuses texts that are no longer those that were prepared, on either side."""
        kept = len(pairs) == shards.documents
        for side, tokens, prepared in ((1, self.source_tokens, shards.source), (2, self.tokens, shards)):
            ids = [np.append(tokens.encode(pair[side]), STOP) for pair in pairs]
            kept = kept and np.array_equal(np.concatenate(ids), prepared.slice(0, len(prepared)))
        if not kept:
            raise UserError(
                f"the {split} pairs have changed since {self.folder} was trained; put them back, or give pairs to "
                "measure on"
            )

    def _corpus(self, data: Any, split: str, read: Any) -> Pairs:
        """Other pairs, read as the run's were."""
        return self.recipe.data.another(data if isinstance(data, str) else list(data), read)


def texts_of(given: Any, name: str) -> list[str]:
    """A text by itself as a list of one."""
    listed = [given] if isinstance(given, str) else list(given) if isinstance(given, Sequence) else given
    return fits(list[str], listed, name)


def first_of(shards: PairShards, number: int | None) -> PairShards:
    """The first so many pairs; characters and bytes by their share of the tokens."""
    if number is None or fits(Size, number, "limit") >= shards.documents:
        return shards
    found, total = copy.copy(shards), len(shards)
    found.source = copy.copy(shards.source)
    for side in (found, found.source):
        side.ends = side.ends[:number]
        side.meta = replace(side.meta, documents=number, tokens=int(side.ends[-1]))
    found.lines = found.lines[:number]
    found.characters, found.bytes = (round(all_ * len(found) / total) for all_ in (shards.characters, shards.bytes))
    return found
