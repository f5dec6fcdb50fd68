"""Libraries that give words: another version is refused."""

import json
from importlib import metadata

import pytest

from foresay import loading
from foresay.errors import UserError
from foresay.text.library import versions
from foresay.text.saved import open_tokens
from foresay.text.stem import Snowball
from foresay.text.words import Words


@pytest.fixture
def folder(tmp_path):
    tokens = Words(stem="snowball")
    tokens.learn(["running apples"])
    tokens.save(tmp_path)
    return tmp_path


def test_versions_are_saved(folder):
    installed = metadata.version("snowballstemmer")
    assert versions([Snowball()]) == {"snowballstemmer": installed}
    assert json.loads((folder / "text.json").read_text())["versions"] == {"snowballstemmer": installed}


@pytest.mark.parametrize(
    ("saved", "message"),
    [
        ({"snowballstemmer": "1.0"}, r"made with snowballstemmer 1\.0, but .* install snowballstemmer==1\.0"),
        ({}, "does not say which snowballstemmer it was made with; prepare or train anew"),
    ],
)
def test_another_version_is_refused(folder, saved, message):
    path = folder / "text.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"versions": saved}))
    with pytest.raises(UserError, match=message):
        open_tokens(folder)


def test_a_library_that_is_not_there_says_how_to_get_it(folder, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "snowballstemmer", None)
    with pytest.raises(UserError, match=r"stem snowball needs the library snowballstemmer .*foresay\[words\]"):
        open_tokens(folder)


def test_a_library_that_is_not_there_is_no_damage_of_the_recipe(folder, monkeypatch):
    recipe = {"task": "ngram", "data": {"train": "x.txt"}, "tokens": {"kind": "words", "stem": "snowball"}}
    (folder / "recipe.yaml").write_text(json.dumps(recipe))
    assert (
        loading._recipe_of(folder, False).tokens.encode("runs").tolist() == open_tokens(folder).encode("runs").tolist()
    )
    monkeypatch.setitem(__import__("sys").modules, "snowballstemmer", None)
    with pytest.raises(UserError, match=r"^stem snowball needs the library snowballstemmer .*foresay\[words\]"):
        loading._recipe_of(folder, False)
