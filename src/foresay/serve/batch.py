"""Rows that are written together, each for a request of its own: a row joins between two steps and leaves when it ends.

A row's text depends on its prompt, its seed and its number alone, as decode/generate.py has it: noise is the row's own,
and a choice that its neighbours' presence could have changed is made again by the row alone. On a CPU the model reads
such a row anew; on a GPU the whole text is written alone, and told from there on.

Knows only the protocol of a sequence model (begin, step, reorder), and how states are joined.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor

from foresay.decode.asked import Asked
from foresay.decode.chance import gumbel, keys
from foresay.decode.generate import ROOM, generate, kept_from, padded, widened
from foresay.decode.given import Given
from foresay.decode.sample import Decoder
from foresay.decode.search import NEVER, margin_for
from foresay.encode.encoder import joined
from foresay.parts import describe
from foresay.text.tokens import STOP

WIDER = 256  # tokens that rows get room for at a time


@dataclass(frozen=True)
class Chosen:
    """One token of a text: which it is, its log P, and the likeliest in its place with theirs."""

    id: int
    log_prob: float
    top: list[tuple[int, float]]


@dataclass(eq=False)
class Row:
    """A text that is being written. `tell` is called with each token, `end` with why it ended: stop or length."""

    asked: Asked
    number: int
    tell: Callable[[Chosen], None]
    end: Callable[[str], None]
    top: int = 0  # how many of the likeliest are told of
    written: list[int] = field(default_factory=list)
    kept: int = 0  # where the part that the model has read begins
    rest: deque[int] | None = None  # what was written alone, and is still to be told
    ended: str | None = None

    def __post_init__(self) -> None:
        self.alike = str(describe(self.asked.decoder))  # rows that have it in common choose together

    @property
    def text(self) -> list[int]:
        """The prompt's ids and those written."""
        return self.asked.ids + self.written

    def take(self, chosen: int, log_prob: float, top: list[tuple[int, float]]) -> None:
        """A token was chosen; the text may have come to its end, also where nothing can follow."""
        how = self.asked.how
        if chosen == STOP or log_prob == -torch.inf:
            self.ended = "stop"
            return
        self.written.append(chosen)
        self.tell(Chosen(chosen, log_prob, top))
        if how.ends is not None and how.ends(self.written):
            self.ended = "stop"
        elif len(self.written) >= how.length:
            self.ended = "length"


