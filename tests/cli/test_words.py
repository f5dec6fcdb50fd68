"""`foresay words` from the command line: a file made by hand, a run, and mistakes."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from foresay.vectors.word_vectors import WordVectors
from tests.commands import Commands
from tests.vectors.made import run_folder, tensors

WORDS = ["king", "man", "woman", "queen", "apple"]
MATRIX = [[2, 2, 0], [0, 3, 0], [0, -3, 0], [1, -1, 0.1], [0, 0, 5]]


@pytest.fixture
def vectors() -> WordVectors:
    found = WordVectors(WORDS, MATRIX)
    found.save("v.vec")
    return found


@pytest.mark.usefixtures("vectors")
def test_near(call: Commands) -> None:
    called = call("words", "v.vec", "near", "man", "--number", 2)
    assert called.out == "  0.7071  king\n  0.0000  apple\n" and called.code == 0
    assert call("words", "v.vec", "near", "man", "king", "--number", 1).out.splitlines() == [
        "man",
        "  0.7071  king",
        "king",
        "  0.7071  man",
    ]
    (found,) = json.loads(call("words", "v.vec", "near", "man", "--json", "--most", 2).out)
    assert found == {"word": "man", "near": [{"word": "king", "score": pytest.approx(0.5**0.5)}]}


@pytest.mark.usefixtures("vectors")
def test_analogy(call: Commands) -> None:
    assert call("words", "v.vec", "analogy", "man", "king", "woman").out.split()[1] == "queen"
    asked = ("analogy", "man", "king", "woman", "--method", "multiply", "--number", 1, "--json")
    found = json.loads(call("words", "v.vec", *asked).out)
    assert found["question"] == ["man", "king", "woman"] and found["answers"][0]["word"] == "queen"
    assert call("words", "v.vec", "analogy", "man", "king", "woman", "--among", 3).out == ""
    assert "method='mul'; allowed: add, multiply" in call.refused(
        "words", "v.vec", "analogy", "man", "king", "woman", "--method", "mul"
    )


def test_odd_and_similarity(call: Commands, vectors: WordVectors) -> None:
    assert call("words", "v.vec", "odd", "king", "man", "apple").out == "apple\n"
    assert json.loads(call("words", "v.vec", "odd", "king", "man", "apple", "--json").out)["odd"] == "apple"
    assert call("words", "v.vec", "similarity", "king", "man").out == "cosine    0.7071\ndistance  2.2361\n"
    found = json.loads(call("words", "v.vec", "similarity", "king", "man", "--json").out)
    assert found["distance"] == vectors.distance("king", "man")


@pytest.mark.usefixtures("vectors")
def test_eval(call: Commands) -> None:
    Path("q.txt").write_text(": family\nman king woman queen\nman king woman apple\nman king woman frog\n")
    Path("r.tsv").write_text("king\tman\t9\nking\tqueen\t5\nking\twoman\t2\nking\tfrog\t3\n")
    lines = call("words", "v.vec", "eval", "q.txt", "r.tsv").out.splitlines()
    assert [line for line in lines if line.startswith(("q", "r"))] == [
        "q.txt: share of right answers, method add",
        "q.txt: share of right answers, method multiply",
        "r.tsv: Spearman, of 4 pairs (Pearson 0.9966)",
    ]
    assert lines[1].split() == "family 2 of 3 covered 0.5000 (0.0945 to 0.9055)".split()  # noqa: SIM905
    assert lines[-3].startswith("  all") and "3 of      4 covered  1.0000" in lines[-3]
    add, ratings = json.loads(call("words", "v.vec", "eval", "q.txt", "r.tsv", "--method", "add", "--json").out)
    assert add["total"]["accuracy"] == 0.5 and add["among"] is None
    assert ratings["spearman"] == 1.0 and ratings["coverage"] == 0.75
    (few,) = json.loads(call("words", "v.vec", "eval", "q.txt", "--method", "add", "--among", 4, "--json").out)
    assert few["total"]["covered"] == 1
    assert "among the first 4 words" in call("words", "v.vec", "eval", "q.txt", "--among", 4).out


@pytest.mark.usefixtures("vectors")
def test_mistakes(call: Commands) -> None:
    assert "the word 'kink' has no vector" in call.refused("words", "v.vec", "near", "kink")
    assert "none.vec is missing" in call.refused("words", "none.vec", "near", "king")
    assert "none.txt is missing; give a file of questions" in call.refused("words", "v.vec", "eval", "none.txt")
    assert "No such command 'neer'" in call.refused("words", "v.vec", "neer", "king")
    assert "Missing argument" in call.refused("words", "v.vec", "analogy", "king", "man")
    assert "which='in'; allowed" in call.refused("words", "v.vec", "near", "king", "--which", "in")


def test_a_run(call: Commands, tmp_path: Path) -> None:
    run_folder(tmp_path / "run", tensors())
    vectors = WordVectors.load("run", which="both")
    found = json.loads(call("words", "run", "near", "cat", "--which", "both", "--json").out)
    assert [one["word"] for one in found[0]["near"]] == [word for word, _ in vectors.near("cat")]


def test_map(call: Commands, vectors: WordVectors, tmp_path: Path) -> None:
    called = call("words", "v.vec", "map", *vectors.words[:4], "--out", "m.svg", "--method", "pca")
    assert called.code == 0 and called.error == "m.svg is written\n"
    assert "<svg" in (tmp_path / "m.svg").read_text()
    (tmp_path / "groups").write_text("".join(f"{word}\tgroup{n % 2}\n" for n, word in enumerate(vectors.words)))
    told = call("words", "v.vec", "map", "--method", "pca", "--colour", "groups", "--json")
    assert json.loads(told.out) == {"picture": "v-map.png", "words": 5, "missing": []}
    assert (tmp_path / "v-map.png").exists()
    assert "allowed: a name that ends in .png, .svg, .html" in call.refused(
        "words", "v.vec", "map", "--out", "m.pdf", "--method", "pca"
    )
    refused = call.refused("words", "v.vec", "map", "--colour", "none", "--method", "pca", "--force")
    assert "none cannot be read" in refused


def test_a_map_is_not_written_over_and_says_what_it_lacks(call: Commands, vectors: WordVectors, tmp_path: Path) -> None:
    (tmp_path / "v-map.png").write_text("mine")
    lines = [f"{word}\tg\n" for word in [*vectors.words, "frog", "newt"]]
    (tmp_path / "groups").write_text("".join(lines))
    asked = ("words", "v.vec", "map", "--method", "pca", "--colour", "groups")
    assert call.refused(*asked).startswith("v-map.png exists; allowed: a new place")
    assert (tmp_path / "v-map.png").read_text() == "mine"
    said = call(*asked, "--force").error.splitlines()
    assert said == ["2 words have no vector and are not drawn, such as 'frog'", "v-map.png is written"]
    assert json.loads(call(*asked, "--force", "--json").out)["missing"] == ["frog", "newt"]


@pytest.mark.parametrize(
    ("to", "name"),
    [
        ("word2vec", "run.vec"),
        ("word2vec-binary", "run.bin"),
        ("glove", "run.glove.txt"),
        ("safetensors", "run.safetensors"),
    ],
)
def test_export(call: Commands, tmp_path: Path, to: str, name: str) -> None:
    run_folder(tmp_path / "run", tensors())
    called = call("export", "run", "--to", to)
    assert called.code == 0 and called.error == f"{name} is written\n"
    assert np.array_equal(WordVectors.load(name).matrix, WordVectors.load("run").matrix)
    assert call("export", "run", "--to", to, "--out", "o.x", "--which", "output").code == 0
    assert np.array_equal(WordVectors.load("o.x").matrix, WordVectors.load("run", which="output").matrix)


def test_an_export_lies_beside_its_run_and_writes_over_nothing(call: Commands, tmp_path: Path) -> None:
    (tmp_path / "runs").mkdir()
    run_folder(tmp_path / "runs" / "my", tensors())
    (tmp_path / "my.txt").write_text("my text")
    assert call("export", "runs/my", "--to", "word2vec").error == "runs/my.vec is written\n"
    for place in ("runs/my.vec", "my.txt"):
        kept = (tmp_path / place).read_bytes()
        refused = call.refused("export", "runs/my", "--to", "word2vec", "--out", place)
        assert refused == f"{place} exists; allowed: a new place: give another --out, or --force to write over it"
        assert (tmp_path / place).read_bytes() == kept
    assert call("export", "runs/my", "--to", "glove", "--out", "my.txt", "--force").code == 0
    assert WordVectors.load("my.txt").words == WordVectors.load("runs/my").words
    assert call.refused("export", "runs/my", "--to", "word2vec", "--out", "runs", "--force") == (
        "runs is a folder; word2vec is one file: give --out runs/my.vec"
    )
    assert call.refused("export", "runs/my", "--to", "projector", "--out", "runs").startswith("runs exists")


def test_a_missing_folder_is_told_before_the_work(call: Commands, tmp_path: Path) -> None:
    """Of a place that was given; where it would lie beside a run that is not there, the run is missing."""
    line = "no is no folder; make it first, or give another --out"
    assert call.refused("words", "gone.vec", "map", "--out", "no/m.png") == line
    assert call.refused("export", "gone", "--to", "word2vec", "--out", "no/o.vec") == line
    assert call.refused("words", "no/v.vec", "map").startswith("no/v.vec is missing")
    assert call.refused("export", "runs/no", "--to", "word2vec").startswith("runs/no is missing")
    run_folder(tmp_path / "run", tensors())
    assert call("export", "run", "--to", "projector", "--out", "new/folder").code == 0  # which makes its own


def test_export_for_the_projector(call: Commands, tmp_path: Path) -> None:
    run_folder(tmp_path / "run", tensors())
    assert call("export", "run", "--to", "projector").code == 0
    assert (tmp_path / "run-projector" / "metadata.tsv").read_text().startswith("word\tcount\nthe\t90\n")
