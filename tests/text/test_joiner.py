"""Phrases joined in a stream of ids: what reading from left to right gives."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from foresay.text.joiner import END, FIRST, NEWLINE, UNKNOWN, Joiner

WORDS = list("abc")
PAIRS = [(a, b) for a in WORDS for b in WORDS]


def read(units: list[str], pairs: set[tuple[str, str]]) -> list[str]:
    """The same, one word at a time."""
    found, i = [], 0
    while i < len(units):
        if tuple(units[i : i + 2]) in pairs:
            found.append("_".join(units[i : i + 2]))
            i += 2
        else:
            found.append(units[i])
            i += 1
    return found


@given(
    text=st.lists(st.sampled_from([*WORDS, "\n", ""]), max_size=30),
    first=st.sets(st.sampled_from(PAIRS)),
    data=st.data(),
)
def test_it_is_what_reading_from_left_to_right_gives(text, first, data):
    joined = ["_".join(pair) for pair in sorted(first)]
    second = data.draw(st.sets(st.sampled_from([(a, b) for a in [*WORDS, *joined] for b in [*WORDS, *joined]])))
    joiner = Joiner(WORDS, [sorted(first), sorted(second)])
    ids = np.array([joiner.ids.get(word, NEWLINE if word else UNKNOWN) for word in text], np.int64)
    found = [joiner.words[i] for i in joiner.join(ids)]
    assert found == read(read(text, first), second)


def test_ids_and_parts():
    joiner = Joiner(["new", "york", "times"], [[("new", "york")], [("new_york", "times")]])
    assert (END, NEWLINE, UNKNOWN, FIRST) == (0, 1, 2, 3)
    assert joiner.ids == {"new": 3, "york": 4, "times": 5, "new_york": 6, "new_york_times": 7}
    assert [joiner.spread(unit) for unit in (3, 6, 7)] == [[3], [3, 4], [3, 4, 5]]
    assert joiner.spread(7, known={"new_york"}) == [6, 5] and joiner.spread(7, known={"new_york_times"}) == [7]
    assert joiner.join(np.array([3, 4, 5, 1, 3, 1, 4, 5, 3, 4])).tolist() == [7, 1, 3, 1, 4, 5, 6]
