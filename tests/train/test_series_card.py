"""What the card of a run on series says; whole runs are in tests/test_forecast.py."""

from __future__ import annotations

from foresay.train.series_card import measured_series

VALID = {
    "loss": 1.25,
    "nats_per_step_interval": [1.0, 1.5],
    "steps": 1200,
    "of_steps": 3400,
    "series": 12,
    "error": 0.5,
    "naive_error": 2.0,
}
AHEAD = {"horizon": 12, "origins": 64, "crps": 1.079, "naive_crps": 1.8, "mase": 0.9, "covered_80": 0.801}


def test_figures_of_the_next_step_and_of_forecasts() -> None:
    lines = measured_series(VALID | AHEAD).splitlines()
    assert lines[0] == "| on 1,200 of 3,400 held-out steps of 12 series | |"
    assert "| nats per step (95 % bootstrap interval) | 1.2500 (1.0000 – 1.5000) |" in lines
    assert "| CRPS of forecasts over 12 steps from 64 points | 1.079 |" in lines
    assert "| MASE of their medians | 0.9 |" in lines
    assert lines[-1] == "| share of what came within the middle 80 % of the paths | 80.1 % |"
    assert not any("MASE" in line for line in measured_series(VALID | AHEAD | {"mase": None}).splitlines())


def test_of_ones() -> None:
    lines = measured_series(VALID | {"f1_of_ones": 0.6815}).splitlines()
    assert lines[-1] == "| F1 of ones | 68.15 % |" and len(lines) == 4
