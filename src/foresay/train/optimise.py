"""Optimisers: torch's own, with a learning-rate schedule, saved without pickle.

Weight decay never touches biases, norms and other vectors: only tensors with two or more dimensions decay.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from foresay.parts import Amount, Rate, Share, part
from foresay.train.average import Average
from foresay.train.schedule import Schedule


class Optimizer:
    """`open(model)` gives the torch optimiser; `rate(step, steps)` is the learning rate at a step."""

    part_kind = "optimizer"
    part_name: str
    lr: float
    schedule: Schedule
    average: Average | None = None  # of the weights, measured and kept in their place

    def open(self, model: nn.Module) -> torch.optim.Optimizer:
        raise AssertionError(f"{type(self).__name__} has no open")

    def rate(self, step: int, steps: int) -> float:
        return self.lr * self.schedule.factor(step, steps)


@part("optimizer", "adamw")
class AdamW(Optimizer):
    """Adam with decoupled weight decay."""

    def __init__(
        self,
        lr: Rate = 0.002,
        schedule: Schedule | str = "constant",
        beta1: Share = 0.9,
        beta2: Share = 0.99,
        weight_decay: Amount = 0.0,
        average: Average | str | None = None,
    ):
        assert isinstance(schedule, Schedule) and not isinstance(average, str)
        self.lr, self.schedule, self.average = lr, schedule, average
        self.betas, self.weight_decay = (beta1, beta2), weight_decay

    def open(self, model: nn.Module) -> torch.optim.Optimizer:
        groups = _groups(model, self.weight_decay)
        return torch.optim.AdamW(groups, lr=self.lr, betas=self.betas, fused=True)


@part("optimizer", "adam")
class Adam(Optimizer):
    """Adam without weight decay."""

    def __init__(
        self,
        lr: Rate = 0.002,
        schedule: Schedule | str = "constant",
        beta1: Share = 0.9,
        beta2: Share = 0.999,
        average: Average | str | None = None,
    ):
        assert isinstance(schedule, Schedule) and not isinstance(average, str)
        self.lr, self.schedule, self.average = lr, schedule, average
        self.betas = (beta1, beta2)

    def open(self, model: nn.Module) -> torch.optim.Optimizer:
        return torch.optim.Adam(_groups(model, 0.0), lr=self.lr, betas=self.betas, fused=True)


@part("optimizer", "sgd")
class SGD(Optimizer):
    """Plain stochastic gradient descent, with momentum if wished."""

    def __init__(
        self,
        lr: Rate = 1.0,
        schedule: Schedule | str = "constant",
        momentum: Share = 0.0,
        weight_decay: Amount = 0.0,
        average: Average | str | None = None,
    ):
        assert isinstance(schedule, Schedule) and not isinstance(average, str)
        self.lr, self.schedule, self.average = lr, schedule, average
        self.momentum, self.weight_decay = momentum, weight_decay

    def open(self, model: nn.Module) -> torch.optim.Optimizer:
        groups = _groups(model, self.weight_decay)
        shared = any(
            hasattr(parameter, "placements") for parameter in model.parameters()
        )  # by FSDP: it has no fused one
        return torch.optim.SGD(groups, lr=self.lr, momentum=self.momentum, fused=not shared)


def optimizer_tensors(optimizer: torch.optim.Optimizer) -> dict[str, Tensor]:
    """The optimiser's memory, `index.name` -> tensor, in the order of its parameters."""
    state: dict[int, dict[str, Any]] = optimizer.state_dict()["state"]
    return {f"{i}.{n}": v for i, values in state.items() for n, v in values.items() if isinstance(v, Tensor)}


def restore_optimizer(optimizer: torch.optim.Optimizer, tensors: dict[str, Tensor]) -> None:
    """Takes over what `optimizer_tensors` gave."""
    state: dict[int, dict[str, Any]] = {}
    for key, tensor in tensors.items():
        index, name = key.split(".", 1)
        state.setdefault(int(index), {})[name] = tensor
    optimizer.load_state_dict({"state": state, "param_groups": optimizer.state_dict()["param_groups"]})


def set_rate(optimizer: torch.optim.Optimizer, rate: float) -> None:
    for group in optimizer.param_groups:
        group["lr"] = rate


def _groups(model: nn.Module, weight_decay: float) -> list[dict[str, Any]]:
    trained = [p for p in model.parameters() if p.requires_grad]
    matrices = [p for p in trained if p.ndim >= 2]
    vectors = [p for p in trained if p.ndim < 2]
    groups = [{"params": matrices, "weight_decay": weight_decay}, {"params": vectors, "weight_decay": 0.0}]
    return [group for group in groups if group["params"]]
