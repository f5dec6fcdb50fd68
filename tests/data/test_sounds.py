"""Sounds as data: levels, forms, known sets, and shards that hold them."""

from __future__ import annotations

import tarfile
from pathlib import Path

import numpy as np
import pytest

from foresay import parts
from foresay.data.buckets import Buckets
from foresay.data.levels import UNLABELLED, Form
from foresay.data.packed import Packed
from foresay.data.prepare import prepare
from foresay.data.sounds import Sounds, held_back
from foresay.data.streams import Streams
from foresay.data.wav import wav_bytes
from foresay.errors import UserError
from foresay.text.levels import FIRST
from foresay.text.tokens import START, STOP

LEVELS = parts.make("tokens", {"kind": "levels", "number": 5})


def laid(folder: Path, rate: int = 8_000, **sounds: list[float]) -> Path:
    """Recordings by name, `7_a` as 7/a.wav."""
    for name, samples in sounds.items():
        path = folder / f"{name.replace('_', '/').strip('x')}.wav"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(wav_bytes(np.array(samples), rate))
    return folder


def two(folder: Path, rate: int = 8_000) -> Path:
    return laid(folder, rate, x7_a=[0, 0.5, -0.5], x8_a=[0.25, 0.75, -0.75, -0.75])


def made(folder: Path, **how):
    return parts.make("data", {"kind": "sounds", "train": str(folder), "share": 0.0, "read": how})


def test_shards_hold_levels_and_stop(tmp_path):
    prepared = prepare(made(two(tmp_path), law="linear"), LEVELS, 1)
    assert prepared.train.form == Form(rate=8_000) and prepared.train.labels.names == ("7", "8")
    ids = prepared.train.slice(0, len(prepared.train))
    assert ids.tolist() == [7, 8, 6, STOP, 7, 9, 5, 5, STOP]  # 0.25 is h f = 0.5, and rounds to the even 0
    assert prepared.train.characters == 7


def test_the_law_and_the_rate_are_in_the_name_of_the_shards(tmp_path):
    folders = [
        prepare(made(two(tmp_path / str(rate), rate), law=law), LEVELS, 1).folder
        for rate, law in ((8_000, "linear"), (8_000, "mu"), (4_000, "mu"))
    ]
    assert len(set(folders)) == 3 and prepare(made(tmp_path / "8000"), LEVELS, 1).folder == folders[1]


def test_labels_stand_beside_every_step(tmp_path):
    shards = prepare(made(two(tmp_path), law="linear"), LEVELS, 1).train
    packed = Packed(rows=1, length=9).open(shards, 1).batch(0)
    assert packed.given.tolist() == [[0, 0, 0, 0, 1, 1, 1, 1, 1]]
    assert packed.starts.tolist() == [[True, *[False] * 3, True, *[False] * 4]]
    assert packed.ids[0, :5].tolist() == [START, 7, 8, 6, START]
    first, second = Streams(rows=1, chunk=5, reset=True).evaluation(shards)
    assert first.given.tolist() == [[0, 0, 0, 0, 1]] and second.given.tolist() == [[1, 1, 1, 1]]
    assert first.starts.tolist() == [[True, False, False, False, True]] and not second.fresh
    bucket = next(iter(Buckets(tokens=20, longest=5).evaluation(shards)))
    assert bucket.given.tolist() == [[0, 0, 0, 0, 0], [1, 1, 1, 1, 1]] and bucket.mask.sum() == 9


def test_one_recording_is_cut_into_pieces_without_labels(tmp_path):
    samples = np.random.default_rng(1).uniform(-1, 1, 25_000)
    (tmp_path / "talk.wav").write_bytes(wav_bytes(samples, 1_000))
    shards = prepare(made(tmp_path / "talk.wav"), LEVELS, 1).train
    assert shards.documents == 3 and len(shards) == 25_003 and shards.labels.names == (UNLABELLED,)
    assert Packed(rows=1, length=9).open(shards, 1).batch(0).given is None
    assert prepare(made(tmp_path / "talk.wav", seconds=1.0), LEVELS, 1).train.documents == 25


