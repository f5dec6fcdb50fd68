"""The model of an n-gram run, opened where it lies."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import foresay
from foresay.counts.words import WordModel
from foresay.errors import UserError
from foresay.train.progress import Watch

LINES = ["the cat sat on the mat", "the dog sat", "a cat saw the dog", "the cat sat"] * 9


def made(*words: str) -> Path:
    Path("text.txt").write_text("".join(f"{line}\n" for line in LINES))
    recipe = {"task": "ngram", "data": {"train": "text.txt", "unit": "line"}, "tokens": {"kind": "blanks"}}
    return foresay.train(recipe, list(words), out="run", watch=Watch()).folder


@pytest.mark.parametrize("smoothing", ["modified-kneser-ney", "add"])  # add has one number more: another alignment
def test_it_scores_as_the_run_and_stays_on_the_disk(smoothing: str) -> None:
    folder = made(f"smoothing={smoothing}")
    model, run = WordModel.load(folder), foresay.load(folder)
    assert isinstance(model.table.grams.base, np.memmap)
    assert model.table.contexts.ctypes.data % 8 == 0
    texts = ["the cat sat", "a zebra sat", "<unk> the </s>", ""]
    assert model.score(texts).tolist() == pytest.approx([-one.nats for one in run.score(texts)], rel=1e-6)


def test_what_cannot_be_opened() -> None:
    with pytest.raises(UserError, match=r"config.json is missing, damaged or not of Foresay"):
        WordModel.load("none")
    folder = made()
    data = bytearray((folder / "model.safetensors").read_bytes())
    data[-12:] = b"\xff" * 12  # the last n-gram: word -1
    (folder / "model.safetensors").write_bytes(data)
    with pytest.raises(UserError, match="run is damaged or not of one run: grams does not fit"):
        WordModel.load(folder).score(["the cat"])
    (folder / "model.safetensors").write_bytes(data[:99])
    with pytest.raises(UserError, match="is damaged or not of an n-gram run; copy it again"):
        WordModel.load(folder)
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps(config | {"task": "word-vectors"}))
    with pytest.raises(UserError, match="run is a word-vectors; allowed: a run of task ngram"):
        WordModel.load(folder)


def test_other_tokens_are_refused() -> None:
    with pytest.raises(UserError, match="run has tokens characters, and here words are what blanks separate"):
        WordModel.load(made("tokens=characters"))
