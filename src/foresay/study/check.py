"""A cell against its contract, and its speed: what `foresay check mycells.py:MyCell` prints."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import torch
from torch import Tensor, nn

from foresay import own, parts
from foresay import recipe as recipes
from foresay.errors import UserError
from foresay.study.contract import CLAUSES, Failed, Subject, Told, plainly

ROWS, STEPS, SIZE = 32, 64, 256  # of what is timed


@dataclass(frozen=True)
class Checked:
    """One line of the answer; `passed` is None where there was nothing to pass."""

    check: str
    passed: bool | None
    figure: str

    def as_line(self) -> str:
        word = "note" if self.passed is None else "pass" if self.passed else "FAIL"
        return f"{self.check:<19} {word}  {self.figure}"


def check(name: str, settings: Sequence[str] = (), *, timed: bool = True) -> list[Checked]:
    """Every clause on a cell by name, `lstm` or `mycells.py:MyCell`, with its settings; its speed last, if wanted."""
    raw, _ = recipes.override({"cell": {"kind": name}}, [f"cell.{word}" for word in settings])
    parts.make("cell", raw["cell"])  # a wrong name or setting is the caller's mistake, not the cell's
    subject = Subject(raw["cell"])
    found = []
    with torch.random.fork_rng(devices=[]):
        for clause in [*CLAUSES, speed] if timed else CLAUSES:
            found.append(asked(clause, subject))
            if not found[0].passed:  # what cannot be built has no other virtues
                break
    return found


def asked(clause: Callable[[Subject], str], subject: Subject) -> Checked:
    """One clause; whatever goes wrong in it is one line."""
    name = clause.__name__.replace("_", " ")
    try:
        return Checked(name, True, clause(subject))
    except Told as note:
        return Checked(name, None, str(note))
    except (Failed, UserError) as reason:
        return Checked(name, False, str(reason))
    except (Exception, SystemExit) as error:
        if own.is_signal(error):
            raise
        reason = " ".join(str(error).split())
        return Checked(name, False, f"{type(error).__name__}{': ' if reason else ''}{reason}")


def passed(found: Sequence[Checked]) -> bool:
    """Whether no clause is broken."""
    return all(one.passed is not False for one in found)


def as_dict(name: str, found: Sequence[Checked]) -> dict[str, Any]:
    return {"cell": name, "passed": passed(found), "checks": [asdict(one) for one in found]}


def speed(subject: Subject) -> str:
    """Seconds forwards and backwards, as it is run and plainly, and against torch.nn.LSTM per multiply-add."""
    cell, lstm = subject.cell(torch.float32, SIZE, SIZE).train(), nn.LSTM(SIZE, SIZE, batch_first=True)
    x = torch.randn(ROWS, STEPS, SIZE, requires_grad=True)

    def run() -> Tensor:
        return cell.run(x, cell.begin(x))[0]

    def run_plainly() -> Tensor:
        with plainly():
            return run()

    ours, plain, theirs = _seconds(run, run_plainly, lambda: lstm(x)[0])
    per = (ours / _products(cell)) / (theirs / _products(lstm))
    raise Told(
        f"{1e6 * ours / STEPS:.0f} µs a step, plain loop {1e6 * plain / STEPS:.0f} µs; per multiply-add "
        f"{per:.2f} × the time of torch.nn.LSTM (B {ROWS}, T {STEPS}, H {SIZE}, forwards and backwards)"
    )


def _products(module: nn.Module) -> int:
    """Multiply-adds of one row in one step: every element of every weight once."""
    return sum(parameter.numel() for parameter in module.parameters() if parameter.dim() == 2)


def _seconds(*runs: Callable[[], Tensor]) -> list[float]:
    """The best of five of each, in turn, forwards and backwards, after one that warms up and compiles."""
    best = [float("inf")] * len(runs)
    for turn in range(6):
        for index, run in enumerate(runs):
            began = time.perf_counter()
            y = run()
            y.backward(torch.ones_like(y))
            best[index] = min(best[index], time.perf_counter() - began) if turn else best[index]
    return best
