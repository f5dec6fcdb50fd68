"""What is said of settings that a model has no use for."""

from __future__ import annotations

import pytest

from foresay import recipe as recipes
from foresay.checks import unused


@pytest.mark.parametrize(
    ("name", "words", "minutes", "told"),
    [
        ("lstm", ["train.lr=0.1"], 5.0, []),
        ("kneser-ney", ["order=3", "train.batches.rows=4"], 5.0, []),  # measured in rows; given minutes by `compare`
        (
            "kneser-ney",
            ["train.lr=0.1"],
            None,
            ["warning: train.lr=0.1 changes nothing: task=ngram is not trained in steps but as a whole: leave it out"],
        ),
        (
            "skipgram",
            ["train.steps=20", "size=4"],
            0.5,
            [
                "warning: train.steps=20 changes nothing: task=word-vectors is not trained in steps but in epochs, at "
                "its own lr: set epochs and lr",
                "warning: minutes=0.5 changes nothing: task=word-vectors is not trained in steps but in epochs, at "
                "its own lr: set epochs and lr",
            ],
        ),
    ],
)
def test_what_changes_nothing_is_told(name, words, minutes, told):
    recipe = recipes.complete(recipes.override(recipes.read(name), words)[0])
    assert list(unused(recipe, words, minutes)) == told
