"""Golden losses: the first five of tiny seeded runs, to 1e-5; a change that is to change nothing must reproduce them.

float32 on one thread of a CPU, dropout on in one of them. After a change that is meant to move them, write them anew
and say why in the commit:

    FORESAY_UPDATE_GOLDEN=1 python -m pytest tests/test_golden.py
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
import torch

from foresay import parts, recipe
from foresay.building import build
from foresay.data.loader import Loader
from foresay.data.prepare import prepare
from foresay.train.loop import Trainer
from foresay.train.progress import Watch

GOLDEN = Path(__file__).parent / "golden"
STREAMS = {"kind": "streams", "rows": 4, "chunk": 16}
RUNS: dict[str, dict[str, Any]] = {
    "lstm-streams": {"encoder": {"kind": "recurrent", "cell": "lstm", "size": 12, "layers": 2, "dropout": 0.2}},
    "gru-streams": {"encoder": {"kind": "recurrent", "cell": "gru", "size": 12}},
    "elman-streams": {"encoder": {"kind": "recurrent", "cell": "elman", "size": 12}},
    "window-streams": {"encoder": {"kind": "window", "span": 3, "size": 12}},
    "dilated-streams": {
        "encoder": {"kind": "dilated", "size": 12, "dilations": [1, 2, 4], "repeat": 2, "dropout": 0.2}
    },
    "transformer-packed": {
        "encoder": {"kind": "transformer", "size": 16, "layers": 2, "heads": 2},
        "batches": {"kind": "packed", "rows": 4, "length": 24},
        "data": {"unit": "line"},
    },
    "lstm-buckets-tied": {
        "encoder": {"kind": "recurrent", "cell": "lstm", "size": 12},
        "batches": {"kind": "buckets", "tokens": 200, "longest": 64},
        "data": {"unit": "line", "holdout": "seed"},
        "output": {"kind": "softmax", "tied": True},
    },
}


@pytest.fixture(autouse=True)
def _one_thread():
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def first_losses(run: dict[str, Any], corpus: Path, folder: Path, steps: int = 5) -> list[float]:
    whole = recipe.complete(
        {
            "task": "language-model",
            "data": {"train": str(corpus), **run.get("data", {})},
            "tokens": "characters",
            "embedding": {"kind": "lookup", "size": 8},
            "encoder": run["encoder"],
            "output": run.get("output", "softmax"),
            "train": {"batches": run.get("batches", STREAMS), "optimizer": {"kind": "adamw", "lr": 0.01}},
            "seed": 3,
        }
    )
    prepared = prepare(whole.data, parts.anew(whole.tokens), whole.seed)
    model = build(whole, len(prepared.tokens), torch.device("cpu"))
    trainer = Trainer(model, whole.train, prepared, whole.seed, folder, Watch())
    with Loader(trainer.order) as loader:
        return [trainer.train_step([next(loader)[1]])[0] for _ in range(steps)]


@pytest.mark.parametrize("name", RUNS)
def test_first_losses(name, corpus: Path, tmp_path: Path):
    losses, path = first_losses(RUNS[name], corpus, tmp_path), GOLDEN / f"{name}.json"
    if os.environ.get("FORESAY_UPDATE_GOLDEN") == "1":
        path.write_text(json.dumps({"losses": losses}, indent=1) + "\n", "utf-8")
        pytest.skip(f"{path.name} was written anew")
    assert losses == pytest.approx(json.loads(path.read_text("utf-8"))["losses"], rel=1e-5)


def test_every_file_is_of_a_run():
    assert {path.stem for path in GOLDEN.glob("*.json")} == set(RUNS)
