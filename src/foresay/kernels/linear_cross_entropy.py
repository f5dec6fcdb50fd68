"""The last product and the softmax loss in one: mean of -log softmax(W h + b)[target], its gradient on the way.

    z = h W' + b                     for some rows at a time, in one buffer that is reused
    loss += -log softmax(z)[target] / N
    g = softmax(z) - onehot(target)  in place of z
    dh = g W / N,  dW += g' h / N,  db += g' 1 / N

All N rows of logits never exist at once, and the gradient costs no second pass over them: the backward pass only
scales what the forward pass has found. So it can run backward once per forward (`retain_graph` is refused).
Under autocast the products run in its dtype; the softmax, the loss and the sums over chunks are float32.

features (N, H), weight (V, H), bias (V), targets (N), mask (N) bool with True = counts -> loss ().
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor
from torch.autograd.function import once_differentiable

from foresay.kernels import wide
from foresay.kernels.product import HALF, filled_product, gradient_product, half_on_gpu
from foresay.kernels.switch import plain

# Bytes of logits at a time: enough rows for the products to run at full speed.
CPU_CHUNK, GPU_CHUNK = 16 << 20, 2 << 30
# Bytes of logits in all up to which the plain twin is faster and its memory no matter.
CPU_SMALL, GPU_SMALL = 1 << 20, 256 << 20


def linear_cross_entropy(
    features: Tensor, weight: Tensor, bias: Tensor | None, targets: Tensor, mask: Tensor | None = None
) -> Tensor:
    """Mean cross-entropy in nats over the rows the mask keeps; 0, with zero gradients, when it keeps none."""
    small = CPU_SMALL if features.device.type == "cpu" else GPU_SMALL
    if plain() or len(features) * len(weight) * 4 <= small:
        return plain_linear_cross_entropy(features, weight, bias, targets, mask)
    dtype = half_on_gpu(features)
    if dtype is not None:
        features, weight, bias = evened(features, weight, bias, dtype)
    if mask is not None and features.device.type == "cpu":  # a GPU would have to wait for the number of rows
        features, targets, mask = features[mask], targets[mask], None
    wanted = [features.requires_grad, weight.requires_grad, bias is not None and bias.requires_grad]
    if not torch.is_grad_enabled():
        wanted = [False] * 3
    return _LinearCrossEntropy.apply(features, weight, bias, targets, mask, wanted)  # pyright: ignore[reportReturnType]


def evened(
    features: Tensor, weight: Tensor, bias: Tensor | None, dtype: torch.dtype
) -> tuple[Tensor, Tensor, Tensor | None]:
    """The same with H a multiple of 8 and V of 16; the words added have P = 0.

    Otherwise a GPU's matrix units stand idle, and Triton, which knows of sixteens alone, reads rows number by number.
    """
    h, v = -features.shape[1] % 8, -len(weight) % 16
    if h or v:
        features, weight = F.pad(features.to(dtype), (0, h)), F.pad(weight.to(dtype), (0, h, 0, v))
    if v:
        bias = F.pad(weight.new_zeros(len(weight) - v) if bias is None else bias.to(dtype), (0, v), value=-torch.inf)
    return features, weight, bias


def plain_linear_cross_entropy(
    features: Tensor, weight: Tensor, bias: Tensor | None, targets: Tensor, mask: Tensor | None = None
) -> Tensor:
    """The same by torch's own linear and cross_entropy, with all logits at once."""
    dtype = None if plain() else half_on_gpu(features)
    logits = F.linear(features, weight, bias) if dtype is None else filled_product(features, weight, bias, dtype)
    if mask is None and logits.dtype not in HALF:
        return F.cross_entropy(logits, targets, reduction="sum") / max(len(targets), 1)
    logs = F.log_softmax(logits, 1, dtype=torch.promote_types(logits.dtype, torch.float32))
    losses = F.nll_loss(logs, targets if mask is None else targets.where(mask, 0), reduction="none")
    if mask is None:
        return losses.sum() / max(len(targets), 1)
    return losses.where(mask, 0).sum() / mask.sum().clamp(min=1)


