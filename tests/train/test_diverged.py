"""A training that diverged is refused and keeps its checkpoints; one that learnt too little, or too much, is not."""

from __future__ import annotations

import json
import math
import random
from pathlib import Path
from typing import Any

import pytest
import torch
import yaml

from foresay import start
from foresay.models.task import Task
from foresay.study.compare import compare
from foresay.train.diverged import Diverged, check_learnt
from tests.commands import Commands
from tests.train.made import Notes, make_trainer

FAR = ("train.optimizer=sgd", "train.clip=null", "train.evaluate.every=8", "train.save.every=8")
DRAW = random.Random(5)  # tags and labels by chance: what is easy is learnt at any rate
TAGGED = (
    "".join(f"{DRAW.choice('abcd')}\t{DRAW.choice('DNV')}\n{DRAW.choice(['', chr(10)])}" for _ in range(900)) + "\n"
)
LABELLED = "text,label\n" + "".join(f"{' '.join(DRAW.choices('abcd', k=5))},{DRAW.choice('xy')}\n" for _ in range(300))
ROWS: dict[str, dict[str, Any]] = {
    "tags.conll": {"task": "tagger", "data": {"kind": "tags", "train": "tags.conll"}},
    "labels.csv": {"task": "classifier", "data": {"kind": "labels", "train": "labels.csv"}},
}


@pytest.fixture
def recipe(tiny: dict, tmp_path: Path) -> Path:
    path = tmp_path / "tiny.yaml"
    path.write_text(yaml.safe_dump(tiny), "utf-8")
    return path


def row_recipe(name: str) -> dict[str, Any]:
    Path("tags.conll").write_text(TAGGED)
    Path("labels.csv").write_text(LABELLED)
    train = {"steps": 40, "batches": ROWS[name]["data"]["kind"], "evaluate": {"every": 20}, "save": {"every": 20}}
    return ROWS[name] | {"tokens": "words", "embedding": {"size": 6}, "encoder": {"size": 8}, "train": train}


def test_a_run_that_diverged_ends_in_one_line_and_keeps_its_checkpoints(call: Commands, recipe: Path) -> None:
    called = call("train", recipe, "train.lr=100", *FAR, "--out", "run", "--device", "cpu")
    last = called.error.splitlines()[-1]
    assert called.code == 2 and called.out == "" and "done" not in called.error
    assert last.startswith("foresay: train.lr=100: training diverged: the loss is ")
    assert ", and guessing gives 3." in last
    assert last.endswith("start a new run with a lower train.lr; run keeps the checkpoints of this one")
    assert sorted(path.name for path in Path("run/checkpoints").iterdir())[:2] == ["00000016", "00000024"]
    assert not any((Path("run") / name).exists() for name in ("model.safetensors", "results.json", "README.md"))
    again = call("train", "--resume", "run", "--device", "cpu")
    assert again.code == 2 and "resumed at step 24" in again.error and "training diverged" in again.error


def test_weights_that_are_no_numbers(call: Commands, recipe: Path) -> None:
    words = ("train.lr=1e38", "train.steps=12", *FAR)  # fewer steps than end a run by themselves
    for more in ((), ("data.share=0",)):
        called = call("train", recipe, *words, *more, "--out", f"run{len(more)}", "--device", "cpu")
        last = called.error.splitlines()[-1]
        assert called.code == 2 and last.startswith("foresay: train.lr=1e+38: training diverged: the "), last
        assert not Path(f"run{len(more)}/model.safetensors").exists()


@pytest.mark.parametrize("name", ROWS)
def test_taggers_and_classifiers_too(name: str) -> None:
    with pytest.raises(
        Diverged, match=r"^train.lr=1e\+30: training diverged: the loss is .* guessing gives (0.69|1.10)"
    ):
        start.train(row_recipe(name), ["train.lr=1e30"], out="run", device="cpu", watch=Notes())
    assert Path("run/checkpoints/00000040").is_dir() and not Path("run/model.safetensors").exists()


