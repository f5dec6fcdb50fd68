"""Rows of sounds: what they are made of, that they are the same each time, that they follow their grammar."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

import numpy as np
import pytest

from foresay.data.strung import FOLLOWS, MELODIES, NOTES, TONES, Manner, Strung, holding, melodies, melody_texts
from foresay.data.tones import RATE, SAMPLES
from foresay.errors import UserError

STOCK = {"a": [np.full(10, 0.5, np.float32)], "b": [np.full(20, -0.5, np.float32), np.full(30, -0.25, np.float32)]}
QUIET = Manner(2, 4, (0.005, 0.01), 200.0)  # 5 to 10 samples of 1,000 Hz; the noise is none


def test_words_stand_where_the_text_says() -> None:
    rows = Strung(STOCK, 1_000, 50, (1, 2), QUIET)
    for samples, text in rows:
        loud = np.abs(samples) > 0.1
        edges = np.flatnonzero(np.diff(np.pad(loud, 1).astype(int)))
        found = ["a" if samples[begin] > 0 else "b" for begin in edges[::2]]
        assert " ".join(found) == text and 2 <= len(found) <= 4
        pauses = np.diff(np.concatenate([[0], edges, [len(samples)]]))[::2]
        assert pauses.min() >= 5 and pauses.max() <= 10
        assert set(np.diff(edges)[::2].tolist()) <= {10, 20, 30}


def test_a_row_is_the_same_each_time() -> None:
    one, other = (Strung(STOCK, 1_000, 5, (1, seed), TONES) for seed in (2, 3))
    again = Strung(STOCK, 1_000, 5, (1, 2), TONES)
    assert np.array_equal(one[3][0], again[3][0]) and one[3][1] == again[3][1]
    assert len(list(one)) == 5 and not np.array_equal(one[3][0], other[3][0])


def test_noise_has_its_level() -> None:
    clean, noisy = (Strung(STOCK, 1_000, 40, (1, 2), Manner(2, 4, (0.1, 0.1), level)) for level in (200.0, 10.0))
    for (quiet, _), (loud, _) in zip(clean, noisy, strict=True):
        noise = loud - quiet
        assert np.sqrt((noise**2).mean()) == pytest.approx(np.sqrt((quiet**2).mean() / 10), rel=0.15)


def test_every_second_row_holds_the_word() -> None:
    rows = holding(Strung(STOCK | {"c": STOCK["a"]}, 1_000, 40, (1, 2), QUIET), "b")
    for number, (_, text) in enumerate(rows):
        assert text.split().count("b") == number % 2 and 5 <= len(text.split()) <= 8
    with pytest.raises(UserError, match=r"^data\.word='d'; allowed: a, b, c"):
        holding(rows, "d")


def test_melodies_follow_their_grammar() -> None:
    texts = melody_texts().decode().splitlines()
    notes = list(NOTES)
    after = Counter((notes.index(b) - notes.index(a)) % 6 for text in texts for a, b in pairwise(text.split()))
    total = sum(after.values())
    assert [after[step] / total for step in (1, 2, 3)] == pytest.approx(FOLLOWS, abs=0.02) and after[0] == 0
    assert {len(text.split()) for text in texts} == {3, 4, 5, 6}


def test_notes_have_their_pitch() -> None:
    for note, sounds in melodies(1)["valid"].stock.items():
        for sound in sounds:
            spectrum = np.abs(np.fft.rfft(sound * np.hanning(len(sound)), 2**14))
            assert spectrum.argmax() * RATE / 2**14 == pytest.approx(NOTES[note], rel=0.013)
            assert 0.15 < np.abs(sound).max() < 0.91


def test_melodies_have_tones_of_their_own() -> None:
    made = melodies(1)
    assert {name: len(rows) for name, rows in made.items()} == MELODIES
    stocks = {name: {sound.tobytes() for own in rows.stock.values() for sound in own} for name, rows in made.items()}
    assert not stocks["train"] & stocks["test"] and not stocks["valid"] & stocks["test"]
    samples, text = made["test"][0]
    assert samples.dtype == np.float32 and len(samples) > SAMPLES * len(text.split()) and np.abs(samples).max() < 2
    assert made["test"].rate == RATE
