"""A set of tags: closed over its types of spans, numbered in order, saved and read."""

from __future__ import annotations

from pathlib import Path

import pytest

from foresay.data.tag_set import TagSet, open_tags
from foresay.errors import UserError


def test_a_set_is_closed_over_its_types():
    assert TagSet.of(["I-x", "B-x"]) == TagSet(("O", "B-x", "I-x"), "bio")
    assert TagSet.of(["S-x"]).names == ("O", "B-x", "I-x", "E-x", "S-x") and TagSet.of(["S-x"]).scheme == "bioes"
    assert TagSet.of(["V", "N"]) == TagSet(("N", "V"), "none")
    assert TagSet.of(["B-x", "N"], "none").names == ("B-x", "N")


def test_numbers_are_places():
    tags = TagSet.of(["V", "N", "A"])
    assert tags.ids == {"A": 0, "N": 1, "V": 2} and len(tags) == 3


def test_saved_and_read():
    tags = TagSet.of(["B-ü", "O"])
    tags.save(Path())
    assert open_tags(Path()) == tags and "ü" in Path("tags.json").read_text("utf-8")


@pytest.mark.parametrize("text", ["{}", "[", '{"tags": [], "scheme": "bio"}', '{"tags": ["O"], "scheme": "x"}'])
def test_damage_is_told(text):
    Path("tags.json").write_text(text)
    with pytest.raises(UserError, match=r"^tags.json is damaged or of another program; prepare or train anew$"):
        open_tags(Path())


def test_a_missing_one_is_told():
    with pytest.raises(UserError, match=r"^tags.json is missing; copy it back"):
        open_tags(Path())
