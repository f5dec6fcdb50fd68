"""Checkpoints: whole or not there. Damage is noticed and named; a kill between any two operations loses nothing."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest
import torch

from foresay.errors import UserError
from foresay.train import checkpoint


def save(folder: Path, step: int, keep: int = 2) -> None:
    """What a trainer writes at a step, the best weights too."""
    tensors = {"model": {"w": torch.full((7, 3), float(step))}, "optimizer": {"0.step": torch.tensor(float(step))}}
    checkpoint.save_checkpoint(folder, "best", {"model": tensors["model"]}, {"step": step})
    checkpoint.save_checkpoint(folder, f"{step:08d}", tensors, {"step": step})
    checkpoint.point_to_latest(folder, f"{step:08d}")
    checkpoint.prune(folder, keep)


def test_what_was_saved_comes_back(tmp_path: Path) -> None:
    tensors = {
        "model": {"a": torch.randn(3, 5), "b": torch.tensor(7), "half": torch.randn(4).bfloat16()},
        "random": {"cpu": torch.get_rng_state()},
        "carried": {},
    }
    path = checkpoint.save_checkpoint(tmp_path, "00000003", tensors, {"step": 3, "best": None})
    read, state = checkpoint.load_checkpoint(path)
    assert state == {"step": 3, "best": None}
    assert read.keys() == tensors.keys()
    for stem, named in tensors.items():
        assert read[stem].keys() == named.keys()
        for name, tensor in named.items():
            assert read[stem][name].dtype == tensor.dtype and torch.equal(read[stem][name], tensor)


def test_a_transposed_tensor_comes_back_as_it_is(tmp_path: Path) -> None:
    turned = torch.arange(6.0).view(2, 3).T
    read, _ = checkpoint.load_checkpoint(checkpoint.save_checkpoint(tmp_path, "1", {"model": {"w": turned}}, {}))
    assert torch.equal(read["model"]["w"], turned)


def test_latest_names_the_newest_and_old_ones_go(tmp_path: Path) -> None:
    for step in (2, 4, 10):
        save(tmp_path, step)
        assert (tmp_path / "latest").read_text() == f"{step:08d}\n"
    assert [path.name for path in checkpoint.numbered(tmp_path)] == ["00000004", "00000010"]
    assert checkpoint.load_checkpoint(tmp_path / "best")[1] == {"step": 10}


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-5])


def flip(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[-1] ^= 1
    path.write_bytes(data)


def foreign(content: str) -> Callable[[Path], None]:
    return lambda path: path.write_text(content, "utf-8") and None


DAMAGES = [
    ("model.safetensors", cut, "is damaged"),
    ("model.safetensors", flip, "is damaged"),
    ("optimizer.safetensors", flip, "is damaged"),
    ("optimizer.safetensors", Path.unlink, "is missing"),
    ("state.json", flip, "is damaged"),
    ("state.json", Path.unlink, "is missing"),
    ("manifest.json", Path.unlink, "is missing"),
    ("manifest.json", cut, "is damaged"),
    ("manifest.json", lambda path: path.write_bytes(b""), "is damaged"),
    ("manifest.json", lambda path: path.write_bytes(b"\xff\xfe\x00"), "is damaged"),
    ("manifest.json", foreign("[1, 2]"), "is damaged"),
    ("manifest.json", foreign('{"name": "left-pad"}'), "is damaged"),
    ("manifest.json", foreign('{"sha256": "abc"}'), "is damaged"),
    ("", lambda path: (path / "manifest.json").write_text('{"sha256": {}}'), "no model or no state"),
]


@pytest.mark.parametrize(("name", "damage", "message"), DAMAGES)
def test_damage_is_named_and_the_one_before_used(name: str, damage: Callable, message: str, tmp_path: Path) -> None:
    save(tmp_path, 1)
    save(tmp_path, 2)
    damaged = tmp_path / "00000002" / name
    damage(damaged)
    notes: list[str] = []
    found = checkpoint.newest(tmp_path, notes.append)
    assert found is not None
    path, tensors, state = found
    assert path == tmp_path / "00000001" and state == {"step": 1} and float(tensors["model"]["w"][0, 0]) == 1.0
    assert len(notes) == 1 and f"{damaged} " in notes[0] and message in notes[0]


def test_a_file_that_is_no_safetensors_under_the_right_hash(tmp_path: Path) -> None:
    save(tmp_path, 1)
    path = tmp_path / "00000001"
    (path / "model.safetensors").write_bytes(b"PK\x03\x04 a zip")
    manifest = json.loads((path / "manifest.json").read_text())
    manifest["sha256"]["model.safetensors"] = checkpoint.file_hash(path / "model.safetensors")
    (path / "manifest.json").write_text(json.dumps(manifest))
    with pytest.raises(UserError, match=r"model\.safetensors cannot be read"):
        checkpoint.load_checkpoint(path)


def test_all_damaged_or_none_there(tmp_path: Path) -> None:
    notes: list[str] = []
    assert checkpoint.newest(tmp_path / "nothing", notes.append) is None and notes == []
    for step in (1, 2):
        save(tmp_path, step)
    for step in (1, 2):
        cut(tmp_path / f"{step:08d}" / "model.safetensors")
    assert checkpoint.newest(tmp_path, notes.append) is None and len(notes) == 2


class Killed(BaseException):
    """The process is dead: from here on nothing changes on the disk."""


def kill_at(operation: int, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Dies at the n-th change of the disk (0: never), half-way through it; gives the changes as they come."""
    done: list[str] = []

    def alive(name: str) -> bool:
        done.append(name)
        return operation == 0 or len(done) < operation

    def dying(name: str, whole: Callable) -> Callable:
        def change(*given, **options):
            if not alive(name):
                if name == "fsync" and len(done) == operation:  # a part of what was written has reached the disk
                    with suppress(OSError):  # a folder cannot be cut
                        os.ftruncate(given[0], os.fstat(given[0]).st_size // 2)
                raise Killed
            return whole(*given, **options)

        return change

    for name in ("mkdir", "rename", "unlink", "rmdir", "fsync"):
        monkeypatch.setattr(os, name, dying(name, getattr(os, name)))
    return done


def test_a_kill_between_any_two_changes_loses_nothing(tmp_path: Path) -> None:
    before = tmp_path / "before"
    save(before, 1)
    save(before, 2)
    folder = Path(shutil.copytree(before, tmp_path / "whole"))
    with pytest.MonkeyPatch.context() as patch:
        changes = kill_at(0, patch)
        save(folder, 3)
    assert changes.count("rename") == 4  # the old best away, the new one, 00000003 and latest into place

    for operation in range(1, len(changes) + 1):
        folder = Path(shutil.copytree(before, tmp_path / str(operation)))
        with pytest.MonkeyPatch.context() as patch, pytest.raises(Killed):
            kill_at(operation, patch)
            save(folder, 3)
        checkpoint.sweep(folder)
        found = checkpoint.newest(folder, pytest.fail)
        assert found is not None
        path, tensors, state = found
        assert state["step"] in (2, 3) and float(tensors["model"]["w"][0, 0]) == state["step"] == int(path.name)
        assert checkpoint.load_checkpoint(folder / "best")[1]["step"] in (2, 3)
        assert (folder / (folder / "latest").read_text().strip()).is_dir()
        save(folder, 4)
        left = sorted(path.name for path in folder.iterdir())
        assert left == [f"{state['step']:08d}", "00000004", "best", "latest"], f"killed at {changes[operation - 1]}"


def test_an_error_at_any_change_leaves_nothing_aside(tmp_path: Path) -> None:
    before = tmp_path / "before"
    save(before, 1)
    whole = os.fsync
    for failing in range(8):
        folder, seen = Path(shutil.copytree(before, tmp_path / str(failing))), [0]

        def full(handle: int, seen: list[int] = seen, failing: int = failing) -> None:
            seen[0] += 1
            if seen[0] > failing:
                raise OSError(28, "No space left on device")
            whole(handle)

        with pytest.MonkeyPatch.context() as patch, pytest.raises(OSError, match="No space"):
            patch.setattr(os, "fsync", full)
            save(folder, 2)
        assert not list(folder.glob(f".*.{os.getpid()}"))
        found = checkpoint.newest(folder, pytest.fail)
        assert found is not None and found[2]["step"] in (1, 2)


def test_sweep_leaves_what_is_not_ours(tmp_path: Path) -> None:
    for name in (".git", ".best.77", ".best.old"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "file").write_text(name)
    for name in (".lock", ".gitignore", ".recipe.yaml.123"):
        (tmp_path / name).write_text(name)
    checkpoint.sweep(tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == [".git", ".gitignore", ".lock", "best"]
    assert (tmp_path / "best" / "file").read_text() == ".best.old"
