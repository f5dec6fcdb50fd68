"""A run while it trains, seen from another terminal: its curve, how far it is, how long it still takes.

Only files of the run are read, `metrics.jsonl` from where the last look ended, so that a look costs next to nothing;
a run in any state can be looked at. Whether someone works on it its lock tells, which is tried and let go at once.
"""

from __future__ import annotations

import errno
import fcntl
import json
import os
import shlex
import time
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from foresay.errors import UserError
from foresay.study.chart import BEST, MARK, chart
from foresay.yaml12 import parse

SECONDS = 1.0  # between two looks
RECENT = 10  # lines over which speed is measured
STYLES = {"axis": "dim", "line": "cyan", "mark": "bold yellow"}


@dataclass(frozen=True)
class Figures:
    """The last figures of a run; None where there are none yet."""

    run: str
    state: str  # preparing, training, stopped or finished
    step: int = 0
    steps: int | None = None
    loss: float | None = None
    valid_loss: float | None = None
    best_loss: float | None = None
    best_step: int | None = None
    tokens: int = 0
    seconds: float = 0.0
    tokens_per_second: float | None = None
    seconds_left: float | None = None
    unit: str = "step"  # or epoch: what step and steps count

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


class Seen:
    """What is known of a run; `look` brings it up to date."""

    def __init__(self, folder: str | Path):
        self.folder = Path(folder)
        self.lines: list[dict[str, Any]] = []
        self.steps: int | None = None
        self.unit = "step"
        self.changed: float | None = None  # when the last line was written
        self._read, self._inode = 0, 0
        if not (self.folder / "recipe.yaml").is_file() and not (self.folder / ".lock").is_file():
            why = "it holds neither recipe.yaml nor .lock" if self.folder.is_dir() else "no such folder"
            raise UserError(f"{folder} is no run: {why}; give the --out of a foresay train")

    def look(self) -> Figures:
        """Reads what is new."""
        if self.steps is None and (self.folder / "recipe.yaml").is_file():
            recipe = parse((self.folder / "recipe.yaml").read_text("utf-8"), str(self.folder / "recipe.yaml"))
            with suppress(KeyError, TypeError):
                self.unit = "epoch" if "epochs" in recipe else "step"  # of word vectors, whose train.steps is not used
                self.steps = int(recipe["epochs"] if self.unit == "epoch" else recipe["train"]["steps"])
        working = self._working()  # first: a run that nobody works on any more has written all it will
        finished = self._finished()  # before the lines: of a finished run all are there
        self._read_lines()
        return self._figures("finished" if finished else None if working else "stopped")

    def _working(self) -> bool:
        """Whether a process holds the run's lock; True where that cannot be known."""
        try:
            with (self.folder / ".lock").open("rb") as file:  # closing it lets go
                fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except OSError as error:
            return error.errno != errno.ENOENT
        return False

    def _finished(self) -> bool:
        with suppress(OSError, ValueError, KeyError, TypeError):
            return "model.safetensors" in json.loads((self.folder / "config.json").read_text("utf-8"))["sha256"]
        return False

    def _read_lines(self) -> None:
        """Whole lines from where the last look ended; a file that was cut back is read anew."""
        try:
            with (self.folder / "metrics.jsonl").open("rb") as file:
                stat = os.fstat(file.fileno())
                if stat.st_ino != self._inode or stat.st_size < self._read:
                    self.lines, self._read, self._inode = [], 0, stat.st_ino
                file.seek(self._read)
                text = file.read()
        except FileNotFoundError:
            self.lines, self._read, self._inode, self.changed = [], 0, 0, None
            return
        whole = text[: text.rfind(b"\n") + 1]
        self._read += len(whole)
        self.changed = stat.st_mtime
        for line in whole.split(b"\n"):
            with suppress(ValueError):
                found = json.loads(line)
                if isinstance(found, dict) and "step" in found:
                    self.lines.append(found)

    def curve(self, name: str) -> list[tuple[float, float]]:
        """(step, value) of each line that has the value."""
        return [(line["step"], line[name]) for line in self.lines if line.get(name) is not None]

    def _figures(self, ended: str | None) -> Figures:
        trained = [line for line in self.lines if "tokens" in line]
        state = ended or ("training" if self.lines else "preparing")
        if not trained:
            return Figures(str(self.folder), state, steps=self.steps, unit=self.unit)
        last, valid = trained[-1], self.curve("valid_loss")
        first = trained[-min(len(trained), RECENT + 1)] if len(trained) > 1 else {"step": 0, "tokens": 0, "seconds": 0}
        seconds = max(last["seconds"] - first["seconds"], 1e-9)
        steps = self.steps if "loss" in last else last["step"]  # a model that counts has no steps
        best = min(valid, key=lambda point: point[1]) if valid else None
        left = None if ended or steps is None else (steps - last["step"]) * seconds / (last["step"] - first["step"])
        return Figures(
            unit=self.unit,
            run=str(self.folder),
            state=state,
            step=last["step"],
            steps=steps,
            loss=last.get("loss"),
            valid_loss=valid[-1][1] if valid else None,
            best_loss=best[1] if best else None,
            best_step=int(best[0]) if best else None,
            tokens=last["tokens"],
            seconds=last["seconds"],
            tokens_per_second=(last["tokens"] - first["tokens"]) / seconds,
            seconds_left=left,
        )


