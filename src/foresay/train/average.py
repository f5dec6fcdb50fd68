"""Averages of the weights: what is measured and kept, while training goes on with the weights themselves.

    a <- a + s_n (w - a)        n averages so far, s_0 = 1

    ema       s_n = max(1 - decay, 9 / (n + 9))     after every step
    swa       s_n = 1 / (n + 1)                     every so many steps, from a share of the run on
    nt-asgd   s_n = 1 / (n + 1)                     after every step, once validation has stopped improving

The ema's first shares are those of a polynomial-decay average (Shamir and Zhang 2013): it forgets the first weights as
fast as training leaves them, where a fixed decay would drag them along. swa is stochastic weight averaging (Izmailov
et al. 2018). nt-asgd begins (Merity et al. 2018, as in their code) when the present validation loss is worse than the
best of those that are more than `patience` evaluations old.

Only trained parameters are averaged; a tied one is one; buffers stay the model's own. Where a step runs on the device
without anybody waiting for it, whether it was made is a tensor there (`made`, 1 or 0), and so is the count.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor, nn

from foresay.parts import Share, Size, part


class Average:
    """When weights are taken into the average and what their share is."""

    part_kind = "average"

    def takes(self, step: int, steps: int, count: int) -> bool:
        """Whether the weights after `step` (from 1) of `steps` are taken, `count` being in the average."""
        raise AssertionError(f"{type(self).__name__} has no takes")

    def share(self, count: int) -> float:
        """s_n: of equal weights, unless said otherwise."""
        return self.shares(torch.tensor(count, dtype=torch.float64)).item()

    def shares(self, count: Tensor) -> Tensor:
        """The same on a device."""
        return 1.0 / (count + 1.0)

    def begins(self, losses: Sequence[float]) -> bool:
        """Whether averaging begins now, the validation losses so far being these."""
        return False

    def never(self, steps: int) -> str:
        """Why nothing can be averaged in so many steps; empty when something can."""
        return ""

    def missed(self, step: int, steps: int, losses: Sequence[float]) -> str:
        """Why nothing was averaged in a run of `steps` that ended after `step`, its validation losses being these."""
        return "every step it was due after was skipped"


@part("average", "ema")
class Ema(Average):
    """Exponential moving average, over about the last 1 / (1 - decay) steps."""

    def __init__(self, decay: Share = 0.999):
        self.decay = decay

    def takes(self, step: int, steps: int, count: int) -> bool:
        return True

    def shares(self, count: Tensor) -> Tensor:
        return (9.0 / (count + 9.0)).clamp(min=1.0 - self.decay)


@part("average", "swa")
class Swa(Average):
    """The mean of the weights every `every` steps, from the share `begin` of the run on."""

    def __init__(self, begin: Share = 0.75, every: Size = 10):
        self.begin, self.every = begin, every

    def takes(self, step: int, steps: int, count: int) -> bool:
        since = step - int(self.begin * steps)
        return since > 0 and since % self.every == 0

    def never(self, steps: int) -> str:
        first = int(self.begin * steps) + self.every
        if first <= steps:
            return ""
        return (
            f"swa is due first after step {first} of {steps} (begin={self.begin:g}, every={self.every}); "
            "lower train.average.every or train.average.begin"
        )

    def missed(self, step: int, steps: int, losses: Sequence[float]) -> str:
        first = int(self.begin * steps) + self.every
        early = f"the run stopped at step {step}, and swa is due first after step {first}"
        return early if step < first else super().missed(step, steps, losses)


@part("average", "nt-asgd")
class NtAsgd(Average):
    """The mean of the weights of every step since validation has not improved for `patience` evaluations."""

    def __init__(self, patience: Size = 5):
        self.patience = patience

    def takes(self, step: int, steps: int, count: int) -> bool:
        return count > 0

    def begins(self, losses: Sequence[float]) -> bool:
        *before, now = losses
        return len(before) > self.patience and now > min(before[: -self.patience])

    def missed(self, step: int, steps: int, losses: Sequence[float]) -> str:
        if not losses:
            return "nt-asgd waits for validation to stop improving, and there is no validation text"
        if len(losses) < self.patience + 2:
            return (
                f"nt-asgd can begin at evaluation {self.patience + 2}, and there were {len(losses)}; "
                "lower train.eval_every or train.average.patience"
            )
        return f"nt-asgd waits for validation to stop improving, which it did not (patience={self.patience})"


class Averages:
    """The averages of one model's weights: taken step by step, put in its place to measure, kept in checkpoints."""

    def __init__(self, average: Average, model: nn.Module):
        self.average = average
        self.weights = {name: p for name, p in model.named_parameters() if p.requires_grad}
        self.tensors: dict[str, Tensor] = {}  # none before the first are taken
        self.count = 0
        self.counted: Tensor | None = None  # the count on the device, while steps are made there; `count` may be ahead
        self.losses: list[float] = []  # of validation, until averaging begins

    def stepped(self, step: int, steps: int, made: Tensor | None = None) -> None:
        """A step was made; with `made`, a scalar on the device, it was where that is 1."""
        if not self.average.takes(step, steps, self.count):
            return
        if made is None:
            self._take()
        else:
            self._take_made(made)

    def settle(self) -> None:
        """Reads the count from the device."""
        if self.counted is not None:
            self.count, self.counted = int(self.counted.item()), None

    def evaluated(self, loss: float) -> None:
        """The validation loss was measured."""
        if self.count == 0:
            self.losses.append(loss)
            if self.average.begins(self.losses):
                self._take()

    @torch.no_grad()
    def _take(self) -> None:
        if not self.tensors:
            self.tensors = {name: weight.detach().clone() for name, weight in self.weights.items()}
        else:
            lerp = torch._foreach_lerp_  # pyright: ignore[reportPrivateImportUsage]
            lerp(list(self.tensors.values()), list(self.weights.values()), self.average.share(self.count))
        self.count += 1

    @torch.no_grad()
    def _take_made(self, made: Tensor) -> None:
        """The same where nobody knows yet whether the step was made: a share of 0 changes nothing."""
        if not self.tensors:
            self.tensors = {name: weight.detach().clone() for name, weight in self.weights.items()}
        if self.counted is None:
            self.counted = torch.full((), float(self.count), dtype=torch.float64, device=made.device)
        share = (self.average.shares(self.counted) * made).float()
        for name, weight in self.weights.items():
            self.tensors[name].lerp_(weight, share.to(weight.dtype))
        self.counted += made
        self.count += 1

    @contextmanager
    def in_place(self) -> Iterator[None]:
        """The model has the averages for weights; afterwards its own again."""
        own = {name: weight.detach().clone() for name, weight in self.weights.items()} if self.count else {}
        self.put(self.tensors)
        try:
            yield
        finally:
            self.put(own)

    @torch.no_grad()
    def put(self, tensors: dict[str, Tensor]) -> None:
        """Into the model's memory, which stays where it is: kernels may have laid weights side by side."""
        for name, tensor in tensors.items():
            self.weights[name].copy_(tensor)

    def state(self) -> dict[str, Any]:
        """What `restore` needs beside the tensors."""
        return {"count": self.count, "losses": self.losses}

    def restore(self, tensors: dict[str, Tensor], state: dict[str, Any]) -> None:
        """Takes over what a checkpoint kept."""
        if tensors.keys() not in (self.weights.keys(), set()):
            raise ValueError("its averages are of other weights")
        self.tensors = {name: tensors[name].to(weight.device) for name, weight in self.weights.items() if tensors}
        self.count, self.losses = int(state["count"]), [float(loss) for loss in state["losses"]]
