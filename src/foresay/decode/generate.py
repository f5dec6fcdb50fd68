"""Writing on from a prompt: prefill, then one symbol a step, for a batch of rows at once.

Knows only the protocol of a sequence model (begin, step). A model that was trained on windows of a fixed
length gets `context`: when its state is full, it begins anew with the last half of what is written.
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
    generators = [torch.Generator().manual_seed((seed << 20) + row) for row in range(rows)]
    written: list[list[int]] = [[] for _ in range(rows)]
    alive = [True] * rows
    log_probs, state, used = _prefill(model, prompts, context)
    begun = _padded(prompts, device)[0]
    history = torch.cat([begun, torch.full((rows, length), PAD, device=device)], 1)
    for done in range(begun.shape[1], begun.shape[1] + length):
        draws = torch.stack([torch.rand((), generator=g, dtype=torch.float64) for g in generators]).to(device)
        log_probs[:, NEVER] = -torch.inf
        chosen = decoder.choose(log_probs, history[:, :done], draws)
        history[:, done] = chosen
        for row, choice in enumerate(chosen.tolist()):
            alive[row] = alive[row] and choice != STOP
            if alive[row]:
                written[row].append(choice)
        if not any(alive):
            break
        if on_step:
            on_step([w[-1] if a else STOP for w, a in zip(written, alive, strict=True)])
        if context is not None and used + 1 > context:
            both = [[*p, *w] for p, w in zip(prompts, written, strict=True)]
            log_probs, state, used = _prefill(model, both, context)
        else:
            mask = None if all(alive) else torch.tensor(alive, device=device)[:, None]
            log_probs, state = model.step(chosen[:, None], state, mask)
            used += 1
    return written


def _prefill(model: Any, prompts: Sequence[Sequence[int]], context: int | None) -> tuple[Tensor, Any, int]:
    """The state and the next distribution after each prompt, of which the last half context is read."""
    kept = [list(p) if context is None else list(p)[-max(context // 2, 1) :] for p in prompts]
    state = model.begin(len(kept))
    ids, mask = _padded(kept, model.device)
    log_probs, state = model.step(ids, state, mask)
    return log_probs, state, ids.shape[1] + 1


def _padded(rows: Sequence[Sequence[int]], device: torch.device) -> tuple[Tensor, Tensor]:
    """Rows of ids as (B, T), padded on the right, and their mask."""
    width = max((len(row) for row in rows), default=0)
    ids = torch.tensor([[*row, *[PAD] * (width - len(row))] for row in rows], dtype=torch.long, device=device)
    lengths = torch.tensor([len(row) for row in rows], device=device)
    return ids.view(len(rows), width), torch.arange(width, device=device)[None] < lengths[:, None]
