"""Processes that train together, forked (tests/forks.py), and what they do before the command is run."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor, nn

from foresay.launch import environment, free_port
from foresay.train.loop import Trainer
from foresay.train.spread import Replicas
from foresay.train.team import Team, gathered
from tests.forks import Forks, Process
from tests.train import killing

LONGEST = 120.0  # seconds


def begin(forks: Forks, count: int, *words: Any, hook: Sequence[Any] = ()) -> list[Process]:
    """So many processes of one command."""
    port = free_port()
    return [
        forks.start(["foresay", *words], hook=hook, env=environment(rank, count, port, {"OMP_NUM_THREADS": "1"}))
        for rank in range(count)
    ]


def together(forks: Forks, count: int, *words: Any, hook: Sequence[Any] = ()) -> tuple[list[int], str]:
    """Their exit codes, and what they said to standard error; who waits for ever is killed."""
    running = begin(forks, count, *words, hook=hook)
    timer = threading.Timer(LONGEST, lambda: [one.signal(signal.SIGKILL) for one in running])
    timer.start()
    try:
        done = [one.finish() for one in running]
    finally:
        timer.cancel()
    return [code for code, _, _ in done], "".join(error for _, _, error in done)


def in_one(rank: int, name: str, *given: Any) -> None:
    """A hook of killing.py in one of the processes; the others draw no picture either."""
    killing.die("")
    if int(os.environ["RANK"]) == rank:
        getattr(killing, name)(*given)


def die_in_one(rank: int, step: int) -> None:
    """SIGKILL to one process after a step."""
    in_one(rank, "die", str(step))


def stop_one(rank: int, step: int) -> None:
    """SIGTERM to one process after a step."""
    killing.die("")
    if int(os.environ["RANK"]) == rank:
        killing._after_step(step, lambda: os.kill(os.getpid(), signal.SIGTERM))


def spoil_one(rank: int, step: int) -> None:
    """The gradient of one process is no number in a step."""
    killing.die("")
    if int(os.environ["RANK"]) != rank:
        return
    whole = Trainer.backward

    def backward(self: Trainer, *given: Any) -> Any:
        found = whole(self, *given)
        if self.counters.step == step:
            next(p for p in self.model.parameters() if p.grad is not None).grad.fill_(float("nan"))  # pyright: ignore
        return found

    Trainer.backward = backward


def check(name: str) -> None:
    """Runs one of the checks below in place of the command."""
    checks: dict[str, Callable[[Team], None]] = {"talk": talk, "add": add}
    with gathered(torch.device("cpu")) as team:
        checks[name](team)
    sys.exit(0)


def talk(team: Team) -> None:
    rank = team.rank
    assert (team.size, team.leads, team.alone) == (2, rank == 0, False)
    assert team.told({"a": [rank, None, 1.5]}) == {"a": [0, None, 1.5]}
    assert team.told(float("inf") if rank == 0 else 0.0) == float("inf")
    assert team.most(rank * 7) == 7
    assert team.add(torch.tensor([1.0, rank])).tolist() == [2.0, 1.0]
    for dtype in (torch.float32, torch.bfloat16, torch.long, torch.bool, torch.uint8):
        first = torch.tensor([[1, 0, 1], [0, 1, 1]]).to(dtype)
        mine = first.clone() if rank == 0 else torch.zeros_like(first)
        assert torch.equal(team.hand(mine), first)
    across = torch.arange(6.0).view(2, 3).t() if rank == 0 else torch.zeros(2, 3).t()  # rows are not side by side
    assert torch.equal(team.hand(across), torch.arange(6.0).view(2, 3).t()) and not across.is_contiguous()
    whole = {"h": torch.arange(10.0).view(5, 2), "inner": {"position": torch.arange(5)}}
    own = team.parted(whole)
    assert len(own["h"]) == (2, 3)[rank]
    joined = team.joined(own, 5)
    assert torch.equal(joined["h"], whole["h"]) and torch.equal(joined["inner"]["position"], whole["inner"]["position"])
    assert torch.stack(team.each(torch.tensor([rank, 5]))).tolist() == [[0, 5], [1, 5]]


def add(team: Team) -> None:
    """Gradients that only some processes have; weights begin as the first one's."""
    torch.manual_seed(team.rank)
    model: Any = Named()
    weight = model.here.weight.detach().clone()
    spread = Replicas(team, model)
    assert torch.equal(model.here.weight, weight) == team.leads
    x = torch.tensor([[1.0, 2.0]])
    (model.here(x) * (1 + team.rank)).sum().backward()
    if team.rank == 1:
        model.there(x).sum().backward()
    spread.add_gradients()
    assert model.here.weight.grad.tolist() == [[3.0, 6.0]]  # 1 x + 2 x
    assert model.there.weight.grad.tolist() == [[1.0, 2.0]]
    assert model.nobody.weight.grad is None and model.held.weight.grad is None


class Named(nn.Module):
    """Layers that all, one and none of the processes read."""

    def __init__(self) -> None:
        super().__init__()
        self.here, self.there, self.nobody, self.held = (nn.Linear(2, 1, bias=False) for _ in range(4))
        self.held.requires_grad_(False)

    def tensors(self) -> dict[str, Tensor]:
        return {name: p.detach() for name, p in self.named_parameters()}
