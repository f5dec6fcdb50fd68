"""Which recordings a place has, and their labels: folders, tables, archives, parts of names."""

from __future__ import annotations

import io
import tarfile
import zipfile
from pathlib import Path

import pytest

from foresay.data.sound_places import recordings
from foresay.errors import UserError


def laid(folder: Path, *names: str, **content: str) -> Path:
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(name.encode())
    for name, text in content.items():
        (folder / f"{name}.csv").write_text(text, "utf-8")
    return folder


def packed(path: Path, folder: Path) -> Path:
    """All of a folder as an archive."""
    names = [one.relative_to(folder.parent).as_posix() for one in sorted(folder.rglob("*")) if one.is_file()]
    if path.suffix == ".zip":
        with zipfile.ZipFile(path, "w") as file:
            for name in names:
                file.write(folder.parent / name, name)
        return path
    with tarfile.open(path, {".xz": "w:xz", ".gz": "w:gz"}.get(path.suffix, "w")) as file:
        for name in names:
            file.add(folder.parent / name, name)
    return path


def found(path: Path, label: int | None = None) -> list[tuple[str, tuple[str, ...]]]:
    """Names and labels; each opens as what it is."""
    rows = []
    for one in recordings(path, label):
        with one.open() as file:
            assert file.read().decode() == one.name.split("digits/")[-1]
        rows.append((one.name, one.label))
    return rows


def test_a_folder_for_each_label(tmp_path):
    laid(tmp_path, "b/2.wav", "a/1.wav", "a/deep/3.FLAC", "a/notes.txt", ".git/x.wav", "a/._1.wav")
    assert found(tmp_path) == [("a/1.wav", ("a",)), ("a/deep/3.FLAC", ("a",)), ("b/2.wav", ("b",))]


def test_loose_ones_have_no_label(tmp_path):
    assert found(laid(tmp_path, "2.wav", "1.wav")) == [("1.wav", ()), ("2.wav", ())]


def test_a_table_and_parts_of_names(tmp_path):
    laid(tmp_path, "7_ann_1.wav", "in/8_bob_2.wav", labels="file,label\nin/8_bob_2.wav,b\n7_ann_1.wav, a\ngone.wav,c\n")
    assert found(tmp_path) == [("7_ann_1.wav", ("a",)), ("in/8_bob_2.wav", ("b",))]
    assert found(tmp_path, 2) == [("7_ann_1.wav", ("ann",)), ("in/8_bob_2.wav", ("bob",))]
    assert found(tmp_path / "7_ann_1.wav", 1) == [("7_ann_1.wav", ("7",))]
    assert found(tmp_path / "7_ann_1.wav") == [("7_ann_1.wav", ())]


@pytest.mark.parametrize("ending", [".tar", ".tar.xz", ".tar.gz", ".zip"])
def test_archives(tmp_path, ending):
    """As the folder itself; the folder that all of it lies in does not count."""
    folder = laid(tmp_path / "digits", "a/1.wav", "b/2.wav", "readme.md")
    path = packed(tmp_path / f"x{ending}", folder)
    assert found(path) == [("digits/a/1.wav", ("a",)), ("digits/b/2.wav", ("b",))]
    (one, *_) = recordings(path)
    assert one.where == f"{path}/digits/a/1.wav"
    laid(folder, labels="file,label\na/1.wav,x\nb/2.wav,y\n")
    assert [label for _, label in found(packed(path, folder))] == [("x",), ("y",)]
    loose = laid(tmp_path / "loose" / "digits", "1.wav", "2.wav")
    assert [label for _, label in found(packed(path, loose))] == [(), ()]


def test_what_cannot_be(tmp_path):
    def refused(path: Path, label: int | None = None) -> str:
        with pytest.raises(UserError) as error:
            list(recordings(path, label))
        return str(error.value).replace(str(tmp_path), "")

    empty = laid(tmp_path / "empty", "song.m4a")
    assert refused(empty).startswith(
        "/empty holds no recordings (.wav, .wave, .flac, .ogg ...); the first file in it is song.m4a; allowed: a folder"
    )
    mixed = laid(tmp_path / "mixed", "a/1.wav", "2.wav")
    assert [one.label for one in recordings(mixed, labelled=False)] == [(), ()]
    assert refused(mixed) == "/mixed/2.wav has no label, and others lie in folders that name theirs; move it into one"
    some = laid(tmp_path / "some", "1.wav", "2.wav", labels="file,label\n1.wav,a\n")
    assert refused(some) == "/some/labels.csv has no line for 2.wav; add it, or delete the recording"
    laid(some, labels="file,label\n1.wav,a\n2.wav,\n")
    assert refused(some).startswith("/some/labels.csv: line 3 is not as needed; allowed: a line file,label and then")
    laid(some, labels="name;label\n")
    assert "line 1 is not as needed" in refused(some)
    (some / "labels.csv").write_text("file,label\n1.wav,a\n1.wav,b\n2.wav,a\n")
    assert refused(some) == "/some/labels.csv: line 3 gives 1.wav another label than a line before; delete one"
    (some / "labels.csv").write_bytes(b"\xff\xfe")
    assert refused(some) == "/some/labels.csv is not UTF-8; save it as such"
    assert refused(some, 2).startswith("data.label=2, and the name of /some/1.wav has 1 parts between its underlines")
    for name, content in (("x.zip", b"PK"), ("x.tar", b"no archive"), ("x.tar.xz", b"\xfd7zXZ\0 cut")):
        (tmp_path / name).write_bytes(content)
        assert refused(tmp_path / name).startswith(f"/{name} is no archive that can be read (")


def test_a_tar_that_is_cut_short(tmp_path):
    held = io.BytesIO()
    with tarfile.open(fileobj=held, mode="w:xz") as file:
        about = tarfile.TarInfo("1.wav")
        about.size = 9_000
        file.addfile(about, io.BytesIO(bytes(range(250)) * 36))
    (tmp_path / "cut.tar.xz").write_bytes(held.getvalue()[:-60])
    with pytest.raises(UserError, match=r"cut\.tar\.xz is no archive that can be read"):
        list(recordings(tmp_path / "cut.tar.xz"))
