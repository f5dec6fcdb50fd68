"""The run folder: locked, never half a run, never another's; damage is noticed."""

from __future__ import annotations

import errno
import fcntl
import json
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest
import torch

from foresay.errors import UserError
from foresay.train import folder as folders
from foresay.train.folder import opened


@contextmanager
def held(folder: Path) -> Iterator[None]:
    """What another process does that trains in the folder."""
    folder.mkdir(exist_ok=True)
    with (folder / ".lock").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def test_the_next_free_name(tmp_path: Path) -> None:
    assert folders.next_free("a") == Path("runs/a")
    for name in ("a", "a-2"):
        (tmp_path / "runs" / name).mkdir(parents=True)
    assert folders.next_free("a") == Path("runs/a-3")
    (tmp_path / "runs" / "a.png").touch()
    assert folders.next_free("a", ".png") == Path("runs/a-2.png")


def test_a_new_folder_is_made_and_kept(tmp_path: Path) -> None:
    with opened(tmp_path / "x" / "run", resume=False) as there:
        assert there is False
        (tmp_path / "x" / "run" / "recipe.yaml").write_text("a run")
    assert (tmp_path / "x" / "run" / "recipe.yaml").exists()
    with opened(tmp_path / "x" / "run", resume=True) as there:
        assert there is True


def test_a_failure_before_the_recipe_leaves_nothing(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="no good"), opened(tmp_path / "run", resume=False):
        (tmp_path / "run" / "tokenizer.json").write_text("half")
        raise ValueError("no good")
    assert not (tmp_path / "run").exists()


def test_a_failure_in_an_empty_folder_leaves_it_empty(tmp_path: Path) -> None:
    (tmp_path / "run").mkdir()
    for resume in (False, True):
        with pytest.raises(KeyboardInterrupt), opened(tmp_path / "run", resume=resume):
            for name in ("tokenizer.json", "text.json", "config.json"):
                (tmp_path / "run" / name).write_text("half")
            raise KeyboardInterrupt
        assert list((tmp_path / "run").iterdir()) == []


def test_a_failure_after_the_recipe_keeps_everything(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="later"), opened(tmp_path / "run", resume=False):
        (tmp_path / "run" / "recipe.yaml").write_text("a run")
        raise ValueError("later")
    assert {path.name for path in (tmp_path / "run").iterdir()} == {"recipe.yaml", ".lock"}


def test_what_exists_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("mine")
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "README.md").write_text("mine")
    for name, resume in (("file", False), ("file", True), ("folder", False)):
        with pytest.raises(UserError, match=f"{name} exists; allowed: a new folder: give another --out"):
            opened(tmp_path / name, resume=resume).__enter__()
    with pytest.raises(UserError, match=r"folder is no run but holds README.md; give another --out"):
        opened(tmp_path / "folder", resume=True).__enter__()
    assert (tmp_path / "file").read_text() == (tmp_path / "folder" / "README.md").read_text() == "mine"
    assert len(list((tmp_path / "folder").iterdir())) == 1


def test_a_run_killed_before_its_recipe_can_be_resumed_and_its_left_overs_go(tmp_path: Path) -> None:
    for name in ("tokenizer.json", "config.json", ".lock", ".recipe.yaml.4711"):
        (tmp_path / name).write_text("half")
    (tmp_path / ".gitignore").write_text("mine")
    with pytest.raises(UserError, match=r"is no run but holds \.gitignore"):
        opened(tmp_path, resume=True).__enter__()
    (tmp_path / ".gitignore").unlink()
    with opened(tmp_path, resume=True) as there:
        assert there is False and not (tmp_path / ".recipe.yaml.4711").exists()


def test_a_run_killed_before_anything_was_kept_begins_anew(tmp_path: Path) -> None:
    for name in (".lock", ".tokenizer.json.4711"):
        (tmp_path / name).write_text("")
    with opened(tmp_path, resume=False) as there:
        assert there is False and [path.name for path in tmp_path.iterdir()] == [".lock"]
    (tmp_path / "tokenizer.json").write_text("mine")
    with pytest.raises(UserError, match="exists; allowed: a new folder"):
        opened(tmp_path, resume=False).__enter__()


def test_a_folder_in_use_is_refused_and_unharmed(tmp_path: Path) -> None:
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "recipe.yaml").write_text("theirs")
    with held(tmp_path / "run"):
        for resume, message in ((True, "is being trained by another process"), (False, "exists")):
            with pytest.raises(UserError, match=message):
                opened(tmp_path / "run", resume=resume).__enter__()
    assert (tmp_path / "run" / "recipe.yaml").read_text() == "theirs"


