"""Posteriors of tags and hidden states: their values are the models', their picture and their lines; refusals."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from foresay import start
from foresay.errors import UserError
from foresay.study import posteriors as study
from foresay.tag import Posteriors
from foresay.train.progress import Watch


@pytest.fixture(scope="module")
def hidden(tmp_path_factory: pytest.TempPathFactory) -> Any:
    folder = tmp_path_factory.mktemp("hidden")
    (folder / "t.txt").write_text("the cat sees a dog .\na dog sees the cat .\n" * 30)
    data = {"train": str(folder / "t.txt"), "unit": "line"}
    recipe = {"task": "hmm-lm", "states": 3, "passes": 5, "tokens": "blanks", "data": data}
    return start.train(recipe, out=folder / "run", device="cpu", watch=Watch())


def test_hidden_states_of_a_text(hidden):
    found = study.posteriors_of(hidden, "the cat sees")
    assert found.words == ["the", "cat", "sees"] and found.filtered.shape == found.smoothed.shape == (3, 3)
    ids = hidden.tokens.encode("the cat sees")
    known = hidden.model.first * hidden.model.emits[int(ids[0])]
    np.testing.assert_allclose(found.filtered[0], known / known.sum())
    np.testing.assert_allclose(found.filtered[-1], found.smoothed[-1])
    best = hidden.model.emits[:, 1].topk(3).indices.tolist()
    assert found.names[1] == "1: " + " ".join("⏎" if one == "\n" else one for one in hidden.tokens.pieces(best))


def test_lines_and_the_picture():
    names = ("a", "b", "never")
    filtered, smoothed = np.array([[0.9, 0.1, 0.0], [0.5, 0.495, 0.005]]), np.array([[0.2, 0.8, 0.0], [0.3, 0.7, 0.0]])
    found = Posteriors(["one", "two $x$"], names, filtered, smoothed)
    assert study.lines(found) == ["one\ta\t0.900\tb\t0.800", "two␣$x$\ta\t0.500\tb\t0.700"]
    picture = study.draw(found)
    one, other, _ = picture.axes
    assert [label.get_text() for label in one.get_yticklabels()] == ["a", "b"]  # what never reaches a share is left out
    assert [label.get_text() for label in other.get_xticklabels()] == ["one", "two␣$x$"]
    np.testing.assert_allclose(one.images[0].get_array(), filtered[:, :2].T)
    np.testing.assert_allclose(other.images[0].get_array(), smoothed[:, :2].T)
    assert other.get_xlabel() == "word" and one.get_ylabel() == "tag or state"
    with pytest.raises(UserError, match="the text has 65 tokens"):
        study.draw(Posteriors(["x"] * 65, names, np.ones((65, 3)), np.ones((65, 3))))


def test_on_the_command_line(hidden, call, tmp_path: Path):
    told = call("look", hidden.folder, "--posteriors", "the cat", "--out", tmp_path / "p.png")
    assert (tmp_path / "p.png").read_bytes()[:4] == b"\x89PNG" and len(told.out.splitlines()) == 2
    assert call.refused("look", hidden.folder, "--posteriors", " ") == "the text is empty; give a text with words"
    said = call.refused("look", hidden.folder, "--posteriors", "the", "--label", "x")
    assert said == "--label x without --text; it is for the words that moved a classifier"


def test_other_runs_are_refused(hidden, tmp_path: Path):
    recipe = {"task": "ngram", "order": 2, "tokens": "blanks", "data": hidden.recipe.as_dict()["data"]}
    run = start.train(recipe, out=tmp_path / "run", device="cpu", watch=Watch())
    with pytest.raises(UserError, match="knows no tags and no hidden states; allowed: a run of task tagger, hmm or"):
        study.posteriors_of(run, "the cat")
