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
    assert run.ways == ("complete", "score", "correct") and vectors.ways == ("near", "analogy", "embed")
    assert run.about() == {"task": "language-model", "can": list(run.ways), "labels": []}
    assert list(shelf.writers()) == ["tiny"]
    with pytest.raises(
        UserError, match=r"v.vec is of task word-vectors and cannot score texts; allowed of it: /v1/words/near"
    ):
        vectors.must("score")
    with pytest.raises(UserError, match=r"model='tine'; allowed: tiny, v.vec; did you mean 'tiny'\?"):
        shelf.find("tine")


def test_runs_that_nothing_can_be_asked_of_say_what_uses_them(tmp_path: Path) -> None:
    """Of a picture a client could only give the path of a file on the server, which is no matter of theirs."""
    from foresay import start
    from foresay.train.progress import Watch
    from tests.striped import LEVELS, striped

    data, train = {"kind": "images", "train": striped(tmp_path / "x.npy")}, {"steps": 1}
    named = {"task": "classifier", "tokens": LEVELS, "data": data, "embedding": {"size": 4}}
    how = {"encoder": {"kind": "recurrent", "size": 4}, "train": train | {"batches": "labels"}}
    start.train(named | how, out=tmp_path / "named", device="cpu", watch=Watch())
    (tmp_path / "x.labels.txt").write_text("ab\n" * 60)
    captions = {"kind": "captions", "train": str(tmp_path / "x.npy"), "read": {"height": 4}}
    how = {
        "task": "seq2seq",
        "data": captions | {"source_tokens": {"kind": "levels", "number": 2}},
        "tokens": "characters",
        "embedding": {"size": 4},
        "encoder": {"kind": "shrunk", "by": 4, "how": "join", "encoder": {"kind": "recurrent", "size": 4}},
        "writer": {"kind": "recurrent", "size": 4},
        "train": train | {"batches": {"kind": "pairs", "tokens": 200}},
    }
    start.train(how, out=tmp_path / "written", device="cpu", watch=Watch())
    for served, data, command in zip(
        open_all([tmp_path / "named", tmp_path / "written"], "cpu").all.values(),
        ("images of 4 x 3 pixels", "pictures with texts"),
        ("foresay predict", "foresay generate"),
        strict=True,
    ):
        about = served.about()
        assert about["can"] == [] and about["data"] == data and about["command"] == command
        said = f"{served.name} is of {data} and cannot complete texts; nothing can be asked of it here: use {command}; "
        with pytest.raises(UserError, match=said):
            served.must("complete")
