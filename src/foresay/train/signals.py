"""SIGINT and SIGTERM while a run trains: heard, answered by saving, told with the way to go on."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from foresay.train.folder import how_to_resume

PATIENCE = 1.0  # seconds: `timeout` and batch systems tell the process, then its whole group, so it hears them twice


class Interrupted(Exception):
    """SIGINT or SIGTERM came; the run was saved."""

    def __init__(self, number: int, step: int, folder: Path):
        name = signal.Signals(number).name
        super().__init__(f"stopped by {name} at step {step}; saved: {how_to_resume(folder)} goes on")
        self.code = 128 + number


@contextmanager
def hear_signals() -> Iterator[list[int]]:
    """Collects SIGINT and SIGTERM instead of dying of them; a second one, a second later, is obeyed at once."""
    received: list[int] = []
    first = 0.0
    if threading.current_thread() is not threading.main_thread():
        yield received
        return

    def note(number: int, _frame: Any) -> None:
        nonlocal first
        now = time.monotonic()
        if not received:
            received.append(number)
            first = now
        elif now - first > PATIENCE:
            raise KeyboardInterrupt

    heard = [n for n in (signal.SIGINT, signal.SIGTERM) if signal.getsignal(n) != signal.SIG_IGN]  # nohup, cmd &
    old = {number: signal.signal(number, note) for number in heard}
    try:
        yield received
    finally:
        for number, handler in old.items():
            signal.signal(number, handler)
