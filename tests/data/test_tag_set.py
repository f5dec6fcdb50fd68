"""A set of tags: closed over its types of spans, numbered in order, saved and read."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import pytest

from foresay.data.spans import Scheme, first_broken
from foresay.data.tag_set import MOST, Met, TagSet, open_tags
from foresay.errors import UserError


def test_a_set_is_closed_over_its_types():
    assert TagSet.of(["I-x", "B-x"]) == TagSet(("O", "B-x", "I-x"), "bio")
    assert TagSet.of(["S-x"]).names == ("O", "B-x", "I-x", "E-x", "S-x") and TagSet.of(["S-x"]).scheme == "bioes"
    assert TagSet.of(["V", "N"]) == TagSet(("N", "V"), "none")
    assert TagSet.of(["B-x", "N"], "none").names == ("B-x", "N")


def test_numbers_are_places():
    tags = TagSet.of(["V", "N", "A"])
    assert tags.ids == {"A": 0, "N": 1, "V": 2} and len(tags) == 3


@pytest.mark.parametrize("scheme", ["none", "bio", "bioes"])
def test_what_is_met_keeps_to_a_scheme_where_every_sentence_does(scheme: Scheme):
    for sentence in product(["O", "B-x", "I-x", "E-x", "S-x", "I-y"], repeat=3):
        met = Met()
        met.add(["O"])
        met.add(sentence)
        assert met.keeps(scheme) == (first_broken(sentence, scheme) is None) and met.tags == {"O", *sentence}


def test_of_very_many_tags_neighbours_are_not_noted():
    met = Met()
    for n in range(MOST + 9):
        met.add([f"B-{n}"])
    assert met.keeps("none") and not met.keeps("bio") and len(met.pairs) == 2 * MOST and len(met.tags) == MOST + 9


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
