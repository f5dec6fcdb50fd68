"""Which weights are kept as the best: by loss, accuracy or F1."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest

from foresay import start
from foresay.errors import UserError
from foresay.train.best import cost
from foresay.train.progress import Watch


def test_what_is_to_be_small():
    tags: dict[str, Any] = {"loss": 0.5, "accuracy": 0.9, "spans": {"f1": 0.25}}
    assert [cost(tags, by, 7)[0] for by in ("loss", "accuracy", "f1", "last")] == pytest.approx([0.5, 0.1, 0.75, -7])
    assert cost({"loss": 0.5, "accuracy": 0.9, "macro_f1": 0.75}, "f1", 7)[0] == 0.25


def test_of_equal_ones_the_smaller_loss_is_best_and_one_that_is_not_finite_never():
    early, late, broken = ({"loss": loss, "accuracy": 1.0} for loss in (0.6, 0.1, float("nan")))
    assert cost(late, "accuracy", 1) < cost(early, "accuracy", 2) < cost(broken, "accuracy", 3)
    assert cost({"loss": 9.0, "accuracy": 0.0}, "accuracy", 1) < cost(broken, "loss", 2)
    assert cost(early, "last", 2) < cost(late, "last", 1) < cost(broken, "last", 3)


def write(path: Path, *, spans: bool) -> None:
    draw = random.Random(3)
    words = {"ann": "B-P", "bob": "B-P", "runs": "O", "sees": "O", "rome": "B-L"}
    rows = [f"{word} {tag if spans else tag[-1]}" for word, tag in draw.choices(list(words.items()), k=120)]
    path.write_text("\n".join(row + ("\n" if n % 4 == 3 else "") for n, row in enumerate(rows)))


def recipe(**evaluate: Any) -> dict[str, Any]:
    optimizer = {"kind": "sgd", "lr": 2.0}  # too fast on purpose: measures go up and down
    train = {
        "steps": 12,
        "batches": {"kind": "tags", "tokens": 20},
        "optimizer": optimizer,
        "evaluate": {"every": 1, **evaluate},
    }
    data = {"kind": "tags", "train": "tags.conll"}
    return {
        "task": "tagger",
        "data": data,
        "tokens": "blanks",
        "embedding": {"kind": "lookup", "size": 4},
        "train": train,
    }


@pytest.mark.parametrize(("by", "of"), [("loss", "loss"), ("accuracy", "accuracy"), ("f1", "spans")])
def test_the_weights_that_are_kept_are_the_first_best_by_it(by, of, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write(Path("tags.conll"), spans=True)
    start.train(recipe(best=by), out="run", device="cpu", watch=Watch())
    lines = [json.loads(line) for line in Path("run/metrics.jsonl").read_text().splitlines()]
    worth = [one[f"valid_{of}"]["f1"] if by == "f1" else one[f"valid_{of}"] for one in lines if f"valid_{of}" in one]
    kept = json.loads(Path("run/results.json").read_text())["valid"][of]
    kept = kept["f1"] if by == "f1" else kept
    best = min(worth) if by == "loss" else max(worth)
    assert kept == pytest.approx(best) and len(set(worth)) > 2
    if by != "loss":  # else this could not fail
        losses = [one["valid_loss"] for one in lines if "valid_loss" in one]
        assert worth[losses.index(min(losses))] < best or worth.index(best) != losses.index(min(losses))


def test_the_last_are_kept_though_others_were_better(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write(Path("tags.conll"), spans=True)
    start.train(recipe(best="last"), out="run", device="cpu", watch=Watch())
    lines = [json.loads(line) for line in Path("run/metrics.jsonl").read_text().splitlines()]
    losses = [one["valid_loss"] for one in lines if "valid_loss" in one]
    kept = json.loads(Path("run/results.json").read_text())["valid"]["loss"]
    assert kept == pytest.approx(losses[-1]) and min(losses) < losses[-1]


def test_what_is_not_measured_is_refused(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write(Path("tags.conll"), spans=False)
    with pytest.raises(UserError, match=r"train.best=f1, and these tags write no spans; allowed: loss, last, accuracy"):
        start.train(recipe(best="f1"), out="run", device="cpu", watch=Watch())
    unmeasured = recipe(best="accuracy")
    unmeasured["data"]["share"] = 0.0
    with pytest.raises(UserError, match=r"train.best=accuracy is measured on .* data.share=0 keeps none; .*=loss"):
        start.train(unmeasured, out="run", device="cpu", watch=Watch())
    Path("text.txt").write_text("some words here\n" * 40)
    made = {
        "task": "language-model",
        "data": {"train": "text.txt"},
        "train": {"steps": 1, "evaluate": {"best": "accuracy"}},
    }
    with pytest.raises(UserError, match=r"train.best=accuracy, and this task does not measure it; allowed: loss"):
        start.train(made, out="other", device="cpu", watch=Watch())
    assert not Path("other").exists() and not Path("run").exists()
