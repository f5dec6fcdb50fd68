"""The section `begin` of a recipe: what it takes, and one line for what it does not."""

from __future__ import annotations

from typing import Any

import pytest

from foresay import recipe as recipes
from foresay.begin import Begin, read_begin
from foresay.errors import UserError


def test_read_and_saved() -> None:
    given = {"run": "runs/lm", "parts": {"encoder": "backwards"}, "frozen": ["embedding"], "tokens": False}
    begin = read_begin(given)
    assert begin == Begin("runs/lm", {"encoder": "backwards"}, ["embedding"], tokens=False) and not begin.takes_tokens
    raw = {"task": "language-model", "data": {"train": "a.txt"}, "begin": given}
    recipe = recipes.complete(raw)
    assert recipe.as_dict()["begin"] == given and recipes.complete(recipe.as_dict()).begin == begin
    assert "begin" not in recipes.complete(raw | {"begin": None}).as_dict()
    assert read_begin({"run": "a"}).takes_tokens and not read_begin({"frozen": ["a"]}).takes_tokens  # pyright: ignore


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("runs/lm", r"begin='runs/lm'; allowed: \{run: runs/lm, \.\.\.\} with run, parts, frozen, tokens"),
        ({"rum": "x"}, r"begin\.rum is no setting of begin; allowed: run, .*; did you mean 'run'\?"),
        ({"run": 3}, r"begin\.run=3; allowed: text"),
        ({"run": "x", "frozen": "embedding"}, r"begin\.frozen='embedding'; allowed: a list, each text"),
        ({"parts": ["encoder"]}, r"begin\.parts names parts of begin\.run, which is not given"),
        ({}, "begin takes nothing and holds nothing"),
    ],
)
def test_what_it_is_not(given: Any, said: str) -> None:
    with pytest.raises(UserError, match=said):
        read_begin(given)


def test_words_reach_it() -> None:
    raw, _ = recipes.override({"task": "language-model", "data": {"train": "a"}}, ["begin.run=x", "begin.frozen=[a]"])
    assert recipes.complete(raw).begin == Begin("x", frozen=["a"])
