"""What `foresay train` says at its end: a command that works for the run."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import pytest

from foresay import start
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
