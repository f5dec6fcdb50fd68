"""Writing on from a prompt: prefill, then one symbol a step, for a batch of rows at once.

Knows only the protocol of a sequence model (begin, step). A model that was trained on windows of a fixed
length gets `context`, the most symbols its state may hold, <start> too: a row that would pass it begins anew with the
last half. Each row does so by its own length, so that its text does not depend on its neighbours.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor

from foresay.decode.sample import Decoder
from foresay.text.tokens import MASK, PAD, START, STOP, UNK

NEVER = (PAD, UNK, START, MASK)  # no text has these


@torch.inference_mode()
def generate(
    model: Any,
    prompts: Sequence[Sequence[int]],
    decoder: Decoder,
    *,
    length: int,
    seed: int = 1,
    context: int | None = None,
    on_step: Callable[[list[int]], None] | None = None,
) -> list[list[int]]:
    """Up to `length` new ids for each prompt, up to and without <stop>; row i draws from seed and i alone."""
    rows, device = len(prompts), model.device
    generators = [torch.Generator().manual_seed(((seed << 20) + row) % 2**63) for row in range(rows)]
    texts = [list(prompt) for prompt in prompts]  # the prompt and what was written
    kept = [_kept_from(text, 0, context) for text in texts]  # where the part begins that the state holds
    alive = [True] * rows
    log_probs, state = _prefill(model, texts, kept)
    begun = _padded(prompts, device)[0]
    history = torch.cat([begun, torch.full((rows, length), PAD, device=device)], 1)
    end = begun.shape[1] + length
    for done in range(begun.shape[1], end):
        draws = torch.stack([torch.rand((), generator=g, dtype=torch.float64) for g in generators]).to(device)
        log_probs[:, NEVER] = -torch.inf
        chosen = decoder.choose(log_probs, history[:, :done], draws)
        history[:, done] = chosen
        for row, choice in enumerate(chosen.tolist()):
            alive[row] = alive[row] and choice != STOP
            if alive[row]:
                texts[row].append(choice)
        if not any(alive):
            break
        if on_step:
            on_step([text[-1] if a else STOP for text, a in zip(texts, alive, strict=True)])
        if done + 1 == end:
            break
        before, kept = kept, [_kept_from(text, first, context) for text, first in zip(texts, kept, strict=True)]
        if kept != before:
            log_probs, state = _prefill(model, texts, kept)
        else:
            mask = None if all(alive) else torch.tensor(alive, device=device)[:, None]
            log_probs, state = model.step(chosen[:, None], state, mask)
    return [text[len(prompt) :] for text, prompt in zip(texts, prompts, strict=True)]


def _kept_from(text: Sequence[int], first: int, context: int | None) -> int:
    """`first` while <start> and the text from there on fit into the context, else where its last half begins."""
    if context is None or 1 + len(text) - first <= context:
        return first
    return len(text) - max(context // 2, 1)


def _prefill(model: Any, texts: Sequence[Sequence[int]], kept: Sequence[int]) -> tuple[Tensor, Any]:
    """The next distribution and the state after the kept part of each text."""
    ids, mask = _padded([text[first:] for text, first in zip(texts, kept, strict=True)], model.device)
    return model.step(ids, model.begin(len(texts)), mask)


def _padded(rows: Sequence[Sequence[int]], device: torch.device) -> tuple[Tensor, Tensor]:
    """Rows of ids as (B, T), padded on the right, and their mask."""
    width = max((len(row) for row in rows), default=0)
    ids = torch.tensor([[*row, *[PAD] * (width - len(row))] for row in rows], dtype=torch.long, device=device)
    lengths = torch.tensor([len(row) for row in rows], device=device)
    return ids.view(len(rows), width), torch.arange(width, device=device)[None] < lengths[:, None]
