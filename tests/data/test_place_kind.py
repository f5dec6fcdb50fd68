"""What a place holds, by the names in it."""

from __future__ import annotations

import tarfile
from pathlib import Path

import numpy as np
import pytest

from foresay.data.place_kind import other_than_text


def filled(folder: Path, *names: str) -> str:
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(b"")
    return str(folder)


@pytest.mark.parametrize(
    ("names", "kind"),
    [
        (("a.png", "b/c.JPG", "labels.csv"), "images"),
        (("a.wav", "b.flac", ".hidden.png", ".more.png"), "sounds"),
        (("a.txt", "b.md", "c.png"), None),
        (("a.png", "b.txt"), None),
        (("a.mid", "b/c.MIDI"), "music"),
        (("a.csv", "b.csv"), None),
        ((), None),
    ],
)
def test_folders(tmp_path: Path, names: tuple[str, ...], kind: str | None) -> None:
    assert other_than_text(filled(tmp_path, *names)) == kind


@pytest.mark.parametrize(
    ("name", "kind"),
    [("a.npy", None), ("train-images-idx3-ubyte.gz", "images"), ("a.wav", "sounds"), ("a.txt", None), ("a", None)],
)
def test_files(tmp_path: Path, name: str, kind: str | None) -> None:
    filled(tmp_path, name)
    assert other_than_text(str(tmp_path / name)) == kind


def test_arrays_by_their_header(tmp_path: Path) -> None:
    for name, array in (("a", np.zeros((2, 3, 4), np.uint8)), ("b", np.zeros((2, 3, 4, 3), np.uint8)), ("c", [1, 2])):
        np.save(tmp_path / name, array)
    assert [other_than_text(str(tmp_path / f"{name}.npy")) for name in "abc"] == ["images", "images", None]


def test_series_by_what_they_hold(tmp_path: Path) -> None:
    table = "a,b\n" + "1,2\n" * 9
    for name, content in (("a.csv", table), ("b.csv", table), ("notes.md", "")):
        (tmp_path / name).write_text(content)
    np.save(tmp_path / "real.npy", np.zeros((5, 2)))
    places = [tmp_path, tmp_path / "a.csv", tmp_path / "real.npy", tmp_path / "notes.md"]
    assert [other_than_text(str(place)) for place in places] == ["series", "series", "series", None]
    (tmp_path / "a.csv").write_text("text,label\n" + "fine,1\n" * 9)
    assert [other_than_text(str(place)) for place in places[:2]] == [None, None]


def test_archives(tmp_path: Path) -> None:
    for name, inside in (("a.tar.gz", "one.wav"), ("b.tar.gz", "one.txt")):
        with tarfile.open(tmp_path / name, "w:gz") as packed:
            (tmp_path / inside).write_bytes(b"")
            packed.add(tmp_path / inside, inside)
    (tmp_path / "c.zip").write_bytes(b"no archive")
    assert [other_than_text(str(tmp_path / name)) for name in ("a.tar.gz", "b.tar.gz", "c.zip")] == [
        "sounds",
        None,
        None,
    ]


def test_known_sets_and_what_is_not_there() -> None:
    others = ("builtin:sunspots", "builtin:chords", "jsb-chorales")
    assert [other_than_text(name) for name in others] == ["series", "music", "music"]
    names = ("builtin:digits", "builtin:tones", "mnist", "fsdd", "builtin:dates", "ptb", "nix", "builtin:nix")
    assert [other_than_text(name) for name in names] == ["images", "sounds", "images", "sounds", None, None, None, None]
