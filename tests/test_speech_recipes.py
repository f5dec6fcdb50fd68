"""The recipes of speech reach a floor: cut to a third of their steps they know notes, and find one.

Each takes a few seconds, most of them to make the notes' frames: that they learn at all is what these recipes are for.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from foresay import recipe as recipes
from foresay import start
from foresay.train.progress import Watch


def trained(name: str, folder: Path) -> start.Run:
    words = ["train.steps=100", "train.evaluate.every=100", "train.evaluate.tokens=4000"]
    return start.train(name, words, out=folder / "run", device="cpu", watch=Watch())


def test_notes_are_written_down(tmp_path: Path) -> None:
    found = trained("speech-tones", tmp_path).evaluate(split="test")
    assert found.error_rate < 0.15 and found.exact > 0.5 and found.recordings == 240


def test_a_note_is_found(tmp_path: Path) -> None:
    found = trained("keyword-tones", tmp_path).evaluate(split="test")
    assert found.accuracy > 0.85 and found.most_frequent == 0.5


@pytest.mark.parametrize("name", ["speech-digits", "keyword-digits"])
def test_recipes_of_digits_are_whole(name: str) -> None:
    recipe = recipes.complete(recipes.read(name))
    assert recipe.data.train == "fsdd" and recipe.data.read.hop == 0.016
