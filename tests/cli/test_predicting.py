"""`predict` and what `eval` shows of labels and tags: rows of the tables, columns of files, refusals."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from foresay import start
from foresay.cli.predicting import show_labelled, show_tagged
from foresay.train.classified import judged
from foresay.train.progress import Watch
from foresay.train.tagged import figures


@pytest.fixture(scope="module")
def bag(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A bag of words that tells a from b."""
    folder = tmp_path_factory.mktemp("bag")
    (folder / "t.tsv").write_text("text\tlabel\n" + "a\tA\nb\tB\n" * 20)
    data = {"kind": "labels", "train": str(folder / "t.tsv")}
    recipe = {"task": "bag-of-words", "tokens": "blanks", "data": data, "train": {"batches": "labels"}}
    start.train(recipe, out=folder / "run", device="cpu", watch=Watch())
    return folder / "run"


def test_a_column_of_a_table(bag, call):
    Path("new.csv").write_text("id,said\n1,b b\n2,a\n")
    assert call("predict", bag, "new.csv", "--column", "said").out == "B\nA\n"
    lines = call("predict", bag, "-", "--column", "t", "--format", "jsonl", "--json", given=b'{"t": "a"}\n').out
    told = json.loads(lines)
    assert told["label"] == "A" and sum(told["probabilities"].values()) == pytest.approx(1)
    Path("bad.csv").write_text("id,said\n1,\n")
    assert call.refused("predict", bag, "bad.csv", "--column", "said") == (
        "bad.csv line 2 has an empty text; mend or delete it"
    )
    assert call.refused("predict", bag, "a", "--format", "csv").startswith("--format csv without --column")
    assert call.refused("predict", bag, "new.csv", *["--column", "said"] * 3).endswith(
        "or two of a run that labels pairs of texts"
    )
    assert "no text of training had '|||' between two; allowed: one" in call.refused(
        "predict", bag, "new.csv", *["--column", "said"] * 2
    )


def test_two_columns_of_a_table(tmp_path, call):
    """The second text alone tells: a before the bar is nothing, after it A."""
    rows = [("a", "a", "A"), ("b", "a", "A"), ("a", "b", "B"), ("b", "b", "B")]
    Path("pairs.jsonl").write_text("".join(json.dumps(dict(zip("pqy", row, strict=True))) + "\n" for row in rows * 15))
    data = {"kind": "labels", "train": "pairs.jsonl", "columns": ["p", "q", "y"]}
    train = {"batches": "labels", "steps": 40, "optimizer": {"kind": "adamw", "lr": 0.03}}
    recipe = {"task": "classifier", "tokens": "blanks", "data": data, "embedding": {"kind": "lookup", "size": 8}}
    recipe |= {"encoder": {"kind": "recurrent", "size": 8}, "pool": "last", "train": train}
    run: Any = start.train(recipe, out="run", device="cpu", watch=Watch())
    assert run.evaluate().accuracy == 1
    Path("new.csv").write_text("q,p\nb,a\na,b\n")
    assert call("predict", "run", "new.csv", "--column", "p", "--column", "q").out == "B\nA\n"
    assert call("predict", "run", "a ||| b").out == "B\n"


def test_a_language_model_predicts_no_labels(trained, call):
    assert "predicts no tags and no labels; allowed: a run of task tagger" in call.refused("predict", trained, "a")


def test_figures_of_labels(capsys):
    found = judged(("bad", "good"), np.array([0, 0, 1, 1]), np.array([0, 1, 1, 1]), 0.5)
    show_labelled(found, None, as_json=False)
    out = capsys.readouterr().out
    assert "accuracy     75.00 %" in out and "loss         0.5000 nats per text" in out
    assert "\nbad       100.00   50.00   66.67       2\n" in out  # one of two found, and nothing else called bad
    assert "\ngood       66.67  100.00   80.00       2\n" in out


def test_figures_of_tags(capsys):
    found = figures([["N", "V"], ["N"]], [["N", "N"], ["N"]], [np.zeros(2), np.ones(1)], loss=0.25, of=3, spans=False)
    show_tagged(found, as_json=False)
    out = capsys.readouterr().out
    assert "accuracy            66.67 %" in out and "of unknown words  100.00 %" in out and "span" not in out
    assert "\nN        66.67  100.00   80.00        2\n" in out and "\nV         0.00    0.00    0.00        1\n" in out
