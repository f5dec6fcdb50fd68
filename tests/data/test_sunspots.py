"""The sunspots: known years, and that each part has all years before it."""

from __future__ import annotations

import numpy as np

from foresay.data.sunspots import FIRST, sunspots


def test_known_years_and_parts() -> None:
    parts = sunspots(1)
    ((whole, begin),) = parts["test"]
    assert whole.shape == (309, 1) and whole.dtype == np.float32 and begin == 250
    years = dict(zip(range(FIRST, FIRST + 309), whole[:, 0].tolist(), strict=True))
    assert years[1957] == np.float32(190.2) == max(years.values())  # the highest maximum on record
    assert years[1711] == years[1712] == 0  # the end of Maunder's minimum
    assert abs(np.mean(whole) - 49.752104) < 1e-4 and years[2008] == np.float32(2.9)  # the published mean
    for name, end in (("train", 1900), ("valid", 1950)):
        ((values, _),) = parts[name]
        assert np.array_equal(values, whole[: end - FIRST])
