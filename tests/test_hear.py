"""Runs on recordings: learnt by heart, asked by files, folders and arrays, scored, measured, with a language model."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from foresay import start
from foresay.data.wav import wav_bytes
from foresay.errors import UserError
from foresay.loading import load
from foresay.train.progress import Watch
from tests.hears import RATE, said, spoken, train_keyword, train_small


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Any:
    return train_small(tmp_path_factory.mktemp("speech"))


@pytest.fixture(scope="module")
def yes(tmp_path_factory: pytest.TempPathFactory) -> Any:
    return train_keyword(tmp_path_factory.mktemp("keyword"))


@pytest.fixture(scope="module")
def lm(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """Of lines in which `high` follows nothing but `low`, trained on a vocabulary of another order."""
    folder = tmp_path_factory.mktemp("lm")
    (folder / "a.txt").write_text("low\nlow low\nlow high low\nhigh low\nlow low low\n" * 20)
    raw = {"task": "ngram", "order": 2, "data": {"train": str(folder / "a.txt"), "unit": "line"}, "tokens": "blanks"}
    return start.train(raw, out=folder / "run", device="cpu", watch=Watch())


def test_it_has_learnt(run: Any) -> None:
    found = run.evaluate()
    assert found.error_rate < 0.1 and found.recordings == 24
    heard = run.recognise([said("high low", 90), said("low", 91)])
    assert [one.text for one in heard] == ["high low", "low"] and heard[0].symbols == ["high", "low"]
    assert heard[0].log_prob == pytest.approx(run.log_prob(said("high low", 90), "high low"), abs=1e-5)
    assert run.log_prob(said("high low", 90), "low high") < heard[0].log_prob - 1


def test_files_folders_and_other_rates(run: Any, tmp_path: Path) -> None:
    for name, rate in (("a.wav", RATE), ("b.wav", 2 * RATE)):
        sound = said("low high", 92)
        sound = np.repeat(sound, rate // RATE)
        (tmp_path / name).write_bytes(wav_bytes(sound, rate))
    files = [tmp_path / "a.wav", str(tmp_path)]
    assert [one.text for one in run.recognise(files)] == ["low high"] * 3
    again = load(run.folder)
    assert again.recognise(tmp_path / "a.wav")[0] == run.recognise(tmp_path / "a.wav")[0]


def test_a_beam_sums_over_alignments(run: Any) -> None:
    sound = said("high high low", 93)
    (best,) = run.recognise(sound, beam=6)
    assert best.text == "high high low" and best.score == best.log_prob
    assert best.log_prob == pytest.approx(run.log_prob(sound, best.text), abs=1e-3)
    many = run.recognise_many(sound, best=4, beam=6)[0]
    assert [one.score for one in many] == sorted((one.score for one in many), reverse=True) and len(many) == 4


def test_a_language_model_beside(run: Any, lm: Any) -> None:
    sound = said("low high", 94)
    (one,) = run.recognise(sound, lm=lm, weight=0.3, bonus=0.1)
    spelt = lm.score("low high")[0]
    assert one.text == "low high" and one.score == pytest.approx(one.log_prob - 0.3 * spelt.nats + 0.2, abs=1e-4)
    (pressed,) = run.recognise(said("high high", 95), lm=lm, weight=30.0)
    assert "high high" not in pressed.text
    assert run.evaluate(beam=4).error_rate <= 0.1


@pytest.mark.parametrize("encoder", ["recurrent", "transformer"])
def test_neural_language_models_too(run: Any, tmp_path: Path, encoder: str) -> None:
    (tmp_path / "a.txt").write_text("low high\nhigh low\nlow\nhigh high low\n" * 30)
    raw: Any = {
        "task": "language-model",
        "data": {"train": str(tmp_path / "a.txt"), "unit": "line"},
        "tokens": "blanks",
        "embedding": {"size": 8},
        "encoder": {"kind": encoder, "size": 8} | ({"heads": 2, "layers": 1} if encoder == "transformer" else {}),
        "train": {"steps": 5, "batches": {"kind": "buckets", "tokens": 100, "longest": 16}},
    }
    other = start.train(raw, out=tmp_path / "run", device="cpu", watch=Watch())
    (one,) = run.recognise(said("low high", 94), beam=3, lm=other, weight=0.2)
    assert one.score == pytest.approx(one.log_prob - 0.2 * other.score(one.text)[0].nats, abs=1e-3)


def test_what_a_recogniser_refuses(run: Any, yes: Any, tmp_path: Path) -> None:
    sound = said("low", 96)
    for call, why in (
        (lambda: run.recognise("nowhere.wav"), "^nowhere.wav is no file and no folder; give recordings"),
        (lambda: run.recognise(np.array([1, 2])), r"^array 1 is int64 \(2,\); allowed: samples of -1 to 1 at 2,000 Hz"),
        (lambda: run.recognise(np.array([np.nan])), r"^array 1 is float64"),
        (lambda: run.recognise(sound, beam=0), "^beam=0"),
        (lambda: run.recognise(sound, lm="runs/lm"), "^lm='runs/lm'; allowed: a run, such as foresay.load"),
        (lambda: run.recognise(sound, lm=yes), "^lm=.* is of task classifier and says no P of what follows"),
        (lambda: run.recognise(sound, lm=run, weight=-1.0), "^weight=-1"),
        (lambda: run.recognise_many(sound, best=2), "^best=2 without a beam; give beam=8"),
        (lambda: run.log_prob(run.folder.parent / "in", "low"), "holds 24 recordings; give one"),
        (lambda: run.generate("low"), "is of sounds of 2,000 Hz and goes on from no text; use foresay predict"),
        (lambda: run.evaluate(rows=3), "^rows=3, but recordings are heard one a row"),
        (lambda: run.evaluate(columns=["a"]), "^columns a; they are for tables"),
        (lambda: run.evaluate(split="test"), "the run has no test recordings; give data.test in its recipe"),
    ):
        with pytest.raises(UserError, match=why):
            call()
    (tmp_path / "a.txt").write_text("un deux trois\n" * 20)
    raw = {"task": "ngram", "data": {"train": str(tmp_path / "a.txt"), "unit": "line"}, "tokens": "blanks"}
    other = start.train(raw, out=tmp_path / "run", device="cpu", watch=Watch())
    with pytest.raises(UserError, match=r"does not know 2 of 2 symbols of .*, the first 'low'|the first 'high'"):
        run.recognise(sound, lm=other)


def test_a_word_is_spotted(yes: Any, tmp_path: Path) -> None:
    found = yes.evaluate()
    assert found.accuracy > 0.95 and found.names == ("no", "yes")
    answers = yes.predict([said("low high low", 97), said("low low", 98)])
    assert [label for label, _ in answers] == ["yes", "no"] and sum(answers[0][1].values()) == pytest.approx(1)
    assert [label for label, _ in yes.predict(spoken(tmp_path / "in", 3))] == [
        "yes" if "high" in line else "no" for line in (tmp_path / "in" / "labels.csv").read_text().splitlines()[1:]
    ]
    assert yes.evaluate(spoken(tmp_path / "in", 6)).texts == 6
    with pytest.raises(UserError, match="use foresay predict"):
        yes.score("low")


def test_a_run_keeps_what_it_needs(run: Any) -> None:
    form = json.loads((run.folder / "series.json").read_text())
    assert form["rate"] == RATE and len(form["columns"]) == 12
    card = (run.folder / "README.md").read_text()
    assert "| symbol error rate |" in card and "foresay look" in card and "run.recognise" in card
    assert (run.folder / "curve.png").stat().st_size > 5000


def test_resumed_it_ends_with_the_same_bytes(run: Any, tmp_path: Path) -> None:
    """Stopped at step 60 of 120 and gone on with: the weights are those of the run left alone."""
    raw = run.recipe.as_dict()
    raw["train"]["save"] = {"every": 60, "keep": 3}
    whole = start.train(raw, out=tmp_path / "whole", device="cpu", watch=Watch())
    half = tmp_path / "half"
    start.train(raw, out=half, device="cpu", watch=Watch())
    (half / "model.safetensors").unlink()
    (half / "results.json").unlink()
    for path in (half / "checkpoints").iterdir():
        if path.name.startswith("00000120"):
            for file in path.iterdir():
                file.unlink()
            path.rmdir()
    start.train(resume=half, device="cpu", watch=Watch())
    assert (half / "model.safetensors").read_bytes() == (whole.folder / "model.safetensors").read_bytes()
