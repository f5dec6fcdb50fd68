"""`foresay serve` before it begins: mistakes, each one line."""

from __future__ import annotations

import socket
import sys
from pathlib import Path

import pytest

from tests.commands import Commands


def test_mistakes_before_it_begins(call: Commands, trained: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        said = call.refused("serve", trained, "--port", port)
        assert said.startswith(f"127.0.0.1:{port} cannot be listened on: ") and "give another --port" in said
    assert "--host" in call.refused("serve", trained, "--host", "no.such.host.invalid", "--port", 0)
    assert call.refused("serve", "nothing", "--port", 0).startswith("nothing")
    assert call.refused("serve", trained, "--port", 70000) == "--port 70000; allowed: 0 to 65535, 0 for any free one"
    assert call.refused("serve", trained, "--rows", 0) == "--rows 0; allowed: 1 or more"
    assert "--key" in call.refused("serve", trained, "--key", " ")


def test_the_library_is_missing(call: Commands, trained: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    said = call.refused("serve", trained)
    assert said.startswith("foresay serve needs the library uvicorn (") and "pip install 'foresay[serve]'" in said
