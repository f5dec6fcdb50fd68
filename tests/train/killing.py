"""Hooks for a forked command (tests/forks.py): it kills itself, or waits to be stopped, at a chosen moment."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Callable

from foresay import start
from foresay.train import checkpoint
from foresay.train.loop import Trainer


def die(kill: str) -> None:
    """SIGKILL after a step ("12"), or half-way through a file of a numbered checkpoint ("save:2")."""
    start.write_curve = lambda _: None  # half the time of so small a run
    if kill.startswith("save:"):
        _die_in_save(int(kill[5:]))
    elif kill:
        _after_step(int(kill), lambda: os.kill(os.getpid(), signal.SIGKILL))


def wait(step: int, number: int) -> None:
    """Says so on standard error after a step and waits there for a signal."""

    def until_it_comes() -> None:
        handler, came = signal.getsignal(number), []
        assert callable(handler)
        signal.signal(number, lambda *given: (came.append(True), handler(*given)))
        sys.stderr.write(f"waiting after step {step}\n")
        sys.stderr.flush()
        while not came:
            time.sleep(0.01)

    _after_step(step, until_it_comes)


def _after_step(step: int, do: Callable[[], None]) -> None:
    whole = Trainer.train_step

    def train_step(self, batches):
        done = whole(self, batches)
        if self.counters.step == step:
            do()
        return done

    Trainer.train_step = train_step


def _die_in_save(write: int) -> None:
    whole, seen = checkpoint.write_flushed, [0]

    def half(path, data):
        if path.parent.name.startswith(".0"):
            seen[0] += 1
            if seen[0] == write:
                path.write_bytes(data[: len(data) // 2])
                os.kill(os.getpid(), signal.SIGKILL)
        return whole(path, data)

    checkpoint.write_flushed = half


def hold(step: int, path: str) -> None:
    """Says so on standard error after a step and waits there until a file is there."""

    def until_it_is_there() -> None:
        sys.stderr.write(f"waiting after step {step}\n")
        sys.stderr.flush()
        while not os.path.exists(path):  # noqa: PTH110
            time.sleep(0.01)

    _after_step(step, until_it_is_there)


def hold_while_preparing() -> None:
    """Never gets past the preparation of the text."""

    def prepare(*_: object, **__: object) -> None:
        sys.stderr.write("preparing\n")
        sys.stderr.flush()
        time.sleep(60)

    start.prepare = prepare  # pyright: ignore[reportAttributeAccessIssue]
