"""Pairs from files."""

from __future__ import annotations

import pytest

from foresay.decode.correct.pairs import Pair, read_pairs
from foresay.errors import UserError


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
