"""A run killed four times and resumed equals the one left alone, byte for byte (SPEC E7)."""

from __future__ import annotations

import json
import random
import signal
from pathlib import Path

import pytest
import torch
import yaml
from safetensors.torch import load_file

from foresay import start
from foresay.errors import UserError
from foresay.kernels.recurrent import engine
from foresay.train.progress import Watch
from tests.forks import Forks
from tests.train.stopping import train_to

STREAMS = {"kind": "streams", "rows": 4, "chunk": 16}
BUCKETS = {"kind": "buckets", "tokens": 256, "longest": 64}


def settings(tiny: dict, batches: dict, workers: int) -> dict:
    data = tiny["data"] | ({"unit": "line", "holdout": "seed"} if batches["kind"] == "buckets" else {})
    return tiny | {"data": data, "train": tiny["train"] | {"batches": batches | {"workers": workers}}}


def drive(forks: Forks, recipe: dict, out: Path, *kills: str, device: str = "cpu") -> None:
    """Trains in processes that die as told, until one is done."""
    path = out.with_suffix(".yaml")
    path.write_text(yaml.safe_dump(recipe), "utf-8")
    for kill in (*kills, ""):
        words = ("foresay", "train", path, "--out", out, "--resume", "--device", device)
        code, _, error = forks.run(*words, hook=("tests.train.killing", "die", kill))
        assert code == (-signal.SIGKILL if kill else 0), error


@pytest.mark.parametrize(
    "batches", [pytest.param(STREAMS, id="streams"), pytest.param(BUCKETS, id="buckets", marks=pytest.mark.slow)]
)
def test_killed_four_times_equals_left_alone(tiny: dict, batches: dict, tmp_path: Path, forks: Forks) -> None:
    drive(forks, settings(tiny, batches, workers=0), tmp_path / "alone")
    alone = (tmp_path / "alone" / "model.safetensors").read_bytes()
    for workers in (0, 2):
        draw = random.Random(f"{batches['kind']}{workers}")
        first, second, third = map(str, sorted(draw.sample(range(3, 24), 3)))
        killed = tmp_path / f"killed-{workers}"
        drive(forks, settings(tiny, batches, workers), killed, first, "save:2", second, third)
        assert (killed / "model.safetensors").read_bytes() == alone
        steps = [json.loads(line)["step"] for line in (killed / "metrics.jsonl").read_text("utf-8").splitlines()]
        assert steps == sorted(steps) and steps.count(24) == 2  # trained and evaluated, nothing twice


def test_a_fused_cell_that_draws_goes_on_with_the_same_numbers(tiny: dict, tmp_path: Path, forks: Forks) -> None:
    """Its kernels are worked out anew in every process, which must not draw."""
    encoder = {
        "kind": "recurrent",
        "cell": {"kind": "zoneout", "cell": "gru"},
        "size": 192,
        "layers": 2,
        "dropout": 0.3,
    }
    streams = {"kind": "streams", "rows": 16, "chunk": 32}
    assert engine.WORTH <= 16 * 32 * 3 * 192
    whole = settings(tiny | {"encoder": encoder}, streams, workers=0)
    drive(forks, whole, tmp_path / "alone")
    drive(forks, whole, tmp_path / "killed", "15")
    alone, killed = (tmp_path / name / "model.safetensors" for name in ("alone", "killed"))
    assert alone.read_bytes() == killed.read_bytes()


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")
@pytest.mark.parametrize("kind", ["plain", "regularised", "without a graph"])
def test_killed_four_times_equals_left_alone_on_a_gpu(kind: str, tiny: dict, tmp_path: Path, forks: Forks) -> None:
    encoder = tiny["encoder"] | {"size": 512}
    train = tiny["train"] | {"precision": "bfloat16", "steps": 60, "batches": STREAMS | {"rows": 32, "workers": 2}}
    whole = tiny | {"encoder": encoder, "train": train, "deterministic": True}
    if kind == "regularised":
        whole["encoder"] = encoder | {"cell": {"kind": "dropped-weights"}, "between": {"locked": True}, "dropout": 0.2}
        whole["regularise"] = {"dropout": 0.3, "locked": True, "activation": 2.0, "slowness": 1.0}
        train["batches"] |= {"half": 0.1, "jitter": 2}
        train["optimizer"] = {"kind": "sgd", "lr": 1.0, "average": {"kind": "swa", "begin": 0.2, "every": 3}}
    if kind == "without a graph":
        train["graph"] = False
    drive(forks, whole, tmp_path / "alone", device="cuda")
    drive(forks, whole, tmp_path / "killed", "13", "save:2", "29", "51", device="cuda")
    alone, killed = (tmp_path / name / "model.safetensors" for name in ("alone", "killed"))
    assert alone.read_bytes() == killed.read_bytes()


def test_carried_state_is_in_the_checkpoint(tiny: dict, tmp_path: Path) -> None:
    start.train(tiny, out=tmp_path / "run", device="cpu", watch=Watch())
    carried = load_file(tmp_path / "run" / "checkpoints" / "00000020" / "carried.safetensors")
    assert set(carried) == {"position", "0.h", "0.c", "1.h", "1.c"}
    assert carried["0.c"].shape == (4, 12) and carried["0.c"].abs().sum() > 0


def test_resuming_under_other_settings_is_refused(tiny: dict, tmp_path: Path) -> None:
    train_to(6, tiny, tmp_path / "run")
    with pytest.raises(UserError, match=r"encoder.size=16, but the run in .* has 12"):
        start.train(tiny, ["encoder.size=16"], out=tmp_path / "run", resume=True, device="cpu", watch=Watch())


def test_resuming_a_finished_run_changes_nothing(tiny: dict, tmp_path: Path) -> None:
    start.train(tiny, out=tmp_path / "run", device="cpu", watch=Watch())
    files = [path for path in (tmp_path / "run").rglob("*") if path.is_file()]
    before = {path: (path.read_bytes(), path.stat().st_ino) for path in files}
    start.train(out=tmp_path / "run", resume=True, device="cpu", watch=Watch())
    assert {path: (path.read_bytes(), path.stat().st_ino) for path in files} == before


@pytest.mark.parametrize("text", ["λόγος " * 2000, None], ids=["other", "reversed"])
def test_a_changed_text_is_refused(text: str | None, tiny: dict, tmp_path: Path) -> None:
    path = tmp_path / "text.txt"
    old = Path(tiny["data"]["train"]).read_text("utf-8")
    path.write_text(old, "utf-8")
    train_to(6, tiny | {"data": {"train": str(path)}}, tmp_path / "run")
    path.write_text(text or old[::-1], "utf-8")  # reversed: the same characters, so the same vocabulary
    with pytest.raises(UserError, match="has changed since"):
        start.train(out=tmp_path / "run", resume=True, device="cpu", watch=Watch())
