"""The commands on recordings: predict, eval, score and look, their options, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from foresay import start
from foresay.data.wav import wav_bytes
from foresay.train.progress import Watch
from tests.hears import RATE, said, train_keyword, train_small


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a run, its recordings (in/), and a language model (lm/run)."""
    folder = tmp_path_factory.mktemp("hearing")
    train_small(folder)
    (folder / "lm").mkdir()
    (folder / "lm" / "a.txt").write_text("low\nlow low\nlow high low\nhigh low\n" * 20)
    data = {"train": str(folder / "lm" / "a.txt"), "unit": "line"}
    raw = {"task": "ngram", "order": 2, "data": data, "tokens": "blanks"}
    start.train(raw, out=folder / "lm" / "run", device="cpu", watch=Watch())
    (folder / "a.wav").write_bytes(wav_bytes(said("low high", 90), RATE))
    return folder


def test_predict_writes_the_text(place: Path, call: Any) -> None:
    run, file, lm = str(place / "run"), str(place / "a.wav"), str(place / "lm" / "run")
    assert call("predict", run, file).out == f"low high\t{file}\n"
    for more in (["--beam", "4"], ["--lm", lm], ["--lm", f"{lm}=0.1", "--bonus", "0.2"]):
        found = json.loads(call("predict", run, file, *more, "--json").out)
        assert found["text"] == "low high" and found["symbols"] == ["low", "high"] and found["file"] == file
        assert (found["score"] == found["log_prob"]) == (more[0] == "--beam")
    assert len(call("predict", run, str(place / "in")).out.splitlines()) == 24


def test_eval_gives_errors_with_intervals(place: Path, call: Any) -> None:
    run = str(place / "run")
    told = call("eval", run).out
    assert told.startswith("symbol error rate  ") and "exact match        " in told and "95 % interval" in told
    found = json.loads(call("eval", run, "--data", str(place / "in"), "--beam", "3", "--json").out)
    assert found["recordings"] == 24 and found["error_rate"] < 0.1 and found["symbols"] == 48


def test_score_takes_pairs(place: Path, call: Any) -> None:
    run, file = str(place / "run"), place / "a.wav"
    nats = float(call("score", run, f"{file}\tlow high").out.split("\t")[0])
    other = json.loads(call("score", run, f"{file}\thigh", "--json").out)
    assert 0 <= nats < 1 and other["nats"] > nats + 1 and other["text"] == "high"


def test_look_draws_what_is_heard(place: Path, call: Any) -> None:
    run, file = str(place / "run"), str(place / "a.wav")
    told = call("look", run, "--sound", file, "--out", str(place / "heard.png")).out
    rows = [line.split("\t") for line in told.splitlines()]
    assert [row[2] for row in rows] == ["low", "high"] and float(rows[0][1]) <= float(rows[1][0])
    assert (place / "heard.png").stat().st_size > 10_000
    found = json.loads(call("look", run, "--sound", file, "--json").out)
    assert found["text"] == "low high" and len(found["probabilities"][0]) == len(found["symbols"])


def test_a_word_is_spotted(tmp_path: Path, call: Any) -> None:
    run = str(train_keyword(tmp_path).folder)
    for number, words in enumerate(("low high", "low")):
        (tmp_path / f"{number}.wav").write_bytes(wav_bytes(said(words, 90), RATE))
    files = [str(tmp_path / "0.wav"), str(tmp_path / "1.wav")]
    assert call("predict", run, *files).out == f"yes\t{files[0]}\nno\t{files[1]}\n"
    assert "accuracy" in call("eval", run).out
    assert "--beam is for runs that write what is said" in call.refused("predict", run, *files, "--beam", "3")
    assert "writes down no recordings; allowed: a run of task recogniser" in call.refused(
        "look", run, "--sound", files[0]
    )


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("predict", "run", "nowhere.wav"), "nowhere.wav is no file and no folder"),
        (("predict", "run", "a.wav", "--lm", "run"), "says no P of what follows in a text"),
        (("predict", "run", "a.wav", "--lm", "lm/run=x"), "--lm lm/run=x; allowed: a run, or a run and its weight"),
        (("predict", "run", "a.wav", "--lm", "nowhere"), "nowhere"),
        (("predict", "run", "a.wav", "--beam", "0"), "beam=0"),
        (("predict", "run", "a.wav", "--blanks"), "--blanks is for runs on texts"),
        (("predict", "lm/run", "low", "--beam", "3"), "--beam is for runs that write what is said in recordings"),
        (("eval", "lm/run", "--bonus", "1"), "--bonus is for runs that write what is said in recordings"),
        (("eval", "run", "--length", "3"), "--length is for runs that write from a source"),
        (("eval", "run", "--rows", "3"), "recordings are heard one a row"),
        (("score", "run", "low high"), "is no pair; this run scores a text given its recording: FILE, a tab, TEXT"),
        (("score", "run", "a.wav\tlow", "--tokens"), "--tokens is for runs on texts"),
        (("generate", "run", "a"), "goes on from no text; use foresay predict"),
        (("look", "run", "--sound", "a.wav", "--layer", "1"), "--layer and --head with --sound"),
        (("look", "lm/run", "--sound", "a.wav"), "writes down no recordings"),
    ],
)
def test_what_is_refused(words: Any, why: str, place: Path, call: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(place)
    assert why in call.refused(*words)
