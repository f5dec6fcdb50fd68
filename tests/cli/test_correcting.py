"""`correct` from the command line: texts, tuning, measuring, and every refusal."""

from __future__ import annotations

import json
import os
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


@pytest.mark.parametrize("seed", [1, 2, 3])
@pytest.mark.parametrize("chain", ["informed", "gibbs", "metropolis"])
def test_every_chain_mends_a_word(run: Path, call: Commands, chain: str, seed: int):
    found = call("correct", run, "teh cat sees a tree .", "--chain", chain, "--seed", seed)
    assert found.out.startswith("[the] cat sees a tree .\n")


def test_tune_then_use(run: Path, call: Commands, tmp_path: Path):
    pairs, noise = run.parent / "pairs.tsv", tmp_path / "noise.json"
    told = call("correct", run, "--tune", pairs, "--held-out", pairs, "--limit", 3, "--noise", noise, "--json")
    found = json.loads(told.out)
    assert found["unit"] == "word" and found["pairs"] == 16 and len(found["tried"]) == 15 and noise.is_file()
    assert found["rates"]["delete"] > 0
    spelt = call("correct", run, "--tune", pairs, "--held-out", pairs, "--limit", 2, "--noise", noise, "--force")
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
    line = call.refused("correct", run, "a cat", "--with", run, "--mix", "1")
    assert line == "--mix 1 with 2 runs; allowed: a share for each, or leave it out"


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
        (["a", "--weight", "nan"], "--weight nan"),
        (["a", "--caution", "-1000"], "--caution -1000.0; allowed: -100 to 100 nats"),
        (["a", "--caution", "nan"], "--caution nan"),
        (["a", "--mix", "nan,nan"], "--mix nan,nan; allowed: numbers"),
        (["a", "--limit", "3"], "--limit with TEXT; it is for --pairs"),
        (["a", "--alarms", "0.2"], "--alarms with TEXT; it is for --held-out"),
        (["--pairs", "pairs.tsv", "--number", "2"], "--number with --pairs; it is for a text"),
        (["--pairs", "pairs.tsv", "--alarms", "0.2"], "--alarms with --pairs; it is for --held-out"),
        (["--garble", "pairs.tsv", "--number", "2"], "--number with --garble"),
        (["--tune", "pairs.tsv", "--noise", "n.json", "--limit", "3"], "--limit with --tune"),
        (["--tune", "pairs.tsv", "--noise", "n.json", "--number", "3"], "--number with --tune"),
        (["--tune", "pairs.tsv", "--noise", "n.json", "--restarts", "3"], "--restarts with --tune"),
        (["--tune", "pairs.tsv", "--noise", "n.json", "--chain", "gibbs"], "--chain with --tune"),
        (["--tune", "pairs.tsv", "--noise", "."], "--noise . is a folder; give a file"),
        (["--tune", "pairs.tsv", "--held-out", "pairs.tsv", "--caution", "1", "--noise", "n.json"], "leave out one"),
        (["a", "--mix", "x"], "--mix x; allowed: numbers"),
        (["a", "--mix", "0.5,0.5"], "--mix 0.5,0.5 is for several runs: give --with RUN, or leave it out"),
        (["a", "--noise", "no.json"], "no.json cannot be read (No such file or directory); write one: foresay correct"),
        (["--pairs", "no.tsv"], "no.tsv cannot be read (No such file or directory); give a UTF-8 file of pairs"),
        (["--garble", "no.txt"], "--garble no.txt is no file"),
        (["a", "--confusions", "no.txt"], "'no.txt' cannot be read (No such file or directory); give a UTF-8 file"),
        ([""], "the text is empty"),
        (["--tune", "pairs.tsv", "--noise", "no/where/noise.json"], "is no folder"),
        (["--tune", "pairs.tsv", "--held-out", "pairs.tsv", "--weight", "1", "--noise", "n.json"], "leave out one"),
    ],
)
def test_refusals(run: Path, call: Commands, words: list[str], says: str):
    Path("pairs.tsv").write_text("a\tb\n", "utf-8")
    assert says in call.refused("correct", run, *words)
    assert not Path("n.json").exists()


