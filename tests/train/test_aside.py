"""Files that appear whole or not at all."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file

from foresay.train.aside import aside, file_hash, left_over, write_file, write_tensors


def test_a_file_is_replaced_whole_or_not_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "recipe.yaml"
    write_file(path, b"old")
    write_file(path, b"new")
    assert path.read_bytes() == b"new" and file_hash(path) == hashlib.sha256(b"new").hexdigest()
    monkeypatch.setattr(os, "fsync", lambda _: (_ for _ in ()).throw(OSError(28, "No space left on device")))
    with pytest.raises(OSError, match="No space"):
        write_file(path, b"never")
    assert path.read_bytes() == b"new" and [file.name for file in tmp_path.iterdir()] == ["recipe.yaml"]


def test_a_file_that_cannot_be_written_is_told_by_its_own_name(tmp_path: Path) -> None:
    for write in (lambda path: write_file(path, b""), lambda path: write_tensors(path, {"a": torch.ones(1)})):
        with pytest.raises(OSError, match="No such file") as caught:
            write(tmp_path / "gone" / "a.npy")
        assert caught.value.filename == str(tmp_path / "gone" / "a.npy")


def test_tensors_are_written_the_same_way(tmp_path: Path) -> None:
    write_tensors(tmp_path / "a.safetensors", {"turned": torch.arange(6.0).view(2, 3).T})
    assert torch.equal(load_file(tmp_path / "a.safetensors")["turned"], torch.arange(6.0).view(2, 3).T)
    write_file(tmp_path / "b.json", b"{}")
    modes = {path.stat().st_mode & 0o777 for path in tmp_path.iterdir()}
    umask = os.umask(0o22)
    os.umask(umask)
    assert modes == {0o666 & ~umask}
    with pytest.raises(OSError, match="No such file"):
        write_tensors(tmp_path / "nowhere" / "a.safetensors", {"w": torch.ones(1)})


def test_what_a_killed_writer_leaves_is_known_again(tmp_path: Path) -> None:
    with aside(tmp_path / "model.safetensors") as place:
        assert left_over(place) == "model.safetensors"
        place.touch()
    assert [path.name for path in tmp_path.iterdir()] == ["model.safetensors"]
    for name in ("model.safetensors", ".lock", ".gitignore", "model.7"):
        assert left_over(Path(name)) is None
