"""Lines of words and numbers: the values are Python's own, every mistake is told with its place."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from foresay.kernels import numbers as kernel


def read(text: bytes, width: int, room: int = 9) -> tuple[list[list[float]], list[bytes], tuple[int, int, int, int]]:
    values, spans = np.full((room, width), np.nan, np.float32), np.zeros((room, 3), np.int64)
    stopped = kernel.read_rows(np.frombuffer(text, np.uint8), values, spans)
    words = [text[begin:end] for begin, end, _ in spans[: stopped[0]].tolist()]
    return values[: stopped[0]].tolist(), words, stopped


def test_rows_words_and_lines() -> None:
    text = b"the 1 -2.5\n\n  of\t+.5e1   7.\r\nx 0 1e-2 \n"
    values, words, (rows, lines, at, wrong) = read(text, 2)
    assert values == [[1, -2.5], [5, 7], [0, np.float32(0.01)]]
    assert words == [b"the", b"of", b"x"]
    assert (rows, lines, at, wrong) == (3, 4, len(text), kernel.FINE)


def test_it_stops_when_there_is_no_more_room() -> None:
    text = b"a 1\n\nb 2\nc 3\n"
    values, words, (rows, lines, at, wrong) = read(text, 1, room=2)
    assert (values, words, rows, lines, wrong) == ([[1], [2]], [b"a", b"b"], 2, 3, kernel.FINE)
    assert text[at:] == b"c 3\n"


@pytest.mark.parametrize(
    ("line", "at", "wrong"),
    [
        (b"x 1", 1, kernel.TOO_FEW),
        (b"x", 0, kernel.TOO_FEW),
        (b"x 1 2 3", 10, kernel.TOO_MANY),
        (b"x 1 nan", 8, kernel.NO_NUMBER),
        (b"x inf 1", 6, kernel.NO_NUMBER),
        (b"x 1 1.2.3", 8, kernel.NO_NUMBER),
        (b"x 1 1e", 8, kernel.NO_NUMBER),
        (b"x 1 e5", 8, kernel.NO_NUMBER),
        (b"x 1 -", 8, kernel.NO_NUMBER),
        (b"x 1 .", 8, kernel.NO_NUMBER),
        (b"x 1 0x1", 8, kernel.NO_NUMBER),
        (b"x 1 1_0", 8, kernel.NO_NUMBER),
        (b"x 1 1e39", 8, kernel.TOO_LARGE),
        (b"x 1 -1e999999999999999999999", 8, kernel.TOO_LARGE),
        (b"x 1 1" + b"0" * 400, 8, kernel.TOO_LARGE),
    ],
)
def test_mistakes(line: bytes, at: int, wrong: int) -> None:
    assert read(b"\n\n\n\n" + line + b"\n", 2)[2] == (0, 4, at, wrong)


@given(st.floats(width=32, allow_nan=False, allow_infinity=False), st.sampled_from(["%r", "%.9g", "%.17g", "%.20e"]))
def test_every_float_comes_back(value: float, form: str) -> None:
    ((found,),), _, _ = read(f"x {form % value}\n".encode(), 1)
    assert found == value or math.isclose(found, value, rel_tol=1e-6, abs_tol=1e-44)
    if form == "%.9g" and abs(value) > 1e-37:
        assert found == value


@given(st.from_regex(r"[+-]?[0-9]{1,25}(\.[0-9]{0,25})?([eE][+-]?[0-9]{1,2})?", fullmatch=True))
def test_numbers_as_people_write_them(text: str) -> None:
    values, _, (_, _, _, wrong) = read(f"x {text}\n".encode(), 1)
    with np.errstate(over="ignore"):
        expected = np.float32(float(text))
    if wrong == kernel.TOO_LARGE:
        assert abs(float(text)) > 3.4e38
    else:
        assert values[0][0] == pytest.approx(float(expected), rel=2e-7, abs=1e-44)
