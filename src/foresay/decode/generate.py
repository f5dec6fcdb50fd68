"""Writing on from a prompt: prefill, then one symbol a step, for a batch of rows at once.

Knows only the protocol of a sequence model (begin, step). A model that was trained on windows of a fixed length gets
`context`, the most symbols its state may hold, <start> too: a row that would pass it begins anew with the last half.
Each row does so by its own length.

A row's text depends on its prompt, the seed and its number alone. Beside others its numbers may differ in their last
bits from those it has alone, so a choice is sure only if it was clear by a MARGIN; a row that met an unsure one is
written again alone, and that is its text.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from foresay.decode.chance import gumbel, keys
from foresay.decode.given import alone
from foresay.decode.graphed import graphed
from foresay.decode.sample import Decoder
from foresay.decode.search import MARGIN, NEVER
from foresay.text.tokens import PAD, STOP


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
) -> list[list[int]]:
    """Up to `length` new ids for each prompt, up to and without <stop>; row i draws from seed and i alone.

    `on_step` is called with the symbols of every step, <stop> for rows that have ended; what was told is not written
    again.
    """
    if not prompts:
        return []
    how, as_told = Writing(length, seed, context, ends), on_step is not None or len(prompts) == 1 or model.steady
    texts, sure = _write(model, prompts, range(len(prompts)), decoder, how, 0.0 if as_told else MARGIN, on_step)
    for row in (row for row, clear in enumerate(sure) if not clear):
        texts[row] = _write(alone(model, row), [prompts[row]], [row], decoder, how, 0.0, None)[0][0]
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
    model, device = graphed(model), model.device
    begun, mask = padded(prompts, device)
    first = mask.sum(1)
    texts = torch.cat([begun, begun.new_full((len(begun), how.length), PAD)], 1)  # prompts and what was written
    sizes, kept = first.clone(), _kept_from(first, torch.zeros_like(first), how.context)
    alive, sure = torch.ones_like(first, dtype=torch.bool), torch.ones_like(first, dtype=torch.bool)
    own = keys(how.seed, torch.tensor(list(numbers), device=device))
    log_probs, state = _prefill(model, texts, kept, sizes, min(how.length, how.context or how.length))
    for step in range(how.length):
        log_probs = log_probs.clone()
        log_probs[:, NEVER] = -torch.inf
        noise = gumbel(own, step, log_probs.shape[1]) if decoder.draws else log_probs
        chosen, clear = decoder.choose(log_probs, texts[:, : begun.shape[1] + step], noise, margin)
        sure &= clear | ~alive
        alive &= (chosen != STOP) & (log_probs.amax(1) > -torch.inf)  # where nothing can follow, a text ends too
        texts.scatter_(1, sizes.clamp(max=texts.shape[1] - 1)[:, None], torch.where(alive, chosen, PAD)[:, None])
        sizes += alive
        if on_step and alive.any():
            on_step(torch.where(alive, chosen, STOP).tolist())
        if how.ends is not None:
            alive &= ~torch.tensor([how.ends(text) for text in _cut(texts, first, sizes)], device=device)
        if step + 1 == how.length or not alive.any():
            break
        before, kept = kept, _kept_from(sizes, kept, how.context)
        if how.context is not None and not torch.equal(kept, before):
            more = min(how.length - step, how.context)
            log_probs, state = _prefill(model, texts, kept, sizes, more)
        else:
            ended = None if how.context is None else alive[:, None]  # a state that grows must not pass the context
            log_probs, state = model.step(chosen[:, None], state, ended)
    return _cut(texts, first, sizes), sure.tolist()


def _cut(texts: Tensor, first: Tensor, sizes: Tensor) -> list[list[int]]:
    """What was written in each row."""
    rows = zip(texts.tolist(), first.tolist(), sizes.tolist(), strict=True)
    return [row[begin:end] for row, begin, end in rows]


def _kept_from(sizes: Tensor, kept: Tensor, context: int | None) -> Tensor:
    """`kept` while <start> and the text from there on fit into the context, else where its last half begins."""
    if context is None:
        return kept
    return torch.where(1 + sizes - kept <= context, kept, sizes - max(context // 2, 1))


def _prefill(model: Any, texts: Tensor, kept: Tensor, sizes: Tensor, more: int) -> tuple[Tensor, Any]:
    """The next distribution and the state after the kept part of each text, to which so many will be added."""
    rows = zip(texts.tolist(), kept.tolist(), sizes.tolist(), strict=True)
    ids, mask = padded([row[begin:end] for row, begin, end in rows], model.device)
    return model.step(ids, model.begin(len(texts), capacity=ids.shape[1] + more), mask)


def padded(rows: Sequence[Sequence[int]], device: torch.device) -> tuple[Tensor, Tensor]:
    """Rows of ids as (B, T), padded on the right, and their mask."""
    width = max((len(row) for row in rows), default=0)
    ids = torch.tensor([[*row, *[PAD] * (width - len(row))] for row in rows], dtype=torch.long, device=device)
    lengths = torch.tensor([len(row) for row in rows], device=device)
    return ids.view(len(rows), width), torch.arange(width, device=device)[None] < lengths[:, None]
