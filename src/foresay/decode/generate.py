"""Writing on from a prompt: prefill, then one symbol a step, for a batch of rows at once.

Knows only the protocol of a sequence model (begin, step). A model that was trained on windows of a fixed length gets
`context`, the most symbols its state may hold, <start> too: a row that would pass it begins anew with the last half.
Each row does so by its own length.

A row's text depends on its prompt, the seed and its number alone. Beside others its numbers may differ in their last
bits from those it has alone, so a choice is sure only if it was clear by a MARGIN. On a CPU an unsure one is made by
what the model says of the row alone, read anew from its beginning in one pass. A GPU does not wait to ask: there a row
that met one is written again alone, and that is its text.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from foresay.decode.chance import gumbel, keys
from foresay.decode.given import alone
from foresay.decode.graphed import graphed, taken_over
from foresay.decode.kept import going_on
from foresay.decode.sample import Decoder
from foresay.decode.search import NEVER, margin_for
from foresay.kernels.switch import plain
from foresay.text.tokens import PAD, STOP

SELDOM = 16  # steps between two questions to a GPU
BLOCK = 4096  # symbols that a CPU makes room for at a time
ROOM = 1024  # the same for a cache


@dataclass(frozen=True)
class Writing:
    """How to write on: at most `length` symbols, from a seed, until <stop> or until `ends` says so of a row's ids."""

    length: int
    seed: int = 1
    context: int | None = None
    ends: Callable[[list[int]], bool] | None = None


def generate(
    model: Any,
    prompts: Sequence[Sequence[int]],
    decoder: Decoder,
    *,
    length: int,
    seed: int = 1,
    context: int | None = None,
    ends: Callable[[list[int]], bool] | None = None,
    on_step: Callable[[list[int]], None] | None = None,
    numbers: Sequence[int] | None = None,
) -> list[list[int]]:
    """Up to `length` new ids for each prompt, up to and without <stop>; row i draws from seed and its number alone.

    The numbers are 0, 1, .. unless given.

    `on_step` is called with the symbols of every step, <stop> for rows that have ended; what was told on a GPU is not
    written again.
    """
    if not prompts:
        return []
    how, as_told = Writing(length, seed, context, ends), on_step is not None or len(prompts) == 1
    as_told = model.steady or (as_told and model.device.type != "cpu")
    numbers = range(len(prompts)) if numbers is None else numbers
    texts, sure = _write(model, prompts, numbers, decoder, how, 0.0 if as_told else margin_for(model), on_step)
    for row in (row for row, clear in enumerate(sure) if not clear):
        texts[row] = _write(alone(model, row), [prompts[row]], [numbers[row]], decoder, how, 0.0, None)[0][0]
    return texts


@torch.inference_mode()
def _write(
    model: Any,
    prompts: Sequence[Sequence[int]],
    numbers: Sequence[int],
    decoder: Decoder,
    how: Writing,
    margin: float,
    on_step: Callable[[list[int]], None] | None,
) -> tuple[list[list[int]], list[bool]]:
    """The new ids of each row, and whether all its choices were clear."""
    told = on_step is not None or how.ends is not None or how.context is not None
    together = model.device.type == "cuda" and not told and how.length <= BLOCK
    rows = Rows(model if together else graphed(model), prompts, numbers, decoder, how, margin)
    if together:
        return _write_on(rows)
    for step in range(how.length):
        rows.choose()
        rows.tell(on_step, how.ends)
        if asks(step, rows.device) and not rows.alive.any():
            break
        if step + 1 < how.length:
            rows.go_on()
    return rows.written(), rows.sure.tolist()


def _write_on(rows: Rows) -> tuple[list[list[int]], list[bool]]:
    """On a GPU, where nobody is told of a step: the model's step and the choice after it are one graph."""
    length, decoder = rows.how.length, rows.decoder
    settings = (type(decoder), getattr(decoder, "settings", decoder), rows.margin)
    if length:
        rows.choose()
    with going_on(rows, Rows.go_on_and_choose, rows.model, settings) as (rows, both):
        for step in range(1, length):
            both()
            if asks(step, rows.device) and not rows.alive.any():
                break
        return rows.written(), rows.sure.tolist()


