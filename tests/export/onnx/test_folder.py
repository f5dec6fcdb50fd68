"""A run as a folder of onnx: what is in it, read without Foresay; what is refused leaves nothing."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import torch

from foresay import start
from foresay.export.onnx import folder as folders
from foresay.loading import load
from foresay.train.progress import Watch
from tests.commands import Commands

onnxruntime = pytest.importorskip("onnxruntime")


@pytest.fixture(scope="module")
def run(corpus: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("onnx") / "run"
    recipe = {
        "task": "language-model",
        "data": {"train": str(corpus)},
        "tokens": {"kind": "characters", "normalise": {"kind": "steps", "lowercase": True}},
        "embedding": {"size": 8},
        "encoder": {"kind": "recurrent", "cell": "mingru", "size": 8},
        "train": {"steps": 3, "evaluate": {"tokens": 100}},
    }
    start.train(recipe, out=place, device="cpu", watch=Watch())
    return place


@pytest.fixture(scope="module")
def written(run: Path) -> tuple[Path, dict]:
    about = folders.write(load(run), run.with_name("out"))
    return run.with_name("out"), about


def test_what_is_in_it(written, run):
    place, about = written
    assert {one.name for one in place.iterdir()} == {"model.onnx", "model.json", "tokenizer.json", "text.json"}
    assert json.loads((place / "model.json").read_text("utf-8")) == json.loads(json.dumps(about))
    assert about["ids"] == {"pad": 0, "unk": 1, "start": 2, "stop": 3, "mask": 4}
    assert about["state"]["state.0.h"] == {"type": "float32", "shape": ["batch", 8], "first": 0.0}
    assert about["inputs"] == {"ids": {"type": "int64", "shape": ["batch", "time"]}}
    assert about["check"]["difference"] <= about["check"]["tolerance"] == 1e-4
    assert "lowercase" in (place / "text.json").read_text() and about["notes"][0].startswith("before tokenizer.json")


def test_a_text_scored_with_its_own_tokeniser(written, run):
    """From nothing but the folder: the score of the text is the run's."""
    from tokenizers import Tokenizer

    place, about = written
    session = onnxruntime.InferenceSession(str(place / "model.onnx"), providers=["CPUExecutionProvider"])
    ids = Tokenizer.from_file(str(place / "tokenizer.json")).encode("the cat sees").ids
    states = {}
    for name, one in about["state"].items():
        shape = [1 if axis == "batch" else 0 if axis == "past" else axis for axis in one["shape"]]
        states[name] = np.broadcast_to(np.array(one["first"], one["type"]), shape)
    log_probs, *_ = session.run(None, {"ids": np.array([[about["ids"]["start"], *ids[:-1]]]), **states})
    found = -log_probs[0, np.arange(len(ids)), ids].sum()
    assert found == pytest.approx(load(run).score("the cat sees")[0].nats, abs=1e-3)


def test_the_command_writes_and_says_how_near_it_is(written, run, call: Commands, monkeypatch):
    monkeypatch.setattr(folders, "traced", lambda *_: Copied(written[0]))
    said = call("export", run, "--to", "onnx").error.splitlines()
    place = run.with_name("run-onnx")
    assert said[0] == f"{place} is written" and said[1].startswith("as the run: no number differs by more than ")
    assert said[2].startswith("note: before tokenizer.json a text goes through normalise")
    assert "run-onnx exists" in call.refused("export", run, "--to", "onnx")
    (place / "mine.txt").write_text("mine")
    (place / "model.json").write_text("")
    call("export", run, "--to", "onnx", "--force")
    assert (place / "mine.txt").read_text() == "mine" and json.loads((place / "model.json").read_text())["format"] == 1
    assert "for word vectors: leave it out" in call.refused(
        "export", run, "--to", "onnx", "--which", "both", "--out", "x"
    )


class Copied:
    """A graph that was traced before."""

    def __init__(self, place: Path):
        self.place = place

    def save(self, path: Path) -> None:
        path.write_bytes((self.place / "model.onnx").read_bytes())


def test_a_graph_that_differs_is_not_written(written, run, call: Commands, monkeypatch):
    whole = load(run)

    def changed(*_, **__):
        with torch.no_grad():
            whole.model.output.bias.add_(torch.linspace(0, 1, len(whole.model.output.bias)))
        return whole

    monkeypatch.setattr(folders, "traced", lambda *_: Copied(written[0]))
    monkeypatch.setattr("foresay.cli.joining.load_run", changed)
    said = call.refused("export", run, "--to", "onnx", "--out", "other")
    assert said.startswith(f"{run} as onnx differs from the run by ") and "more than 0.0001; nothing is written" in said
    assert not [*Path.cwd().iterdir()]


def test_others_are_refused(run, call: Commands):
    Path("file").write_text("mine")
    said = call.refused("export", run, "--to", "onnx", "--out", "file", "--force")
    assert said == "file is no folder; onnx is a folder of 4 files: give another --out"
    assert call.refused("export", run, "--to", "onnx", "--out", "no/x").startswith("no is no folder")
