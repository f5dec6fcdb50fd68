"""What is served by which name, and what can be asked of it."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from foresay.errors import UserError
from foresay.serve.served import open_all
from foresay.vectors.word_vectors import WordVectors


def test_names_are_those_of_the_folders(trained: Path, tmp_path: Path) -> None:
    assert list(open_all([trained, write_vectors(tmp_path)], "cpu").all) == ["tiny", "v.vec"]
    other = tmp_path / "b" / "tiny"
    shutil.copytree(trained, other)
    assert list(open_all([trained, other], "cpu").all) == [str(trained), str(other)]


def write_vectors(folder: Path) -> Path:
    WordVectors(["king", "man"], [[1.0, 0.0], [0.6, 0.8]]).save(folder / "v.vec")
    return folder / "v.vec"


def test_what_cannot_be_served(trained: Path, tmp_path: Path) -> None:
    with pytest.raises(UserError, match="no run is given"):
        open_all([])
    with pytest.raises(UserError, match="is given twice"):
        open_all([trained, trained / ".." / "tiny"])
    with pytest.raises(UserError, match="nothing"):
        open_all([tmp_path / "nothing"])


def test_ways_and_refusals(trained: Path, tmp_path: Path) -> None:
    shelf = open_all([trained, write_vectors(tmp_path)], "cpu")
    run, vectors = shelf.all.values()
    assert run.ways == ("complete", "score", "correct") and vectors.ways == ("near", "analogy")
    assert run.about() == {"task": "language-model", "can": list(run.ways), "labels": []}
    assert list(shelf.writers()) == ["tiny"]
    with pytest.raises(
        UserError, match=r"v.vec is of task word-vectors and cannot score; allowed of it: /v1/words/near"
    ):
        vectors.must("score")
    with pytest.raises(UserError, match=r"model='tine'; allowed: tiny, v.vec; did you mean 'tiny'\?"):
        shelf.find("tine")
