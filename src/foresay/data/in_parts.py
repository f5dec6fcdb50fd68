"""Made rows cut into the parts of a corpus."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeVar

Row = TypeVar("Row")


def in_parts(rows: Sequence[Row], sizes: Mapping[str, int]) -> dict[str, list[Row]]:
    """The first rows are those of the first part, and so on."""
    parts, begin = {}, 0
    for name, size in sizes.items():
        parts[name], begin = list(rows[begin : begin + size]), begin + size
    return parts
