"""TensorBoard: its own reader finds every number of metrics.jsonl, after a resume too; no library, one line."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

from foresay import start
from foresay.errors import UserError
from foresay.train.board import Board, numbers
from foresay.train.progress import Watch
from tests.train.stopping import train_to

Curves = dict[str, list[tuple[int, float]]]


def events(folder: Path) -> Curves:
    """What TensorBoard shows: tag -> (step, value)."""
    reader = EventAccumulator(str(folder / "tensorboard"), size_guidance={"scalars": 0})
    reader.Reload()
    return {tag: [(e.step, e.value) for e in reader.Scalars(tag)] for tag in reader.Tags()["scalars"]}


def expected(folder: Path) -> Curves:
    """The same from metrics.jsonl, by hand."""
    curves: Curves = {}
    for line in (folder / "metrics.jsonl").read_text().splitlines():
        found = json.loads(line)
        step = found.pop("step")
        low, high = found.pop("valid_perplexity_interval", (None, None))
        found |= {"valid_perplexity_interval/0": low, "valid_perplexity_interval/1": high}
        kind = "valid" if "valid_loss" in found else "train"
        for name, value in found.items():
            if value is not None:
                tag = name.replace("valid_", "valid/", 1) if name.startswith("valid_") else f"train/{name}"
                curves.setdefault(tag, []).append((step, pytest.approx(value, rel=1e-6)))
        assert kind == "train" or found["valid_loss"] > 0
    return curves


@pytest.fixture
def board(tiny: dict, monkeypatch: pytest.MonkeyPatch) -> dict:
    monkeypatch.setattr(start, "write_curve", lambda _: None)
    return tiny | {"train": tiny["train"] | {"save": {"every": 5, "tensorboard": True}}}


def test_every_number_is_there(board: dict, tmp_path: Path) -> None:
    start.train(board, ["train.steps=9"], out=tmp_path / "run", device="cpu", watch=Watch())
    found = events(tmp_path / "run")
    assert found == expected(tmp_path / "run")
    assert {"train/loss", "train/lr", "train/norm", "train/tokens", "train/seconds", "valid/loss"} <= found.keys()
    assert [step for step, _ in found["train/loss"]] == list(range(1, 10))


def test_what_a_resumed_run_does_again_is_purged(board: dict, tmp_path: Path) -> None:
    for step in (3, 13):  # before the first checkpoint, and after the second
        train_to(step, board, tmp_path / f"run-{step}")
        start.train(resume=tmp_path / f"run-{step}", device="cpu", watch=Watch())
        found = events(tmp_path / f"run-{step}")
        assert found == expected(tmp_path / f"run-{step}")
        assert [step for step, _ in found["train/loss"]] == list(range(1, 25))


def test_a_model_that_counts_has_one_point(tiny: dict, tmp_path: Path) -> None:
    recipe = {"task": "ngram", "data": tiny["data"], "tokens": "characters", "train": {"tensorboard": True}}
    start.train(recipe, out=tmp_path / "run", device="cpu", watch=Watch())
    assert events(tmp_path / "run") == expected(tmp_path / "run")


def test_without_it_there_is_no_folder(tiny: dict, trained: Path) -> None:
    assert not (trained / "tensorboard").exists()


def test_a_missing_library_is_said_before_anything_is_written(
    board: dict, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    train_to(6, board, tmp_path / "begun")
    monkeypatch.setitem(sys.modules, "tensorboard", None)
    message = (
        r"^train.tensorboard=true needs the library tensorboard .*; install it: pip install 'foresay\[tensorboard\]'$"
    )
    with pytest.raises(UserError, match=message):
        start.train(board, out=tmp_path / "run", device="cpu", watch=Watch())
    assert not (tmp_path / "run").exists()
    with pytest.raises(UserError, match=message):
        start.train(resume=tmp_path / "begun", device="cpu", watch=Watch())


def test_what_is_no_number_is_left_out() -> None:
    line = {"step": 3, "loss": None, "lr": 0.5, "valid_loss": 2, "valid_kind": "x", "valid_pair": [1.0, None]}
    assert list(numbers(line)) == [("train/lr", 0.5), ("valid/loss", 2.0), ("valid/pair/0", 1.0)]


def test_nothing_is_opened_for_nothing(tmp_path: Path) -> None:
    board = Board(tmp_path / "tensorboard")
    board.purge(7)
    board.close()
    assert not (tmp_path / "tensorboard").exists() and board.first is None
