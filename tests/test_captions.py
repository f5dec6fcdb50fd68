"""A run that writes a text from a picture: learnt by heart, asked by files, scored, measured."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from foresay import start
from foresay.errors import UserError
from foresay.loading import load
from foresay.train.progress import Watch

SEEN = {
    "a bar": [[255, 0, 0, 0]] * 4,
    "two bars": [[255, 0, 0, 255]] * 4,
    "a line": [[0] * 4, [255] * 4, [0] * 4, [0] * 4],
}
SETTINGS = """
task: seq2seq
data: {kind: captions, train: in, valid: in, source_tokens: {kind: levels, number: 2}, read: {height: 4}}
tokens: characters
embedding: {kind: lookup, size: 8}
encoder: {kind: shrunk, by: 4, how: join, encoder: {kind: recurrent, cell: gru, size: 16, bidirectional: true}}
writer: {kind: recurrent, cell: gru, size: 24}
measures: [exact]
train: {steps: 80, batches: {kind: pairs, tokens: 200}, lr: 0.02, evaluate: {every: 80}, save: {every: 80}}
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("captions")
    (place / "in").mkdir()
    for text, picture in SEEN.items():
        Image.fromarray(np.array(picture, np.uint8)).save(place / "in" / f"{text}.png")
    (place / "in" / "labels.csv").write_text("file,label\n" + "".join(f"{text}.png,{text}\n" for text in SEEN))
    (place / "recipe.yaml").write_text(SETTINGS.replace(": in", f": {place / 'in'}"))
    start.train(str(place / "recipe.yaml"), out=place / "run", device="cpu", watch=Watch())
    return place


def test_it_writes_what_it_learnt(folder: Path, call: Any) -> None:
    run: Any = load(folder / "run", "cpu")
    files = [str(folder / "in" / f"{text}.png") for text in SEEN]
    assert run.translate(files) == list(SEEN)
    larger = Image.open(files[1]).resize((12, 12), Image.Resampling.NEAREST).convert("RGB")
    larger.save(folder / "large.png")
    assert call("generate", folder / "run", folder / "large.png").out == "two bars\n"
    own, other = (run.score((files[0], text))[0].nats for text in ("a bar", "a line"))
    assert own < 1 < other
    found = json.loads(call("eval", folder / "run", "--json").out)
    assert found["exact"] == 1.0
    again = json.loads(call("eval", folder / "run", "--data", folder / "in", "--json").out)
    assert again["loss"] == pytest.approx(found["loss"])


def test_what_is_no_picture(folder: Path, call: Any) -> None:
    run = folder / "run"
    assert call.refused("generate", run, "nix.png") == (
        "'nix.png' is no file; this run writes from a picture: give one, such as a.png"
    )
    why = call.refused("eval", run, "--data", folder / "in", "--encoding", "latin-1")
    assert why.startswith("encoding=latin-1 is for texts")
    with pytest.raises(UserError, match=r"^columns a, b; they are for tables"):
        load(run, "cpu").evaluate(str(folder / "in"), columns=["a", "b"])
