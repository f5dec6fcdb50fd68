"""Numbers as bytes, against Python's own."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from foresay.kernels.ngram.spell import NUMBER, spell_number

VALUES = [0.0, -0.0, -99.0, 1.0, 10.0, 100.0, -0.5, 0.1, 0.30103, -1.23456789, 12.5, 123.4567, 1234.5678]
VALUES += [99.999999, 9.9999999, 0.99999996, 9.9999999e-5]  # rounded up to one digit more
VALUES += [1e-4, 0.000123456789, -1.5e-5, 2e-7, 1e-9, 1.0000001e-10, 3e-17, 5e-30]


def spelt(value: float) -> str:
    out = np.zeros(NUMBER, np.uint8)
    return bytes(out[: spell_number(value, out, 0)]).decode()


@pytest.mark.parametrize("value", VALUES)
def test_as_python_writes_them(value: float) -> None:
    assert spelt(value) == f"{value:.7g}"


@given(st.floats(-99, 99, width=32))
def test_any_logarithm(value: float) -> None:
    """Seven digits; a number halfway between two may go either way."""
    value /= np.log(10)
    assert spelt(value) == f"{value:.7g}" or float(spelt(value)) == pytest.approx(value, rel=0.500001e-6, abs=0)
