"""The processes that train one model together: which one this is, and what they tell each other.

torchrun, or `foresay train --processes N`, starts N processes and tells each by its environment:

    RANK 0 .. N-1    WORLD_SIZE N    LOCAL_RANK its number on its machine    MASTER_ADDR, MASTER_PORT where they meet

Rank 0 leads: it alone writes and speaks, and what it decides all do. On GPUs each process has the one of its local
rank and talks by NCCL; on CPUs, and wherever a number lies on the CPU, by gloo. What is told goes as bytes of JSON.

A collective call that fails means that another process has ended (`Lost`).
"""

from __future__ import annotations

import functools
import itertools
import json
import os
import platform
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from datetime import timedelta
from pathlib import Path
from typing import Any

import numpy as np
import torch
import torch.distributed as dist
from torch import Tensor
from torch.distributed import PrefixStore, Store, rendezvous  # pyright: ignore[reportPrivateImportUsage]

from foresay.encode.encoder import State, map_state
from foresay.errors import UserError

NAMES = ("RANK", "WORLD_SIZE", "LOCAL_RANK", "MASTER_ADDR", "MASTER_PORT")
WAIT = timedelta(hours=2)  # for the slowest process, which may be preparing a text or writing a checkpoint
BRIEF = timedelta(seconds=3)  # for another process's last word
_rounds = itertools.count()


class Lost(Exception):
    """Another process of the training has ended, so this one cannot go on."""

    code = 1


class Team:
    """One process among `size` that train together; one alone by default, for which everything here is nothing."""

    def __init__(self, rank: int = 0, size: int = 1, local: int = 0, device: torch.device | None = None):
        self.rank, self.size, self.local = rank, size, local
        self.device = torch.device("cpu") if device is None else device

    @property
    def leads(self) -> bool:
        return self.rank == 0

    @property
    def alone(self) -> bool:
        return self.size == 1

    def bounds(self, rows: int, rank: int | None = None) -> tuple[int, int]:
        """Which of so many rows are this process's, or another's: shares differ by one row at most."""
        rank = self.rank if rank is None else rank
        return rank * rows // self.size, (rank + 1) * rows // self.size

    def add(self, tensor: Tensor) -> Tensor:
        """The sum over all processes, in its place."""
        if not self.alone:
            with losing():
                dist.all_reduce(tensor)
        return tensor

    def most(self, number: int) -> int:
        """The largest number of all."""
        found = torch.tensor(number)
        if not self.alone:
            with losing():
                dist.all_reduce(found, dist.ReduceOp.MAX)
        return int(found)

    def hand(self, tensor: Tensor, source: int = 0) -> Tensor:
        """A tensor of one process, given to all in its place."""
        if self.alone:
            return tensor
        whole = tensor.detach().contiguous()  # weights may be laid out otherwise
        whole = whole.to(torch.uint8) if whole.dtype == torch.bool else whole
        with losing():
            dist.broadcast(whole, source)
        if whole.data_ptr() != tensor.data_ptr():
            with torch.no_grad():
                tensor.copy_(whole)
        return tensor

    def told(self, value: Any) -> Any:
        """What the leading process says, in place of what the others would; anything that JSON can hold."""
        if self.alone:
            return value
        words = json.dumps(value).encode() if self.leads else b""
        length = self.hand(torch.tensor(len(words)))
        given = torch.zeros(int(length), dtype=torch.uint8)
        if self.leads:
            given.copy_(torch.frombuffer(bytearray(words), dtype=torch.uint8))
        return json.loads(self.hand(given).numpy().tobytes())

    def wait(self) -> None:
        """Until all are here."""
        self.most(0)

    def joined(self, state: State, rows: int) -> State:
        """The rows of every process's state, one after another."""
        if self.alone:
            return state

        def one(own: Tensor) -> Tensor:
            found = own.new_zeros(rows, *own.shape[1:])
            for rank in range(self.size):
                begin, end = self.bounds(rows, rank)
                held = own.contiguous() if rank == self.rank else own.new_empty(end - begin, *own.shape[1:])
                found[begin:end] = self.hand(held, rank)
            return found

        return map_state(state, one)

    def parted(self, state: State) -> State:
        """This process's rows of a state of all."""
        return map_state(state, lambda whole: whole[slice(*self.bounds(len(whole)))].clone())

    def each(self, tensor: Tensor) -> list[Tensor]:
        """The tensors of all processes, of one shape."""
        return [self.hand(tensor.clone(), rank) for rank in range(self.size)]

    def seed(self, seed: int, *more: int) -> int:
        """A seed for what a process draws by itself, as dropout does: the first one's is the run's own."""
        return seed if self.leads and not more else int(np.random.default_rng([seed, self.rank, *more]).integers(2**63))

    @contextmanager
    def first_here(self) -> Iterator[None]:
        """One process of each machine does this before the others do, who find it done."""
        if self.local:
            self.wait()
        try:
            yield
        finally:
            if not self.local:
                self.wait()


ALONE = Team()


@contextmanager
def losing() -> Iterator[None]:
    """Where another process may turn out to have ended."""
    try:
        yield
    except RuntimeError as error:
        if not _of_talk(error):
            raise
        raise Lost("another process of this training has ended") from None