@pytest.mark.parametrize("words", [("train.steps=1",), ("train.steps=2",), ("train.steps=2", "data.share=0")])
@pytest.mark.parametrize("name", ["text", *ROWS])
def test_few_steps_are_fine(name: str, words: tuple[str, ...], tiny: dict) -> None:
    start.train(tiny if name == "text" else row_recipe(name), list(words), out="run", device="cpu", watch=Notes())
    assert Path("run/model.safetensors").is_file()


def test_a_model_that_knows_its_text_by_heart_has_not_diverged(tiny: dict) -> None:
    Path("own.txt").write_text("abcdefgh" * 40)
    Path("other.txt").write_text("hgfedcba" * 40)
    words = ["data.train=own.txt", "data.valid=other.txt", "train.steps=150", "train.evaluate.every=150"]
    notes = Notes()
    start.train(tiny, [*words, "train.lr=0.05"], out="run", device="cpu", watch=notes)
    valid = json.loads(Path("run/results.json").read_text())["valid"]
    assert valid["loss"] > 1.5 * math.log(12) and any("no better than guessing" in note for note in notes.notes)


def scaled(model: Task, by: float) -> Task:
    with torch.no_grad():
        for one in model.parameters():
            one.mul_(by)
    return model


def test_what_is_compared_is_how_it_began(tiny: dict, tmp_path: Path) -> None:
    """First weights that are worse than guessing are no divergence; far worse ones than the first are."""
    trainer, first = (make_trainer(tiny, tmp_path / name) for name in ("run", "first"))
    scaled(trainer.model, 400.0)
    valid = {"loss": 80.0}
    check_learnt(trainer, valid, lambda: trainer.model)
    with pytest.raises(Diverged, match=r"the loss is 80, and guessing gives 3.\d\d; start a new run"):
        check_learnt(trainer, valid, lambda: first.model)


def test_answers_that_are_right_are_worth_keeping_however_sure(tmp_path: Path) -> None:
    trainer, first = (make_trainer(row_recipe("labels.csv"), tmp_path / name) for name in ("run", "first"))
    scaled(trainer.model, 400.0)
    valid = {"loss": 9e9, "accuracy": 0.8, "accuracy_interval": [0.7, 0.9], "most_frequent": 0.5}
    check_learnt(trainer, valid, lambda: first.model)
    with pytest.raises(Diverged):
        check_learnt(trainer, valid | {"accuracy_interval": [0.4, 0.9]}, lambda: first.model)


def test_a_comparison_goes_on_without_it(tiny: dict, tmp_path: Path) -> None:
    far = tiny | {"train": tiny["train"] | {"optimizer": {"kind": "sgd", "lr": 100.0}, "clip": None}}
    for name, recipe in (("good", tiny), ("far", far)):
        (tmp_path / f"{name}.yaml").write_text(yaml.safe_dump(recipe), "utf-8")
    notes = Notes()
    rows = compare(["far.yaml", "good.yaml"], out="out", device="cpu", watch=notes)
    assert [row["model"] for row in rows] == ["good"]
    assert any(note.startswith("warning: far is left out: train.lr=100: training diverged") for note in notes.notes)
    with pytest.raises(Diverged):
        compare(["far.yaml"], out="none", device="cpu", watch=Notes())


def test_what_training_left_out_is_not_looked_at() -> None:
    """A sentence longer than the positions is left out, and the run ends all the same."""
    recipe = row_recipe("tags.conll")
    Path("tags.conll").write_text(TAGGED + "\n" + "a\tD\n" * 100)
    encoder = {
        "kind": "transformer",
        "size": 8,
        "layers": 1,
        "heads": 1,
        "positions": {"kind": "learnt", "longest": 64},
    }
    words = ["data.share=0", "train.batches.longest=60", "train.steps=2"]
    start.train(recipe | {"encoder": encoder}, words, out="run", device="cpu", watch=Notes())
    assert Path("run/model.safetensors").exists()
