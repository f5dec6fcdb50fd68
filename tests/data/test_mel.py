"""Frames of sounds: sines in their band, noise at its loudness, the transform by torch.stft, sizes by hand."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from foresay.data.mel import FLOOR, Reading, edges_of, filters, frames_of, names_of, sizes_of
from foresay.errors import UserError

RATE = 8_000


def test_a_sine_is_loudest_in_its_band() -> None:
    edges = edges_of(RATE, 40)
    for band in (3, 11, 38):
        pitch = edges[band + 1]
        frames = frames_of(0.5 * np.sin(2 * np.pi * pitch * np.arange(1600) / RATE), RATE, Reading())
        assert (frames.argmax(1) == band).all()
        assert frames[5].argsort()[-3:].tolist() in ([band - 1, band + 1, band], [band + 1, band - 1, band])


def test_edges_are_even_on_the_scale_of_mel() -> None:
    """1,000 Hz is 1,000 mel, as near as the formula comes."""
    assert 2595 * np.log10(1 + 1000 / 700) == pytest.approx(1000, abs=0.1)
    edges = edges_of(RATE, 7)
    mel = 2595 * np.log10(1 + edges / 700)
    assert np.diff(mel) == pytest.approx(np.full(8, mel[-1] / 8)) and edges[[0, -1]] == pytest.approx([0, 4000])
    assert names_of(RATE, 7)[0] == f"{edges[1]:.1f} Hz" and len(set(names_of(RATE, 40))) == 40


def test_white_noise_has_its_variance_in_every_band() -> None:
    noise = np.random.default_rng(1).normal(0, 0.1, 40 * RATE)
    power = np.exp(frames_of(noise, RATE, Reading())) - FLOOR
    assert power.mean(0)[1:-1] == pytest.approx(0.01, rel=0.1)
    assert frames_of(np.zeros(500), RATE, Reading()) == pytest.approx(np.log(FLOOR))


def test_the_transform_is_that_of_torch() -> None:
    sound = np.random.default_rng(2).uniform(-1, 1, 1000).astype(np.float32)
    frames = frames_of(sound, RATE, Reading(window=0.03, hop=0.02, bands=12))  # 240 samples, every 160
    padded = torch.nn.functional.pad(torch.from_numpy(sound), (0, 240 + 5 * 160 - 1000))
    window = torch.zeros(512)
    window[:240] = torch.hann_window(240)
    padded = torch.nn.functional.pad(padded, (0, 512 - 240))
    stft = torch.stft(padded, 512, 160, window=window, center=False, return_complex=True).abs() ** 2
    mel = filters(RATE, 512, 12).T @ stft / (window**2).sum()
    assert frames.shape == (6, 12)
    assert frames == pytest.approx(torch.log(FLOOR + mel).T.numpy(), abs=1e-4)


@pytest.mark.parametrize(("samples", "steps"), [(1, 1), (200, 1), (201, 2), (280, 2), (281, 3), (8000, 99)])
def test_how_many_frames(samples: int, steps: int) -> None:
    assert frames_of(np.ones(samples), RATE, Reading()).shape == (steps, 40)


def test_each_filter_sums_to_one() -> None:
    assert filters(RATE, 512, 40).sum(0) == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("how", "why"),
    [
        (Reading(window=0.0001), r"^data\.window=0\.0001 seconds at 8,000 Hz; allowed: 0\.00025 or more"),
        (Reading(hop=0.00001), r"^data\.hop=1e-05 seconds at 8,000 Hz; allowed: 0\.000125 or more"),
        (Reading(bands=300), r"^data\.bands=300 at 8,000 Hz are too narrow to hold a pitch each; allowed: 1 to \d+$"),
    ],
)
def test_what_is_refused(how: Reading, why: str) -> None:
    with pytest.raises(UserError, match=why):
        sizes_of(RATE, how)
