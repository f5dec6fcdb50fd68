"""Which forecasts the picture of a finished run shows."""

from __future__ import annotations

from typing import Any

import numpy as np

from foresay.foretold import fans_of
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
