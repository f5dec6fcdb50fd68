"""Files that are plainly no text to learn from: told by what they begin with, and what a folder does with them."""

from __future__ import annotations

import gzip
import io
import json
import shutil
import struct
from pathlib import Path

import numpy as np
import pytest

from foresay.data.corpus import Corpus
from foresay.data.no_corpus import LOOK, no_corpus
from foresay.data.scan import scan
from foresay.data.source import Reading, Source
from foresay.vectors.word_vectors import WordVectors
from tests.commands import Commands

ARPA = b"\\data\\\nngram 1=3\n\n\\1-grams:\n-1\t<s>\n-1\t</s>\n-1\tthe\n\n\\end\\\n"
RECIPE = b"# mine\ntask: language-model\ndata:\n  train: a.txt\nencoder: {kind: recurrent, size: 8}\n"
TEXTS = [
    rb"The header \data\ of an ARPA file is followed by ngram 1=3.",
    b"5 7\nfive and seven are two numbers on a line\n",
    b"3 2\na 1 2\nb 3 4\nc 5 6\n",  # rows of a riddle as much as vectors
    b"2 8\n1 2 3 4 5 6 7 8\n1 2 3 4 5 6 7\n",
    b"task: wash up\nThen we went home.\n",
    b"task: ngram\n",
    b"task: wash up\ndate: today\n",
    b"NUMPY is a library",
    b"",
    b"4 300\n" + "Übermäßig späte Gäste".encode("latin-1") * 100,
]


def vectors(path: Path, width: int = 6) -> bytes:
    rows = np.random.default_rng(1).normal(size=(4, width)).astype("f4")
    WordVectors(["the", "cat", "naïve", "sees"], rows).save(path)
    return path.read_bytes()


def array() -> bytes:
    file = io.BytesIO()
    np.save(file, np.arange(5))
    return file.getvalue()


def tensors() -> bytes:
    head = json.dumps({"a": {"dtype": "U8", "shape": [1], "data_offsets": [0, 1]}}).encode()
    return struct.pack("<Q", len(head)) + head + b"\1"


@pytest.fixture
def strangers(tmp_path: Path) -> dict[str, tuple[bytes, str]]:
    """Files by name: what they hold, and what is said of them."""
    return {
        "x.arpa": (ARPA, "is a table of n-grams (ARPA), no text; give the text that it was counted from"),
        "head.lm": (b"written by me\n" + ARPA, "is a table of n-grams (ARPA)"),
        "marked.txt": (b"\xef\xbb\xbf\r\n" + ARPA.replace(b"\n", b"\r\n"), "is a table of n-grams (ARPA)"),
        "x.vec": (vectors(tmp_path / "made.vec", 2), "holds vectors of words (word2vec), no text"),
        "x.txt": (vectors(tmp_path / "made.txt"), "holds vectors of words (word2vec), no text"),
        "x.bin": (vectors(tmp_path / "made.bin"), "holds vectors of words (word2vec), no text"),
        "x.npy": (array(), "holds an array of numbers (NumPy), no text"),
        "x.safetensors": (tensors(), "holds the weights of a model (safetensors), no text"),
        "x.rec": (RECIPE, "holds a recipe; name it *.yaml to train by it"),
    }


def test_each_is_told_by_what_it_begins_with(strangers: dict[str, tuple[bytes, str]]) -> None:
    for name, (content, told) in strangers.items():
        found = no_corpus(content[:LOOK], name)
        assert found is not None and told in found, name


@pytest.mark.parametrize("content", TEXTS)
def test_texts_that_only_speak_of_them(content: bytes) -> None:
    assert no_corpus(content, "a.txt") is None


def test_each_is_refused_and_nothing_is_written(call: Commands, strangers: dict[str, tuple[bytes, str]]) -> None:
    for name, (content, told) in strangers.items():
        for path, written in ((Path(name), content), (Path(f"{name}.gz"), gzip.compress(content))):
            path.write_bytes(written)
            line = call.refused("train", path, "train.steps=2", "--out", "run", "--device", "cpu")
            assert line.startswith(f"{path} {told}") and not Path("run").exists(), line
    assert "x.arpa is a table of n-grams" in call.refused("train", "lstm", "data.train=x.arpa", "--out", "run")
    assert "x.arpa is a table of n-grams" in call.refused("prepare", "x.arpa", "--encoding", "latin-1")


def test_who_wants_the_table_itself_says_so(tmp_path: Path) -> None:
    path = tmp_path / "x.arpa"
    path.write_bytes(ARPA)
    assert scan(Source("x.arpa", path)).problem is not None
    assert scan(Source("x.arpa", path, read=Reading(format="text"))).problem is None


def test_a_folder_leaves_them_out(tmp_path: Path, strangers: dict[str, tuple[bytes, str]]) -> None:
    for name, (content, _) in strangers.items():
        (tmp_path / "mixed").mkdir(exist_ok=True)
        (tmp_path / "mixed" / name).write_bytes(content)
    (tmp_path / "mixed" / "a.txt").write_text("the cat sees a dog\n" * 20)
    found = Corpus(train=str(tmp_path / "mixed")).find()["train"]
    assert [source.name for source, _ in found.sources] == [str(tmp_path / "mixed" / "a.txt")]
    assert len(found.skipped) == len(strangers)


def test_the_folder_of_a_run_is_no_text(call: Commands, trained: Path) -> None:
    shutil.copytree(trained, "lstm-1")  # its name is near that of a recipe
    line = call.refused("train", "lstm-1", "--out", "run")
    assert line == (
        "data.train='lstm-1' is the folder of a run, no text; to go on with it: foresay train --resume lstm-1, to "
        "train anew by its recipe: foresay train lstm-1/recipe.yaml"
    )
    assert not Path("run").exists()
    assert call.refused("eval", trained, "--data", "lstm-1").startswith("data='lstm-1' is the folder of a run, no text")
