"""Gradient clipping, and the rule for gradients that are no numbers (SPEC E2).

    norm    g <- g / max(1, ||g|| / limit)         one length over all parameters: the direction stays
    parts   the same for each top part of the model (embedding, encoder, output) on its own
    value   every entry into [-limit, limit]

`limit` may start at `first` and fall on a straight line to `limit` over `fall` steps. The norm before clipping
is returned; when it is not finite the caller must skip the step. Nothing here waits for a GPU, and a limit may be a
scalar tensor on it.
"""

from __future__ import annotations

from collections.abc import Iterable

import torch
from torch import Tensor, nn

from foresay.errors import UserError
from foresay.parts import Count, Rate, part


class Clip:
    """`apply(model, step) -> norm` of the gradient before clipping."""

    part_kind = "clip"

    def __init__(self, limit: float, first: float | None, fall: int):
        if (first is None) != (fall == 0):
            raise UserError(f"clip: first={first}, fall={fall}; allowed: both, for a limit that falls, or neither")
        self.limit, self.first, self.fall = limit, first, fall

    def threshold(self, step: int) -> float:
        """The limit in force at a step (from 0)."""
        if self.first is None or step >= self.fall:
            return self.limit
        return self.first + (self.limit - self.first) * step / self.fall

    def apply(self, model: nn.Module, step: int) -> Tensor:
        norm = gradient_norm(model)
        self.shorten(model, norm, self.threshold(step))
        return norm

    def shorten(self, model: nn.Module, norm: Tensor, limit: float | Tensor) -> None:
        raise AssertionError(f"{type(self).__name__} has no shorten")

    def divisor(self, norm: Tensor, limit: float | Tensor) -> Tensor | None:
        """What an optimiser may divide every gradient by in place of `shorten`; None where it is not one number."""
        return None


@part("clip", "norm")
class ByNorm(Clip):
    """Shortens the whole gradient to `limit`; its direction stays."""

    def __init__(self, limit: Rate = 1.0, first: Rate | None = None, fall: Count = 0):
        super().__init__(limit, first, fall)

    def shorten(self, model: nn.Module, norm: Tensor, limit: float | Tensor) -> None:
        _divide(gradients(model), norm, limit)

    def divisor(self, norm: Tensor, limit: float | Tensor) -> Tensor | None:
        return _divisor(norm, limit)


@part("clip", "parts")
class ByParts(Clip):
    """Shortens the gradient of each top part of the model to `limit` on its own."""

    def __init__(self, limit: Rate = 1.0, first: Rate | None = None, fall: Count = 0):
        super().__init__(limit, first, fall)

    def shorten(self, model: nn.Module, norm: Tensor, limit: float | Tensor) -> None:
        seen: set[int] = set()  # a tied table belongs to the first part that has it
        for child in model.children():
            found = [p.grad for p in child.parameters() if p.grad is not None and id(p) not in seen]
            seen |= {id(p) for p in child.parameters()}
            if found:
                _divide(found, total_norm(found), limit)


@part("clip", "value")
class ByValue(Clip):
    """Cuts every entry of the gradient to [-limit, limit]; the direction may change."""

    def __init__(self, limit: Rate = 1.0, first: Rate | None = None, fall: Count = 0):
        super().__init__(limit, first, fall)

    def shorten(self, model: nn.Module, norm: Tensor, limit: float | Tensor) -> None:
        for gradient in gradients(model):
            gradient.clamp_(-limit, limit)  # pyright: ignore[reportArgumentType, reportCallIssue]


def gradients(model: nn.Module) -> list[Tensor]:
    return [p.grad for p in model.parameters() if p.grad is not None]


def gradient_norm(model: nn.Module) -> Tensor:
    """||g|| over all parameters, a scalar on the device; 0 when nothing has a gradient."""
    found = gradients(model)
    return total_norm(found) if found else torch.zeros(())


def total_norm(found: list[Tensor]) -> Tensor:
    """||g|| over some gradients; of those that processes share (FSDP) over all shares."""
    norm = torch.nn.utils.get_total_norm(found)
    return norm.full_tensor() if hasattr(norm, "full_tensor") else norm  # pyright: ignore[reportAttributeAccessIssue]


def _divide(found: Iterable[Tensor], norm: Tensor, limit: float | Tensor) -> None:
    torch._foreach_div_(list(found), _divisor(norm, limit))  # pyright: ignore[reportPrivateImportUsage]


def _divisor(norm: Tensor, limit: float | Tensor) -> Tensor:
    return (norm / limit).clamp(min=1.0)
