"""A run killed four times and resumed equals the one left alone, byte for byte (SPEC E7)."""

from __future__ import annotations

import json
import random
import subprocess
import sys
from pathlib import Path

import pytest
import torch
import yaml
from safetensors.torch import load_file

from foresay import start
from foresay.errors import UserError
from foresay.train.progress import Watch

STREAMS = {"kind": "streams", "rows": 4, "chunk": 16}
BUCKETS = {"kind": "buckets", "tokens": 256, "longest": 64}


def settings(tiny: dict, batches: dict, workers: int) -> dict:
    data = tiny["data"] | ({"unit": "line", "holdout": "seed"} if batches["kind"] == "buckets" else {})
    return tiny | {"data": data, "train": tiny["train"] | {"batches": batches | {"workers": workers}}}


def drive(recipe: dict, out: Path, *kills: str, device: str = "cpu") -> None:
    path = out.with_suffix(".yaml")
    path.write_text(yaml.safe_dump(recipe), "utf-8")
    driver = Path(__file__).parent / "killing.py"
    done = subprocess.run([sys.executable, driver, device, path, out, *kills], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("batches", [STREAMS, BUCKETS], ids=["streams", "buckets"])
@pytest.mark.parametrize("workers", [0, 2])
def test_killed_four_times_equals_left_alone(tiny: dict, batches: dict, workers: int, tmp_path: Path) -> None:
    draw = random.Random(f"{batches['kind']}{workers}")
    first, second, third = sorted(draw.sample(range(3, 24), 3))
    whole = settings(tiny, batches, workers)
    drive(whole, tmp_path / "alone")
    drive(whole, tmp_path / "killed", str(first), "save:2", str(second), str(third))
    alone, killed = (tmp_path / name / "model.safetensors" for name in ("alone", "killed"))
    assert alone.read_bytes() == killed.read_bytes()
    lines = (tmp_path / "killed" / "metrics.jsonl").read_text("utf-8").splitlines()
    steps = [json.loads(line)["step"] for line in lines]
    assert steps == sorted(steps) and steps.count(24) == 2  # trained and evaluated, nothing twice


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")
def test_killed_four_times_equals_left_alone_on_a_gpu(tiny: dict, tmp_path: Path) -> None:
    encoder = tiny["encoder"] | {"size": 512}
    train = tiny["train"] | {"precision": "bfloat16", "steps": 60, "batches": STREAMS | {"rows": 32, "workers": 2}}
    whole = tiny | {"encoder": encoder, "train": train, "deterministic": True}
    drive(whole, tmp_path / "alone", device="cuda")
    drive(whole, tmp_path / "killed", "13", "save:2", "29", "51", device="cuda")
    alone, killed = (tmp_path / name / "model.safetensors" for name in ("alone", "killed"))
    assert alone.read_bytes() == killed.read_bytes()


def test_carried_state_is_in_the_checkpoint(tiny: dict, tmp_path: Path) -> None:
    start.train(tiny, out=tmp_path / "run", device="cpu", watch=Watch())
    carried = load_file(tmp_path / "run" / "checkpoints" / "00000020" / "carried.safetensors")
    assert set(carried) == {"position", "0.h", "0.c", "1.h", "1.c"}
    assert carried["0.c"].shape == (4, 12) and carried["0.c"].abs().sum() > 0


def test_resuming_under_other_settings_is_refused(tiny: dict, tmp_path: Path) -> None:
    start.train(tiny, out=tmp_path / "run", device="cpu", watch=Watch())
    with pytest.raises(UserError, match=r"encoder.size=16, but the run in .* has 12"):
        start.train(tiny, ["encoder.size=16"], out=tmp_path / "run", resume=True, device="cpu", watch=Watch())


def test_resuming_a_finished_run_changes_nothing(tiny: dict, tmp_path: Path) -> None:
    start.train(tiny, out=tmp_path / "run", device="cpu", watch=Watch())
    before = (tmp_path / "run" / "model.safetensors").read_bytes()
    start.train(out=tmp_path / "run", resume=True, device="cpu", watch=Watch())
    assert (tmp_path / "run" / "model.safetensors").read_bytes() == before


def test_a_changed_text_is_refused(tiny: dict, tmp_path: Path) -> None:
    text = tmp_path / "text.txt"
    text.write_text(Path(tiny["data"]["train"]).read_text("utf-8"), "utf-8")
    recipe = tiny | {"data": {"train": str(text)}}
    start.train(recipe, out=tmp_path / "run", device="cpu", watch=Watch())
    text.write_text("λόγος " * 2000, "utf-8")
    with pytest.raises(UserError, match="has changed since"):
        start.train(out=tmp_path / "run", resume=True, device="cpu", watch=Watch())