class Rows:
    """What is written so far. `choose` and the model's step change the same tensors, so that both can be a graph."""

    def __init__(
        self, model: Any, prompts: Sequence[Sequence[int]], numbers: Sequence[int], decoder: Decoder, how: Writing,
        margin: float,
    ):  # fmt: skip
        self.model, self.decoder, self.how, self.margin, self.device = model, decoder, how, margin, model.device
        begun, mask = padded(prompts, self.device)
        self.first = mask.sum(1)
        self.texts = widened(begun, begun.shape[1] + min(how.length, BLOCK))  # prompts and what was written
        self.sizes, self.step = self.first.clone(), self.first.new_zeros(())
        self.kept = kept_from(self.first, torch.zeros_like(self.first), how.context)
        self.alive = torch.ones_like(self.first, dtype=torch.bool)
        self.sure = self.alive.clone()
        self.own = keys(how.seed, torch.tensor(list(numbers), device=self.device))
        self.never = torch.tensor(NEVER, device=self.device)
        self.chosen = torch.zeros_like(self.first)
        self.log_probs, self.state = self._prefill(min(how.length, how.context or how.length))

    def choose(self) -> None:
        """The next symbol of every row that lives."""
        log_probs = self.log_probs
        log_probs = (log_probs.index_fill_ if log_probs.is_cuda else log_probs.index_fill)(1, self.never, -torch.inf)
        noise = gumbel(self.own, self.step, log_probs.shape[1]) if self.decoder.draws else log_probs
        chosen, clear = self.decoder.choose(log_probs, self.texts, noise, self.margin)
        if clear is not None and self.device.type == "cpu":
            for row in (self.alive & ~clear).nonzero()[:, 0].tolist():
                log_probs[row], chosen[row] = self._alone(row, noise)
            clear = None
        self._note(chosen, log_probs, clear)

    def _alone(self, row: int, noise: Tensor) -> tuple[Tensor, Tensor]:
        """What the model says after the kept part of a row, which it reads with no other beside it, and the choice."""
        model, text = alone(self.model, row), self.texts[row : row + 1]
        kept = text[:, int(self.kept[row]) : int(self.sizes[row])]
        log_probs = model.step(kept, model.begin(1))[0].index_fill(1, self.never, -torch.inf)
        chosen, _ = self.decoder.choose(log_probs, text, noise[row : row + 1] if self.decoder.draws else log_probs)
        return log_probs[0], chosen[0]

    def _note(self, chosen: Tensor, log_probs: Tensor, clear: Tensor | None) -> None:
        """Goes to the texts; where nothing can follow, a text ends too."""
        if chosen.is_cuda and not plain():
            from foresay.kernels import choose_triton  # there is no Triton without a GPU

            own = (self.alive, self.sure, self.texts, self.sizes, self.chosen, self.step)
            choose_triton.note(chosen, log_probs, clear, *own, STOP, PAD)
            return
        self.step += 1
        log_prob = log_probs.gather(1, chosen[:, None])[:, 0]
        clear = torch.ones_like(self.alive) if clear is None else clear
        self.sure &= clear | ~self.alive
        self.alive &= (chosen != STOP) & (log_prob > -torch.inf)
        place = self.sizes.clamp(max=self.texts.shape[1] - 1)[:, None]
        self.texts.scatter_(1, place, torch.where(self.alive, chosen, PAD)[:, None])
        self.sizes += self.alive
        self.chosen.copy_(chosen)

    def go_on_and_choose(self) -> None:
        self.go_on()
        self.choose()

    def go_on(self) -> None:
        """The model reads what was chosen."""
        before, self.kept = self.kept, kept_from(self.sizes, self.kept, self.how.context)
        if (self.device.type == "cpu" or self.how.length > BLOCK) and int(self.step) % BLOCK == 0:
            self.texts = widened(self.texts, self.texts.shape[1] + BLOCK)
        if self.how.context is not None and not torch.equal(self.kept, before):
            log_probs, state = self._prefill(min(self.how.length - int(self.step) + 1, self.how.context))
        else:
            ended = None if self.how.context is None else self.alive[:, None]  # a state must not pass the context
            log_probs, state = self.model.step(self.chosen[:, None], self.state, ended)
        self.log_probs, self.state = log_probs, taken_over(self.state, state)

    def tell(self, on_step: Callable[[list[int]], None] | None, ends: Callable[[list[int]], bool] | None) -> None:
        """Calls those who want to know."""
        if on_step is not None and self.alive.any():
            on_step(torch.where(self.alive, self.chosen, STOP).tolist())
        if ends is not None:
            self.alive &= ~torch.tensor([ends(text) for text in self.written()], device=self.device)

    def written(self) -> list[list[int]]:
        """What was written in each row."""
        rows = zip(self.texts.tolist(), self.first.tolist(), self.sizes.tolist(), strict=True)
        return [row[begin:end] for row, begin, end in rows]

    def _prefill(self, more: int) -> tuple[Tensor, Any]:
        """The next distribution and the state after the kept part of each text, to which so many will be added."""
        rows = zip(self.texts.tolist(), self.kept.tolist(), self.sizes.tolist(), strict=True)
        ids, mask = padded([row[begin:end] for row, begin, end in rows], self.device)
        capacity = ids.shape[1] + (min(more, ROOM) if self.device.type == "cpu" else more)
        return self.model.step(ids, self.model.begin(len(self.texts), capacity=capacity), mask)


def widened(texts: Tensor, width: int) -> Tensor:
    """With padding on the right."""
    return torch.cat([texts, texts.new_full((len(texts), width - texts.shape[1]), PAD)], 1)


def asks(step: int, device: torch.device) -> bool:
    """Whether it is time to see if all rows have ended: a GPU, which must be waited for, now and then."""
    return device.type == "cpu" or step % SELDOM == SELDOM - 1


def kept_from(sizes: Tensor, kept: Tensor, context: int | None) -> Tensor:
    """`kept` while <start> and the text from there on fit into the context, else where its last half begins."""
    if context is None:
        return kept
    return torch.where(1 + sizes - kept <= context, kept, sizes - max(context // 2, 1))


def padded(rows: Sequence[Sequence[int]], device: torch.device) -> tuple[Tensor, Tensor]:
    """Rows of ids as (B, T), padded on the right, and their mask."""
    width = max((len(row) for row in rows), default=0)
    ids = torch.tensor([[*row, *[PAD] * (width - len(row))] for row in rows], dtype=torch.long, device=device)
    lengths = torch.tensor([len(row) for row in rows], device=device)
    return ids.view(len(rows), width), torch.arange(width, device=device)[None] < lengths[:, None]
