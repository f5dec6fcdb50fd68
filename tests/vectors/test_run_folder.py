"""The vectors of a run: words by falling count, mapped where they lie in order, and every way a run can be broken."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import foresay
from foresay.errors import UserError
from foresay.text.tokens import SPECIALS
from foresay.vectors.spelling import Spelling
from foresay.vectors.word_vectors import WordVectors
from tests.vectors.made import COUNTS, WIDTH, WORDS, run_folder, tensors

FIRST = len(SPECIALS)


def is_mapped(array: np.ndarray | None) -> bool:
    while array is not None and not isinstance(array, np.memmap):
        array = array.base  # pyright: ignore[reportAssignmentType]
    return array is not None


def test_words_counts_and_vectors(tmp_path: Path) -> None:
    found = tensors()
    vectors = WordVectors.load(run_folder(tmp_path / "run", found))
    assert vectors.words == WORDS and vectors.counts is not None and vectors.counts.tolist() == COUNTS
    assert np.array_equal(vectors.matrix, found["vectors"][FIRST:]) and is_mapped(vectors.matrix)
    assert vectors.spelling is None
    assert WordVectors.load(tmp_path / "run", 2).words == WORDS[:2]


def test_words_that_were_never_seen_are_left_out(tmp_path: Path) -> None:
    counts = np.array([0, 9, 0, 0, 0, 90, 40, 30, 0, 0], np.int64)
    vectors = WordVectors.load(run_folder(tmp_path / "run", tensors(counts=counts)))
    assert vectors.words == WORDS[:3] and is_mapped(vectors.matrix)
    assert "<unk>" not in vectors and "sat" not in vectors


def test_words_stand_by_falling_count(tmp_path: Path) -> None:
    counts = np.array([0, 9, 0, 0, 0, 10, 40, 0, 40, 90], np.int64)
    vectors = WordVectors.load(run_folder(tmp_path / "run", tensors(counts=counts)))
    assert vectors.words == ["ran", "cat", "sat", "the"]
    assert vectors.matrix[:, 0].tolist() == [9, 6, 8, 5]  # each word has kept its row
    assert vectors.counts is not None and vectors.counts.tolist() == [90, 40, 40, 10]


def test_output_vectors_and_both(tmp_path: Path) -> None:
    found, folder = tensors(), tmp_path / "run"
    run_folder(folder, found)
    assert np.array_equal(WordVectors.load(folder, which="output").matrix, -found["vectors"][FIRST:])
    both = WordVectors.load(folder, which="both")
    assert both.width == 2 * WIDTH and np.array_equal(both["cat"][WIDTH:], -both["cat"][:WIDTH])


def test_a_tree_has_no_output_vectors(tmp_path: Path) -> None:
    found = tensors()
    run_folder(tmp_path / "tree", found | {"outputs": found["outputs"][:-1]})
    with pytest.raises(UserError, match=r"9 output vectors for 10 symbols \(of a tree\); allowed: which=input"):
        WordVectors.load(tmp_path / "tree", which="output")
    del found["outputs"]
    run_folder(tmp_path / "none", found)
    with pytest.raises(UserError, match="keeps no output vectors; allowed: which=input"):
        WordVectors.load(tmp_path / "none", which="both")


def test_character_ngrams(tmp_path: Path) -> None:
    table = np.random.default_rng(2).normal(size=(30, WIDTH)).astype(np.float32)
    recipe = "task: word-vectors\nspelling: {shortest: 2, longest: 4, buckets: 30}\n"
    run_folder(tmp_path / "run", tensors(pieces=table), recipe)
    vectors = WordVectors.load(tmp_path / "run")
    expected = Spelling(2, 4, table).vector("cats")
    assert expected is not None and np.array_equal(vectors["cats"], expected)
    assert WordVectors.load(tmp_path / "run", which="both").spelling is None
    run_folder(tmp_path / "run", tensors(pieces=table), recipe.replace("30", "31"))
    with pytest.raises(UserError, match=r"has 30 n-grams, and .*recipe.yaml 31"):
        WordVectors.load(tmp_path / "run")
    run_folder(tmp_path / "run", tensors(pieces=table))
    with pytest.raises(UserError, match=r"recipe.yaml says nothing of the n-grams \(spelling\)"):
        WordVectors.load(tmp_path / "run")


def test_what_is_no_run_of_word_vectors(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    run_folder(folder, tensors(), task="ngram")
    with pytest.raises(
        UserError, match="run is a ngram; allowed: a run of task word-vectors or language-model, or a f"
    ):
        WordVectors.load(folder)
    run_folder(folder, tensors(), task="language-model")
    with pytest.raises(UserError, match="run is a language-model that keeps no input vectors; allowed: which=input"):
        WordVectors.load(folder)
    (folder / "config.json").write_text("{")
    with pytest.raises(UserError, match=r"config.json is damaged or not of Foresay"):
        WordVectors.load(folder)
    run_folder(folder, tensors(), sha256={})
    with pytest.raises(UserError, match="is not finished; train it to its end: foresay train --resume"):
        WordVectors.load(folder)


def test_the_table_of_a_language_model(trained: Path) -> None:
    """In the order of its vocabulary, without the marks."""
    run, vectors = foresay.load(trained, "cpu"), WordVectors.load(trained)
    assert vectors.words == run.tokens.pieces(range(5, len(run.tokens))) and vectors.counts is None
    assert np.array_equal(vectors["t"], run.model.embedding.table[run.tokens.encode("t")[0]].detach().numpy())
    with pytest.raises(UserError, match="keeps no output vectors; allowed: which=input"):
        WordVectors.load(trained, which="output")


def test_a_broken_run(tmp_path: Path) -> None:
    folder = run_folder(tmp_path / "run", tensors())
    text = (folder / "tokenizer.json").read_text()
    (folder / "tokenizer.json").write_text(text.replace('"cat"', '"cot"'))
    with pytest.raises(UserError, match=r"tokenizer.json is damaged: its SHA-256"):
        WordVectors.load(folder)
    (folder / "tokenizer.json").unlink()
    with pytest.raises(UserError, match=r"tokenizer.json is missing; copy it back"):
        WordVectors.load(folder)
    run_folder(folder, tensors(words=4))
    with pytest.raises(UserError, match=r"is not of this run: 10 symbols, but vectors \(9, 4\), counts \(9,\)"):
        WordVectors.load(folder)
    run_folder(folder, tensors(counts=np.zeros(10, np.int64)))
    with pytest.raises(UserError, match="knows no word that its text holds"):
        WordVectors.load(folder)
    (folder / "model.safetensors").write_bytes(b"")
    with pytest.raises(UserError, match=r"model.safetensors byte 0: a header of 0 bytes"):
        WordVectors.load(folder)


def test_no_torch_is_loaded(tmp_path: Path) -> None:
    run_folder(tmp_path / "run", tensors())
    code = "import sys, foresay; print(foresay.WordVectors.load('run').words[0], 'torch' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["the", "False"]
    assert json.loads((tmp_path / "run" / "config.json").read_text())["task"] == "word-vectors"


@pytest.mark.parametrize("which", ["input", "output", "both"])
def test_a_run_that_diverged(tmp_path: Path, which: Any) -> None:
    found = tensors()
    found["vectors"][FIRST + 1, 2] = np.nan
    found["outputs"] = -found["vectors"]
    folder = run_folder(tmp_path / "run", found)
    line = "run holds vectors that are no numbers: its training diverged; train again, with a lower lr$"
    with pytest.raises(UserError, match=line):
        WordVectors.load(folder, which=which)
    run_folder(folder, {"embedding.table": found["vectors"]}, task="language-model")
    if which == "input":
        with pytest.raises(UserError, match=r"its training diverged; train again, with a lower train\.lr$"):
            WordVectors.load(folder)


def test_n_grams_that_diverged(tmp_path: Path) -> None:
    recipe = "spelling: {shortest: 3, longest: 6, buckets: 2}\n"
    pieces = np.full((2, WIDTH), np.inf, np.float32)
    with pytest.raises(UserError, match="run holds vectors that are no numbers: its training diverged"):
        WordVectors.load(run_folder(tmp_path / "run", tensors(pieces=pieces), recipe))


def test_pieces_are_no_words(tmp_path: Path) -> None:
    Path("text.txt").write_text("the king and the queen\nthe queen and the king\n" * 40)
    small = ["train.steps=1", "encoder.size=8", "encoder.heads=2", "encoder.layers=1", "embedding.size=8"]
    foresay.train("transformer", ["data.train=text.txt", "data.unit=line", *small], out=tmp_path / "run")
    vectors = WordVectors.load(tmp_path / "run")
    assert " king" in vectors and "king" not in vectors
    line = rf"'king' has no vector; allowed: the [0-9,]+ pieces \(tokens=subwords\) of {tmp_path}/run; did you mean ' "
    with pytest.raises(KeyError, match=line):
        vectors.near("king")
