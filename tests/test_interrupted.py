"""Stopped from outside: by signals, by a full or read-only disk, by a second process: nothing is lost."""

from __future__ import annotations

import errno
import json
import os
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from foresay import start
from foresay.train.checkpoint import load_checkpoint, numbered
from foresay.train.loop import Trainer
from tests.commands import Commands
from tests.forks import Forks, Process

WAIT = ("tests.train.killing", "wait")
HOLD = ("tests.train.killing", "hold")


@pytest.fixture(autouse=True)
def _no_curve(monkeypatch: pytest.MonkeyPatch) -> None:
    """A picture takes half the time of so small a run."""
    monkeypatch.setattr(start, "write_curve", lambda _: None)


@pytest.fixture
def recipe(tiny: dict, tmp_path: Path) -> Path:
    path = tmp_path / "tiny.yaml"
    path.write_text(yaml.safe_dump(tiny), "utf-8")
    return path


def words(recipe: Path, out: str | Path, *more: str) -> list[object]:
    return ["train", recipe, "--out", out, "--device", "cpu", *more]


def model(folder: str | Path) -> bytes:
    return Path(folder, "model.safetensors").read_bytes()


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_saves_and_the_resumed_run_is_the_same(
    number: int, code: int, forks: Forks, recipe: Path, trained: Path
) -> None:
    process = forks.start(["foresay", *words(recipe, "run")], hook=(*WAIT, 7, int(number)))
    process.wait_for("waiting after step 7")
    process.signal(number)
    ended, out, error = process.finish()
    name = signal.Signals(number).name
    assert (ended, out) == (code, "")
    assert error == f"stopped by {name} at step 7; saved: foresay train --resume run goes on\n"
    assert [path.name for path in numbered(Path("run/checkpoints"))] == ["00000005", "00000007"]
    ended, _, error = forks.run("foresay", "train", "--resume", "run", "--device", "cpu")
    assert ended == 0 and "resumed at step 7" in error
    assert model("run") == model(trained)


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_before_the_first_step_leaves_nothing(number: int, code: int, forks: Forks, recipe: Path) -> None:
    process = forks.start(["foresay", *words(recipe, "run")], hook=("tests.train.killing", "hold_while_preparing"))
    process.wait_for("preparing")
    process.signal(number)
    ended, _, error = process.finish()
    assert ended == code and "Traceback" not in error and not Path("run").exists()


def test_a_closed_standard_error_does_not_stop_training(forks: Forks, recipe: Path, trained: Path) -> None:
    process: Process = forks.start(["foresay", *words(recipe, "run")], hook=(*HOLD, 2, "go"))
    process.wait_for("waiting after step 2")
    process.stderr.close()
    Path("go").touch()
    process.stdin.close()
    assert process.stdout.read() == b"" and process.wait() == 0
    assert model("run") == model(trained)


def test_two_trains_into_one_folder(forks: Forks, call: Commands, recipe: Path, trained: Path) -> None:
    first = forks.start(["foresay", *words(recipe, "run")], hook=(*HOLD, 3, "go"))
    first.wait_for("waiting after step 3")
    assert call.refused(*words(recipe, "run")).startswith("run exists; allowed: a new folder")
    for source in ([recipe], []):
        line = call.refused("train", *source, "--resume", "--out", "run")
        assert line == "run is being trained by another process; wait for it, or give another --out"
    Path("go").touch()
    assert first.finish()[0] == 0
    assert model("run") == model(trained)


def full_after(count: int, patch: pytest.MonkeyPatch) -> list[int]:
    """Every file that is flushed to the disk after the first `count` finds it full."""
    whole, seen = os.fsync, [0]

    def fsync(handle: int) -> None:
        seen[0] += 1
        if seen[0] > count:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        whole(handle)

    patch.setattr(os, "fsync", fsync)
    return seen


