"""Made rows cut into parts."""

from foresay.data.in_parts import in_parts


def test_parts_follow_each_other_and_share_no_row():
    assert in_parts("abcdef", {"test": 1, "valid": 2, "train": 3}) == {
        "test": ["a"],
        "valid": ["b", "c"],
        "train": ["d", "e", "f"],
    }
