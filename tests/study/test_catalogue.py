"""What `foresay list` knows: every part, recipe and text, for people and for programs."""

from __future__ import annotations

import json

from foresay import parts, recipe
from foresay.data.builtin import list_data
from foresay.study import catalogue


def test_every_part_is_listed():
    entries = catalogue.parts()
    listed = [(entry["kind"], entry["name"]) for entry in entries]
    assert listed == [(kind, name) for kind in parts.HOMES for name in parts.names(kind)]
    assert len(listed) > 30
    assert all(entry["about"] for entry in entries)


def test_every_recipe_and_text_is_listed():
    assert [entry["name"] for entry in catalogue.recipes()] == list(recipe.built_in())
    assert [entry | {"kind": "data"} for entry in list_data()] == catalogue.data()


def test_programs_can_read_it():
    for entries in (catalogue.parts(), catalogue.recipes(), catalogue.data()):
        assert json.loads(json.dumps(entries)) == entries


def settings(kind: str, name: str) -> dict[str, dict]:
    (entry,) = [entry for entry in catalogue.parts() if (entry["kind"], entry["name"]) == (kind, name)]
    return {setting.pop("name"): setting for setting in entry["settings"]}


def test_settings_with_type_and_default():
    lookup = settings("embedding", "lookup")
    assert lookup["size"] == {"type": "an integer > 0", "default": 256, "required": False}
    assert lookup["dropout"] == {"type": "a number >= 0 and < 1", "default": 0.0, "required": False}
    assert lookup["pretrained"] == {"type": "text or null", "default": None, "required": False}
    assert settings("encoder", "recurrent")["cell"]["type"] == "a part of kind cell"
    assert settings("data", "text")["train"] == {"type": "text or a list, each text", "default": None, "required": True}


def test_groups_are_spelt_out():
    train = settings("train", "loop")
    assert train["evaluate.every"] == {"type": "an integer > 0", "default": 200, "required": False}
    assert "evaluate" not in train and "save.keep" in train


def test_a_listed_setting_can_be_given():
    """Its dotted name with its default, as an override."""
    raw = recipe.read("lstm")
    for name, setting in settings("train", "loop").items():
        assert recipe.complete(recipe.override(raw, [f"train.{name}={json.dumps(setting['default'])}"])[0])


def test_as_text():
    text = catalogue.spelt(catalogue.parts())
    blocks = text.split("\n\n")
    assert [block.split("\n")[0] for block in blocks] == list(parts.HOMES)
    cells = next(block for block in blocks if block.startswith("cell\n"))
    assert "\n  lstm: Long short-term memory" in cells
    assert "\n      forget_bias: a number; default 1.0" in cells
    assert "\n      train: text or a list, each text; needed" in text
    assert catalogue.spelt([]) == ""


def test_a_text_with_where_to_get_it(monkeypatch):
    monkeypatch.setenv("FORESAY_DATA", "/nowhere")
    lines = catalogue.spelt(catalogue.data()).split("\n")
    at = lines.index("  text8: " + next(one["about"] for one in list_data() if one["name"] == "text8"))
    assert lines[at + 1 : at + 3] == [
        "      get it: mattmahoney.net/dc/text8.zip",
        "      looked for in /nowhere/text8: not there",
    ]
