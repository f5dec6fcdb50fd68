"""What `foresay train` says at its end: a command that works for the run."""

from __future__ import annotations

import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from foresay import launch, start
from tests.commands import Commands

ANY = {"causal": True, "sequence": True, "conditional": False, "reads": "text"}


@pytest.mark.parametrize(
    ("task", "use"),
    [
        ({}, "generate runs/x"),
        ({"causal": False}, "eval runs/x"),
        ({"conditional": True}, "generate runs/x SOURCE"),
        ({"sequence": False}, "words runs/x near WORD"),
    ],
)
def test_the_last_line(task: dict[str, bool], use: str, call: Commands, monkeypatch: pytest.MonkeyPatch) -> None:
    run = SimpleNamespace(model=SimpleNamespace(**ANY | task), folder=Path("runs/x"))
    monkeypatch.setattr(start, "train", lambda *_, **__: run)
    assert call("train", "any").error == f"runs/x: done; see runs/x/README.md, or: foresay {use}\n"


def test_what_does_not_train_is_no_work_for_torchrun(call: Commands, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in {"RANK": "0", "WORLD_SIZE": "2", "TORCHELASTIC_RUN_ID": "none"}.items():
        monkeypatch.setenv(name, value)
    found = call("list", "recipes")
    assert (found.code, found.out) == (2, "")
    assert found.error == "foresay: foresay list in 2 processes of torchrun; allowed: train: start one process\n"
    monkeypatch.setenv("RANK", "1")
    assert (found := call("list", "recipes")).code == 2 and found.error == ""


def test_processes_start_by_an_option(call: Commands, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []
    monkeypatch.setattr(launch, "launch", lambda count, words: asked.append((count, words)) or 3)
    assert call("train", "lstm", "--processes", 4, "--out", "run").code == 3
    assert asked == [(4, ["train", "lstm", "--out", "run"])]


def test_prepare_asks_for_a_cluster(call: Commands, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    Path("a.txt").write_text("one two three\n" * 40, "utf-8")
    found = call("prepare", "a.txt", "tokens=words", "--ray")
    assert found.code == 2 and "a Ray cluster needs the library ray" in found.error
