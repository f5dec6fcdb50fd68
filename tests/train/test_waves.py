"""Pictures of sounds: spectrograms by value, and files of any number of sounds."""

from __future__ import annotations

import numpy as np
import pytest
from PIL import Image

from foresay.train import waves
from foresay.train.waves import RANGE, draw_waves, spectrogram


def test_a_sine_is_a_line_at_its_pitch():
    """At 4,000 Hz W = 128: 31.25 Hz lie between two rows, 500 Hz is row 16, and Hann's window halves its neighbours."""
    found = spectrogram(np.sin(2 * np.pi * 500 * np.arange(1_000) / 4_000), 4_000)
    assert found.shape == (65, 63)  # every 16 samples from 0 to 1,000
    inner = found[:, 8:-8]
    assert (inner.argmax(0) == 16).all() and inner.max() == pytest.approx(0, abs=1e-6)
    assert inner[15] == pytest.approx(np.full(47, -6.02), abs=0.01) and (inner[20] == -RANGE).all()


def test_by_numpy_alone():
    """One frame in the middle, by the sum itself."""
    x = np.random.default_rng(1).standard_normal(400)
    found, middle = spectrogram(x, 1_000), 10  # W = 32, every 4 samples
    frame = x[middle * 4 - 16 : middle * 4 + 16] * (0.5 - 0.5 * np.cos(2 * np.pi * np.arange(32) / 32))
    sums = [abs((frame * np.exp(-2j * np.pi * f * np.arange(32) / 32)).sum()) for f in range(17)]
    told = 20 * np.log10(sums)
    assert found[:, middle] - found[3, middle] == pytest.approx(told - told[3], abs=1e-6)


def test_silence_and_short_ones():
    assert (spectrogram(np.zeros(10), 8_000) == -RANGE).all()
    assert spectrogram(np.ones(1), 8_000).shape[1] == 1


def test_what_is_left_out_is_told(monkeypatch):
    figures = []
    monkeypatch.setattr(waves, "write_picture", lambda path, figure: figures.append(figure))
    x = np.sin(np.arange(50) * 0.3)
    for sounds in ({None: [x] * 16}, {"low": [x] * 5, "high": [x] * 4}, {str(n): [x] for n in range(14)}):
        waves.draw_waves(None, sounds, 4_000)
    titles = [[axes.get_title(loc="left") for axes in figure.axes if axes.get_title(loc="left")] for figure in figures]
    assert titles[:2] == [["(4 of 16)"], ["low (4 of 5)", "high"]]
    assert figures[2].get_suptitle() == "12 of 14 labels" and not figures[0].get_suptitle()


def test_files(tmp_path):
    x = np.sin(np.arange(500) * 0.3)
    draw_waves(tmp_path / "a.png", {"sine $": [x, x[:0], x[:7]], "b": [x] * 9}, 4_000)
    draw_waves(tmp_path / "b.png", {None: [x]}, 4_000)
    sizes = []
    for name in ("a.png", "b.png"):
        with Image.open(tmp_path / name) as image:
            sizes.append(image.size)
    assert sizes[0][0] == 4 * 299 + 156 and sizes[0] > sizes[1]
    draw_waves(tmp_path / "c.png", {None: [x]}, 4_000)
    assert (tmp_path / "b.png").read_bytes() == (tmp_path / "c.png").read_bytes()
