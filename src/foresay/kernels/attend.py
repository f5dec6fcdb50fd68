"""One step that looks back: attention of a single query a row and head over a cache that is never copied.

    p_c = softmax(s q . k[rows[c], c])    over slots c < end with begun <= at[c] <= position, at[c] > position - window
    y = sum_c p_c v[rows[c], c]           zeros where there is none

`rows` says which row of the cache holds a slot, so that candidates of a search share what they have in common. A CPU
runs compiled loops on float32; elsewhere, and with FORESAY_PLAIN=1, the plain twin gathers the slots first.

q (B, N, d), k (B, C, G, d), v (B, C, G, e) -> y (B, N, e)
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor

from foresay.kernels.switch import plain
from foresay.kernels.threads import in_threads

WORTH = 1 << 19  # products that are worth another thread


class Slots(NamedTuple):
    """Where the slots are, and which of them a row sees."""

    rows: Tensor  # (B, C)
    at: Tensor  # (B, C)
    begun: Tensor  # (B,)
    position: Tensor  # (B,)
    end: int  # slots that are taken
    window: int  # how far back a step sees


def attend(q: Tensor, k: Tensor, v: Tensor, slots: Slots, scale: float) -> Tensor:
    """Without gradients."""
    if plain() or q.device.type != "cpu" or q.dtype != torch.float32:
        return attend_plain(q, k, v, slots, scale)
    from foresay.kernels.attend_loops import look_back  # numba takes a second to import

    q = q.contiguous()
    y = torch.empty(*q.shape[:2], v.shape[3])
    where = tuple(t.numpy() for t in slots[:4])
    work = slots.end * q.shape[1] * q.shape[2]
    few = max(WORTH // max(work, 1), 1)
    in_threads(
        look_back, (q.numpy(), k.numpy(), v.numpy(), where, slots.end, slots.window, scale, y.numpy()), len(q),
        torch.get_num_threads(), few,
    )  # fmt: skip
    return y


def attend_plain(q: Tensor, k: Tensor, v: Tensor, slots: Slots, scale: float) -> Tensor:
    rows, at = slots.rows[:, : slots.end], slots.at[:, : slots.end]
    own, share = torch.arange(slots.end, device=q.device), q.shape[1] // k.shape[2]
    keys, values = (t[rows, own].repeat_interleave(share, 2) for t in (k, v))  # (B, C, N, d)
    position = slots.position[:, None]
    seen = (at >= slots.begun[:, None]) & (at <= position) & (at > position - slots.window)
    scores = scale * torch.einsum("bnd,bcnd->bnc", q, keys).masked_fill(~seen[:, None], -torch.inf)
    weights = scores.softmax(-1).masked_fill(~seen[:, None], 0)
    return torch.einsum("bnc,bcne->bne", weights, values)