def test_a_disk_that_is_full_at_any_moment(call: Commands, recipe: Path, trained: Path) -> None:
    assert call(*words(recipe, "first")).code == 0  # the text is prepared from here on
    with pytest.MonkeyPatch.context() as patch:
        seen = full_after(10**6, patch)
        assert call(*words(recipe, "counted")).code == 0
    for count in [0, 1, 3, 5, 7, 12, seen[0] // 2, seen[0] - 3, seen[0] - 1]:
        out = f"full-{count}"
        with pytest.MonkeyPatch.context() as patch:
            full_after(count, patch)
            called = call(*words(recipe, out))
        last = called.error.splitlines()[-1]
        assert called.code == 2 and "No space left on device; nothing was half-written: free some space" in last
        assert "Traceback" not in called.error
        if not Path(out).exists():
            assert last.endswith("or give another --out") and called.error.count("\n") == 1
            continue
        assert last.endswith(f"free some space, then foresay train --resume {out}")
        for checkpoint in numbered(Path(out, "checkpoints")):
            load_checkpoint(checkpoint)
        assert call(*words(recipe, out, "--resume")).code == 0
        assert model(out) == model(trained)
    assert not Path("full-3").exists() and Path("full-12").exists()


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of 600 kB."""
    yield from mounted(tmp_path / "disk", "size=600k")


def mounted(place: Path, options: str) -> Iterator[Path]:
    place.mkdir()
    done = subprocess.run(["mount", "-t", "tmpfs", "-o", options, "tmpfs", place], capture_output=True, text=True)
    if done.returncode:
        pytest.skip(f"may not mount a disk here: {done.stderr.strip()}")
    try:
        yield place
    finally:
        subprocess.run(["umount", place], check=True)


def fill(disk: Path, leave: int = 0) -> None:
    """Takes all the space but `leave` bytes."""
    (disk / "filler").unlink(missing_ok=True)
    free = os.statvfs(disk)
    (disk / "filler").write_bytes(bytes(free.f_bavail * free.f_frsize - leave))


def test_a_real_disk_that_is_full_from_the_beginning(call: Commands, recipe: Path, small_disk: Path) -> None:
    assert call(*words(recipe, "first")).code == 0  # the text is prepared from here on
    for leave in (0, 4096):
        fill(small_disk, leave)
        line = call.refused(*words(recipe, small_disk / "run"))
        assert "No space left on device" in line and not (small_disk / "run").exists()


def test_a_real_disk_that_fills_on_the_way(
    call: Commands, recipe: Path, small_disk: Path, trained: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out, whole = small_disk / "run", Trainer.train_step

    def train_step(self, batches):
        if self.counters.step == 12 and not (small_disk / "filler").exists():
            fill(small_disk)
        return whole(self, batches)

    monkeypatch.setattr(Trainer, "train_step", train_step)
    called = call(*words(recipe, out))
    last = called.error.splitlines()[-1]
    assert called.code == 2 and "No space left on device" in last and last.endswith(f"--resume {out}")
    assert [load_checkpoint(path)[1]["counters"]["step"] for path in numbered(out / "checkpoints")] == [5, 10]
    assert not [path for path in out.rglob(".*") if path.name != ".lock"]
    (small_disk / "filler").unlink()
    monkeypatch.setattr(Trainer, "train_step", whole)
    assert call(*words(recipe, out, "--resume")).code == 0
    assert model(out) == model(trained)
    steps = [json.loads(line)["step"] for line in (out / "metrics.jsonl").read_text().splitlines()]
    assert steps == sorted(steps) and steps.count(24) == 2


def test_a_read_only_disk(call: Commands, recipe: Path, tmp_path: Path) -> None:
    for disk in mounted(tmp_path / "disk", "ro"):
        line = call.refused(*words(recipe, disk / "run"))
        assert line.startswith(f"{disk / 'run'}: Read-only file system; ") and "give another --out" in line


@pytest.mark.parametrize("out", ["/proc/run", "/proc/self/run", "file/run"])
def test_a_place_where_no_folder_can_be(out: str, call: Commands, recipe: Path) -> None:
    Path("file").touch()
    line = call.refused(*words(recipe, out))
    assert out.split("/")[1] in line and line.endswith("; nothing was half-written: mend that or give another --out")
