"""Resampling: sines keep their height, what cannot be kept goes, blocks do not matter; against scipy's own."""

from __future__ import annotations

import numpy as np
import pytest

from foresay.data.resample import resampled, table

RATES = [(8_000, 16_000), (44_100, 16_000), (16_000, 8_000), (11_025, 8_000), (48_000, 44_100), (8_000, 8_001)]


def whole(x: np.ndarray, given: int, wanted: int, block: int = 10**9) -> np.ndarray:
    blocks = [x[begin : begin + block] for begin in range(0, len(x), block)]
    return np.concatenate([*resampled(iter(blocks), given, wanted), np.zeros(0, np.float32)])


def sine(pitch: float, rate: int, count: int) -> np.ndarray:
    return np.sin(2 * np.pi * pitch * np.arange(count) / rate + 0.3).astype(np.float32)


@pytest.mark.parametrize(("given", "wanted"), RATES)
def test_a_sine_is_the_same_sine(given, wanted):
    """Of 0.1 and 0.8 of the narrower band, away from both ends."""
    count = 6_000
    for part in (0.1, 0.8):
        pitch = part * min(given, wanted) / 2
        found, exact = whole(sine(pitch, given, count), given, wanted), sine(pitch, wanted, -(-count * wanted // given))
        assert len(found) == len(exact)
        inner = slice(len(exact) // 4, -len(exact) // 4)
        assert np.abs(found - exact)[inner].max() < 1e-3


@pytest.mark.parametrize(("given", "wanted"), [(44_100, 16_000), (16_000, 8_000)])
def test_what_lies_above_the_new_band_goes(given, wanted):
    found = whole(sine(0.53 * wanted, given, 20_000), given, wanted)
    assert np.abs(found[len(found) // 4 : -len(found) // 4]).max() < 2e-4


@pytest.mark.parametrize(("given", "wanted"), RATES[:4])
def test_as_scipy_in_its_pass_band(given, wanted):
    """scipy.signal.resample_poly of noise below 0.6 of the narrower band; its own filter's ripple is 0.3 %."""
    signal = pytest.importorskip("scipy.signal")
    noise = np.random.default_rng(1).standard_normal(8_000)
    spectrum = np.fft.rfft(noise)
    spectrum[np.fft.rfftfreq(8_000, 1 / given) > 0.3 * min(given, wanted)] = 0
    x = np.fft.irfft(spectrum).astype(np.float32)
    divisor = np.gcd(given, wanted)
    other = signal.resample_poly(x, wanted // divisor, given // divisor)
    found = whole(x, given, wanted)
    assert len(found) == len(other)
    inner = slice(len(other) // 4, -len(other) // 4)
    assert np.abs(found - other)[inner].max() < 0.01 * np.abs(other).max()


@pytest.mark.parametrize("block", [1, 7, 100, 333])
def test_blocks_of_any_size_are_the_same(block):
    x = np.random.default_rng(2).standard_normal(1_000).astype(np.float32)
    for given, wanted in ((44_100, 16_000), (8_000, 16_000)):
        assert np.array_equal(whole(x, given, wanted, block), whole(x, given, wanted))


def test_by_the_sum_itself():
    """y_m = sum_n x_n h(m D / U - n), with h written out."""
    x = np.random.default_rng(4).standard_normal(40)
    up, down = 2, 3
    cut = 0.94 * up / down
    half = int(np.ceil(32 / cut))
    found = whole(x.astype(np.float32), 3_000, 2_000)
    for m in (0, 5, 13, 26):
        t = m * down / up - np.arange(-200, 240)
        inside = 1 - (t * cut / 32) ** 2
        h = np.where(inside > 0, np.sinc(cut * t) * np.i0(9 * np.sqrt(np.maximum(inside, 0))), 0)
        padded = np.concatenate([np.zeros(200), x, np.zeros(200)])
        assert found[m] == pytest.approx((h * padded).sum() / h.sum(), abs=1e-5)
    assert table(up, down).shape == (2, 2 * half)


def test_few_samples_and_none():
    assert whole(np.ones(1, np.float32), 8_000, 16_000).shape == (2,)
    assert whole(np.ones(3, np.float32), 16_000, 8_000).shape == (2,)
    assert whole(np.zeros(0, np.float32), 16_000, 8_000).shape == (0,)
    x = np.arange(5, dtype=np.float32)
    assert whole(x, 8_000, 8_000) is not None and np.array_equal(whole(x, 8_000, 8_000), x)
