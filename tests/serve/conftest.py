"""What is served in tests: a run of each kind, made once; an app, and a server that listens."""

from __future__ import annotations

import threading
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from foresay import start
from foresay.serve.engine import Limits
from foresay.serve.served import Shelf, open_all
from foresay.train.progress import Watch
from foresay.vectors.word_vectors import WordVectors
from tests import hums, striped, tides

PAIRS = {
    "task": "seq2seq",
    "tokens": "characters",
    "embedding": {"size": 8},
    "encoder": {"kind": "recurrent", "cell": "gru", "size": 8, "bidirectional": True},
    "writer": {"kind": "recurrent", "cell": "gru", "size": 8},
    "train": {"steps": 3, "batches": {"kind": "pairs", "tokens": 300}, "evaluate": {"tokens": 100}},
}
BOTH = {
    "task": "bilm",
    "tokens": "words",
    "embedding": {"size": 6},
    "encoder": {"kind": "recurrent", "cell": "gru", "size": 6},
    "train": {"steps": 3, "batches": {"kind": "packed", "rows": 4, "length": 12, "across": True}},
}
ROLLS = {"train": {"batches": {"kind": "series", "rows": 8, "length": 16}}, "output": "bernoulli", "season": 1}
DRAWERS: dict[str, tuple[Any, dict[str, Any]]] = {
    "pics": (striped, {"condition": 4}),
    "hums": (hums, {}),
    "tides": (tides, {}),
    "chords": (tides, ROLLS | {"data": {"kind": "music", "train": "builtin:chords"}}),
}
WORDS = ["king", "man", "woman", "queen", "apple"]
MATRIX = [[2, 2, 0], [0, 3, 0], [0, -3, 0], [1, -1, 0.1], [0, 0, 5]]


@pytest.fixture(scope="session")
def shelf(trained: Path, tmp_path_factory: pytest.TempPathFactory) -> Shelf:
    """`tiny` writes, `pairs` rewrites, `bag` labels, `hmm` tags, `v.vec` knows words, `both` those of a text; `pics`,
    `hums`, `tides` and `chords` draw."""
    folder, quiet = tmp_path_factory.mktemp("served"), {"device": "cpu", "watch": Watch()}

    def made(name: str, recipe: dict[str, Any], rows: list[str], kind: str) -> Path:
        (folder / f"{name}.tsv").write_text("".join(rows), "utf-8")
        data = {"kind": kind, "train": str(folder / f"{name}.tsv")}
        start.train(recipe | {"data": data}, out=folder / name, **quiet)
        return folder / name

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        pairs = made(
            "pairs", PAIRS, [f"{'ab' * n}{'c' * m}\t{'xy' * n}\n" for n in range(1, 9) for m in range(9)], "pairs"
        )
        labels = {"task": "bag-of-words", "tokens": "blanks", "train": {"batches": "labels"}}
        bag = made("bag", labels, ["text\tlabel\n", *["a\tA\nb\tB\n"] * 20], "labels")
        hmm = made(
            "hmm",
            {"task": "hmm", "tokens": "words", "train": {"batches": "tags"}},
            ["the\tD\ncat\tN\n\n", "a\tD\ndog\tN\nsees\tV\n\n"] * 20,
            "tags",
        )
        (folder / "both.txt").write_text("the cat sat on a mat\n" * 30)
        both = start.train(BOTH | {"data": {"train": str(folder / "both.txt")}}, out=folder / "both", **quiet).folder
        drawers = [made_small(folder, name) for name in DRAWERS]
    WordVectors(WORDS, MATRIX).save(folder / "v.vec")
    return open_all([trained, pairs, bag, hmm, folder / "v.vec", both, *drawers], "cpu")


def made_small(folder: Path, name: str) -> Path:
    """A run that draws, in a folder of its name."""
    module, more = DRAWERS[name]
    own = folder / f"{name}-made"
    own.mkdir()
    few = {"train": module.TRAIN | {"steps": 4} | more.get("train", {})}
    return module.train_small(own, **(more | few)).folder.rename(folder / name)


@pytest.fixture(scope="session")
def app(shelf: Shelf) -> Iterator[Any]:
    from foresay.serve.api import make_app

    found = make_app(shelf, limits=Limits(rows=4, waiting=50, length=300, number=4))
    yield found
    found.state.engine.close()


@pytest.fixture(scope="session")
def client(app: Any) -> Any:
    from fastapi.testclient import TestClient

    return TestClient(app, raise_server_exceptions=False)


@pytest.fixture(scope="session")
def address(shelf: Shelf) -> Iterator[str]:
    """Of a server that listens, in a thread."""
    import uvicorn

    from foresay.serve.api import make_app
    from foresay.serve.server import Server, address_of, opened

    own, ready = opened("127.0.0.1", 0), threading.Event()
    app = make_app(shelf, limits=Limits(length=5000))
    server = Server(uvicorn.Config(app, log_level="warning", ws="none"), app.state.engine, ready.set)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [own]})
    thread.start()
    assert ready.wait(30)
    yield address_of(own)
    server.should_exit = True
    thread.join()
    while app.state.engine.thread.is_alive():
        time.sleep(0.01)
