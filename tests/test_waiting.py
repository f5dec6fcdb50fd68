"""Threads wait briefly: set before torch is loaded, and never over the user's own word."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from foresay import waiting

LOOK = "import os; print(*(os.environ.get(name) for name in ('GOMP_SPINCOUNT', 'OMP_WAIT_POLICY')))"


@pytest.mark.parametrize(
    ("first", "own", "found"),
    [
        ("import foresay; foresay.UserError", {}, "1000 None"),
        ("import foresay", {}, "None None"),
        ("import torch, foresay; foresay.UserError", {}, "None None"),
        ("import foresay; foresay.UserError", {"GOMP_SPINCOUNT": "7"}, "7 None"),
        ("import foresay; foresay.UserError", {"OMP_WAIT_POLICY": "active"}, "None active"),
    ],
)
def test_when_it_is_asked_for(first: str, own: dict[str, str], found: str) -> None:
    clean = {name: value for name, value in os.environ.items() if name not in waiting.SETTINGS}
    done = subprocess.run([sys.executable, "-c", f"{first}; {LOOK}"], env=clean | own, capture_output=True, text=True)
    assert done.stdout.strip() == found, done.stderr


def test_the_command_line_asks(monkeypatch) -> None:
    from foresay.cli import entry

    asked = []
    monkeypatch.setattr(entry, "wait_briefly", lambda: asked.append(1))
    monkeypatch.setattr(sys, "argv", ["foresay", "--version"])
    with pytest.raises(SystemExit):
        entry.main()
    assert asked == [1]
