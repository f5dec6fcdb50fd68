"""`correct` from the command line: texts, tuning, measuring, and every refusal."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from foresay import start
from foresay.train.progress import Watch
from tests.commands import Commands

LINES = [f"the {a} sees a {b} ." for a in ("cat", "dog", "bird", "river") for b in ("tree", "house", "hen", "fox")]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("correcting")
    (place / "text.txt").write_text("\n".join(LINES * 3) + "\n", "utf-8")
    data = {"train": str(place / "text.txt"), "unit": "line", "share": 0.0}
    recipe = {"task": "ngram", "order": 3, "data": data, "tokens": {"kind": "blanks"}}
    start.train(recipe, out=place / "run", device="cpu", watch=Watch())
    (place / "pairs.tsv").write_text("".join(f"{one.replace('sees', 'ses')}\t{one}\n" for one in LINES), "utf-8")
    return place / "run"


def test_texts(run: Path, call: Commands):
    found = call("correct", run, "teh cat sees a tree .", "--number", 2)
    first, nats, *readings = found.out.splitlines()
    assert first == "[the] cat sees a tree ." and nats.startswith("  -log P ") and len(readings) == 2
    piped = call("correct", run, "-", "--json", given=b"the cat seees a tree .\nthe dog sees a fox .\n")
    one, other = map(json.loads, piped.out.splitlines())
    assert one["text"] == "the cat sees a tree ." and one["changes"][0]["before"] == "seees"
    assert other["changes"] == [] and other["before"] == other["after"]


def test_tune_then_use(run: Path, call: Commands, tmp_path: Path):
    pairs, noise = run.parent / "pairs.tsv", tmp_path / "noise.json"
    told = call("correct", run, "--tune", pairs, "--held-out", pairs, "--limit", 3, "--noise", noise, "--json")
    found = json.loads(told.out)
    assert found["unit"] == "word" and found["pairs"] == 16 and len(found["tried"]) == 15 and noise.is_file()
    assert found["rates"]["delete"] > 0
    spelt = call("correct", run, "--tune", pairs, "--held-out", pairs, "--limit", 2, "--noise", noise)
    assert spelt.out.count("false alarms") == 15 and "is written" in spelt.error
    measured = json.loads(call("correct", run, "--pairs", pairs, "--noise", noise, "--json").out)
    assert measured["correction"]["f1"] == 1.0 and measured["wrong"] == 16 and "rule" in measured


def test_measures(run: Path, call: Commands):
    found = call("correct", run, "--garble", run.parent / "text.txt", "--limit", 8, "--restarts", 0)
    assert (
        "correction   precision" in found.out
        and "false alarms" in found.out
        and "counted      by sentence" in found.out
    )


def test_several_runs_weight_and_sets(run: Path, call: Commands, tmp_path: Path):
    (tmp_path / "sets.txt").write_text("a,o\n", "utf-8")
    found = call(
        "correct", run, "the cot sees a tree .", "--with", run, "--mix", "0.5,0.5", "--weight", 2, "--caution", 0,
        "--confusions", tmp_path / "sets.txt", "--confusions", tmp_path / "sets.txt", "--chain", "gibbs",
    )  # fmt: skip
    assert found.code == 0 and "the [cat] sees" in found.out


@pytest.mark.parametrize(
    "words, says",
    [
        ([], "nothing to correct; allowed: one of"),
        (["a", "--pairs", "p.tsv"], "TEXT and --pairs; allowed: one of"),
        (["--tune", "p.tsv"], "--tune without --noise"),
        (["--held-out", "p.tsv", "a"], "--held-out without --tune"),
        (["a", "--chain", "walk"], "--chain walk; allowed: informed, gibbs, metropolis"),
        (["a", "--restarts", "-1"], "--restarts -1"),
        (["a", "--number", "0"], "--number 0; allowed: 1 or more"),
        (["--pairs", "p.tsv", "--limit", "0"], "--limit 0"),
        (["a", "--alarms", "2"], "--alarms 2"),
        (["a", "--weight", "0"], "--weight 0"),
        (["a", "--mix", "x"], "--mix x; allowed: numbers"),
        (["a", "--mix", "0.5,0.5"], "weights"),
        (["a", "--noise", "no.json"], "no.json cannot be read"),
        (["--pairs", "no.tsv"], "no.tsv cannot be read"),
        (["--garble", "no.txt"], "--garble no.txt is no file"),
        (["a", "--confusions", "no.txt"], "cannot be read"),
        ([""], "the text is empty"),
        (["--tune", "pairs.tsv", "--noise", "no/where/noise.json"], "is no folder"),
        (["--tune", "pairs.tsv", "--held-out", "pairs.tsv", "--weight", "1", "--noise", "n.json"], "leave out one"),
    ],
)
def test_refusals(run: Path, call: Commands, words: list[str], says: str):
    Path("pairs.tsv").write_text("a\tb\n", "utf-8")
    assert says in call.refused("correct", run, *words)
    assert not Path("n.json").exists()
