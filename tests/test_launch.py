"""Processes of one machine: what each is told, how they end, and the option that starts them."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

import pytest

from foresay import launch
from foresay.cli.training import without_option
from foresay.errors import UserError
from foresay.launch import Killed, environment


def started(monkeypatch: pytest.MonkeyPatch, code: str) -> None:
    """Every process runs this in place of foresay, with `rank` and `words`."""
    given = "import os, sys, time, signal; rank = int(os.environ['RANK']); words = sys.argv[1:]; "
    monkeypatch.setattr(launch, "COMMAND", (sys.executable, "-S", "-c", given + code))


def test_each_process_is_told_its_place_and_its_share_of_the_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(8)), raising=False)
    told = environment(2, 3, 4321, {"A": "b"})
    assert told | {"TORCH_CPP_LOG_LEVEL": ""} == {
        "RANK": "2", "WORLD_SIZE": "3", "LOCAL_RANK": "2", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": "4321",
        "OMP_NUM_THREADS": "2", "A": "b", "TORCH_CPP_LOG_LEVEL": "",
    }  # fmt: skip
    assert environment(0, 3, 1, {"OMP_NUM_THREADS": "5"})["OMP_NUM_THREADS"] == "5"


def test_all_run_the_same_command(monkeypatch: pytest.MonkeyPatch) -> None:
    started(monkeypatch, "open(f'{rank}.txt', 'w').write(os.environ['WORLD_SIZE'] + ' '.join(words))")
    assert launch.launch(2, ["train", "lstm"]) == 0
    assert [Path(f"{rank}.txt").read_text("utf-8") for rank in range(2)] == ["2train lstm"] * 2


def test_the_first_failure_is_the_exit_code(monkeypatch: pytest.MonkeyPatch) -> None:
    started(monkeypatch, "sys.exit(2 * rank)")
    assert launch.launch(2, []) == 2


def test_who_does_not_end_with_the_others_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(launch, "PATIENCE", 0.1)
    started(monkeypatch, "time.sleep(60 * rank); sys.exit(1)")
    assert launch.launch(2, []) == 1  # and at once


def test_a_killed_leader_is_told_of(monkeypatch: pytest.MonkeyPatch) -> None:
    started(monkeypatch, "rank or os.kill(os.getpid(), signal.SIGKILL)")
    with pytest.raises(Killed, match=r"^process 0 of 2 was killed by SIGKILL; foresay train --resume RUN goes on$"):
        launch.launch(2, [])


def test_a_signal_goes_to_all(monkeypatch: pytest.MonkeyPatch) -> None:
    started(
        monkeypatch,
        "signal.signal(signal.SIGTERM, lambda *_: sys.exit(143)); "
        "rank or (time.sleep(0.5), os.kill(os.getppid(), signal.SIGTERM)); time.sleep(60)",
    )
    before = signal.getsignal(signal.SIGTERM)
    assert launch.launch(2, []) == 143
    assert signal.getsignal(signal.SIGTERM) is before


@pytest.mark.parametrize("number", [0, -2])
def test_too_few_processes_are_refused(number: int) -> None:
    with pytest.raises(UserError, match=f"processes={number}; allowed: at least 1"):
        launch.launch(number, [])


def test_processes_start_no_processes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RANK", "0")
    with pytest.raises(UserError, match="inside torchrun"):
        launch.launch(2, [])


def test_the_option_is_left_out_of_the_command() -> None:
    words = ["train", "--processes", "2", "lstm", "--out", "2"]
    assert without_option(words, "--processes") == ["train", "lstm", "--out", "2"]
    assert without_option(["train", "--processes=2", "lstm"], "--processes") == ["train", "lstm"]
