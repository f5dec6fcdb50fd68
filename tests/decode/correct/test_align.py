"""Alignments: as few edits as Damerau's distance says, and they do make the one of the other."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from foresay.decode.correct.align import Edit, align, joined
from tests.decode.correct.test_edits import distance

TEXT = st.text("abc", max_size=7)


@given(TEXT, TEXT)
def test_the_fewest_edits(a, b):
    found = align(a, b)
    assert len(found) == distance(a, b)
    made, at = "", 0
    for one in found:
        made, at = made + a[at : one.low] + b[one.begin : one.end], one.high
        assert len(made) == one.end
    assert made + a[at:] == b


@given(TEXT, TEXT)
def test_joined_stretches_make_it_too(a, b):
    made, at = "", 0
    for one in joined(align(a, b)):
        made, at = made + a[at : one.low] + b[one.begin : one.end], one.high
    assert made + a[at:] == b


@given(st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from("abc")), max_size=7))
def test_replacing_where_that_is_as_cheap(places):
    a, b = ("".join(side) for side in (zip(*places, strict=True) if places else ("", "")))
    other = [i for i in range(len(a)) if a[i] != b[i]]
    if distance(a, b) == len(other):
        assert [(one.low, one.high) for one in align(a, b) if not one.is_swap] == [(i, i + 1) for i in other]


def test_two_edits_far_apart_are_two():
    assert align("th cat sees the ddog.", "the cat sees the dog.") == [Edit(2, 2, 2, 3), Edit(16, 17, 17, 17)]
    assert align("teh cat", "the cat") == [Edit(1, 3, 1, 3)]
    assert joined(align(["thecat", "x"], ["the", "cat", "y"])) == [Edit(0, 2, 0, 3)]