def test_a_folder_taken_at_the_same_moment_is_not_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Both saw that there was no folder; the other was faster."""
    with ExitStack() as other:

        def other_comes_first(folder: Path, resume: bool) -> None:
            other.enter_context(held(folder))
            (folder / "tokenizer.json").write_text("theirs")

        monkeypatch.setattr(folders, "_check_free", other_comes_first)
        with pytest.raises(UserError, match="is being trained by another process"):
            opened(tmp_path / "run", resume=False).__enter__()
        assert (tmp_path / "run" / "tokenizer.json").read_text() == "theirs"


def test_a_disk_that_refuses_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"^/proc/no.*: .*; nothing was half-written: mend that or give"):
        opened(Path("/proc/no/run"), resume=False).__enter__()
    for begun, remedy in ((False, " or give another --out"), (True, ", then foresay train --resume .*True")):
        folder = tmp_path / str(begun)
        message = f"No space left on device; .* free some space{remedy}$"
        with pytest.raises(UserError, match=message) as told, opened(folder, resume=False):
            if begun:
                (folder / "recipe.yaml").write_text("a run")
            raise OSError(errno.ENOSPC, "No space left on device", str(folder / "model.safetensors"))
        assert "\n" not in str(told.value) and str(told.value).startswith(f"{folder / 'model.safetensors'}: ")
        assert folder.exists() is begun


def test_a_closed_pipe_is_no_full_disk(tmp_path: Path) -> None:
    with pytest.raises(BrokenPipeError), opened(tmp_path / "run", resume=False):
        raise BrokenPipeError


def make(folder: Path, finished: bool = True) -> Path:
    folder.mkdir(parents=True)
    (folder / "tokenizer.json").write_text("{}")
    (folder / "text.json").write_text("{}")
    folders.write_config(folder, "language-model", 31, "abc", "../texts")
    if finished:
        folders.write_model(folder, {"w": torch.arange(3.0)}, "language-model", 31, "abc")
    return folder


def test_a_finished_run_comes_back(tmp_path: Path) -> None:
    folder = make(tmp_path / "run")
    config = folders.read_config(folder)
    assert (config["model_type"], config["task"], config["vocabulary"], config["data"]) == (
        "foresay",
        "language-model",
        31,
        "abc",
    )
    tensors = folders.read_model(folder, config)
    assert tensors is not None and torch.equal(tensors["w"], torch.arange(3.0))
    assert folders.is_finished(folder)


def test_a_path_is_meant_from_where_the_run_began(tmp_path: Path) -> None:
    folder = make(tmp_path / "runs" / "a")  # begun in runs/texts, it says
    config = folders.read_config(folder)
    assert folders.located(folder, config, "my.txt") == "my.txt"  # not there: from here, as before
    texts = tmp_path / "runs" / "texts"
    texts.mkdir()
    (texts / "my.txt").touch()
    assert folders.located(folder, config, "my.txt") == str(texts / "my.txt")
    assert folders.located(folder, config, "*.txt") == str(texts / "*.txt")
    for path in ("*.md", "builtin:python-reference", "ptb", "~/my.txt"):
        assert folders.located(folder, config, path) == path
    assert folders.located(folder, config, str(tmp_path / "other.txt")) == str(tmp_path / "other.txt")
    assert folders.located(folder, {}, "my.txt") == "my.txt"  # of a run that does not say


def test_the_way_to_the_present_folder(tmp_path: Path) -> None:
    assert folders.base_here(Path("runs/a")) == "../.."
    assert folders.base_here(tmp_path / "a") == ".."
    (tmp_path / "link").symlink_to(tmp_path / "far" / "away")
    assert folders.base_here(Path("link/a")) == "../../.."


def test_an_unfinished_run_has_no_model(tmp_path: Path) -> None:
    folder = make(tmp_path / "run", finished=False)
    assert folders.read_model(folder, folders.read_config(folder)) is None and not folders.is_finished(folder)
    (folder / "model.safetensors").write_bytes(b"killed before the config")
    assert folders.read_model(folder, folders.read_config(folder)) is None


@pytest.mark.parametrize("name", ["tokenizer.json", "text.json", "model.safetensors"])
def test_each_hashed_file_is_checked(name: str, tmp_path: Path) -> None:
    folder = make(tmp_path / "run")
    path = folder / name
    data = bytearray(path.read_bytes())
    data[-1] ^= 4
    path.write_bytes(data)
    for message in (f"{name} is damaged or not of this run: its SHA-256", f"{name} is missing; copy it back"):
        with pytest.raises(UserError, match=message):
            folders.read_model(folder, folders.read_config(folder))
        assert not folders.is_finished(folder)
        path.unlink(missing_ok=True)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "config.json is damaged"),
        (b'{"model_type": "fores', "config.json is damaged"),
        (b"\xff\xfe", "config.json is damaged"),
        (b"[]", "config.json is not of Foresay"),
        (b'{"model_type": "gpt2"}', "config.json is not of Foresay"),
        (b'{"model_type": "foresay"}', "config.json is damaged: it has no hashes"),
        (None, "config.json is missing"),
    ],
)
def test_a_config_that_is_none(content: bytes | None, message: str, tmp_path: Path) -> None:
    folder = make(tmp_path / "run")
    if content is None:
        (folder / "config.json").unlink()
    else:
        (folder / "config.json").write_bytes(content)
    with pytest.raises(UserError, match=message):
        folders.read_config(folder)


def test_no_folder_at_all(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"none is no run: no such folder; train one first"):
        folders.read_config(tmp_path / "none")


def test_a_file_is_no_run(tmp_path: Path) -> None:
    (tmp_path / "m.txt").write_text("x")
    with pytest.raises(UserError, match=r"m.txt is a file, no run; give a folder"):
        folders.read_config(tmp_path / "m.txt")


def test_a_model_that_is_no_safetensors_under_its_own_hash(tmp_path: Path) -> None:
    folder = make(tmp_path / "run")
    (folder / "model.safetensors").write_bytes(b"PK\x03\x04 a zip")
    config = json.loads((folder / "config.json").read_text())
    config["sha256"]["model.safetensors"] = folders.file_hash(folder / "model.safetensors")
    with pytest.raises(UserError, match=r"model.safetensors cannot be read"):
        folders.read_model(folder, config)
