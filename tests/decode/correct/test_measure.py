"""Counting by sentence, pairs from files, made mistakes."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foresay.decode.correct.garble import garble, sentences
from foresay.decode.correct.measure import Judged, measure, places, scores, wilson
from foresay.decode.correct.pairs import Pair, read_pairs
from foresay.errors import UserError
from tests.decode.correct.test_confusions import distance


def test_figures_by_hand():
    found = measure([
        Judged("abx", "abc", "abc"),  # mended
        Judged("abx", "abc", "abd"),  # found, not mended
        Judged("abx", "abc", "aac"),  # mended too much
        Judged("abx", "abc", "abx"),  # missed
        Judged("abc", "abc", "abc"),
        Judged("abc", "abc", "abd"),  # a false alarm
    ])  # fmt: skip
    assert found["sentences"] == 6 and found["wrong"] == 4 and found["changed"] == 4
    assert found["correction"] == {"hits": 1, "precision": 0.25, "recall": 0.25, "f1": 0.25}
    assert found["detection"]["hits"] == 2 and found["detection"]["f1"] == 0.5
    assert (found["false_alarms"], found["false_alarm_rate"]) == (1, 0.5)
    # single changes: x->c twice right of five made, four wanted
    assert found["changes"]["hits"] == 2 and found["changes"]["precision"] == 0.4 and found["changes"]["recall"] == 0.5
    assert "false alarm" in found["rule"]


def test_nothing_to_divide_by():
    assert measure([])["false_alarm_rate"] is None and scores(0, 0, 0)["f1"] == 0.0
    assert measure([Judged("a", "b", "b")])["false_alarm_rate"] is None
    assert wilson(0, 0) == (0.0, 1.0)
    low, high = wilson(5, 10)
    assert low == pytest.approx(0.2366, abs=1e-4) and high == pytest.approx(0.7634, abs=1e-4)


def test_places_of_texts_that_grow():
    assert places("abc", "axc") == {1} and places("abc", "abbc") == {2} and places("abc", "ac") == {1}
    assert Judged("ac", "abc", "abc").detected


def test_pairs_are_read(tmp_path):
    path = tmp_path / "pairs.tsv"
    path.write_text("teh\tthe\n\nit\tit\r\n", "utf-8")
    assert read_pairs([path, path]) == [Pair("teh", "the"), Pair("it", "it")] * 2


@pytest.mark.parametrize(
    "text, says",
    [
        ("a\tb\nc\n", "line 2 has 1 columns"),
        ("a\tb\tc\n", "line 1 has 3"),
        ("a\t\n", "an empty one"),
        ("\n", "no pairs"),
    ],
)
def test_bad_pairs(tmp_path, text, says):
    path = tmp_path / "pairs.tsv"
    path.write_text(text, "utf-8")
    with pytest.raises(UserError, match=says):
        read_pairs([path])
    with pytest.raises(UserError, match="cannot be read"):
        read_pairs(["none.tsv"])


TEXTS = sentences(["The cat sees the old dog . A bird ?", "It is the red house of the small river ! x", "no end here"])


def test_sentences_end_with_a_stop():
    assert TEXTS == ["The cat sees the old dog .", "It is the red house of the small river !"]


@given(st.integers(0, 10**6))
def test_one_edit_in_one_word(seed):
    found = garble(TEXTS, 2, seed)
    assert found == garble(TEXTS, 2, seed) and len(found) == 4
    for wrong, clean in zip(found[::2], found[1::2], strict=True):
        assert clean.wrong == clean.right == wrong.right
        other = [(a, b) for a, b in zip(wrong.wrong.split(), wrong.right.split(), strict=True) if a != b]
        assert len(other) == 1 and distance(*other[0]) == 1


def test_nothing_to_garble():
    with pytest.raises(UserError, match="no sentence"):
        garble(["1 2 3 ."], 3)
