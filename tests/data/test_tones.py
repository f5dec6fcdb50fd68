"""Made sounds: what each kind is, by pitch, energy and crossings of zero."""

from __future__ import annotations

import numpy as np
import pytest

from foresay.data.tones import COUNTS, HIGH, KINDS, LOW, RATE, SAMPLES, SLIDE, tones, wave


def pitch_of(samples: np.ndarray) -> float:
    """The loudest pitch of a spectrum."""
    spectrum = np.abs(np.fft.rfft(samples * np.hanning(len(samples)), 2**14))
    return spectrum.argmax() * RATE / 2**14


@pytest.mark.parametrize("pitch", [130.0, 400.0])
def test_each_kind_by_its_pitch(pitch):
    for kind in ("sine", "square", "pluck"):
        assert pitch_of(wave(kind, pitch)) == pytest.approx(pitch, abs=4)
    for kind, order in (("rising", 1), ("falling", -1)):
        first, last = (pitch_of(part) for part in np.split(wave(kind, pitch), [150, 850])[::2])
        low, high = (first, last)[::order]
        assert low == pytest.approx(pitch * SLIDE**0.075, rel=0.1)  # in the middle of the first 15 %
        assert high == pytest.approx(pitch * SLIDE**0.925, rel=0.1)


def test_a_sine_by_the_formula():
    assert wave("sine", 250.0)[:5] == pytest.approx([0, np.sin(np.pi / 8), np.sin(np.pi / 4), np.sin(3 * np.pi / 8), 1])
    assert set(wave("square", 250.0).tolist()) == {-1.0, 1.0}
    assert np.abs(wave("pluck", 250.0)[200:210]).max() == pytest.approx(np.exp(-1.02), rel=0.02)  # 51 ms


def test_sets_are_balanced_and_seeded():
    made = tones(1)
    assert {name: len(own) for name, own in made.items()} == COUNTS
    for samples, kind in made["valid"]:
        assert samples.shape == (SAMPLES,) and samples.dtype == np.float32 and 0.15 < np.abs(samples).max() < 0.9
        assert np.abs(samples[-50:]).max() <= 0.5 * 0.9 and samples[-1] == 0
        if kind in ("sine", "square", "pluck"):
            assert LOW - 8 < pitch_of(samples) < HIGH + 8
    counts = [sum(kind == one for _, kind in made["train"]) for one in KINDS]
    assert min(counts) > 150
    assert not np.array_equal(made["train"][0][0], tones(2)["train"][0][0])
    assert np.array_equal(made["train"][7][0], tones.__wrapped__(1)["train"][7][0])
