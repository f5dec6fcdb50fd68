"""Several processes of one machine that train together: `foresay train --processes N`, in place of torchrun.

    process r of N runs the same command with RANK=r, WORLD_SIZE=N, LOCAL_RANK=r, MASTER_ADDR, MASTER_PORT

On a CPU its cores are shared out. A signal that comes here goes to all. When one process ends badly the others find out
by themselves (train/team.py) and end; who does not within PATIENCE seconds is ended. For several machines: torchrun.
"""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from typing import Any

from foresay.errors import UserError

PATIENCE = 20.0  # seconds: one may be in the middle of a checkpoint
HOST = "127.0.0.1"
COMMAND = (sys.executable, "-m", "foresay")


class Killed(Exception):
    """The leading process was killed, so that nobody could say so."""

    code = 1


def launch(processes: int, words: Sequence[str]) -> int:
    """Runs `foresay` with these words in so many processes and waits; the exit code of the first that failed, or 0."""
    if processes < 1:
        raise UserError(f"processes={processes}; allowed: at least 1")
    if "RANK" in os.environ:
        raise UserError(f"processes={processes} inside torchrun, which has started them already; leave one of them out")
    command, port = [*COMMAND, *words], free_port()
    running = [
        subprocess.Popen(command, env=environment(rank, processes, port, os.environ), stdin=subprocess.DEVNULL)
        for rank in range(processes)
    ]
    before = {number: signal.signal(number, _passer(running)) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        codes = _wait(running)
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        for one in running:
            if one.poll() is None:
                one.kill()
    if codes[0] < 0:
        name = signal.Signals(-codes[0]).name
        raise Killed(f"process 0 of {processes} was killed by {name}; foresay train --resume RUN goes on")
    return next((abs(code) for code in codes if code), 0)


def environment(rank: int, processes: int, port: int, given: Mapping[str, str]) -> dict[str, str]:
    """What a process is told: its place, where the others are, and its share of the cores where nobody has said it."""
    place = {"RANK": rank, "WORLD_SIZE": processes, "LOCAL_RANK": rank, "MASTER_ADDR": HOST, "MASTER_PORT": port}
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    threads = {"OMP_NUM_THREADS": str(max(cores // processes, 1))}
    quiet = {"TORCH_CPP_LOG_LEVEL": "ERROR"}  # that a process has ended is told in one line
    return threads | quiet | dict(given) | {name: str(value) for name, value in place.items()}


def free_port() -> int:
    """A port of this machine that nobody listens on."""
    with socket.socket() as one:
        one.bind((HOST, 0))
        return one.getsockname()[1]


def _wait(running: list[subprocess.Popen[bytes]]) -> list[int]:
    """The exit codes of all; from the first failure on the others have so long."""
    until = None
    while any(one.poll() is None for one in running):
        if until is None and any(one.poll() for one in running):
            until = time.monotonic() + PATIENCE
        if until is not None and time.monotonic() > until:
            for one in running:
                one.kill()
        time.sleep(0.05)
    return [one.wait() for one in running]


def _passer(running: list[subprocess.Popen[bytes]]) -> Any:
    def tell(number: int, _frame: Any) -> None:
        for one in running:
            if one.poll() is None:
                one.send_signal(number)

    return tell
