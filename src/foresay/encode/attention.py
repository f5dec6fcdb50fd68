"""Attention: every step takes a mean of values, weighted by how well its query fits their keys.

    q = Wq x,  k = Wk m,  v = Wv m                in N heads; m is x itself, or a memory (an encoded source)
    p_h = softmax(s q_h k_h'),  s = 1/sqrt(d)     over what a step may see; s = 1 without `scale`
    y = Wo [p_1 v_1; ..; p_N v_N]                 without `join` the heads side by side

Queries and keys have width d a head, values width e. With `groups` G < N heads share keys and values: head h reads
those of group h // (N / G). A step that may see nothing gives zeros before Wo.

x (B, T, D), m (B, C, M) -> y (B, T, D); q (B, N, T, d), k (B, C, G, d), v (B, C, G, e), as caches keep them.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from foresay.embed.positions import turned
from foresay.errors import UserError
from foresay.kernels import flash
from foresay.kernels.thin import linear
from foresay.parts import Size


@dataclass(frozen=True)
class Heads:
    """Heads that are not simply an equal share each of the model's width."""

    groups: Size | None = None  # of heads that share keys and values; None: every head has its own
    width: Size | None = None  # of a query and a key; None: the model's width / heads
    values: Size | None = None  # of a value; None: as wide as a key
    scale: bool = True
    join: bool = True
    window: Size | None = None  # steps a step sees, itself among them


def check_heads(size: int, heads: int, how: Heads, whose: str = "") -> None:
    """Refuses heads that do not fit together or into the model's width; `whose` they are is said: "writer."."""
    if how.width is None and size % heads:
        fewer = next(n for n in range(heads, 0, -1) if size % n == 0)
        more = next((n for n in range(heads, size + 1) if size % n == 0), None)
        near = f"{fewer}" if more is None else f"{fewer} or {more}"
        raise UserError(
            f"{whose}heads={heads} does not divide size={size}: every head gets an equal share; allowed: divisors of "
            f"{size}, such as {near}, or any number with {whose}attention.width"
        )
    if heads % (how.groups or heads):
        allowed = ", ".join(str(n) for n in range(1, heads + 1) if heads % n == 0)
        raise UserError(
            f"{whose}attention.groups={how.groups} does not divide heads={heads}: groups are of equal size; "
            f"allowed: {allowed}"
        )
    values = how.values or how.width or size // heads
    if not how.join and heads * values != size:
        fits = f"{whose}attention.values={size // heads}" if size % heads == 0 else f"{whose}heads that divide {size}"
        raise UserError(
            f"{whose}attention.join=false puts {heads} heads of {values} side by side, which is not "
            f"size={size}; allowed: {fits}, or {whose}attention.join=true"
        )


