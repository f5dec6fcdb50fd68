"""What is said of a finished run that is no better than guessing."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from foresay.train.progress import Watch
from foresay.train.warned import warn


def told(valid: dict[str, Any], model: Any = None, **more: Any) -> list[str]:
    notes: list[str] = []
    watch = Watch()
    watch.note = notes.append  # pyright: ignore[reportAttributeAccessIssue]
    warn({"valid": valid, "vocabulary": 31} | more, watch, more.get("warmup", 0), model)
    return notes


@pytest.mark.parametrize(
    ("steps", "warmup", "remedy"),
    [
        (2000, 300, "lower train.lr"),
        (300, 300, "its 300 steps were all of warm-up: raise train.steps beyond 300"),
        (24, 0, "raise train.steps (24 are few)"),
        (None, 0, "lower the order, give more text, or use another smoothing"),
    ],
)
def test_a_loss_above_guessing(steps: int | None, warmup: int, remedy: str) -> None:
    (note,) = told({"impossible": 0, "loss": 3.5, "unknown": 0.0}, steps=steps, warmup=warmup)
    assert note == f"warning: the loss 3.5 is no better than guessing (3.43): {remedy}"
    assert told({"impossible": 0, "loss": 3.4, "unknown": 0.005}, steps=steps) == []


def test_states_of_a_series_have_remedies_of_their_own() -> None:
    model = SimpleNamespace(form=SimpleNamespace(deviations=(1.0,), width=1))
    (note,) = told({"nats_per_step": 1.0, "error": 0.5, "naive_error": 0.4}, model)
    assert note.endswith("and the step before by 0.4: try more states, starts or passes")


def test_other_figures() -> None:
    assert told({"accuracy": 0.5, "most_frequent": 0.4}) == []
    assert "always giving the most frequent answer (50.0 %)" in told({"accuracy": 0.5, "most_frequent": 0.5})[0]
    assert told({"error_rate": 0.99}, steps=9) == []
    assert told({"error_rate": 1.2}, steps=9) == [
        "warning: the symbol error rate is 120 %: raise train.steps (9 are few)"
    ]
    infinite, unknown = told({"impossible": 7, "loss": float("inf"), "unknown": 0.2})
    assert infinite.startswith("warning: 7 validation tokens have probability 0") and "20.0 % of the" in unknown


@pytest.mark.parametrize(
    ("error", "naive", "relative", "said"),
    [
        (0.5, 0.4, False, "is off by 0.5, and the step before by 0.4: lower train.lr, or set relative=true"),
        (0.5, 0.4, True, "is off by 0.5, and the step before by 0.4: lower train.lr"),
        (0.3, 0.4, False, None),
        (4.6e-5, 0.0, False, None),  # of a series that never changes
        (0.1, 0.0, True, "is off by 0.1, and the step before by 0: lower train.lr"),
    ],
)
def test_series_that_the_step_before_foresees_better(
    error: float, naive: float, relative: bool, said: str | None
) -> None:
    valid = {"nats_per_step": 1.0, "error": error, "naive_error": naive}
    model: Any = SimpleNamespace(form=SimpleNamespace(deviations=(1.0, 2.0), width=2), relative=relative)
    notes = told(valid, model, steps=2000)
    assert notes == [] if said is None else notes[0].endswith(said)
