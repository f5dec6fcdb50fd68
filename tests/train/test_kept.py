"""Several processes killed, stopped and resumed: with as many the same bytes, with another number the same training."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch
import yaml
from safetensors.torch import load_file

from foresay.train.checkpoint import load_checkpoint, numbered
from tests.forks import Forks
from tests.train.together import together

HERE = "tests.train.together"
PICTURE = (HERE, "in_one", 9, "die", "")


@pytest.fixture
def recipe(tiny: dict, tmp_path: Path) -> Path:
    path = tmp_path / "recipe.yaml"
    train = tiny["train"] | {"steps": 16}
    path.write_text(yaml.safe_dump(tiny | {"train": train}), "utf-8")  # with dropout
    return path


@pytest.fixture
def undropped(tiny: dict, tmp_path: Path) -> Path:
    path = tmp_path / "undropped.yaml"
    encoder = tiny["encoder"] | {"dropout": 0.0}
    path.write_text(yaml.safe_dump(tiny | {"encoder": encoder, "train": tiny["train"] | {"steps": 16}}), "utf-8")
    return path


def model(folder: Path) -> bytes:
    return (folder / "model.safetensors").read_bytes()


@pytest.mark.parametrize("parallel", ["ddp", "fsdp"])
def test_killed_and_resumed_is_the_same_to_the_byte(parallel: str, recipe: Path, tmp_path: Path, forks: Forks) -> None:
    def run(out: str, hook: tuple = PICTURE) -> tuple[list[int], str]:
        words = ("train", recipe, f"train.compute.parallel={parallel}", "--device", "cpu", "--resume")
        return together(forks, 2, *words, "--out", tmp_path / out, hook=hook)

    assert run("alone")[0] == [0, 0]
    codes, error = run("killed", (HERE, "die_in_one", 1, 8))
    assert codes == [1, -9]
    told = error.splitlines()[-1]
    assert told.startswith("another process of this training has ended; foresay train --resume ")
    assert told.endswith("killed goes on from the last checkpoint")
    assert [path.name for path in numbered(tmp_path / "killed" / "checkpoints")] == ["00000005"]
    codes, error = run("killed", (HERE, "die_in_one", 0, 13))
    assert codes == [-9, 1] and "resumed at step 10" not in error
    codes, error = run("killed")
    assert codes == [0, 0] and "resumed at step 10" in error
    assert model(tmp_path / "killed") == model(tmp_path / "alone")
    steps = [json.loads(line)["step"] for line in (tmp_path / "killed/metrics.jsonl").read_text("utf-8").splitlines()]
    assert steps == sorted(steps) and steps.count(16) == 2


def test_a_signal_to_one_process_saves_once_and_ends_all(recipe: Path, tmp_path: Path, forks: Forks) -> None:
    words = ("train", recipe, "--device", "cpu", "--out", tmp_path / "run")
    codes, error = together(forks, 2, *words, hook=(HERE, "stop_one", 1, 7))
    assert codes == [143, 143]
    told = [line for line in error.splitlines() if "stopped" in line]
    assert told == [f"stopped by SIGTERM at step 7; saved: foresay train --resume {tmp_path / 'run'} goes on"]
    assert numbered(tmp_path / "run/checkpoints")[-1].name == "00000007"


def test_a_step_that_is_no_number_in_one_process_is_skipped_by_all(recipe: Path, tmp_path: Path, forks: Forks) -> None:
    words = ("train", recipe, "--device", "cpu", "--out", tmp_path / "run")
    codes, error = together(forks, 2, *words, hook=(HERE, "spoil_one", 1, 6))
    assert codes == [0, 0] and "step 7: loss" in error and "gradient norm nan: skipped" in error
    last = json.loads((tmp_path / "run/metrics.jsonl").read_text("utf-8").splitlines()[-2])
    assert (last["step"], last["skipped"]) == (16, 1)


@pytest.mark.parametrize(("before", "after", "parallel"), [(1, 3, "ddp"), (2, 1, "fsdp")])
def test_another_number_of_processes_goes_on(
    before: int, after: int, parallel: str, undropped: Path, tmp_path: Path, forks: Forks
) -> None:
    def run(count: int, out: str, step: int = 0) -> tuple[list[int], str]:
        words = ("train", undropped, f"train.compute.parallel={parallel}", "--device", "cpu", "--resume")
        words = (*words, "--out", tmp_path / out)
        if count > 1:
            return together(forks, count, *words, hook=(HERE, "die_in_one", 0, step) if step else PICTURE)
        code, _, error = forks.run("foresay", *words, hook=("tests.train.killing", "die", str(step or "")))
        return [code], error

    assert run(1, "alone")[0] == [0]
    assert run(before, "moved", 12)[0][0] == -9
    tensors, _ = load_checkpoint(numbered(tmp_path / "moved/checkpoints")[-1])
    assert {len(one) for one in tensors["carried"].values()} == {4}  # rows, of all processes
    codes, error = run(after, "moved")
    assert codes == [0] * after and f"{before} processes trained so far, now {after}" in error
    one, other = (load_file(tmp_path / name / "model.safetensors") for name in ("alone", "moved"))
    for name, tensor in one.items():
        torch.testing.assert_close(other[name], tensor, rtol=1e-3, atol=1e-4)