def test_made_tones():
    sounds = Sounds("builtin:tones")
    found = sounds.find(1)
    assert list(found) == ["train", "valid", "test"]
    number, samples, label = next(iter(found["valid"]))
    assert (
        number == 1
        and samples.shape == (1_000,)
        and label[0] in ("sine", "square", "noise", "pluck", "rising", "falling")
    )
    for text in found.values():
        list(text)
    assert sounds.form_of(found) == Form(rate=4_000)


def test_spoken_digits(tmp_path, monkeypatch):
    """The recordings as a folder or packed, in a folder of that name; numbers 0 to 4 of each are the test."""
    monkeypatch.setenv("FORESAY_DATA", str(tmp_path / "sets"))
    assert held_back("recordings/7_jackson_4.wav") and not held_back("7_jackson_14.wav")
    with pytest.raises(UserError, match="recordings is missing; get it from Jakobovski"):
        Sounds("fsdd").find(1)
    folder = tmp_path / "sets" / "fsdd" / "recordings"
    folder.mkdir(parents=True)
    for name in ("0_ann_0", "0_ann_5", "1_bob_4", "1_bob_15"):
        (folder / f"{name}.wav").write_bytes(wav_bytes(np.zeros(4), 8_000))

    def labels(**read) -> dict[str, list[tuple[str, ...]]]:
        corpus = parts.make("data", {"kind": "sounds", "train": "fsdd", "read": read})
        return {name: [label for _, _, label in text] for name, text in corpus.find(1).items()}

    assert labels() == {"train": [("0",), ("1",)], "test": [("0",), ("1",)]}
    assert labels(label=2) == {"train": [("ann",), ("bob",)], "test": [("ann",), ("bob",)]}
    with tarfile.open(folder.with_suffix(".tar.xz"), "w:xz") as file:
        file.add(folder, "recordings")
    for one in folder.iterdir():
        one.unlink()
    folder.rmdir()
    assert labels() == {"train": [("0",), ("1",)], "test": [("0",), ("1",)]}


def test_other_documents_take_the_rate_of_the_run(tmp_path):
    other = made(two(tmp_path / "a")).another(
        str(two(tmp_path / "b", 16_000)), made(tmp_path).read, None, Form(rate=8_000)
    )
    assert [len(samples) for _, samples, _ in other.opened("the argument", other.train)] == [2, 2]
    assert other.opened("the argument", str(tmp_path / "b" / "7" / "a.wav")).seconds is None


def test_arrays_are_samples():
    sounds, form = Sounds("x"), Form(rate=8_000)
    samples = np.array([0.5, -0.5])
    assert sounds.admitted(samples, "array 1", form) is samples
    for bad in (np.zeros((2, 2)), np.zeros(0), np.zeros(3, np.int16), np.array([np.nan])):
        with pytest.raises(
            UserError, match=r"array 1 is .*; allowed: samples of -1 to 1 at 8,000 Hz, \(N,\) of floats"
        ):
            sounds.admitted(bad, "array 1", form)
    levels = sounds.levels(samples, 256)
    assert np.abs(sounds.values(levels, 256, form) - samples).max() < 0.015
    assert FIRST + levels.max() < 261


def test_rates_that_differ(tmp_path):
    data = parts.make(
        "data", {"kind": "sounds", "train": str(two(tmp_path / "a")), "valid": str(two(tmp_path / "b", 4_000))}
    )
    with pytest.raises(UserError, match=r"b has 4,000 Hz, and data\.train 8,000; make them alike: data\.rate=4000"):
        prepare(data, LEVELS, 1)


def test_no_such_place():
    with pytest.raises(UserError, match=r"data\.train='nowhere' is no file, folder or known"):
        Sounds("nowhere").find(1)
    with pytest.raises(UserError, match=r"ptb holds no sounds; allowed: builtin:tones, fsdd, or recordings"):
        Sounds("ptb").find(1)
    with pytest.raises(UserError, match="builtin:digits has no sounds; allowed: builtin:tones"):
        Sounds("builtin:digits").find(1)


def test_silent_pieces_are_told(tmp_path):
    prepared = prepare(made(laid(tmp_path, xa=[0.5] * 80, xb=[0.0] * 80), trim=30.0), LEVELS, 1)
    assert prepared.notes == (f"{tmp_path}: 1 silent piece left out (data.trim)",)
