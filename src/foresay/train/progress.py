"""What a person sees while training, and what is kept: the bar, plain lines, `metrics.jsonl`.

On a terminal: a rich bar with ETA, tokens/s, loss, perplexity and bits per character and byte. In a pipe or a
log: one plain line now and then, on standard error, so that standard output stays clean.
"""

from __future__ import annotations

import json
import math
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from foresay.train.aside import write_file
from foresay.train.board import Board
from foresay.train.classified import Classified
from foresay.train.evaluate import Measured
from foresay.train.foreseen import SeriesFigures
from foresay.train.heard import SpeechFigures
from foresay.train.tagged import TagFigures

SECONDS_BETWEEN_LINES = 10.0
Tell = Callable[..., None]  # (share done, part of the work)


class Watch:
    """Told what happens; this one says nothing, its children show it."""

    def note(self, text: str) -> None: ...

    @contextmanager
    def stage(self, text: str) -> Iterator[Tell]:
        """A long piece of work other than training; call what it gives with the share done, and of which part of it."""
        yield lambda done, part="": None

    def step(self, step: int, steps: int, loss: float, tokens_per_second: float) -> None: ...

    def evaluated(
        self, step: int, measured: Measured | TagFigures | Classified | SeriesFigures | SpeechFigures
    ) -> None: ...

    def close(self) -> None: ...


class PlainWatch(Watch):
    """One line every ten seconds, for logs and pipes; `brief` leaves out each evaluation."""

    def __init__(self, brief: bool = False) -> None:
        self.last, self.brief = time.monotonic(), brief

    def note(self, text: str) -> None:
        with suppress(BrokenPipeError):  # nobody reads any more: training goes on
            sys.stderr.write(text + "\n")
            sys.stderr.flush()

    @contextmanager
    def stage(self, text: str) -> Iterator[Tell]:
        began, now = time.monotonic(), ""

        def tell(done: float, part: str = "") -> None:
            nonlocal began, now
            if part != now:
                began, now = time.monotonic(), part
            if self._due():
                left = (time.monotonic() - began) * (1 / done - 1) if done > 0 else math.inf
                rest = f", {left:.0f} s left" if math.isfinite(left) else ""
                self.note(f"{text}{f' ({part})' if part else ''}: {100 * done:.0f} %{rest}")

        yield tell

    def step(self, step: int, steps: int, loss: float, tokens_per_second: float) -> None:
        if self._due():
            self.note(f"step {step} of {steps}: loss {loss:.4f}, {tokens_per_second:,.0f} tokens/s")

    def evaluated(
        self, step: int, measured: Measured | TagFigures | Classified | SeriesFigures | SpeechFigures
    ) -> None:
        if not self.brief:
            self.note(f"step {step}: {measured.spelt()}")

    def _due(self) -> bool:
        now = time.monotonic()
        if now - self.last < SECONDS_BETWEEN_LINES:
            return False
        self.last = now
        return True


class BarWatch(Watch):
    """A rich progress bar with ETA, tokens/s, loss and the last validation figures."""

    def __init__(self, brief: bool = False) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

        self.console = Console(stderr=True)
        self.bar = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeRemainingColumn(),
            TextColumn("{task.fields[figures]}"),
            console=self.console,
        )
        self.task: Any = None
        self.valid, self.brief = "", brief

    def note(self, text: str) -> None:
        self.bar.console.print(text, highlight=False, markup=False)

    @contextmanager
    def stage(self, text: str) -> Iterator[Tell]:
        self.bar.start()
        task, now = self.bar.add_task(text, total=100, figures=""), ""

        def tell(done: float, part: str = "") -> None:
            nonlocal now
            if part != now:  # what is left of it is told by its own pace
                now = part
                self.bar.reset(task, description=f"{text}: {part}")
            self.bar.update(task, completed=round(100 * done))

        yield tell
        self.bar.remove_task(task)

    def step(self, step: int, steps: int, loss: float, tokens_per_second: float) -> None:
        if self.task is None:
            self.bar.start()
            self.task = self.bar.add_task("training", total=steps, figures="")
        figures = f"loss {loss:.3f} · {tokens_per_second:,.0f} tokens/s{self.valid}"
        self.bar.update(self.task, completed=step, figures=figures)

    def evaluated(
        self, step: int, measured: Measured | TagFigures | Classified | SeriesFigures | SpeechFigures
    ) -> None:
        self.valid = f" · {measured.spelt()}"
        if not self.brief:
            self.note(f"step {step}: {measured.spelt()}")

    def close(self) -> None:
        self.bar.stop()
        self.task = None


def watch_for(stream: Any = None, *, brief: bool = False) -> Watch:
    """A bar on a terminal, lines elsewhere."""
    return BarWatch(brief) if (stream or sys.stderr).isatty() else PlainWatch(brief)


class Metrics:
    """`metrics.jsonl`: one JSON object a line, flushed; cut back to the checkpoint on resume.

    With a board the same numbers go to TensorBoard.
    """

    def __init__(self, path: Path, board: Board | None = None):
        self.path, self.board = path, board

    def write(self, line: dict[str, Any]) -> None:
        line = without_nan(line)
        with self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(line) + "\n")
        if self.board is not None:
            self.board.write(line)

    def read(self) -> list[dict[str, Any]]:
        """Every whole line; a last line cut short by a kill is left out."""
        if not self.path.exists():
            return []
        found = []
        for line in self.path.read_text("utf-8", errors="replace").split("\n"):
            with suppress(ValueError):
                found.append(json.loads(line))
        return [line for line in found if isinstance(line, dict)]

    def cut(self, step: int) -> None:
        """Forgets what was written after `step`: it will be done again."""
        kept = [line for line in self.read() if line.get("step", 0) <= step]
        if self.path.exists():
            write_file(self.path, "".join(json.dumps(line) + "\n" for line in kept).encode())
        if self.board is not None:
            self.board.purge(step)

    def close(self) -> None:
        if self.board is not None:
            self.board.close()


class NoMetrics(Metrics):
    """Of a process that writes nothing."""

    def write(self, line: dict[str, Any]) -> None: ...

    def cut(self, step: int) -> None: ...


def without_nan(value: Any) -> Any:
    """A value for JSON, which has no NaN and no infinity: null in their place."""
    if isinstance(value, dict):
        return {key: without_nan(inner) for key, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [without_nan(inner) for inner in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
