"""Trains a run that kills itself (SIGKILL) again and again, each time in a forked child, until it is done.

    python killing.py DEVICE RECIPE OUT KILL...     KILL is a step (12) or a file write inside a checkpoint (save:3)
"""

from __future__ import annotations

import os
import signal
import sys

import torch

from foresay import start
from foresay.train import checkpoint
from foresay.train.loop import Trainer
from foresay.train.progress import Watch


def die_at_step(step: int) -> None:
    whole = Trainer.train_step

    def train_step(self, batches):
        done = whole(self, batches)
        if self.counters.step == step:
            os.kill(os.getpid(), signal.SIGKILL)
        return done

    Trainer.train_step = train_step


def die_in_save(write: int) -> None:
    """In the middle of the `write`-th file of a numbered checkpoint: half of it is on the disk."""
    whole, seen = checkpoint._write, [0]

    def half(path, data):
        if path.parent.name.startswith(".0"):
            seen[0] += 1
            if seen[0] == write:
                path.write_bytes(data[: len(data) // 2])
                os.kill(os.getpid(), signal.SIGKILL)
        return whole(path, data)

    checkpoint._write = half


def main(device: str, recipe: str, out: str, *kills: str) -> None:
    for kill in (*kills, ""):
        child = os.fork()
        if child == 0:
            torch.set_num_threads(1)
            if kill.startswith("save:"):
                die_in_save(int(kill[5:]))
            elif kill:
                die_at_step(int(kill))
            start.train(recipe, out=out, resume=True, device=device, watch=Watch())
            os._exit(0)
        status = os.waitpid(child, 0)[1]
        expected = signal.SIGKILL if kill else 0
        if os.waitstatus_to_exitcode(status) != -expected:
            sys.exit(f"kill {kill!r}: the child ended with {os.waitstatus_to_exitcode(status)}")


if __name__ == "__main__":
    main(*sys.argv[1:])
