"""Recordings as documents: samples of -1 .. 1 of one channel at one rate, whole or cut into pieces, with their labels.

WAV files whose samples are plain numbers are read here (wav.py), everything else by the library soundfile. Channels
are averaged; `rate` resamples (resample.py); `seconds` cuts each recording into pieces of that length, the last one
shorter; `trim` cuts off what is quieter at both ends than so many decibels below the loudest 10 ms. A recording is read
a block at a time, so memory grows with a piece and not with the recording.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, cast

import numpy as np

from foresay.data import wav
from foresay.data.compressed import Damaged
from foresay.data.levels import Leveled, spread
from foresay.data.resample import resampled
from foresay.data.sound_places import BROKEN, Recording, recordings
from foresay.errors import UserError, reason
from foresay.extras import need

MOST = 2**22  # samples of a document
FRAME = 0.01  # seconds whose loudness counts when silence is cut off
Named = tuple[str, np.ndarray, tuple[str, ...]]  # where it is from, its samples, its label
Blocks = Iterator[np.ndarray]


@dataclass
class SoundText:
    """Recordings that can be gone through any number of times; those of a place, or made in memory."""

    name: str
    path: Path | None = None
    made: Sequence[tuple[np.ndarray, str]] | None = None
    given: int = 0  # the rate of what is made
    rate: int | None = None
    seconds: float | None = None
    trim: float | None = None
    label: int | None = None
    labelled: bool = True  # False: labels are not looked for
    chosen: Callable[[str], bool] | None = None  # which of the names count
    most: int | None = None  # so many recordings at most, evenly spread; None: all
    found: int = 0  # the rate of all of it, once gone through
    silent: int = 0  # how many were left out as silent, the last time

    def __iter__(self) -> Iterator[Leveled]:
        for number, (_, samples, label) in enumerate(self.named(), 1):
            yield number, samples, label

    def named(self) -> Iterator[Named]:
        """Every document with where it is from."""
        first, self.silent = "", 0
        for recording in self._recordings():
            with _opened(recording) as (rate, blocks):
                if self.rate is None and first and rate != self.found:
                    raise UserError(
                        f"{recording.where} has {rate:,} Hz, {first} has {self.found:,}; make them alike: "
                        f"data.rate={min(rate, self.found)}"
                    )
                first, self.found = first or recording.where, self.rate or rate
                yield from self._documents(recording, resampled(blocks, rate, self.found))

    def _recordings(self) -> Iterator[Any]:
        if self.made is not None:
            numbered = enumerate(self.made, 1)  # what is made is made one by one
            for number, (samples, label) in numbered if self.most is None else spread(list(numbered), self.most):
                yield Made(f"{self.name} number {number}", (label,), self.given, samples)
            return
        assert self.path is not None
        found = recordings(self.path, self.label, self.labelled)
        found = (one for one in found if self.chosen is None or self.chosen(one.name))
        yield from found if self.most is None else spread(list(found), self.most)

    def _documents(self, recording: Any, blocks: Blocks) -> Iterator[Named]:
        size = None if self.seconds is None else max(round(self.seconds * self.found), 1)
        if size is not None and size > MOST:
            raise UserError(
                f"data.seconds={self.seconds:g} is {size:,} samples at {self.found:,} Hz; allowed: up to "
                f"{MOST / self.found:,.0f} s"
            )
        whole = True
        for number, samples in enumerate(_pieces(recording.where, blocks, size, self.found)):
            whole = False
            where = recording.where if size is None else f"{recording.where} from {number * size / self.found:g} s"
            kept = samples if self.trim is None else trimmed(samples, self.found, self.trim)
            if len(kept):
                yield where, kept, recording.label
            self.silent += not len(kept)
        if whole:
            raise UserError(f"{recording.where} has no samples; leave it out")


@dataclass(frozen=True)
class Made:
    """A sound that was computed."""

    where: str
    label: tuple[str, ...]
    rate: int
    samples: np.ndarray


def _pieces(where: str, blocks: Blocks, size: int | None, rate: int) -> Blocks:
    """Blocks of any size as documents: of `size` samples, or all of it as one."""
    held: list[np.ndarray] = []
    count = 0
    for block in blocks:
        held.append(block)
        count += len(block)
        if size is None and count > MOST:
            raise UserError(
                f"{where} is longer than {MOST / rate:,.0f} s, too long for one document; cut it into pieces: "
                "data.seconds=10"
            )
        if size is not None and count >= size:
            joined = np.concatenate(held)
            for begin in range(0, count - size + 1, size):
                yield joined[begin : begin + size]
            held = [joined[count - count % size :]]
            count %= size
    if count:
        yield np.concatenate(held)


def trimmed(samples: np.ndarray, rate: int, decibels: float) -> np.ndarray:
    """Without the quiet at both ends; nothing is left of silence."""
    frame = max(round(FRAME * rate), 1)
    padded = np.pad(samples.astype(np.float64), (0, -len(samples) % frame)).reshape(-1, frame)
    power = (padded**2).mean(1)
    loud = np.flatnonzero((power > 0) & (power >= power.max() * 10 ** (-decibels / 10)))
    return samples[loud[0] * frame : (loud[-1] + 1) * frame] if len(loud) else samples[:0]


@contextmanager
def _opened(recording: Recording | Made) -> Iterator[tuple[int, Blocks]]:
    """The rate of a recording and its samples, (n,) of one channel, block by block."""
    if isinstance(recording, Made):
        yield recording.rate, iter([recording.samples])
        return
    try:
        with recording.open() as file:
            try:
                own, kind = _plain(recording, file), ""
            except wav.Compressed as other:
                own, kind = None, str(other)
            if own is not None:
                yield own.rate, (block.mean(1) for block in own.blocks())
                return
        with recording.open() as file, _by_library(file, f"{recording.where} ({kind})") as found:
            yield found
    except (Damaged, OSError, *BROKEN) as error:
        raise UserError(f"{recording.where} {_told(error)}") from None


def _plain(recording: Recording, file: IO[bytes]) -> wav.Wave:
    """A WAV file, or Compressed."""
    if not recording.name.lower().endswith((".wav", ".wave", ".rf64")):
        raise wav.Compressed(f"a {Path(recording.name).suffix} file")
    return wav.opened(cast(Any, file))


@contextmanager
def _by_library(file: IO[bytes], where: str) -> Iterator[tuple[int, Blocks]]:
    library = need("soundfile", "audio", where)
    try:
        with library.SoundFile(file) as found:
            blocks = found.blocks(wav.BLOCK, dtype="float32", always_2d=True)
            yield found.samplerate, (block.mean(1) for block in blocks)
    except library.SoundFileError as error:
        raise UserError(f"{where} cannot be read ({error}); save it as WAV") from None


def _told(error: Exception) -> str:
    return str(error) if isinstance(error, Damaged) else f"cannot be read ({reason(error)}); get it again"