def frame(seen: Seen, figures: Figures, width: int = 100, rows: int = 14) -> Any:
    """One picture of a run as rich text: figures, then the curve."""
    from rich.text import Text

    text = Text(overflow="fold")
    text.append(f"{figures.run}\n", "bold")
    text.append(f"{_progress(figures, seen.changed)}\n")
    text.append(_losses(figures))
    line, marks = seen.curve("loss"), seen.curve("valid_loss")
    if not line:
        return text
    text.append("\n\n")
    for pieces in chart(line, marks, width, rows):
        for piece, kind in pieces:
            text.append(piece, STYLES[kind])
        text.append("\n")
    text.append(f"{'':9}loss over {figures.unit}s: ")
    text.append("⠒⠒ training", STYLES["line"])
    if marks:
        text.append(f"  {MARK} validation  {BEST} best", STYLES["mark"])
    return text


def _progress(figures: Figures, changed: float | None) -> str:
    if figures.state == "preparing":
        return f"preparing: its first {figures.unit} has not ended yet"
    if figures.state == "stopped" and figures.steps is None:  # no recipe.yaml: nothing to go on with
        return "stopped before it began; give the same foresay train again"
    if figures.state == "stopped":
        return f"stopped at {figures.unit} {figures.step:,}; foresay train --resume {shlex.quote(figures.run)} goes on"
    said = [figures.state]
    if figures.loss is None and figures.steps == figures.step:
        said.append(f"counted {figures.tokens:,} tokens in {_clock(figures.seconds)}")
    elif figures.steps:
        said.append(
            f"{figures.unit} {figures.step:,} of {figures.steps:,} ({100 * figures.step / figures.steps:.0f} %)"
        )
    if figures.tokens_per_second is not None:
        said.append(f"{figures.tokens_per_second:,.0f} tokens/s")
    if figures.state == "finished":
        return ", ".join([*said, f"{_clock(figures.seconds)} of training"])
    if figures.seconds_left is not None:
        said.append(f"about {_clock(figures.seconds_left)} left")
    if changed is not None and time.time() - changed > 60:
        said.append(f"nothing new for {_clock(time.time() - changed)}")
    return ", ".join(said)


def _losses(figures: Figures) -> str:
    said = [] if figures.loss is None else [f"training loss {figures.loss:.4f}"]
    if figures.valid_loss is not None:
        best = f"best {figures.best_loss:.4f} at {figures.unit} {figures.best_step:,}"
        said.append(f"validation loss {figures.valid_loss:.4f}, {best}")
    elif figures.loss is not None:
        said.append("no validation yet")
    return "; ".join(said)


def _clock(seconds: float) -> str:
    minutes, seconds = divmod(round(seconds), 60)
    return f"{minutes // 60}:{minutes % 60:02d}:{seconds:02d}" if minutes >= 60 else f"{minutes}:{seconds:02d}"


def watch(folder: str | Path, console: Any) -> None:
    """Shows a run in a terminal until it is finished; Ctrl-C ends the watching, not the run."""
    from rich.live import Live

    seen = Seen(folder)
    with Live(console=console, auto_refresh=False) as live:
        while True:
            figures = seen.look()
            rows = min(max(console.height - 8, 4), 20)
            live.update(frame(seen, figures, min(console.width, 120), rows), refresh=True)
            if figures.state == "finished":
                return
            time.sleep(SECONDS)
