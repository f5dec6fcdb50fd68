"""What to say when validation has stopped improving: since when, whether the model overfits, what can be done."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from typing import Any

from foresay.train.best import By, cost

AFTER = 3  # evaluations in a row without a new best
RISE = 0.1  # of validation loss, for a fall of training loss of 1: less is a level


def stalled(step: int, best_step: int, patience: int, lines: Sequence[dict[str, Any]], by: By = "loss") -> str:
    """The notice, after `AFTER` evaluations without a new best; `lines` are those of `metrics.jsonl`."""
    measured = {line["step"]: line for line in lines if line.get("valid_loss") is not None}
    valid = {at: line["valid_loss"] for at, line in measured.items()}
    best = f" ({value(measured[best_step], by)})" if best_step in valid else ""
    text = f"step {step}: validation has not improved since step {best_step}{best}; the best weights are kept"
    if not patience:
        text += f"; train.patience={AFTER} would stop by itself"
    found = falling([(line["step"], line["loss"]) for line in lines if line.get("loss") is not None], best_step)
    later = [loss for at, loss in valid.items() if at > best_step]
    if found is None or not later or best_step not in valid:
        return text
    before, now = found
    rise = statistics.fmean(later) - valid[best_step]
    if rise < RISE * (before - now):
        return text
    return (
        f"{text}. Training loss still falls ({before:.4f} to {now:.4f}) while validation loss rises "
        f"({valid[best_step]:.4f} to {later[-1]:.4f}): the model overfits; more dropout, more text or a smaller model "
        "help"
    )


def value(line: dict[str, Any], by: By) -> str:
    """What the best is the best by."""
    if by in ("loss", "last"):
        return f"loss {line['valid_loss']:.4f}"
    found = cost({name.removeprefix("valid_"): one for name, one in line.items()}, by, line["step"])[0]
    return f"{'F1' if by == 'f1' else by} {100 * (1 - found):.2f} %"


def falling(losses: Sequence[tuple[int, float]], best_step: int) -> tuple[float, float] | None:
    """The mean training loss before and after the best step, where it fell by more than chance.

    Two stretches of the same length, up to the best step and the last ones; a fall is one of more than two standard
    errors of the difference of their means.
    """
    after = [loss for step, loss in losses if step > best_step]
    before = [loss for step, loss in losses if step <= best_step][-len(after) :]
    width = min(len(before), len(after) // 2)
    if width < 2:
        return None
    before, after = before[-width:], after[-width:]
    error = ((statistics.variance(before) + statistics.variance(after)) / width) ** 0.5
    first, last = statistics.fmean(before), statistics.fmean(after)
    return (first, last) if last < first - 2 * error else None