def row_chunks(rows: int, vocabulary: int, device: torch.device, itemsize: int = 4) -> Iterator[slice]:
    """Slices of the rows such that the logits of one slice fit the chunk; all of about equal size."""
    budget = CPU_CHUNK if device.type == "cpu" else _gpu_chunk(device)
    most = max(budget // (vocabulary * itemsize), 16)
    pieces = -(-rows // most) or 1
    size = max(-(-rows // pieces), 1)
    return (slice(begin, min(begin + size, rows)) for begin in range(0, rows, size))


@cache
def _gpu_chunk(device: torch.device) -> int:
    """A thirty-second part of a GPU's memory, where that is less."""
    return min(GPU_CHUNK, torch.cuda.get_device_properties(device).total_memory // 32)


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
    count = counted.sum().clamp(min=1)
    # A row's part in the gradient; float16 would lose numbers as small as 1/N, so there N comes last.
    late = dtype == torch.float16
    part = (counted if late else counted / count)[:, None]
    if mask is not None:
        targets = targets.where(mask, 0)
    fresh = torch.empty_like if len(f) else torch.zeros_like  # the first chunk fills them
    grads: list[Tensor | None] = [
        fresh(features) if wanted[0] else None,
        fresh(weight, dtype=sums) if wanted[1] else None,
        torch.zeros_like(bias, dtype=sums) if wanted[2] and bias is not None else None,
    ]
    loss = torch.zeros((), dtype=sums, device=f.device)
    to_gradient = _to_gradient(f.device, sums)
    z, fast = f.new_empty(0), wide.can_multiply(f, w)
    for rows in row_chunks(len(f), len(w), f.device, dtype.itemsize if f.is_cuda else sums.itemsize):
        size = rows.stop - rows.start
        if fast:
            z = f.new_empty(0)  # what was there is given back before there is more
            z = wide.product(f[rows], w, b)
        else:
            z = z[:size] if len(z) else f.new_empty(size, len(w))  # the last chunk may be smaller
            torch.mm(f[rows], w.t(), out=z) if b is None else torch.addmm(b, f[rows], w.t(), out=z)
        loss += torch.dot(to_gradient(z, targets[rows]), counted[rows])
        if any(wanted):
            _add_gradients(grads, rows, z, f[rows], w, part[rows], fast)
    given = (features, weight, features if bias is None else bias)
    ready = [
        None if d is None else (d.div_(count) if late else d).to(t.dtype) for d, t in zip(grads, given, strict=True)
    ]
    return loss / count, ready


def _to_gradient(device: torch.device, sums: torch.dtype) -> Callable[[Tensor, Tensor], Tensor]:
    """What turns logits into the gradient of their losses, and returns those."""
    if device.type == "cuda" and sums == torch.float32:
        from foresay.kernels.softmax_triton import softmax_gradient  # there is no Triton without a GPU

        return softmax_gradient
    logs = torch.empty(0, dtype=sums, device=device)

    def by_torch(z: Tensor, targets: Tensor) -> Tensor:
        nonlocal logs
        logs = logs[: len(z)] if len(logs) else torch.empty_like(z, dtype=sums)
        torch.log_softmax(z, 1, dtype=sums, out=logs)
        at = targets[:, None]
        hit = logs.gather(1, at)
        torch.exp(logs, out=z).scatter_(1, at, hit.expm1().to(z.dtype))
        return -hit[:, 0]

    return by_torch


def _add_gradients(
    grads: list[Tensor | None], rows: slice, g: Tensor, f: Tensor, w: Tensor, part: Tensor, fast: bool
) -> None:
    """One chunk's share of each gradient. The narrow factors carry `part`, so the wide g is not gone over for it."""
    d_features, d_weight, d_bias = grads
    if d_features is not None:
        torch.mul(wide.product(g, w.t()) if fast else g @ w, part, out=d_features[rows])
    if d_weight is not None:
        f, apart = (f * part).to(g.dtype), fast and wide.has_idle_vectors()
        if d_weight.dtype == g.dtype and not apart:
            d_weight.addmm_(g.t(), f, beta=1 if rows.start else 0)
        elif apart and d_weight.dtype == g.dtype:
            wide.add_weight_gradient(d_weight, g, f, keep=rows.start > 0)
        else:
            found = gradient_product(g, f, d_weight.dtype)
            d_weight.add_(found) if rows.start else d_weight.copy_(found)
    if d_bias is not None:
        d_bias += (g.t() @ part.to(g.dtype))[:, 0]
