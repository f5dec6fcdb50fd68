"""WAV files: sound that is not compressed -> samples of -1 .. 1 a block at a time, and back in 16 bits.

    RIFF size WAVE     or RF64, whose sizes beyond 4 GB stand in a chunk ds64; then chunks: name, size, contents
    fmt                kind (1 whole numbers, 3 floats, 65534 further on), channels, rate, bytes a second, a frame, bits
    data               frames, a sample of each channel, little-endian; of 8 bits unsigned, else signed

A whole number v of b bits is the sample v / 2^(b-1). Other kinds (ADPCM, ...) are for a library: `Compressed`.
"""

from __future__ import annotations

import io
import struct
import wave
from collections.abc import Iterator
from dataclasses import dataclass
from typing import BinaryIO

import numpy as np

from foresay.data.compressed import Damaged

BLOCK = 2**16  # frames read at a time
WHOLE, FLOATS, FURTHER = 1, 3, 65534
UNKNOWN = 2**32 - 1  # the size that is written where it is not known


class Compressed(Exception):
    """A WAV file whose samples are not plain numbers."""


@dataclass
class Wave:
    """A file opened at its first frame."""

    file: BinaryIO
    rate: int
    channels: int
    wide: int  # bytes of a sample
    floats: bool
    frames: int | None  # None: as many as there are

    def blocks(self) -> Iterator[np.ndarray]:
        """float32 (n, channels), block by block."""
        done, frame = 0, self.wide * self.channels
        while self.frames is None or done < self.frames:
            wanted = BLOCK if self.frames is None else min(BLOCK, self.frames - done)
            raw = self.file.read(wanted * frame)
            count = len(raw) // frame
            if count < wanted and self.frames is not None:
                raise Damaged(f"is cut short: {done + count:,} of {self.frames:,} frames; get it again")
            if not count:
                return
            yield samples_of(raw[: count * frame], self.wide, self.floats).reshape(count, self.channels)
            done += count


def opened(file: BinaryIO) -> Wave:
    """A WAV file; Damaged where it is none, Compressed where its samples are no plain numbers."""
    head = file.read(12)
    if len(head) < 12 or head[:4] not in (b"RIFF", b"RF64") or head[8:] != b"WAVE":
        raise Damaged("is no WAV file: it does not begin with RIFF ... WAVE; save it as one")
    form, long = None, None
    while len(chunk := file.read(8)) == 8:
        name, size = chunk[:4], struct.unpack("<I", chunk[4:])[0]
        if name == b"data":
            return _at_data(file, form, long if size == UNKNOWN else size)
        content = file.read(size + size % 2)
        if len(content) < size:
            break
        if name == b"ds64" and size >= 16:
            long = struct.unpack("<Q", content[8:16])[0]
        if name == b"fmt ":
            form = content
    raise Damaged("is cut short: it has no samples; get it again")


def _at_data(file: BinaryIO, form: bytes | None, size: int | None) -> Wave:
    if form is None or len(form) < 16:
        raise Damaged("does not say what its samples are before they begin; save it anew")
    kind, channels, rate, _, frame, _ = struct.unpack("<HHIIHH", form[:16])
    if kind == FURTHER and len(form) >= 26:
        kind = struct.unpack("<H", form[24:26])[0]
    if kind not in (WHOLE, FLOATS):
        raise Compressed(f"samples of kind {kind}")
    wide = frame // max(channels, 1)
    if not rate or wide not in ((1, 2, 3, 4) if kind == WHOLE else (4, 8)) or frame != wide * channels:
        raise Damaged(f"says {channels} channels of {wide} bytes at {rate} Hz, which cannot be; save it anew")
    return Wave(file, rate, channels, wide, kind == FLOATS, None if size is None else size // frame)


def samples_of(raw: bytes, wide: int, floats: bool = False) -> np.ndarray:
    """Bytes as samples of -1 .. 1."""
    if floats:
        found = np.frombuffer(raw, f"<f{wide}").astype(np.float32)
        if not np.isfinite(found).all():
            raise Damaged("holds samples that are no numbers; save it anew")
        return found
    if wide == 1:
        return (np.frombuffer(raw, np.uint8).astype(np.float32) - 128) / 128
    if wide == 3:
        four = np.zeros((len(raw) // 3, 4), np.uint8)
        four[:, 1:] = np.frombuffer(raw, np.uint8).reshape(-1, 3)
        raw, wide = four.tobytes(), 4
    return (np.frombuffer(raw, f"<i{wide}") / 2.0 ** (8 * wide - 1)).astype(np.float32)


def wav_bytes(samples: np.ndarray, rate: int) -> bytes:
    """Samples of -1 .. 1 as a WAV file of one channel and 16 bits; what lies beyond is cut off."""
    whole = np.clip(np.rint(np.asarray(samples, np.float64) * 2**15), -(2**15), 2**15 - 1)
    held = io.BytesIO()
    with wave.open(held, "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(rate)
        file.writeframes(whole.astype("<i2").tobytes())
    return held.getvalue()
