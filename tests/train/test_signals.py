"""Signals while training: heard once, obeyed the second time, left alone where they are not ours."""

from __future__ import annotations

import os
import signal
import threading
from pathlib import Path

import pytest

from foresay.train import signals
from foresay.train.signals import Interrupted, hear_signals


def test_a_stopped_run_says_how_to_go_on() -> None:
    stopped = Interrupted(signal.SIGTERM, 7, Path("runs/my run"))
    assert str(stopped) == "stopped by SIGTERM at step 7; saved: foresay train --resume 'runs/my run' goes on"
    assert stopped.code == 143


def test_a_second_signal_is_obeyed_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(signals, "PATIENCE", -1.0)
    with pytest.raises(KeyboardInterrupt), hear_signals() as received:
        os.kill(os.getpid(), signal.SIGINT)
        assert received == [signal.SIGINT]
        os.kill(os.getpid(), signal.SIGINT)
        pytest.fail("the second signal did nothing")


def test_one_that_comes_twice_is_one() -> None:
    """As `timeout -s INT` sends it: to the process and to its group."""
    with hear_signals() as received:
        os.kill(os.getpid(), signal.SIGINT)
        os.kill(os.getpid(), signal.SIGINT)
        assert received == [signal.SIGINT]


def test_a_signal_that_is_ignored_stays_so(monkeypatch: pytest.MonkeyPatch) -> None:
    """As under nohup, or in the background of a script."""
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        with hear_signals() as received:
            os.kill(os.getpid(), signal.SIGINT)
            assert received == [] and signal.getsignal(signal.SIGINT) == signal.SIG_IGN
    finally:
        signal.signal(signal.SIGINT, before)


def test_a_thread_leaves_signals_alone() -> None:
    before, seen = signal.getsignal(signal.SIGINT), []

    def work() -> None:
        with hear_signals() as received:
            seen.append((received, signal.getsignal(signal.SIGINT)))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert seen == [([], before)]
