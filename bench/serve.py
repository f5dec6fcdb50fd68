"""Writing for many users at once: tokens a second of the engine against the same requests one after another.

An LSTM of two layers of 512 and a Transformer of 6 layers of 384, over 4,000 subwords of the Python reference, trained
for one step: what they write means nothing, and costs what it costs; no text ends before its length. Each of 1, 8 and
32 users asks for 128 tokens from a prompt of its own, with a seed of its own, all at the same moment; the peer is
`run.generate` for one user after the other. `streams` are 32 users over HTTP, each reading a stream, against the same
peer. `same` is the share of texts that are equal, byte for byte. Both sides are warmed up and take turns.

    python -m bench.serve [--quick] [--gpu]
"""

from __future__ import annotations

import argparse
import http.client
import json
import tempfile
import threading
from pathlib import Path
from typing import Any

import torch

from bench.figure import close, in_turn
from foresay import start
from foresay.run import Run
from foresay.serve.engine import Engine, Limits
from foresay.serve.served import Served, Shelf
from foresay.text.tokens import STOP
from foresay.train.progress import Watch

LENGTH, USERS = 128, (1, 8, 32)
WORDS = "the class of object returns value if not for each when called with string function method is a list".split()  # noqa: SIM905
ENCODERS: dict[str, dict[str, Any]] = {
    "lstm": {"kind": "recurrent", "cell": "lstm", "size": 512, "layers": 2},
    "transformer": {"kind": "transformer", "size": 384, "layers": 6, "heads": 6},
}


def run_of(encoder: dict[str, Any], folder: Path, device: str) -> Run:
    """A run that has taken one step."""
    batches = {"kind": "packed", "rows": 4, "length": 256} if encoder["kind"] == "transformer" else "streams"
    train = {"steps": 1, "batches": batches, "evaluate": {"tokens": 300}}
    recipe = {
        "task": "language-model",
        "data": {"train": "builtin:python-reference"},
        "tokens": {"kind": "subwords", "size": 4000},
        "embedding": {"size": 384},
        "encoder": encoder,
        "train": train,
    }
    run = start.train(recipe, out=folder, device=device, watch=Watch())
    with torch.no_grad():
        run.model.output.bias[STOP] = -1e4  # no text ends before its length
    return run


def requests(users: int, length: int) -> list[dict[str, Any]]:
    """What each user asks for."""
    prompts = [" ".join(WORDS[(user + n) % len(WORDS)] for n in range(4 + user % 9)) for user in range(users)]
    return [{"prompt": prompt, "length": length, "seed": user} for user, prompt in enumerate(prompts)]


def alone(run: Run, asked: list[dict[str, Any]]) -> list[str]:
    return [run.generate(**how)[0] for how in asked]


def together(engine: Engine, run: Run, asked: list[dict[str, Any]]) -> list[str]:
    tickets = [engine.write("run", run.asked(**how)) for how in asked]
    return [ticket.result()[0] for ticket in tickets]


def figure(run: Run, users: int, length: int, rounds: int, ours: Any) -> dict[str, Any]:
    """Tokens a second of both sides, and how many texts are the same."""
    asked = requests(users, length)
    found, want = ours(asked), alone(run, asked)
    mine, peer = in_turn(lambda: ours(asked), lambda: alone(run, asked), rounds, 1)
    number = users * length
    return {
        "ours": round(number / mine),
        "peer": round(number / peer),
        "unit": "tokens/s",
        "ratio": round(peer / mine, 2),
        "same": sum(a == b for a, b in zip(found, want, strict=True)) / users,
        "users": users,
        "tokens": number,
    }


def streamed(port: int, how: dict[str, Any]) -> str:
    """A text over HTTP, read as a stream."""
    body = {"model": "run", "prompt": how["prompt"], "max_tokens": how["length"], "seed": how["seed"], "stream": True}
    connection = http.client.HTTPConnection("127.0.0.1", port)
    connection.request("POST", "/v1/completions", json.dumps(body), {"content-type": "application/json"})
    lines = connection.getresponse().read().decode().split("\n\n")
    connection.close()
    events = [json.loads(line.removeprefix("data: ")) for line in lines if line.startswith("data: {")]
    return how["prompt"] + "".join(event["choices"][0]["text"] for event in events)


def over_http(run: Run, length: int, rounds: int) -> dict[str, Any]:
    """32 users, each with a stream of its own, in threads."""
    import uvicorn

    from foresay.serve.api import make_app
    from foresay.serve.server import Server, opened

    own, ready = opened("127.0.0.1", 0), threading.Event()
    app = make_app(Shelf([Served("run", run.folder, run)]))
    server = Server(uvicorn.Config(app, log_level="warning", ws="none"), app.state.engine, ready.set)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [own]})
    thread.start()
    ready.wait()
    port = own.getsockname()[1]

    def ours(asked: list[dict[str, Any]]) -> list[str]:
        texts = [""] * len(asked)

        def user(place: int) -> None:
            texts[place] = streamed(port, asked[place])

        users = [threading.Thread(target=user, args=(place,)) for place in range(len(asked))]
        for one in users:
            one.start()
        for one in users:
            one.join()
        return texts

    try:
        return figure(run, 32, length, rounds, ours)
    finally:
        server.should_exit = True
        thread.join()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--gpu", action="store_true")
    given = parser.parse_args()
    length, rounds = (32, 1) if given.quick else (LENGTH, 3)
    found: dict[str, dict[str, Any]] = {}
    with tempfile.TemporaryDirectory() as folder:
        for name, encoder in ENCODERS.items():
            run = run_of(encoder, Path(folder) / name, "cuda" if given.gpu else "cpu")
            engine = Engine({"run": run}, Limits(rows=32))
            for users in USERS:
                found[f"{name}_{users}"] = figure(
                    run, users, length, rounds, lambda asked, run=run, engine=engine: together(engine, run, asked)
                )
            engine.close()
            found[f"{name}_streams"] = over_http(run, length, rounds)
    close(found)


if __name__ == "__main__":
    main()
