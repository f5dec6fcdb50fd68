"""The server as a process: its one line, its end, and mistakes before it begins."""

from __future__ import annotations

import json
import signal
import socket
import threading
import urllib.request
from pathlib import Path

import pytest

from foresay.loading import load
from foresay.serve.server import address_of, opened
from tests.commands import Commands
from tests.forks import Forks


def ask(address: str, **body: object) -> dict:
    headers = {"content-type": "application/json"}
    request = urllib.request.Request(f"{address}/v1/completions", json.dumps(body).encode(), headers)
    with urllib.request.urlopen(request) as answer:
        return json.load(answer)


def test_sigterm_finishes_what_is_begun(forks: Forks, trained: Path) -> None:
    """A long text is asked for, the server told to end: the text comes whole, and the exit code is 0."""
    process = forks.start(["foresay", "serve", str(trained), "--port", "0", "--json", "--device", "cpu"])
    told = json.loads(process.line())
    assert told["models"] == ["tiny"] and told["address"].startswith("http://127.0.0.1:")
    found: list[dict] = []
    how = {"model": "tiny", "prompt": "the", "max_tokens": 600, "temperature": 0}
    user = threading.Thread(target=lambda: found.append(ask(told["address"], **how)))
    user.start()
    while json.load(urllib.request.urlopen(f"{told['address']}/health"))["writing"] == 0 and user.is_alive():
        pass
    process.signal(signal.SIGTERM)
    user.join()
    assert process.wait() == 0
    text = load(trained, "cpu").generate("the", length=600, temperature=0)[0]
    assert found[0]["choices"][0]["text"] == text.removeprefix("the")


def test_control_c_ends_it_too(forks: Forks, trained: Path) -> None:
    process = forks.start(["foresay", "serve", str(trained), "--port", "0", "--device", "cpu"])
    assert process.line().startswith("serving tiny at http://127.0.0.1:")
    process.signal(signal.SIGINT)
    assert process.wait() == 0


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
    monkeypatch.setitem(__import__("sys").modules, "uvicorn", None)
    said = call.refused("serve", trained)
    assert said.startswith("foresay serve needs the library uvicorn (") and "pip install 'foresay[serve]'" in said


def test_addresses() -> None:
    with opened("127.0.0.1", 0) as own:
        assert address_of(own) == f"http://127.0.0.1:{own.getsockname()[1]}"
    with opened("0.0.0.0", 0) as own:
        assert address_of(own) == f"http://127.0.0.1:{own.getsockname()[1]}"
