"""What a claim is, and the register of them.

    @claim("memory", lecture="004", sentence="...", rule="...")
    def run(quick: bool, seed: int, tell: Tell) -> Result: ...

`sentence` is what the lecture says, `rule` how the numbers become a verdict, written down before they are measured. The
experiment returns its figures, each with a 95 % interval over seeds, the verdict by that rule, and a picture.
"""

from __future__ import annotations

import importlib
import math
import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from foresay.errors import UserError, nearest
from foresay.train.progress import Tell

Verdict = Literal["holds", "does not hold", "not decided at this size", "no data"]
# Student's t with n - 1 degrees of freedom at 97.5 %, for n = 2, 3, ...
STUDENT = (12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145, 2.131)


@dataclass(frozen=True)
class Figure:
    """A measured number with its 95 % interval; `at_least`: the experiment ends there, the number may be larger."""

    name: str
    value: float | None  # None, as in JSON: without limit
    low: float | None
    high: float | None
    unit: str = ""
    at_least: bool = False

    def spelt(self) -> str:
        return f"{self.sign}{number(self.value)} {self.unit}".rstrip() + f"  (95 % interval {self.interval})"

    @property
    def sign(self) -> str:
        return "≥ " if self.at_least else ""

    @property
    def interval(self) -> str:
        low, high = number(self.low), number(self.high)
        return low if low == high else f"{low} – {high}"


def number(value: float | None) -> str:
    """Three digits, no powers of ten."""
    return "∞" if value is None or math.isinf(value) else f"{value:.0f}" if abs(value) >= 100 else f"{value:.3g}"


@dataclass(frozen=True)
class Result:
    """What an experiment found; `note` says what to fetch where there is no data."""

    verdict: Verdict
    figures: Sequence[Figure] = ()
    details: dict[str, Any] = field(default_factory=dict)  # everything measured, for JSON
    picture: Any = None  # matplotlib's figure
    note: str = ""


Experiment = Callable[[bool, int, Tell], Result]


@dataclass(frozen=True)
class Claim:
    """A sentence of a lecture and the experiment on it."""

    name: str
    lecture: str
    sentence: str
    rule: str
    run: Experiment


_register: dict[str, Claim] = {}


def claim(name: str, *, lecture: str, sentence: str, rule: str) -> Callable[[Experiment], Experiment]:
    """Registers an experiment under its claim's name."""

    def register(run: Experiment) -> Experiment:
        known = _register.get(name)
        if known is not None and known.run.__module__ != run.__module__:
            raise AssertionError(f"two claims are called {name}: in {known.run.__module__} and {run.__module__}")
        _register[name] = Claim(name, lecture, sentence, rule, run)
        return run

    return register


def claims() -> list[Claim]:
    """Every claim, by name."""
    importlib.import_module("foresay.study.claims")
    return [_register[name] for name in sorted(_register)]


def find(name: str) -> Claim:
    known = {one.name: one for one in claims()}
    if name not in known:
        raise UserError(f"{name!r} is no claim; allowed: {', '.join(known)}{nearest(name, list(known))}")
    return known[name]


def mean_of(name: str, values: Sequence[float], unit: str = "", *, at_least: bool = False) -> Figure:
    """The geometric mean of positive numbers over seeds, and Student's 95 % interval of their logarithms."""
    middle, low, high = (math.exp(at) for at in interval([math.log(value) for value in values]))
    return Figure(name, middle, low, high, unit, at_least)


def interval(values: Sequence[float]) -> tuple[float, float, float]:
    """Mean, and Student's 95 % interval of it."""
    middle = statistics.fmean(values)
    spread = STUDENT[len(values) - 2] * statistics.stdev(values) / math.sqrt(len(values))
    return middle, middle - spread, middle + spread
