"""Which forecasts the picture of a finished run shows."""

from __future__ import annotations

from typing import Any

import numpy as np

from foresay.foretold import fans_of, films_of
from tests.tides import train_small


def test_the_first_forecast_of_each_series_and_column(tmp_path: Any) -> None:
    run = train_small(tmp_path, train={"steps": 2, "batches": {"kind": "series", "rows": 4, "length": 16}})
    _, shards = run.held_out(None, "valid")
    fans = fans_of(run, shards)
    assert len(fans) == 6  # as many as there is room for: three series of two columns
    for place, fan in enumerate(fans):
        number, column = divmod(place, 2)
        values = shards.series(number)
        assert fan.name == f"{shards.names[number]}: {('height', 'high')[column]}"
        assert np.array_equal(fan.before, values[:36, column], equal_nan=True) and fan.came is not None
        assert np.array_equal(fan.came, values[36:, column]) and fan.paths.shape == (200, 4)


def test_films_go_on_behind_their_first_frames(tmp_path: Any) -> None:
    made = {"data": {"kind": "series", "train": "builtin:balls", "grid": [8, 8]}, "output": "bernoulli", "season": 1}
    run = train_small(tmp_path, **made, train={"steps": 2, "batches": {"kind": "series", "rows": 4, "length": 24}})
    _, shards = run.held_out(None, "valid")
    came, drawn, *_ = films_of(run, shards)
    assert run.form.grid == (8, 8) and came[0] == "1, came" and drawn[0] == "1, drawn from frame 5 on"
    assert np.array_equal(came[1], shards.series(0).reshape(24, 8, 8)) and drawn[1].shape == (24, 8, 8)
    assert np.array_equal(drawn[1][:4], came[1][:4]) and not np.array_equal(drawn[1], came[1])
    assert (run.folder / "forecast.png").stat().st_size > 2_000
