"""MIDI files against mido, an independent reader and writer."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import mido
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from foresay.data.midi import FIRST, KEYS, midi_bytes, read_roll
from foresay.errors import UserError


def written(path: Path, *tracks: list[Any], kind: int = 1, beat: int = 480) -> Path:
    file = mido.MidiFile(type=kind, ticks_per_beat=beat)
    for messages in tracks:
        file.tracks.append(mido.MidiTrack(messages))
    file.save(path)
    return path


def on(key: int, time: int = 0, velocity: int = 64, channel: int = 0) -> Any:
    return mido.Message("note_on", note=key, velocity=velocity, time=time, channel=channel)


def off(key: int, time: int = 0, channel: int = 0) -> Any:
    return mido.Message("note_off", note=key, time=time, channel=channel)


def sounding(roll: np.ndarray) -> list[list[int]]:
    return [[int(key) + FIRST for key in np.flatnonzero(step)] for step in roll]


def test_a_chord_and_a_melody(tmp_path: Path) -> None:
    """Of two tracks at once; a loudness of 0 ends a note; other events pass; drums and keys no piano has are left."""
    chord = [mido.MetaMessage("track_name", name="chörd"), on(60), on(64), off(60, 960), off(64, 480)]
    melody = [
        mido.MetaMessage("set_tempo", tempo=400_000),
        mido.Message("program_change", program=5),
        mido.Message("sysex", data=(1, 2, 3)),
        on(72),
        mido.Message("pitchwheel", pitch=100, time=100),
        on(72, 380, velocity=0),
        on(35, channel=9),
        off(35, 480, channel=9),
        on(10),
        on(74, 0),
        off(10, 0),
        off(74, 700),
    ]
    found, left_out = read_roll(written(tmp_path / "x.mid", chord, melody), 1)
    assert sounding(found) == [[60, 64, 72], [60, 64], [64, 74]] and found.shape == (3, KEYS)
    assert left_out == 1
    halves, _ = read_roll(tmp_path / "x.mid", 2)
    assert sounding(halves) == [[60, 64, 72]] * 2 + [[60, 64]] * 2 + [[64, 74]] * 2 + [[74]]


def test_short_and_endless_notes(tmp_path: Path) -> None:
    path = written(tmp_path / "x.mid", [on(60), off(60, 10), on(62, 470), mido.MetaMessage("end_of_track", time=1440)])
    assert sounding(read_roll(path, 1)[0]) == [[60], [62], [62], [62]]


def test_a_note_struck_again_while_it_sounds(tmp_path: Path) -> None:
    path = written(tmp_path / "x.mid", [on(60), on(60, 480), off(60, 480)])
    assert sounding(read_roll(path, 1)[0]) == [[60], [60]]


@given(st.integers(0, 2**32), st.integers(1, 40), st.sampled_from([0.05, 0.5, 1.25]))
def test_what_is_written_is_what_mido_reads(seed: int, steps: int, seconds: float) -> None:
    roll = (np.random.default_rng(seed).random((steps, KEYS)) < 0.1).astype(np.float32)
    roll[-1, 3] = 1  # or the end would be cut off
    content = midi_bytes(roll, seconds)
    file = mido.MidiFile(file=io.BytesIO(content))
    assert file.length == pytest.approx(steps * seconds, rel=1e-5)
    held, now, found = set(), 0, []
    for message in mido.merge_tracks(file.tracks):
        steps_on = message.time // file.ticks_per_beat
        found += [sorted(held)] * steps_on
        now += steps_on
        if message.type == "note_on":
            (held.add if message.velocity else held.discard)(message.note)
    assert found == sounding(roll)


def test_round_trip(tmp_path: Path) -> None:
    roll = (np.random.default_rng(1).random((50, KEYS)) < 0.05).astype(np.float32)
    roll[-1, 0] = 1
    (tmp_path / "x.mid").write_bytes(midi_bytes(roll, 0.25))
    assert np.array_equal(read_roll(tmp_path / "x.mid", 1)[0], roll)


@pytest.mark.parametrize(
    ("cut", "said"),
    [
        (slice(0, 0), "it does not begin with MThd"),
        (slice(0, 10), "it ends too early"),
        (slice(0, 14), "has no notes"),
        (slice(0, -9), "it ends too early"),
    ],
)
def test_broken_files(tmp_path: Path, cut: slice, said: str) -> None:
    content = midi_bytes(np.eye(KEYS, dtype=np.float32)[:1], 0.5)
    (tmp_path / "x.mid").write_bytes(content[cut])
    with pytest.raises(UserError, match=said):
        read_roll(tmp_path / "x.mid", 1)


def test_files_that_are_not_read(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="its tracks are pieces of their own"):
        read_roll(written(tmp_path / "x.mid", [on(60), off(60, 480)], kind=2), 1)
    content = bytearray((tmp_path / "x.mid").read_bytes())
    content[9], content[12] = 1, 0xE8
    (tmp_path / "x.mid").write_bytes(content)
    with pytest.raises(UserError, match="its time is in frames of film"):
        read_roll(tmp_path / "x.mid", 1)
    with pytest.raises(UserError, match=r"has [\d,]+ steps; allowed: 1,048,576"):
        read_roll(written(tmp_path / "y.mid", [on(60), off(60, 2**27)], beat=24), 1)


def test_notes_that_no_piano_has(tmp_path: Path) -> None:
    low = [on(FIRST - 1), off(FIRST - 1, 9600), on(FIRST), off(FIRST, 480), on(FIRST + KEYS), off(FIRST + KEYS, 480)]
    found, left_out = read_roll(written(tmp_path / "x.mid", low), 1)
    assert left_out == 2 and np.flatnonzero(found.any(0)).tolist() == [0] and found[:, 0].sum() == 1
    with pytest.raises(UserError, match=r"x\.mid has 1 note and none of a key that pianos have; allowed: 21 to 108"):
        read_roll(written(tmp_path / "x.mid", low[:2]), 1)
