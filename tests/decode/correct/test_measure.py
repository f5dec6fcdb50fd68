"""Counting by sentence."""

from __future__ import annotations

import pytest

from foresay.decode.correct.measure import Judged, measure, places, scores, wilson


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
    assert found["mended_interval"] == wilson(1, 4) and found["false_alarm_interval"] == wilson(1, 2)


def test_nothing_to_divide_by():
    assert measure([])["false_alarm_rate"] is None and scores(0, 0, 0)["f1"] == 0.0
    assert measure([Judged("a", "b", "b")])["false_alarm_rate"] is None
    assert wilson(0, 0) == (0.0, 1.0)
    low, high = wilson(5, 10)
    assert low == pytest.approx(0.2366, abs=1e-4) and high == pytest.approx(0.7634, abs=1e-4)


def test_places_of_texts_that_grow():
    assert places("abc", "axc") == {1} and places("abc", "abbc") == {2} and places("abc", "ac") == {1}
    assert Judged("ac", "abc", "abc").detected


def test_texts_of_equal_length_are_aligned():
    wrong, right = "th cat sees the ddog.", "the cat sees the dog."
    assert places(wrong, right) == {2, 16}
    assert measure([Judged(wrong, right, right)])["changes"] == {"hits": 2, "precision": 1, "recall": 1, "f1": 1}
    half = measure([Judged("ba", "ab", "bb")])["changes"]  # of two exchanged, one place is mended
    assert (half["hits"], half["recall"]) == (1, 0.5)
