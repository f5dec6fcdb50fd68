"""What every bench shares: two sides timed in turn in one process, and the closing line of JSON."""

from __future__ import annotations

import json
import statistics
import time
from collections.abc import Callable
from typing import Any


def in_turn(ours: Callable[[], None], peer: Callable[[], None], rounds: int, calls: int) -> tuple[float, float]:
    """Seconds per call of each side: the median over rounds that take turns, so that noise hits both."""
    times: dict[str, list[float]] = {"ours": [], "peer": []}
    for round_ in range(rounds):
        sides = [("ours", ours), ("peer", peer)]
        for name, call in sides if round_ % 2 == 0 else sides[::-1]:
            began = time.perf_counter()
            for _ in range(calls):
                call()
            times[name].append((time.perf_counter() - began) / calls)
    return statistics.median(times["ours"]), statistics.median(times["peer"])


def close(figures: dict[str, dict[str, Any]]) -> None:
    """A table for people, then one line of JSON for programs."""
    for name, figure in figures.items():
        rest = ", ".join(f"{k} {v}" for k, v in figure.items() if k not in ("ours", "peer", "unit", "ratio"))
        unit = figure["unit"]
        print(f"{name}: ours {figure['ours']} {unit}, peer {figure['peer']} {unit}, ratio {figure['ratio']}; {rest}")
    print(json.dumps(figures))
