"""The server as a process: its one line, its end, and mistakes before it begins."""

from __future__ import annotations

import http.client
import json
import signal
import threading
import time
import urllib.request
from pathlib import Path

from foresay.loading import load
from foresay.serve.server import address_of, opened
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


def test_who_goes_away_without_a_stream_is_not_written_for(address: str) -> None:
    host, port = address.removeprefix("http://").split(":")
    connection = http.client.HTTPConnection(host, int(port))
    body = json.dumps({"model": "tiny", "prompt": "t", "max_tokens": 5000, "temperature": 0})
    connection.request("POST", "/v1/completions", body, {"content-type": "application/json"})

    def writing() -> int:
        return json.load(urllib.request.urlopen(f"{address}/health"))["writing"]

    while not writing():
        pass
    connection.close()
    began = time.monotonic()
    while writing():
        assert time.monotonic() - began < 60
    page = urllib.request.urlopen(f"{address}/metrics").read().decode()
    written = [line for line in page.splitlines() if line.startswith('foresay_written_tokens_total{model="tiny"}')]
    assert 0 < float(written[0].split()[1]) < 5000


def test_addresses() -> None:
    with opened("127.0.0.1", 0) as own:
        assert address_of(own) == f"http://127.0.0.1:{own.getsockname()[1]}"
    with opened("0.0.0.0", 0) as own:
        assert address_of(own) == f"http://127.0.0.1:{own.getsockname()[1]}"
