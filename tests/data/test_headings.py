"""Headings: sections and paragraphs of a text by hand, paragraphs held out."""

from __future__ import annotations

import sys
from types import SimpleNamespace

import pytest

from foresay.data.headings import LEAST, MOST, headings, paragraphs, sections
from foresay.errors import UserError

TEXT = """before
The "pass" statement
********************

It does
nothing.

   pass_stmt ::= "pass"

Notes on it
===========

One.
"""


def test_sections_by_hand() -> None:
    found = list(sections(TEXT))
    assert [heading for heading, _ in found] == ["", 'The "pass" statement', "Notes on it"]
    assert found[0][1] == "before" and found[2][1].strip() == "One."
    assert found[1][1].strip().startswith("It does\nnothing.") and "***" not in found[1][1]


def test_paragraphs_are_prose_of_some_words() -> None:
    words = " ".join(["w"] * LEAST)
    assert list(paragraphs(f"{words}\n\n   {words}\n\nfew\n\na\n{words}\n")) == [words, f"a {words}"]
    assert list(paragraphs(" ".join(map(str, range(MOST + 9))))) == [" ".join(map(str, range(MOST)))]


def test_every_paragraph_stands_in_one_part() -> None:
    made = headings(1)
    sources = [text for pairs in made.values() for text, _ in pairs]
    assert len(set(sources)) == len(sources) > 300
    assert len(made["test"]) == len(made["valid"]) == len(sources) // 10 < len(made["train"]) // 7
    known = {heading for pairs in made.values() for _, heading in pairs}
    assert {'The "pass" statement', 'The "assert" statement'} < known and "" not in known
    assert headings(1) == made and headings(2)["test"] != made["test"]


def test_a_python_without_its_reference(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pydoc_data.topics", SimpleNamespace(topics={}))
    with pytest.raises(UserError, match="without its reference"):
        headings.__wrapped__(1)
