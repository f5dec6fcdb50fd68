"""What is said of settings that a model has no use for."""

from __future__ import annotations

import pytest

from foresay import recipe as recipes
from foresay.checks import check_together, unused
from foresay.errors import UserError


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


@pytest.mark.parametrize(
    ("name", "words", "told"),
    [
        (
            "kneser-ney",
            [],
            "task=ngram in 8 processes; it is fitted as a whole, on all cores of one: start one process",
        ),
        ("skipgram", [], "task=word-vectors in 8 processes"),
        (
            "lstm",
            ["train.batch=6"],
            "train.batches.rows=6 in 8 processes, and each keeps rows of its own; raise it to 8",
        ),
        ("lstm", ['data.train="-"'], "data.train=- in 8 processes, and a pipe is read by one; write it to a file"),
        (
            "transformer",
            ["train.parallel=fsdp", "train.compute.compile=true"],
            "train.compute.compile=true with train.compute.parallel=fsdp is not supported; leave it out",
        ),
        (
            "transformer",
            ["train.parallel=fsdp", "train.precision=float16"],
            "train.precision=float16 with train.compute.parallel=fsdp is not supported; set train.precision=bfloat16",
        ),
    ],
)
def test_what_processes_cannot_train_together(name: str, words: list[str], told: str) -> None:
    recipe = recipes.complete(recipes.override(recipes.read(name), words)[0])
    with pytest.raises(UserError, match=told):
        check_together(recipe, 8)


@pytest.mark.parametrize("words", [[], ["train.parallel=fsdp"], ["train.batches=buckets"]])
def test_what_they_can(words: list[str]) -> None:
    check_together(recipes.complete(recipes.override(recipes.read("lstm"), words)[0]), 8)