class Batch:
    """The rows of one model; `join` takes new ones in, `step` gives every row its next token."""

    def __init__(self, model: Any, context: int | None = None):
        self.model, self.context, self.device = model, context, model.device
        self.margin = 0.0 if model.steady else margin_for(model)
        self.never = torch.tensor(NEVER, device=self.device)
        self.rows: list[Row] = []
        self.state: Any = None
        self.log_probs = self.texts = self.sizes = self.kept = self.keys = self.never  # of no row yet

    @property
    def asks(self) -> bool:
        """Whether an unsure choice is asked of the model again at once."""
        return self.device.type == "cpu"

    @torch.inference_mode()
    def join(self, rows: Sequence[Row]) -> None:
        """New rows: the model reads their prompts together."""
        sizes = torch.tensor([len(row.text) for row in rows])
        for row, kept in zip(rows, kept_from(sizes, torch.zeros_like(sizes), self.context).tolist(), strict=True):
            row.kept = kept
        if rows:
            self._take_in(rows)

    @torch.inference_mode()
    def step(self) -> None:
        """A token for every row; those that have come to their end leave, and the model reads what was chosen."""
        if not self.rows:
            return
        chosen = self._choose()
        for row in self.rows:
            if row.ended is not None:
                row.end(row.ended)
        self._go_on(chosen)

    @torch.inference_mode()
    def drop(self, rows: Iterable[Row]) -> None:
        """Rows that nobody waits for any more."""
        gone = {id(row) for row in rows}
        self._keep([place for place, row in enumerate(self.rows) if id(row) not in gone])

    def _choose(self) -> Tensor:
        log_probs = self.log_probs.index_fill(1, self.never, -torch.inf)
        chosen = torch.zeros(len(self.rows), dtype=torch.long, device=self.device)
        for decoder, places in self._by_decoder():
            at = torch.tensor(places, device=self.device)
            own, texts = log_probs[at], self.texts[at]
            noise = gumbel(self.keys[at], self._steps(places), own.shape[1]) if decoder.draws else own
            found, clear = decoder.choose(own, texts, noise, self.margin)
            for n in [] if clear is None else (~clear).nonzero()[:, 0].tolist():
                if self.rows[places[n]].rest is None:
                    log_probs[places[n]], found[n] = self._alone(self.rows[places[n]], own[n], noise[n : n + 1])
            chosen[at] = found
        for place, row in enumerate(self.rows):
            if row.rest is not None:
                chosen[place] = row.rest.popleft() if row.rest else STOP
        self._note(chosen, log_probs)
        return chosen

    def _by_decoder(self) -> Iterable[tuple[Decoder, list[int]]]:
        """The places of the rows that choose alike."""
        found: dict[str, tuple[Decoder, list[int]]] = {}
        for place, row in enumerate(self.rows):
            found.setdefault(row.alike, (row.asked.decoder, []))[1].append(place)
        return found.values()

    def _steps(self, places: list[int]) -> Tensor:
        return torch.tensor([len(self.rows[place].written) for place in places], device=self.device)

    def _alone(self, row: Row, log_probs: Tensor, noise: Tensor) -> tuple[Tensor, Tensor]:
        """What the model says after a row with no other beside it, and the choice."""
        model, asked = self._given([row]), row.asked
        if not self.asks:
            whole = generate(
                model, [asked.ids], asked.decoder, length=asked.how.length, seed=asked.how.seed,
                context=asked.how.context, ends=asked.how.ends, numbers=[row.number],
            )[0]  # fmt: skip
            row.rest = deque(whole[len(row.written) :])
            return log_probs, torch.tensor(STOP, device=self.device)
        text = torch.tensor([row.text], dtype=torch.long)
        found = model.step(text[:, row.kept :], model.begin(1))[0].index_fill(1, self.never, -torch.inf)
        chosen, _ = asked.decoder.choose(found, text, noise if asked.decoder.draws else found)
        return found[0], chosen[0]

    def _note(self, chosen: Tensor, log_probs: Tensor) -> None:
        """Tells every row of its token."""
        of_chosen = log_probs.gather(1, chosen[:, None])[:, 0].tolist()
        most = min(max(row.top for row in self.rows), log_probs.shape[1])
        best, ids = (found.tolist() for found in log_probs.topk(most, 1)) if most else ([], [])
        for place, (row, id, log_prob) in enumerate(zip(self.rows, chosen.tolist(), of_chosen, strict=True)):
            top = list(zip(ids[place], best[place], strict=True))[: row.top] if row.top else []
            row.take(id, log_prob, top)

    def _go_on(self, chosen: Tensor) -> None:
        """The model reads what was chosen; rows that would pass their context are begun anew with their last half."""
        alive = [place for place, row in enumerate(self.rows) if row.ended is None]
        chosen = chosen[torch.tensor(alive, dtype=torch.long, device=self.device)]
        self._keep(alive)
        if not alive:
            return
        self._write(chosen)
        anew, kept = list[Row](), self.kept
        if self.context is not None:
            kept = kept_from(self.sizes, self.kept, self.context)
        if kept is not self.kept and not torch.equal(kept, self.kept):
            changed = (kept != self.kept).tolist()
            anew = [row for row, other in zip(self.rows, changed, strict=True) if other]
            for row, begin in zip(self.rows, kept.tolist(), strict=True):
                row.kept = begin
            stay = [place for place, other in enumerate(changed) if not other]
            chosen = chosen[torch.tensor(stay, dtype=torch.long, device=self.device)]
            self._keep(stay)
        if self.rows:
            self.log_probs, self.state = self.model.step(chosen[:, None], self.state)
        if anew:
            self._take_in(anew)

    def _write(self, chosen: Tensor) -> None:
        """What was chosen, to the texts."""
        widest = max(len(row.asked.ids) + len(row.written) for row in self.rows)
        if widest > self.texts.shape[1]:
            self.texts = widened(self.texts, widest + WIDER)
        self.texts.scatter_(1, self.sizes[:, None], chosen[:, None])
        self.sizes += 1

    def _keep(self, places: list[int]) -> None:
        """Only the rows at these places."""
        if len(places) == len(self.rows):
            return
        self.rows = [self.rows[place] for place in places]
        if not places:
            self.state = None
            return
        at = torch.tensor(places, device=self.device)
        self.state = self.model.reorder(self.state, at)
        self.log_probs, self.texts = self.log_probs[at], self.texts[at]
        self.sizes, self.kept, self.keys = self.sizes[at], self.kept[at], self.keys[at]

    def _take_in(self, rows: Sequence[Row]) -> None:
        ids, mask = padded([row.text[row.kept :] for row in rows], self.device)
        model, more = self._given(rows), max(row.asked.how.length - len(row.written) for row in rows)
        log_probs, state = model.step(ids, model.begin(len(rows), capacity=ids.shape[1] + min(more, ROOM)), mask)
        texts, real = padded([row.text for row in rows], self.device)
        new = {
            "log_probs": log_probs,
            "sizes": real.sum(1),
            "kept": torch.tensor([row.kept for row in rows], device=self.device),
            "keys": torch.cat([keys(row.asked.how.seed, torch.tensor([row.number])) for row in rows]).to(self.device),
            "texts": widened(texts, texts.shape[1] + WIDER),
        }
        if self.rows:
            state = joined([self.state, state])
            widest = max(new["texts"].shape[1], self.texts.shape[1])
            self.texts, new["texts"] = widened(self.texts, widest), widened(new["texts"], widest)
            new = {name: torch.cat([getattr(self, name), own]) for name, own in new.items()}
        self.rows, self.state = [*self.rows, *rows], state
        for name, tensor in new.items():
            setattr(self, name, tensor)

    def _given(self, rows: Sequence[Row]) -> Any:
        """The model as it writes these rows, for their labels where it writes for labels."""
        labels = [row.asked.label for row in rows]
        if None in labels:
            return self.model
        return Given(self.model, torch.tensor(labels, device=self.device))
