"""Every test works in a folder of its own; prepared texts are cached once per test worker."""

from __future__ import annotations

import functools
import gc
import itertools
import math
import os
import random
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

from tests.commands import Commands
from tests.forks import Forks
from tests.gpu import INTERPRETED, take_gpu_kernels

settings.register_profile("foresay", deadline=None, max_examples=50)  # no test is timed
settings.load_profile("foresay")

NUMBERS = itertools.count(1)
WORDS = "the cat dog bird sees hears likes a small old red house tree river and then under over it".split()  # noqa: SIM905


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--product", action="store_true", help="train every sensible product of parts, not a cover")
    parser.addoption("--slow", action="store_true", help="run what is marked slow too")


def pytest_configure() -> None:
    gc.disable()  # while tests are collected: what is imported and found stays


def pytest_collection_finish() -> None:
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 20, 20)  # looking for cycles took a twentieth of the time
    gc.enable()


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if not config.getoption("--slow"):
        for item in items:
            if item.get_closest_marker("slow"):
                item.add_marker(pytest.mark.skip(reason="slow: runs with --slow, as in make product"))


@pytest.fixture(scope="session", autouse=True)
def _cache(tmp_path_factory: pytest.TempPathFactory) -> None:
    if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:  # as a background job inherits it
        signal.signal(signal.SIGINT, signal.default_int_handler)
    patch = pytest.MonkeyPatch()
    patch.setenv("FORESAY_CACHE", str(tmp_path_factory.mktemp("cache")))
    patch.delenv("FORESAY_PLAIN", raising=False)


@pytest.fixture(scope="session", autouse=True)
def _once() -> None:
    """What every command and every training would do again alike is done once per worker.

    The command line is built once. A run's picture is drawn for every set of curves there is, and written again as it
    is for the next run; tests/train/test_report.py looks at each. Nothing waits for the disk: a test ends before a
    machine does.
    """
    import typer.main

    from foresay.train import aside, report

    whole = report.draw_curves
    pictures: dict[Any, bytes] = {}

    def draw_curves(path: Path, curves: dict[str, list[tuple[float, float]]], label: str, title: str) -> None:
        key = (
            label,
            *((name, min(len(points), 2), all(map(math.isfinite, sum(points, ())))) for name, points in curves.items()),
        )
        if path.name == "curve.png" and key in pictures:
            aside.write_file(path, pictures[key])
            return
        whole(path, curves, label, title)
        if path.name == "curve.png":
            pictures[key] = path.read_bytes()

    patch = pytest.MonkeyPatch()
    patch.setattr(report, "draw_curves", draw_curves)
    patch.setattr(typer.main, "get_command", functools.cache(typer.main.get_command))
    patch.setattr(os, "fsync", os.fstat)  # which knows a closed file too


@pytest.fixture
def tmp_path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """As pytest's own, which for a name looks through the folders of all tests before."""
    path = tmp_path_factory.getbasetemp() / f"test-{next(NUMBERS)}"
    path.mkdir()
    return path


@pytest.fixture(autouse=True)
def _interpreted(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if INTERPRETED and request.node.get_closest_marker("interpreted"):
        take_gpu_kernels(monkeypatch)


@pytest.fixture(autouse=True)
def _own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.fixture(scope="session")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small text of made-up sentences, one a line, the same in every session."""
    draw = random.Random(7)
    lines = [" ".join(draw.choices(WORDS, k=draw.randint(2, 14))) + "." for _ in range(600)]
    path = tmp_path_factory.mktemp("corpus") / "small.txt"
    path.write_text("\n".join(lines) + "\n", "utf-8")
    return path


TINY = {
    "task": "language-model",
    "tokens": {"kind": "characters"},
    "embedding": {"kind": "lookup", "size": 8},
    "encoder": {"kind": "recurrent", "cell": "lstm", "size": 12, "layers": 2, "dropout": 0.2},
    "output": {"kind": "softmax"},
    "train": {
        "steps": 24,
        "batches": {"kind": "streams", "rows": 4, "chunk": 16},
        "optimizer": {"kind": "adamw", "lr": 0.01},
        "evaluate": {"every": 8, "tokens": 2000},
        "save": {"every": 5, "keep": 2},
    },
}


@pytest.fixture
def tiny(corpus: Path) -> dict:
    """A recipe that trains in about a second."""
    return TINY | {"data": {"train": str(corpus)}}


@pytest.fixture(scope="session")
def forks() -> Iterator[Forks]:
    """Real processes at the price of a fork."""
    server = Forks()
    yield server
    server.close()


@pytest.fixture(scope="session")
def trained(corpus: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a finished tiny run; copy it before you change it."""
    from foresay import start
    from foresay.train.progress import Watch

    folder = tmp_path_factory.mktemp("trained") / "tiny"
    start.train(TINY | {"data": {"train": str(corpus)}}, out=folder, device="cpu", watch=Watch())
    return folder


@pytest.fixture
def call(capsys: pytest.CaptureFixture[str]) -> Commands:
    """The command line, called in this process."""
    return Commands(capsys)
