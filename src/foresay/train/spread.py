"""Where the weights of a model are while several processes train it: all in each, or a share in each.

    ddp     every process has all weights; after the way back gradients are summed over all      Replicas
    fsdp    a process keeps 1/N of every weight, gradient and average; a block's weights are     Shards
            brought together while it is read, on the way there and back (torch's fully_shard)

A process's loss is its rows' share of the mean over the whole batch, so gradients are summed and never averaged. The
optimiser does the same with the same numbers in each process; with shares, each with its own.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Literal

import torch
from torch import Tensor, nn

from foresay.encode.block import Block
from foresay.models.task import Task
from foresay.train.team import Team

TOGETHER = 1 << 25  # bytes of gradients that are summed in one call


class Replicas:
    """All weights in every process, or in the only one."""

    factor = 1.0  # what a loss is multiplied with before its way back
    all_measure = False  # True: to measure takes every process

    def __init__(self, team: Team, model: Task):
        self.team, self.model = team, model
        if not team.alone:
            for tensor in model.tensors().values():
                team.hand(tensor)

    def add_gradients(self) -> None:
        """The gradients of all processes, summed; one that no process has stays none."""
        if self.team.alone:
            return
        trained = [p for p in self.model.parameters() if p.requires_grad]
        there = self.team.add(torch.tensor([p.grad is not None for p in trained], dtype=torch.int32))
        for some in _bundles([p for p, count in zip(trained, there.tolist(), strict=True) if count]):
            for parameter in some:
                if parameter.grad is None:
                    parameter.grad = torch.zeros_like(parameter)
            found: list[Tensor] = [p.grad for p in some if p.grad is not None]
            flat = self.team.add(torch.cat([one.flatten() for one in found]))
            for one, added in zip(found, flat.split([one.numel() for one in found]), strict=True):
                one.copy_(added.view(one.shape))

    @contextmanager
    def whole(self) -> Iterator[None]:
        """While it lasts the model has all its weights, to be measured."""
        yield

    def full(self, tensors: dict[str, Tensor]) -> dict[str, Tensor]:
        """Whole tensors of what may be shared; every process asks, and the leading one keeps them."""
        return tensors

    def own(self, tensors: dict[str, Tensor], like: dict[str, Tensor]) -> dict[str, Tensor]:
        """What a process has of whole tensors, by those it has now."""
        return tensors


class Shards(Replicas):
    """A share of every weight in each process."""

    all_measure = True

    def __init__(self, team: Team, model: Task):
        super().__init__(team, model)
        from torch.distributed.device_mesh import init_device_mesh
        from torch.distributed.fsdp import fully_shard, register_fsdp_forward_method

        # Of what a model returns nothing is changed in its place.
        warnings.filterwarnings("ignore", message="FSDP2-wrapped module .* returned a view tensor")
        self.factor = float(team.size)  # it averages
        mesh = init_device_mesh(team.device.type, (team.size,))
        for module in model.modules():
            if isinstance(module, Block) and module.source is None:  # one that looks at a source is read in pieces
                fully_shard(module, mesh=mesh)
        fully_shard(model, mesh=mesh)
        for name in ("loss", "measure"):  # a task is not called but asked for these
            register_fsdp_forward_method(model, name)

    def add_gradients(self) -> None:
        """They were summed on the way back."""

    @contextmanager
    def whole(self) -> Iterator[None]:
        parts: list[Any] = [one for one in self.model.modules() if hasattr(one, "unshard")]
        for part in parts:
            part.set_reshard_after_forward(False, recurse=False)
            part.unshard()
        try:
            yield
        finally:
            for part in parts:
                part.set_reshard_after_forward(part is not self.model, recurse=False)
                part.reshard()

    def full(self, tensors: dict[str, Tensor]) -> dict[str, Tensor]:
        found: dict[str, Tensor] = {}
        for name, tensor in tensors.items():
            one: Any = tensor
            whole = one.full_tensor() if hasattr(one, "full_tensor") else one
            if self.team.leads:
                found[name] = whole.cpu()
        return found

    def own(self, tensors: dict[str, Tensor], like: dict[str, Tensor]) -> dict[str, Tensor]:
        from torch.distributed.tensor import distribute_tensor

        def share(name: str, whole: Tensor) -> Tensor:
            ours: Any = like.get(name)
            if not hasattr(ours, "placements") or whole.shape != ours.shape:
                return whole
            # Every process has read it, so none has to be sent anything.
            return distribute_tensor(whole.to(ours.device), ours.device_mesh, ours.placements, src_data_rank=None)

        return {name: share(name, whole) for name, whole in tensors.items()}


def spread_over(team: Team, model: Task, parallel: Literal["ddp", "fsdp"]) -> Replicas:
    """How the weights of a model lie over the processes of a team."""
    return Shards(team, model) if parallel == "fsdp" and not team.alone else Replicas(team, model)


def _bundles(parameters: list[nn.Parameter]) -> Iterator[list[nn.Parameter]]:
    """Parameters of one type, so many that their gradients are summed together."""
    for dtype in dict.fromkeys(p.dtype for p in parameters):
        some, size = list[nn.Parameter](), 0
        for parameter in (p for p in parameters if p.dtype == dtype):
            some.append(parameter)
            size += parameter.numel() * parameter.element_size()
            if size >= TOGETHER:
                yield some
                some, size = [], 0
        if some:
            yield some
