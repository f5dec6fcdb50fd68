"""Recordings as documents: channels, rates, pieces, silence, other formats, and what cannot be read."""

from __future__ import annotations

import struct
import sys
import tracemalloc
import wave
import zipfile
from pathlib import Path

import numpy as np
import pytest

from foresay.data.sound_files import MOST, SoundText, trimmed
from foresay.data.wav import wav_bytes
from foresay.errors import UserError


def saved(path: Path, samples: np.ndarray, rate: int = 8_000) -> Path:
    """Samples as a WAV file; (n, 2) are two channels."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with wave.open(str(path), "wb") as file:
        file.setnchannels(samples.shape[1] if samples.ndim == 2 else 1)
        file.setsampwidth(2)
        file.setframerate(rate)
        file.writeframes((samples * 2**15).astype("<i2").tobytes())
    return path


def read(path: Path, **how) -> list[tuple[str, list[float], tuple[str, ...]]]:
    text = SoundText(str(path), path, **how)
    return [(where.replace(str(path), ""), samples.tolist(), label) for where, samples, label in text.named()]


def refused(path: Path, **how) -> str:
    with pytest.raises(UserError) as error:
        read(path, **how)
    return str(error.value).replace(str(path), "")


STEPS = np.array([0, 0.5, -0.5, 0.25])


def test_whole_ones_in_order_with_their_labels(tmp_path):
    saved(tmp_path / "b" / "2.wav", np.stack([STEPS, -STEPS / 2], 1))
    saved(tmp_path / "a" / "1.wav", STEPS)
    assert read(tmp_path) == [("/a/1.wav", STEPS.tolist(), ("a",)), ("/b/2.wav", (STEPS / 4).tolist(), ("b",))]
    text = SoundText("x", tmp_path)
    assert [(number, label) for number, _, label in text] == [(1, ("a",)), (2, ("b",))]
    assert text.found == 8_000


def test_pieces(tmp_path):
    path = saved(tmp_path / "long.wav", np.arange(10) / 16)
    found = read(path, seconds=4 / 8_000)
    assert [where for where, _, _ in found] == [" from 0 s", " from 0.0005 s", " from 0.001 s"]
    assert [samples for _, samples, _ in found] == [
        [i / 16 for i in some] for some in ([0, 1, 2, 3], [4, 5, 6, 7], [8, 9])
    ]


def test_another_rate(tmp_path):
    t = np.arange(4_000)
    saved(tmp_path / "a.wav", 0.5 * np.sin(t * 0.2), 16_000)
    saved(tmp_path / "b.wav", 0.5 * np.sin(t * 0.4), 8_000)
    (_, low, _), (_, same, _) = read(tmp_path, rate=8_000)
    assert len(low) == 2_000 and len(same) == 4_000
    assert low[500:1_500] == pytest.approx(same[500:1_500], abs=2e-3)
    assert refused(
        tmp_path
    ) == f"/b.wav has 8,000 Hz, {tmp_path}/a.wav has 16,000; make them alike: data.rate=8000".replace(str(tmp_path), "")


def test_silence_is_cut_off():
    """Frames of 10 samples: the loudest has 0.5, those of 0.05 are 20 decibels below, those of 0.005 40."""
    samples = np.concatenate([np.full(n, x) for n, x in ((20, 0.0), (10, 0.005), (10, 0.05), (10, 0.5), (15, 0.001))])
    assert len(trimmed(samples, 1_000, 10)) == 10
    assert trimmed(samples, 1_000, 30).tolist() == [0.05] * 10 + [0.5] * 10
    assert len(trimmed(samples, 1_000, 50)) == 30
    assert len(trimmed(samples, 1_000, 90)) == 45
    assert len(trimmed(np.zeros(25), 1_000, 30)) == 0


def test_silent_pieces_are_left_out(tmp_path):
    path = saved(tmp_path / "x.wav", np.concatenate([np.zeros(80), np.full(80, 0.5), np.zeros(80)]))
    text = SoundText("x", path, seconds=0.01, trim=40)
    for _ in range(2):
        assert [where[-11:] for where, _, _ in text.named()] == [" from 0.01 s"[-11:]]
        assert text.silent == 2


def test_made_ones_and_chosen_ones(tmp_path):
    text = SoundText("made", made=[(np.ones(4, np.float32), "x")], given=4_000)
    assert [(where, samples.tolist(), label) for where, samples, label in text.named()] == [
        ("made number 1", [1.0] * 4, ("x",))
    ]
    assert text.found == 4_000
    for name in ("a.wav", "b.wav"):
        saved(tmp_path / name, STEPS)
    assert [where for where, _, _ in read(tmp_path, chosen=lambda name: name == "b.wav")] == ["/b.wav"]


def test_from_an_archive(tmp_path):
    with zipfile.ZipFile(tmp_path / "x.zip", "w") as file:
        file.writestr("7/a.wav", wav_bytes(STEPS, 8_000))
    assert read(tmp_path / "x.zip") == [("/7/a.wav", STEPS.tolist(), ())]


def test_eight_hours_are_read_a_block_at_a_time(tmp_path):
    """Of silence, which the file system keeps in no space: its pieces come, and memory stays small."""
    path, count = tmp_path / "night.wav", 8 * 3600 * 8_000
    with path.open("wb") as file:
        file.write(wav_bytes(np.zeros(0), 8_000)[:40] + struct.pack("<I", 2 * count))
        file.truncate(44 + 2 * count)
    assert refused(path) == (" is longer than 524 s, too long for one document; cut it into pieces: data.seconds=10")
    text = SoundText("night", path, seconds=10).named()
    tracemalloc.start()
    assert sum(len(samples) for _, (_, samples, _) in zip(range(200), text, strict=False)) == 200 * 80_000
    assert tracemalloc.get_traced_memory()[1] < 2**23
    tracemalloc.stop()


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"", " is no WAV file: it does not begin with RIFF ... WAVE; save it as one"),
        (wav_bytes(STEPS, 8_000)[:-3], " is cut short: 2 of 4 frames; get it again"),
        (wav_bytes(STEPS[:0], 8_000), " has no samples; leave it out"),
    ],
)
def test_bad_files(tmp_path, content, told):
    (tmp_path / "a.wav").write_bytes(content)
    assert refused(tmp_path / "a.wav") == told


def test_pieces_that_are_too_long(tmp_path):
    path = saved(tmp_path / "a.wav", STEPS)
    assert refused(path, seconds=1e6) == (
        f"data.seconds=1e+06 is 8,000,000,000 samples at 8,000 Hz; allowed: up to {MOST // 8_000} s"
    )


def test_other_formats_need_the_library(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "soundfile", None)
    (tmp_path / "a.mp3").write_bytes(b"ID3")
    told = refused(tmp_path / "a.mp3")
    assert told.startswith(" (a .mp3 file) needs the library soundfile (")
    assert told.endswith("install it: pip install 'foresay[audio]'")


def test_other_formats(tmp_path):
    library = pytest.importorskip("soundfile")
    samples = np.stack([np.tile(STEPS, 50), np.tile(STEPS, 50) / 2], 1)
    for ending, kind in ((".flac", None), (".wav", "ULAW")):
        library.write(tmp_path / f"a{ending}", samples, 8_000, subtype=kind)
        ((_, found, _),) = read(tmp_path / f"a{ending}")
        assert found == pytest.approx((samples.mean(1)).tolist(), abs=0.02 if kind else 1e-4)
    with zipfile.ZipFile(tmp_path / "x.zip", "w") as file:
        file.write(tmp_path / "a.flac", "1/a.flac")
    assert len(read(tmp_path / "x.zip")[0][1]) == 200
    (tmp_path / "b.ogg").write_bytes(b"not at all")
    told = refused(tmp_path / "b.ogg")
    assert told.startswith(" (a .ogg file) cannot be read (") and told.endswith("; save it as WAV")