def test_a_place_that_cannot_be_written_to(run: Path, call: Commands, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("foresay.cli.correcting.os.access", lambda place, mode, **rest: mode != os.W_OK)
    assert "nothing can be written to" in call.refused("correct", run, "--tune", "pairs.tsv", "--noise", "n.json")


def test_nothing_is_written_over_unasked(run: Path, call: Commands, tmp_path: Path):
    pairs, noise = tmp_path / "p.tsv", tmp_path / "noise.json"
    pairs.write_text("a cat\tthe cat\n", "utf-8")
    noise.write_text("mine", "utf-8")
    line = call.refused("correct", run, "--tune", pairs, "--noise", noise)
    assert line == f"{noise} exists; allowed: a new place: give another --noise, or --force to write over it"
    assert noise.read_text("utf-8") == "mine"
    tune = ("correct", run, "--tune", run.parent / "pairs.tsv")
    other = tmp_path / "." / "x" / ".." / "p.tsv"
    (tmp_path / "x").mkdir()
    for words in (["--held-out", pairs], ["--tune", pairs], ["--confusions", pairs]):
        line = call.refused(*tune, *words, "--noise", other, "--force")
        assert "is a file that is learnt from; give another place to write to" in line
    assert pairs.read_text("utf-8") == "a cat\tthe cat\n"
    assert call(*tune, "--noise", noise, "--force").code == 0 and json.loads(noise.read_text("utf-8"))


def test_lines_that_cannot_be_corrected_stay(run: Path, call: Commands, tmp_path: Path):
    text = "the cat sees a tree .\n\n日本語\nteh dog sees a fox .\n" + "a " * 501 + "\n"
    (tmp_path / "text.txt").write_text(text, "utf-8")
    for found, name in [
        (call("correct", run, "-", given=text.encode()), "standard input"),
        (call("correct", run, tmp_path / "text.txt"), str(tmp_path / "text.txt")),
    ]:
        shown = [line for line in found.out.splitlines() if not line.startswith("  -log P")]
        assert found.code == 0
        assert shown == ["the cat sees a tree .", "", "日本語", "[the] dog sees a fox .", "a " * 501]
        first, second = found.error.splitlines()
        assert first.startswith(f"{name} line 3 stays as it is: the run knows nothing in '日本語'")
        assert second.startswith(f"{name} line 5 stays as it is: the text has 501 units")
    piped = call("correct", run, "-", "--json", given=text.encode()).out.splitlines()
    assert len(piped) == 5 and json.loads(piped[1])["text"] == "" and "empty" in json.loads(piped[1])["note"]


def test_a_misspelt_word_alone(run: Path, call: Commands):
    assert call("correct", run, "teh").out.startswith("[the]\n")
    assert "knows nothing" in call.refused("correct", run, "日本語")


def test_pairs_that_cannot_be_corrected_are_named(run: Path, call: Commands, tmp_path: Path):
    pairs, noise = tmp_path / "odd.tsv", tmp_path / "noise.json"
    pairs.write_text("the cat ses a tree .\tthe cat sees a tree .\n\n日本\t日本語\nteh cat\tthe cat sees\n", "utf-8")
    measured = call("correct", run, "--pairs", pairs)
    assert measured.code == 0 and "sentences    3, of them wrong 3, changed 2" in measured.out
    assert f"{pairs} line 3 counts as unchanged: the run knows nothing" in measured.error
    assert "mended       33.33 % (95 % interval 6.15 to 79.23) of the wrong sentences" in measured.out
    tuned = call("correct", run, "--tune", pairs, "--held-out", pairs, "--noise", noise)
    assert tuned.code == 0 and f"{pairs} line 3 counts as unchanged" in tuned.error
    assert "1 of 3 pairs have more words on one side" in tuned.error and "from 2 pairs" in tuned.error


def test_a_noise_of_words_is_not_for_characters(run: Path, call: Commands, tmp_path: Path):
    noise = tmp_path / "noise.json"
    call("correct", run, "--tune", run.parent / "pairs.tsv", "--noise", noise)
    noise.write_text(noise.read_text("utf-8").replace('"word"', '"character"'), "utf-8")
    assert "a noise model of characters and a run by words" in call.refused("correct", run, "teh", "--noise", noise)
