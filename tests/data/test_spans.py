"""Spans as tags: against seqeval on sequences of any tags, and written again in each scheme."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from seqeval.metrics.sequence_labeling import get_entities

from foresay.data.spans import (
    Span,
    broken,
    closed,
    first_broken,
    is_bilou,
    odd_among,
    rewritten,
    scheme_of,
    spans_of,
    written,
)

TAGS = ["O", *(f"{letter}-{kind}" for letter in "BIES" for kind in ("x", "creative-work"))]
any_tags = st.lists(st.sampled_from(TAGS), max_size=12)


@given(any_tags)
def test_spans_are_seqevals(tags):
    expected = [(kind, begin, end + 1) for kind, begin, end in get_entities(tags)]
    assert [tuple(span) for span in spans_of(tags)] == expected


@given(any_tags, st.sampled_from(["bio", "bioes"]))
def test_rewritten_tags_keep_the_spans_and_the_scheme(tags, scheme):
    mended = rewritten(tags, scheme)
    assert spans_of(mended) == spans_of(tags) and len(mended) == len(tags)
    assert first_broken(mended, scheme) is None
    assert {tag[0] for tag in mended} <= {"O", *({"bio": "BI", "bioes": "BIES"}[scheme])}
    assert rewritten(mended, scheme) == mended


@given(st.lists(st.sampled_from(["O", "B-x", "I-x", "B-y", "I-y"]), max_size=12))
def test_bio_is_broken_where_an_i_stands_alone(tags):
    alone = [n for n, tag in enumerate(tags) if tag[0] == "I" and (n == 0 or tags[n - 1] not in (f"B{tag[1:]}", tag))]
    assert first_broken(tags, "bio") == (alone[0] if alone else None) and list(broken(tags, "bio")) == alone


@given(any_tags)
def test_bioes_is_broken_where_rewriting_changes_something(tags):
    assert (first_broken(tags, "bioes") is None) == (rewritten(tags, "bioes") == tags)


@pytest.mark.parametrize(
    ("tags", "place"), [("B-x O", 0), ("O I-x", 1), ("B-x I-x", 1), ("S-x E-x", 1), ("B-x E-x S-x", None)]
)
def test_where_bioes_is_broken(tags, place):
    assert first_broken(tags.split(), "bioes") == place


def test_every_word_that_breaks_bioes():
    assert list(broken(["O", "I-x", "S-x", "B-x", "O", "E-x", "I-y", "O"], "bioes")) == [1, 1, 3, 5, 6, 6]


def test_written_by_hand():
    spans = [Span("x", 0, 1), Span("x", 1, 4), Span("y", 5, 7)]
    assert " ".join(written(spans, 8, "bio")) == "B-x B-x I-x I-x O B-y I-y O"
    assert " ".join(written(spans, 8, "bioes")) == "S-x B-x I-x E-x O B-y E-y O"
    assert rewritten(["I-x", "NOUN"], "none") == ["I-x", "NOUN"]


def test_sets():
    assert scheme_of(["O", "B-x", "I-y"]) == "bio" and scheme_of(["B-x", "S-x"]) == "bioes"
    assert scheme_of(["NOUN", "O"]) == scheme_of(["O"]) == scheme_of(["B-x", "NOUN"]) == scheme_of([]) == "none"
    assert closed(["B-y", "O", "B-x"], "bio") == ["O", "B-x", "I-x", "B-y", "I-y"]
    assert closed(["S-x"], "bioes") == ["O", "B-x", "I-x", "E-x", "S-x"]
    assert closed(["VERB", "NOUN", "VERB"], "none") == ["NOUN", "VERB"]


@pytest.mark.parametrize(
    ("tags", "odd", "bilou"),
    [
        ("O B-x 0", "0", False),
        ("O B-x I-x B_x I-", "B_x I-", False),
        ("O B-x N V", "", False),  # as many are none
        ("O N", "", False),
        ("B-x I-x L-x U-x O", "L-x U-x", True),
        ("B-x I-x O", "", False),
        ("U-x N", "", False),
    ],
)
def test_tags_that_keep_a_set_from_writing_spans(tags, odd, bilou):
    assert odd_among(tags.split()) == set(odd.split()) and is_bilou(tags.split()) == bilou
