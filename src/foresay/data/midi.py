"""Standard MIDI files <-> piano rolls (T, 88) of 0 and 1, a key a column from A0 (number 21) to C8 (108).

A note sounds from the step it is nearest to until the one its end is nearest to, one step at least; a step is a beat
divided by `per_beat`. Tempo, loudness, instruments and drums (channel 10) are left out, and two notes of one key that
touch are one. A note of a key that no piano has is left out and counted; a file of such notes alone is refused.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

import numpy as np

from foresay.errors import UserError, counted

FIRST, KEYS, DRUMS = 21, 88, 9
TICKS = 480  # of a beat, in what is written
LOUD = 80
LONGEST = 2**20  # steps of a piece


class _Broken(Exception):
    """A file that does not go on as MIDI does."""


def read_roll(path: Path, per_beat: int) -> tuple[np.ndarray, int]:
    """The piano roll of a file, and how many notes are not in it, for no piano has their keys."""
    try:
        with path.open("rb") as file:
            division, tracks = _tracks(file)
        notes = [note for track in tracks for note in _notes(track)]
    except (_Broken, IndexError, struct.error) as error:
        why = str(error) if isinstance(error, _Broken) else "it ends too early"
        raise UserError(f"{path} is no MIDI file that can be read ({why}); save it anew, or leave it out") from None
    if not notes:
        raise UserError(f"{path} has no notes; leave it out")
    outside = sum(not FIRST <= key < FIRST + KEYS for _, _, key in notes)
    if outside == len(notes):
        raise UserError(
            f"{path} has {counted(outside, 'note')} and none of a key that pianos have; allowed: {FIRST} to "
            f"{FIRST + KEYS - 1}: leave it out, or move its notes by octaves"
        )
    step = division / per_beat
    ends = [max(round(end / step), round(begin / step) + 1) for begin, end, _ in notes]
    if max(ends) > LONGEST:
        raise UserError(
            f"{path} has {max(ends):,} steps; allowed: {LONGEST:,}: leave it out, or set a smaller data.beat"
        )
    roll = np.zeros((max(ends), KEYS), np.float32)
    for (begin, _, key), end in zip(notes, ends, strict=True):
        if FIRST <= key < FIRST + KEYS:
            roll[round(begin / step) : end, key - FIRST] = 1
    return roll, outside


def _tracks(file: BinaryIO) -> tuple[int, list[bytes]]:
    """Ticks of a beat, and what each track holds."""
    if file.read(4) != b"MThd":
        raise _Broken("it does not begin with MThd")
    size, kind, number, division = struct.unpack(">IHHH", file.read(10))
    file.read(size - 6)
    if division & 0x8000 or not division:
        raise _Broken("its time is in frames of film")
    if kind == 2:
        raise _Broken("its tracks are pieces of their own")
    tracks = []
    while len(tracks) < number and len(head := file.read(8)) == 8:
        name, size = struct.unpack(">4sI", head)
        content = file.read(size)
        if len(content) < size:
            raise _Broken("it ends too early")
        if name == b"MTrk":
            tracks.append(content)
    return division, tracks


def _notes(track: bytes) -> Iterator[tuple[int, int, int]]:
    """Begin and end in ticks, and the key, of every note of a track; one that never ends lasts to the track's end."""
    at, time, status = 0, 0, 0
    sounding: dict[tuple[int, int], int] = {}
    while at < len(track):
        wait, at = _number(track, at)
        time += wait
        if track[at] & 0x80:
            status, at = track[at], at + 1
        if status == 0xFF or status in (0xF0, 0xF7):
            at += status == 0xFF  # the kind of a note about the piece
            size, at = _number(track, at)
            at += size
            continue
        kind, channel = status & 0xF0, status & 0x0F
        if kind < 0x80 or kind == 0xF0:
            raise _Broken(f"an event of kind {status:#x}")
        key, loud = track[at], track[at + 1] if kind not in (0xC0, 0xD0) else 0
        at += 1 if kind in (0xC0, 0xD0) else 2
        if kind not in (0x80, 0x90) or channel == DRUMS:
            continue
        begun = sounding.pop((channel, key), None)
        if begun is not None:
            yield begun, time, key
        if kind == 0x90 and loud:
            sounding[channel, key] = time
    yield from ((begun, time, key) for (_, key), begun in sounding.items())


def _number(track: bytes, at: int) -> tuple[int, int]:
    """A number of seven bits a byte, and where it ends."""
    value = 0
    while True:
        byte = track[at]
        value, at = value << 7 | byte & 0x7F, at + 1
        if not byte & 0x80:
            return value, at


def midi_bytes(roll: np.ndarray, seconds: float, first: int = FIRST) -> bytes:
    """A piano roll (T, D) whose steps last so long as a MIDI file with a beat a step."""
    events = []
    held = np.pad(roll > 0.5, ((1, 1), (0, 0)))
    for step, key in zip(*np.nonzero(held[1:] != held[:-1]), strict=True):
        events.append((int(step), bool(held[step + 1, key]), int(key) + first))
    track = b"\x00\xff\x51\x03" + round(1e6 * seconds).to_bytes(3, "big")
    now = 0
    for step, begins, key in sorted(events):  # what ends comes before what begins
        track += _spelt((step - now) * TICKS) + bytes([0x90, key, LOUD if begins else 0])
        now = step
    track += b"\x00\xff\x2f\x00"
    return b"MThd" + struct.pack(">IHHH", 6, 0, 1, TICKS) + b"MTrk" + struct.pack(">I", len(track)) + track


def _spelt(number: int) -> bytes:
    """A number in bytes of seven bits, all but the last marked."""
    found = [number & 0x7F]
    while number := number >> 7:
        found.append(number & 0x7F | 0x80)
    return bytes(reversed(found))