class Attention(nn.Module):
    """`project` and `mix` are its two halves, so that a cache can stand between them."""

    def __init__(self, size: int, heads: int, how: Heads, *, memory: int | None = None, bias: bool = True):
        super().__init__()
        check_heads(size, heads, how)
        self.heads, self.groups = heads, how.groups or heads
        self.width = how.width or size // heads
        self.values = how.values or self.width
        self.scale = self.width**-0.5 if how.scale else 1.0
        shares = [heads * self.width, self.groups * self.width, self.groups * self.values]
        if memory is None:
            self.qkv, self.query, self.kv = nn.Linear(size, sum(shares), bias=bias), None, None
        else:
            self.qkv, self.query = None, nn.Linear(size, shares[0], bias=bias)
            self.kv = nn.Linear(memory, sum(shares[1:]), bias=bias)
        self.shares = shares
        self.join = nn.Linear(heads * self.values, size, bias=bias) if how.join else None

    def project(self, x: Tensor, turns: Tensor | None = None) -> tuple[Tensor, Tensor, Tensor]:
        """Queries, keys and values of x itself; rotary positions turn the first two."""
        assert self.qkv is not None
        q, k, v = linear(self.qkv, x).split(self.shares, -1)
        q = turned(q.unflatten(-1, (self.heads, self.width)), turns).transpose(1, 2)
        return q, turned(self._grouped(k), turns), self._grouped(v)

    def ask(self, x: Tensor) -> Tensor:
        """The queries of x to a memory."""
        assert self.query is not None
        return linear(self.query, x).unflatten(-1, (self.heads, self.width)).transpose(1, 2)

    def remember(self, memory: Tensor) -> tuple[Tensor, Tensor]:
        """Keys and values of a memory, found once for all steps."""
        assert self.kv is not None
        k, v = linear(self.kv, memory).split(self.shares[1:], -1)
        return self._grouped(k), self._grouped(v)

    def _grouped(self, x: Tensor) -> Tensor:
        return x.unflatten(-1, (self.groups, -1))

    def mix(self, q: Tensor, k: Tensor, v: Tensor, seen: Seen, *, drop: float = 0.0) -> Tensor:
        """The heads' means, joined."""
        k, v = k.transpose(1, 2), v.transpose(1, 2)
        grouped = self.groups < self.heads
        if grouped and not _shares(q, v, seen):
            k, v, grouped = *(t.repeat_interleave(self.heads // self.groups, 1) for t in (k, v)), False
        if not grouped and flash.can_attend(q, k, v) and (seen.slots is None or seen.spans is not None):
            mixed = flash.attend(q, k, v, self.scale, seen.causal, drop, seen.spans)
        else:
            mixed = F.scaled_dot_product_attention(
                q, k, v, attn_mask=seen.slots, dropout_p=drop, is_causal=seen.slots is None and seen.causal,
                scale=self.scale, enable_gqa=grouped,
            )  # fmt: skip
        if seen.blind is not None:
            mixed = mixed.masked_fill(seen.blind, 0)
        return self.joined(mixed.transpose(1, 2).flatten(2))

    def joined(self, mixed: Tensor) -> Tensor:
        """(B, T, N e) -> (B, T, D)"""
        return mixed if self.join is None else linear(self.join, mixed)

    def weights(self, q: Tensor, k: Tensor, seen: Seen) -> Tensor:
        """p (B, N, T, C), which `mix` never has as a whole; 0 for what is not seen."""
        k, slots = k.transpose(1, 2).repeat_interleave(self.heads // self.groups, 1), seen.slots
        if slots is None and seen.causal:
            slots = torch.ones(q.shape[2], k.shape[2], dtype=torch.bool, device=q.device).tril()
        scores = self.scale * (q @ k.transpose(2, 3))
        found = scores.softmax(-1) if slots is None else scores.masked_fill(~slots, -torch.inf).softmax(-1)
        return found if seen.blind is None else found.masked_fill(seen.blind, 0)


def _shares(q: Tensor, v: Tensor, seen: Seen) -> bool:
    """Whether a fast kernel reads one key for several heads: on a GPU, of equal width and without a mask."""
    return q.is_cuda and seen.slots is None and q.shape[-1] == v.shape[-1]


@dataclass(frozen=True)
class Seen:
    """What a step may see: slots (B or 1, 1, T, C), or None for all, or for all up to itself if causal."""

    slots: Tensor | None = None
    causal: bool = False
    blind: Tensor | None = None  # (B or 1, 1, T, 1): steps that see nothing; their slots are all True

    @cached_property
    def spans(self) -> Tensor | None:
        """The slots as a span of each step, (B or 1, T or 1, 2); None if one of them has holes."""
        return None if self.slots is None else flash.spans_of(self.slots[:, 0])

    @staticmethod
    def only(slots: Tensor) -> Seen:
        """Steps that see nothing are let see all, for a softmax over nothing has no gradient, and give zeros."""
        blind = ~slots.any(-1, keepdim=True)
        return Seen(slots | blind, blind=blind)
