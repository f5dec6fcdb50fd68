"""Hooks for a forked process (tests/forks.py) that writes to a cache beside another, or is killed while it does."""

from __future__ import annotations

import os
import signal
import sys
import time
from pathlib import Path
from typing import NoReturn

from foresay.data import writer
from foresay.data.cache import made_once
from foresay.data.corpus import Corpus
from foresay.data.prepare import prepare
from foresay.text.words import Words


def write_slowly(cache: str, seconds: float, key: str) -> NoReturn:
    """Says when half is written, takes its time, and notes that all is."""

    def write(folder: Path) -> None:
        (folder / "half").write_text("1")
        print("writing", flush=True)
        time.sleep(seconds)
        (folder / "whole").write_text("2")
        with (Path(cache) / "writes").open("a") as file:
            file.write("x")

    made_once(Path(cache), key, write)
    sys.exit(0)


def prepare_and_say(text: str, cache: str) -> NoReturn:
    found = prepare(Corpus(text), Words(), 1, cache=Path(cache), block=40)
    print(found.folder.name, len(found.train), found.train.slice(0, 10**6).sum())
    sys.exit(0)


def prepare_and_die(text: str, cache: str, calls: int) -> NoReturn:
    """SIGKILL when it has told of its progress in encoding `calls` times."""
    told = 0

    def tell(stage: str, done: float) -> None:
        nonlocal told
        told += stage.startswith("encode")
        if told == calls:
            os.kill(os.getpid(), signal.SIGKILL)

    writer.KEEP_EVERY = -1.0
    prepare(Corpus(text), Words(), 1, cache=Path(cache), on_progress=tell, block=100)
    sys.exit(0)
