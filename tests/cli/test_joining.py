"""`mix` and `export` from the command line, on small runs of one text."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import foresay
from foresay.counts.words import WordModel
from foresay.study.mix import half_of
from foresay.text.tokens import STOP
from foresay.train.progress import Watch
from tests.commands import Commands

PAIRS = [(a, b) for a in ("cat", "dog", "cow", "fox") for b in ("hen", "owl")]
LINES = [f"the {a} saw the {b} and the {b if i % 3 else a} ran" for i in range(40) for a, b in PAIRS]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two n-grams of one text, an LSTM of the same and an n-gram of another vocabulary."""
    folder = tmp_path_factory.mktemp("runs")
    for name, lines in {"train": LINES[:240], "valid": LINES[240:280], "test": LINES[280:]}.items():
        (folder / f"{name}.txt").write_text("".join(line + "\n" for line in lines))
    data = {name: str(folder / f"{name}.txt") for name in ("train", "valid", "test")} | {"unit": "line"}
    recipe = {"task": "ngram", "data": data, "tokens": {"kind": "blanks", "size": 50}}
    small = ["task=language-model", "encoder.size=8", "embedding.size=8", "train.steps=5"]
    for name, words in {"1": ["order=1"], "3": ["order=3"], "lstm": small, "other": ["tokens.size=8"]}.items():
        foresay.train(recipe, words, out=folder / name, watch=Watch())
    return folder


def test_a_mixture_is_better_than_its_members(call: Commands, folder: Path) -> None:
    called = call("mix", folder / "1", folder / "3", folder / "lstm", "--json")
    assert called.code == 0, called
    found = json.loads(called.out)
    members = {Path(one["run"]).name: one for one in found["members"]}
    assert sum(one["weight"] for one in members.values()) == pytest.approx(1)
    assert found["perplexity"] <= min(one["perplexity"] for one in members.values()) * 1.001
    assert found["tokens"] == sum(len(line.split()) + 1 for line in LINES[280:])
    for name, one in members.items():  # each line by itself, as the mixture is used, whatever state an LSTM could carry
        due = foresay.load(folder / name).perplexity(LINES[280:])
        assert one["perplexity"] == pytest.approx(due, rel=1e-5)
    together = foresay.mix([foresay.load(folder / name) for name in members])
    assert together.alone == pytest.approx([one["perplexity"] for one in found["members"]])
    shown = call("mix", folder / "1", folder / "3").out.splitlines()
    assert len(shown) == 3 and shown[-1].startswith("together perplexity")


def test_a_text_is_cut_where_a_document_ends() -> None:
    class Text(list[int]):
        def slice(self, start: int, stop: int) -> np.ndarray:
            return np.array(self[start:stop])

    a = 9
    assert half_of(Text([a, a, STOP, a, a, a, STOP, a, STOP])) == 7
    assert half_of(Text([a, a, a, STOP, a, a, a, STOP])) == 4
    assert half_of(Text([a, a, a, a, a, a, a, STOP])) == 4


def test_what_cannot_be_mixed(call: Commands, folder: Path, tmp_path: Path) -> None:
    run = foresay.train("skipgram", ["size=4", "epochs=1", "tokens.size=40"], out=tmp_path / "sg", watch=Watch())
    assert call.refused("mix", run.folder, run.folder) == (
        f"{run.folder} is of task word-vectors, which knows no probability of a text; mix language models"
    )
    assert call.refused("mix", folder / "1") == "one run is no mixture; give two or more"
    assert "has another vocabulary than" in call.refused("mix", folder / "1", folder / "other")


@pytest.mark.parametrize("name", ["model.arpa", "model.arpa.gz"])
def test_an_arpa_file_scores_as_the_run(call: Commands, folder: Path, tmp_path: Path, name: str) -> None:
    assert call("export", folder / "3", "--to", "arpa", "--out", tmp_path / name).code == 0
    run, model = foresay.load(folder / "3"), WordModel.read(tmp_path / name)
    for line in (LINES[0], "the zebra ran", "ran the"):
        assert -model.score([line])[0] == pytest.approx(run.score(line)[0].nats, abs=1e-4)


def test_what_cannot_be_exported(call: Commands, folder: Path, tmp_path: Path) -> None:
    assert call.refused("export", folder / "3", "--to", "onyx").startswith("--to onyx; allowed: arpa, word2vec, word2v")
    assert "is a ngram; onnx holds a language-model" in call.refused("export", folder / "3", "--to", "onnx")
    assert "is a ngram; allowed: a run of task word-vectors" in call.refused("export", folder / "3", "--to", "glove")
    assert "is a language-model; an ARPA file holds n-grams" in call.refused(
        "export", folder / "lstm", "--to", "arpa", "--out", tmp_path / "model.arpa"
    )
    assert call.refused("export", folder / "3", "--to", "arpa", "--which", "foo") == (
        "--which foo with --to arpa; it is for word vectors: leave it out"
    )
    assert "is no folder" in call.refused("export", folder / "3", "--to", "arpa", "--out", tmp_path / "no" / "a.arpa")
    assert not list(tmp_path.iterdir())
