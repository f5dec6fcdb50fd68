"""Two processes train as one does, whether each has all weights or a share of them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import torch
import yaml
from safetensors.torch import load_file

from foresay import start
from foresay.train import spread
from foresay.train.progress import Watch
from tests.forks import Forks
from tests.train.together import together

PICTURE = ("tests.train.together", "in_one", 9, "die", "")
STREAMS = {"kind": "streams", "rows": 5, "chunk": 16, "half": 0.5, "forget": 0.1}
BUCKETS = {"kind": "buckets", "tokens": 64, "longest": 32}  # some batches have a single row
PACKED = {"kind": "packed", "rows": 5, "length": 24}
SGD = {"kind": "sgd", "lr": 0.5, "momentum": 0.9}  # Adam makes noise of what has no gradient, as a key's bias
SHARED = {"compute": {"parallel": "fsdp"}}
LSTM = {"kind": "recurrent", "cell": "lstm", "size": 12, "layers": 2}
TRANSFORMER = {"kind": "transformer", "size": 16, "layers": 2, "heads": 2}


def test_two_processes_add_gradients(forks: Forks) -> None:
    assert together(forks, 2, "train", hook=("tests.train.together", "check", "add")) == ([0, 0], "")


def test_gradients_are_bundled_by_type_and_size(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spread, "TOGETHER", 40)
    wide, half = torch.float32, torch.bfloat16
    given: list[Any] = [torch.zeros(n, dtype=d) for n, d in ((6, wide), (2, half), (6, wide), (1, wide), (3, half))]
    found = [[one.numel() for one in some] for some in spread._bundles(given)]
    assert found == [[6, 6], [1], [2, 3]]


@pytest.mark.parametrize(
    ("encoder", "batches", "more"),
    [
        pytest.param(LSTM, STREAMS, {}, id="streams"),
        pytest.param(LSTM, BUCKETS, {"compute": {"accumulate": 3}}, id="buckets, accumulated"),
        pytest.param(
            TRANSFORMER, PACKED, {"compute": {"parallel": "fsdp"}, "optimizer": SGD}, id="shares of a Transformer"
        ),
        pytest.param(LSTM, STREAMS, SHARED, id="shares of an LSTM"),
    ],
)
def test_two_processes_train_as_one(
    encoder: dict, batches: dict, more: dict, tiny: dict, tmp_path: Path, forks: Forks
) -> None:
    data = tiny["data"] | ({"unit": "line", "holdout": "seed"} if batches["kind"] == "buckets" else {})
    optimizer = {"kind": "adamw", "lr": 0.01, "weight_decay": 0.1, "average": "ema"}
    train = tiny["train"] | {"batches": batches, "steps": 12, "optimizer": optimizer, "clip": "parts"} | more
    agree(tiny | {"data": data, "encoder": encoder, "train": train}, tmp_path, forks)


def test_a_classifier_with_weights_of_labels_trains_as_in_one(tmp_path: Path, forks: Forks) -> None:
    rows = [f"{label}\t{' '.join([word] * n)}" for n in range(1, 9) for label, word in (("a", "up"), ("b", "down"))]
    (tmp_path / "texts.tsv").write_text("label\ttext\n" + "\n".join(rows[:13] * 4) + "\n", "utf-8")
    recipe = {
        "task": "classifier",
        "weights": {"a": 5.0},
        "calibrate": False,
        "data": {"kind": "labels", "train": str(tmp_path / "texts.tsv")},
        "tokens": "words",
        "embedding": {"kind": "lookup", "size": 8},
        "encoder": {"kind": "recurrent", "cell": "gru", "size": 8, "bidirectional": True},
        "train": {"steps": 10, "batches": {"kind": "labels", "tokens": 24}, "evaluate": {"every": 5}},
    }
    agree(recipe, tmp_path, forks)


def agree(recipe: dict, tmp_path: Path, forks: Forks) -> None:
    """The losses, what was measured and the weights of one process and of two."""
    start.train(recipe, out=tmp_path / "one", device="cpu", watch=Watch())
    path = tmp_path / "recipe.yaml"
    path.write_text(yaml.safe_dump(recipe), "utf-8")
    codes, error = together(forks, 2, "train", path, "--out", tmp_path / "two", "--device", "cpu", hook=PICTURE)
    assert codes == [0, 0], error
    one, two = (metrics(tmp_path / name) for name in ("one", "two"))
    assert [line["step"] for line in one] == [line["step"] for line in two]
    for ours, theirs in zip(two, one, strict=True):
        for name in ("loss", "norm", "tokens", "lr", "valid_loss", "skipped"):
            if name in theirs:
                assert ours[name] == pytest.approx(theirs[name], rel=1e-4), (name, theirs["step"])
    weights = [load_file(tmp_path / name / "model.safetensors") for name in ("one", "two")]
    assert weights[0].keys() == weights[1].keys()
    for name, tensor in weights[0].items():
        torch.testing.assert_close(weights[1][name], tensor, rtol=1e-3, atol=1e-4)


def metrics(folder: Path) -> list[dict]:
    return [json.loads(line) for line in (folder / "metrics.jsonl").read_text("utf-8").splitlines()]
