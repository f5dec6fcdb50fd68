"""The last product and the softmax loss in one: mean of -log softmax(W h + b)[target], its gradient on the way.

    z = h W' + b                     for a few rows at a time, in one buffer that is reused
    p = exp(z - max z) / sum         in place of z
    loss += -log p[target]
    g = (p - onehot(target)) / N     in place of p
    dh = g W,  dW += g' h,  db += sum of g

All N rows of logits never exist at once, and the gradient costs no second pass over them: the backward pass only
scales what the forward pass has found. So it can run backward once per forward (`retain_graph` is refused).
Under autocast the products run in its dtype; the softmax, the loss and the sums over chunks are float32.

features (N, H), weight (V, H), bias (V), targets (N), mask (N) bool with True = counts -> loss ().
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor
from torch.autograd.function import once_differentiable

from foresay.kernels.switch import plain

# Bytes of logits at a time: on a CPU what its cache holds, on a GPU enough rows to fill it.
CPU_CHUNK = 16 << 20
GPU_CHUNK = 512 << 20


def linear_cross_entropy(
    features: Tensor, weight: Tensor, bias: Tensor | None, targets: Tensor, mask: Tensor | None = None
) -> Tensor:
    """Mean cross-entropy in nats over the rows the mask keeps; 0, with zero gradients, when it keeps none."""
    if plain():
        return plain_linear_cross_entropy(features, weight, bias, targets, mask)
    if mask is not None and features.device.type == "cpu":  # a GPU would have to wait for the number of rows
        features, targets, mask = features[mask], targets[mask], None
    wanted = [features.requires_grad, weight.requires_grad, bias is not None and bias.requires_grad]
    if not torch.is_grad_enabled():
        wanted = [False] * 3
    return _LinearCrossEntropy.apply(features, weight, bias, targets, mask, wanted)  # pyright: ignore[reportReturnType]


def plain_linear_cross_entropy(
    features: Tensor, weight: Tensor, bias: Tensor | None, targets: Tensor, mask: Tensor | None = None
) -> Tensor:
    """The same by torch's own linear and cross_entropy, with all logits at once."""
    logits = F.linear(features, weight, bias)
    if logits.dtype in (torch.bfloat16, torch.float16):
        logits = logits.float()
    if mask is None:
        return F.cross_entropy(logits, targets, reduction="sum") / max(len(targets), 1)
    losses = F.cross_entropy(logits, targets.where(mask, 0), reduction="none")
    return losses.where(mask, 0).sum() / mask.sum().clamp(min=1)


def row_chunks(rows: int, vocabulary: int, device: torch.device, itemsize: int = 4) -> Iterator[slice]:
    """Slices of the rows such that the logits of one slice fit the chunk; all of about equal size."""
    budget = CPU_CHUNK if device.type == "cpu" else GPU_CHUNK
    most = max(budget // (vocabulary * itemsize), 16)
    pieces = -(-rows // most) or 1
    size = max(-(-rows // pieces), 1)
    return (slice(begin, min(begin + size, rows)) for begin in range(0, rows, size))


class _LinearCrossEntropy(torch.autograd.Function):
    """The loss, and what the backward pass will need: the gradients themselves."""

    @staticmethod
    def forward(
        ctx: Any,
        features: Tensor,
        weight: Tensor,
        bias: Tensor | None,
        targets: Tensor,
        mask: Tensor | None,
        wanted: list[bool],
    ) -> Tensor:
        kind = features.device.type
        dtype = torch.get_autocast_dtype(kind) if torch.is_autocast_enabled(kind) else features.dtype
        with torch.autocast(kind, enabled=False):
            loss, grads = _run(features, weight, bias, targets, mask, wanted, dtype)
        ctx.grads = grads
        return loss

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *grad_outputs: Tensor) -> tuple[Tensor | None, ...]:  # pyright: ignore[reportIncompatibleMethodOverride]
        if ctx.grads is None:
            raise RuntimeError("linear_cross_entropy runs backward once per forward; FORESAY_PLAIN=1 may run it twice")
        grads, ctx.grads = ctx.grads, None  # handed over, so that scaling them in place harms nobody
        scale = grad_outputs[0]
        if scale.device.type != "cpu" or scale != 1:
            for grad in grads:
                if grad is not None:
                    grad.mul_(scale)
        return *grads, None, None, None


def _run(
    features: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    targets: Tensor,
    mask: Tensor | None,
    wanted: list[bool],
    dtype: torch.dtype,
) -> tuple[Tensor, list[Tensor | None]]:
    """The mean loss and the gradients of features, weight and bias, those that are wanted."""
    sums = torch.promote_types(dtype, torch.float32)  # float32, or float64 for float64
    f, w = features.detach().to(dtype), weight.detach().to(dtype)
    b = None if bias is None else bias.detach().to(dtype)
    counted = torch.ones_like(targets, dtype=sums) if mask is None else mask.to(sums)
    share = counted / counted.sum().clamp(min=1)  # each row's part in the mean
    if mask is not None:
        targets = targets.where(mask, 0)
    d_features = torch.empty_like(features) if wanted[0] else None
    d_weight = torch.zeros_like(weight, dtype=sums) if wanted[1] else None
    d_bias = torch.zeros_like(bias, dtype=sums) if wanted[2] and bias is not None else None
    loss = torch.zeros((), dtype=sums, device=features.device)
    buffer: Tensor | None = None
    for rows in row_chunks(len(f), len(w), f.device, sums.itemsize):
        if buffer is None:
            buffer = f.new_empty(rows.stop, len(w))
        z = buffer[: rows.stop - rows.start]
        torch.mm(f[rows], w.t(), out=z) if b is None else torch.addmm(b, f[rows], w.t(), out=z)
        g = z.to(sums)  # z itself unless the products run in half precision
        at = targets[rows, None]
        top = g.amax(1, keepdim=True)
        hit = g.gather(1, at)
        g.sub_(top).exp_()
        total = g.sum(1, keepdim=True)
        loss += torch.dot((total.log() + top - hit)[:, 0], share[rows])
        if not any(wanted):
            continue
        part = share[rows, None]
        g.mul_(part / total).scatter_add_(1, at, -part)
        if d_bias is not None:
            d_bias += g.sum(0)
        g = z.copy_(g) if g is not z else z
        if d_features is not None:
            d_features[rows] = g @ w
        if d_weight is not None:
            d_weight.addmm_(g.t(), f[rows]) if dtype == sums else d_weight.add_(g.t() @ f[rows])
    cast = [d_features, d_weight, d_bias]
    kinds = [features.dtype, weight.dtype, weight.dtype if bias is None else bias.dtype]
    return loss, [None if d is None else d.to(kind) for d, kind in zip(cast, kinds, strict=True)]