def _of_talk(error: RuntimeError) -> bool:
    return isinstance(error, dist.DistError) or "gloo" in str(error) or "NCCL" in str(error)


@contextmanager
def gathered(device: torch.device) -> Iterator[Team]:
    """The team that the environment tells of, while it trains on such devices; a process alone where it tells of none.

    One line says what went wrong, once: where all meet the same mistake the leading process says it.
    """
    place = _place(os.environ)
    if place is None:
        yield Team(device=device)
        return
    rank, size, local = place
    team = Team(rank, size, local, _own_device(device, local))
    store = PrefixStore(f"foresay {next(_rounds)}", _store())
    own = team.device if team.device.type == "cuda" else None
    backend = "gloo" if own is None else "cpu:gloo,cuda:nccl"
    with losing():
        dist.init_process_group(backend, store=store, rank=rank, world_size=size, timeout=WAIT, device_id=own)
    try:
        with losing():
            yield team
    except (UserError, Lost) as error:
        _say_once(team, store, error)
    except BaseException as error:
        code = 130 if isinstance(error, KeyboardInterrupt) else getattr(error, "code", None)
        if code is None or team.leads:  # a signal was heard, and the leading process tells of it
            raise
        raise SystemExit(code) from None
    finally:
        _leave()


def check_seen(folder: Path, team: Team) -> None:
    """Refuses a run's folder that is on the disk of the leading process's machine alone."""
    team.wait()
    if not folder.exists():
        raise UserError(
            f"{folder.resolve()} is not there on {platform.node()}, where some of the processes run; give an --out on "
            "a disk that all machines share"
        )


def _place(given: Mapping[str, str]) -> tuple[int, int, int] | None:
    """Rank, size and local rank of this process; None where it is alone."""
    if "RANK" not in given and "WORLD_SIZE" not in given:
        return None
    missing = [name for name in NAMES if name not in given]
    if given.get("WORLD_SIZE") == "1" and (missing or given["RANK"] == "0"):
        return None
    if missing:
        has = "RANK" if "RANK" in given else "WORLD_SIZE"
        raise UserError(
            f"{has}={given[has]} is set and {missing[0]} is not; set {', '.join(NAMES)}, as torchrun does, or unset "
            f"{has}"
        )
    try:
        rank, size, local = (int(given[name]) for name in NAMES[:3])
    except ValueError:
        rank, size, local = -1, 0, -1
    if not 0 <= rank < size or local < 0:
        told = ", ".join(f"{name}={given[name]}" for name in NAMES[:3])
        raise UserError(f"{told}; allowed: whole numbers, 0 <= RANK < WORLD_SIZE: start with torchrun")
    return rank, size, local


def _own_device(device: torch.device, local: int) -> torch.device:
    """The GPU of a process's number on its machine, or the CPU."""
    if device.type != "cuda":
        return device
    if device.index is not None:
        raise UserError(f"device={device} for several processes; each takes a GPU of its own: --device cuda")
    if local >= (count := torch.cuda.device_count()):
        raise UserError(f"process {local} of this machine has no GPU: there are {count}; start as many processes")
    torch.cuda.set_device(local)
    return torch.device("cuda", local)


@functools.cache
def _store() -> Store:
    """Where the processes meet, once for each: rank 0 holds it, or torchrun does."""
    try:
        return next(rendezvous("env://", timeout=WAIT))[0]
    except (RuntimeError, ValueError, OSError) as error:
        where = f"{os.environ['MASTER_ADDR']}:{os.environ['MASTER_PORT']}"
        reason = str(error).split("\n")[0]
        raise UserError(f"the processes cannot meet at MASTER_ADDR:MASTER_PORT={where}: {reason}") from None


def _say_once(team: Team, store: Store, error: UserError | Lost) -> None:
    """Raises what this process is to say, or nothing but its exit code where another one says it."""
    if team.leads:
        others = [f"error {rank}" for rank in range(1, team.size)]
        if isinstance(error, UserError):
            store.set("error 0", str(error))
            _linger(store, team)
        if isinstance(error, UserError) or not any(store.check([one]) for one in others):
            raise error
    elif isinstance(error, UserError) and not _is_said(team, store, str(error)):
        raise UserError(f"process {team.rank} of {team.size}: {error}") from None
    raise SystemExit(2 if isinstance(error, UserError) else Lost.code) from None


def _is_said(team: Team, store: Store, text: str) -> bool:
    """Whether the leading process has met the same mistake and says it."""
    try:
        store.set(f"error {team.rank}", text)
        with suppress(dist.DistStoreError):  # not in this time
            store.wait(["error 0"], BRIEF)
        said = store.get("error 0").decode() if store.check(["error 0"]) else None
        store.add("heard", 1)
    except RuntimeError:  # the store went with the leading process, which never goes without a word
        return True
    return said == text


def _linger(store: Store, team: Team) -> None:
    """The leading process may hold the store: the others have a moment to read it."""
    until = time.monotonic() + BRIEF.total_seconds() / 2
    while store.add("heard", 0) < team.size - 1 and time.monotonic() < until:
        time.sleep(0.02)


def _leave() -> None:
    if dist.is_initialized():
        with suppress(RuntimeError):
            dist.destroy_process_group()
