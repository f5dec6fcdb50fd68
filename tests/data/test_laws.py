"""Levels of samples: the formula in float64, hand-worked values, and how far a sample comes back from itself."""

from __future__ import annotations

import math

import numpy as np
import pytest

from foresay.data.laws import levels_of, samples_of
from foresay.errors import UserError


def by_formula(x: float, number: int, law: str) -> int:
    """Sample by sample in Python's own floats; no level is so near a border that rounding would matter."""
    f = math.copysign(math.log(1 + (number - 1) * abs(x)) / math.log(number), x) if law == "mu" else x
    return number // 2 + math.floor((number - 1) // 2 * f + 0.5)


@pytest.mark.parametrize("law", ["mu", "linear"])
@pytest.mark.parametrize("number", [16, 101, 256])
def test_the_formula(number, law):
    x = np.random.default_rng(3).uniform(-1, 1, 500)
    assert levels_of(x, number, law).tolist() == [by_formula(one, number, law) for one in x.tolist()]


def test_values_by_hand():
    """N = 256: h = 127, and f(1 / 255) = ln 2 / ln 256 = 1/8, f(3 / 255) = 1/4, f(15 / 255) = 1/2."""
    x = np.array([-1, -15 / 255, -3 / 255, -1 / 255, 0, 1 / 255, 3 / 255, 15 / 255, 1])
    assert levels_of(x, 256, "mu").tolist() == [1, 64, 96, 112, 128, 144, 160, 192, 255]  # 127/8 = 15.9, 31.75, 63.5
    back = samples_of(np.array([1, 128, 255]), 256, "mu")
    assert back.dtype == np.float32 and back.tolist() == pytest.approx([-1, 0, 1], abs=1e-7)
    assert samples_of(np.array([129]), 256, "mu")[0] == pytest.approx((256 ** (1 / 127) - 1) / 255)
    assert levels_of(np.array([-0.5, 0, 0.26]), 5, "linear").tolist() == [1, 2, 3]
    assert samples_of(np.arange(5), 5, "linear").tolist() == [-1, -0.5, 0, 0.5, 1]


def test_what_lies_beyond_is_cut_off():
    assert levels_of(np.array([-3.0, 1.5]), 256, "mu").tolist() == [1, 255]
    assert samples_of(np.array([0, 1]), 256, "linear").tolist() == [-1, -1]


def test_the_faintest_noise_is_silence():
    """Two steps of 16 bits to each side: h f(x) < 1/2 for x < (256^(1/254) - 1) / 255 = 2.84 / 2^15."""
    steps = np.arange(-4, 5) / 2**15
    assert levels_of(steps, 256, "mu").tolist() == [127, 127, 128, 128, 128, 128, 128, 129, 129]


@pytest.mark.parametrize("number", [15, 16, 256, 4096])
def test_round_trips(number):
    """Levels come back as they are; a sample to within half a level, which is 1 / 2h of f, so of the slope of f^-1."""
    half = (number - 1) // 2
    used = np.arange(number // 2 - half, number // 2 + half + 1)
    x = np.linspace(-1, 1, 4001)
    for law in ("mu", "linear"):
        assert levels_of(samples_of(used, number, law), number, law).tolist() == used.tolist()
        off = np.abs(samples_of(levels_of(x, number, law), number, law) - x)
        slope = np.log(number) * (1 / (number - 1) + np.abs(x)) if law == "mu" else np.ones_like(x)
        reach = slope / (2 * half) * np.exp(np.log(number) / (2 * half) if law == "mu" else 0)
        assert (off <= reach + 1e-6).all()


def test_quiet_sounds_are_kept_better_by_mu():
    x = 0.01 * np.sin(np.arange(1000))
    off = {law: np.abs(samples_of(levels_of(x, 256, law), 256, law) - x).mean() for law in ("mu", "linear")}
    assert off["mu"] < off["linear"] / 5


def test_too_few_levels():
    with pytest.raises(UserError, match=r"tokens\.number=2 with data\.kind=sounds; allowed: 3 levels or more"):
        levels_of(np.zeros(3), 2, "mu")
