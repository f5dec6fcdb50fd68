"""Rows that are made here: by kind, refused by name, and read as any other."""

from __future__ import annotations

import pytest

from foresay import parts
from foresay.data.chunks import chunks
from foresay.data.made import MADE, kind_of, made_rows
from foresay.data.tags import Tags
from foresay.errors import UserError


def test_a_name_has_one_kind() -> None:
    names = [name for made in MADE.values() for name in made]
    assert len(set(names)) == len(names)
    assert kind_of("builtin:chunks") == "tags" and kind_of("builtin:negation") == "labels"
    assert kind_of("builtin:python-reference") is None


def test_another_kind_is_refused() -> None:
    with pytest.raises(UserError, match=r"builtin:chunk has no tags; allowed: builtin:chunks, .*mean 'builtin:chunks'"):
        made_rows("tags", "builtin:chunk", 1)
    with pytest.raises(UserError, match="builtin:negation has no tags; allowed: builtin:chunks, builtin:proteins"):
        parts.make("data", {"kind": "tags", "train": "builtin:negation"}).find(1)


def test_made_tags_bring_all_parts() -> None:
    found = Tags("builtin:chunks").find(1)
    first = next(iter(found["test"]))
    assert (first.words, first.tags) == chunks(1)["test"][0] and first.lines == [1] * len(first.words)
    assert found["valid"].name == "builtin:chunks (valid)" and len(list(found["valid"])) == 400
