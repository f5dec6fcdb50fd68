"""WAV files, by value and against Python's own writer."""

from __future__ import annotations

import io
import struct
import wave

import numpy as np
import pytest

from foresay.data import wav
from foresay.data.compressed import Damaged


def chunk(name: bytes, content: bytes, size: int | None = None) -> bytes:
    return name + struct.pack("<I", len(content) if size is None else size) + content + b"\0" * (len(content) % 2)


def form(kind: int, channels: int, rate: int, wide: int) -> bytes:
    return struct.pack("<HHIIHH", kind, channels, rate, rate * channels * wide, channels * wide, 8 * wide)


def riff(*chunks: bytes, begin: bytes = b"RIFF") -> bytes:
    body = b"WAVE" + b"".join(chunks)
    return begin + struct.pack("<I", len(body)) + body


def read(content: bytes) -> tuple[int, np.ndarray]:
    found = wav.opened(io.BytesIO(content))
    return found.rate, np.concatenate(list(found.blocks()))


def by_python(wide: int, channels: int, raw: bytes) -> bytes:
    held = io.BytesIO()
    with wave.open(held, "wb") as file:
        file.setnchannels(channels)
        file.setsampwidth(wide)
        file.setframerate(11_025)
        file.writeframes(raw)
    return held.getvalue()


@pytest.mark.parametrize(
    ("wide", "raw", "samples"),
    [
        (1, bytes([0, 128, 192, 255]), [-1, 0, 0.5, 127 / 128]),
        (2, struct.pack("<4h", -(2**15), 0, 2**14, 2**15 - 1), [-1, 0, 0.5, 32767 / 32768]),
        (3, b"\x00\x00\x80" + b"\x00\x00\x00" + b"\x00\x00\x40" + b"\x01\x00\x00", [-1, 0, 0.5, 2.0**-23]),
        (4, struct.pack("<4i", -(2**31), 0, 2**30, 2**8), [-1, 0, 0.5, 2.0**-23]),
    ],
)
def test_whole_numbers(wide, raw, samples):
    rate, found = read(by_python(wide, 1, raw))
    assert rate == 11_025 and found.dtype == np.float32 and found[:, 0].tolist() == samples
    assert read(by_python(wide, 2, raw))[1].tolist() == [samples[:2], samples[2:]]


def test_floats_and_the_further_kind():
    values = [-1.5, 0.0, 0.25]
    for wide, letter in ((4, "f"), (8, "d")):
        data = chunk(b"data", struct.pack(f"<3{letter}", *values))
        assert read(riff(chunk(b"fmt ", form(3, 1, 8_000, wide)), data))[1][:, 0].tolist() == values
    further = form(65534, 1, 8_000, 2) + struct.pack("<HHIH", 22, 16, 4, 1) + b"\0" * 14
    found = read(riff(chunk(b"fmt ", further), chunk(b"data", struct.pack("<2h", 2**14, 0))))
    assert found[1][:, 0].tolist() == [0.5, 0]


def test_chunks_between_and_sizes_that_are_not_known():
    begin = chunk(b"LIST", b"odd") + chunk(b"fmt ", form(1, 1, 8_000, 2))
    data = struct.pack("<3h", 2**14, 0, -(2**14))
    for content in (
        riff(begin, chunk(b"data", data), chunk(b"id3 ", b"after")),
        riff(begin, chunk(b"data", data, 2**32 - 1)),
        riff(chunk(b"ds64", struct.pack("<QQQI", 99, 6, 3, 0)), begin, chunk(b"data", data, 2**32 - 1), begin=b"RF64"),
    ):
        assert read(content)[1][:, 0].tolist() == [0.5, 0, -0.5]


def test_long_ones_come_in_blocks():
    raw = np.random.default_rng(1).integers(-(2**15), 2**15, 3 * wav.BLOCK + 5).astype("<i2")
    blocks = list(wav.opened(io.BytesIO(by_python(2, 1, raw.tobytes()))).blocks())
    assert [len(block) for block in blocks] == [wav.BLOCK] * 3 + [5]
    assert np.array_equal(np.concatenate(blocks)[:, 0] * 2**15, raw)


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"", "is no WAV file"),
        (b"ID3\x04" + b"\0" * 40, "is no WAV file"),
        (riff(chunk(b"fmt ", form(1, 1, 8_000, 2))), "is cut short: it has no samples"),
        (riff(chunk(b"data", b"\0\0")), "does not say what its samples are"),
        (riff(chunk(b"fmt ", form(1, 0, 8_000, 2)), chunk(b"data", b"\0\0")), "says 0 channels of 0 bytes at 8000 Hz"),
        (riff(chunk(b"fmt ", form(1, 1, 0, 2)), chunk(b"data", b"\0\0")), "which cannot be"),
        (riff(chunk(b"fmt ", form(1, 1, 8_000, 2)), chunk(b"data", b"\0\0", 10)), r"is cut short: 1 of 5 frames"),
        (riff(chunk(b"fmt ", form(3, 1, 8_000, 4)), chunk(b"data", struct.pack("<f", np.nan))), "are no numbers"),
    ],
)
def test_damaged_ones(content, told):
    with pytest.raises(Damaged, match=told):
        read(content)


def test_compressed_ones_are_not_read_here():
    with pytest.raises(wav.Compressed, match="kind 17"):
        wav.opened(io.BytesIO(riff(chunk(b"fmt ", form(17, 1, 8_000, 1)), chunk(b"data", b"\0\0"))))


def test_written_ones_are_read_by_python_and_come_back():
    samples = np.array([0, 0.5, -0.5, -1, 1, 3])
    content = wav.wav_bytes(samples, 8_000)
    with wave.open(io.BytesIO(content)) as file:
        assert (file.getnchannels(), file.getsampwidth(), file.getframerate(), file.getnframes()) == (1, 2, 8_000, 6)
        assert np.frombuffer(file.readframes(6), "<i2").tolist() == [0, 2**14, -(2**14), -(2**15), 2**15 - 1, 2**15 - 1]
    assert read(content)[1][:3, 0].tolist() == [0, 0.5, -0.5]
