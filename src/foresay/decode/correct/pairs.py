"""Pairs of texts from a TSV file, `wrong TAB right` a line; where both are equal nothing is wrong."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from foresay.errors import UserError, reason


@dataclass(frozen=True)
class Pair:
    """What was observed and what was meant."""

    wrong: str
    right: str


def read_pairs(paths: Sequence[str | Path]) -> list[Pair]:
    """The pairs of all files, in order."""
    return [pair for _, pair in placed_pairs(paths)]


def placed_pairs(paths: Sequence[str | Path]) -> list[tuple[str, Pair]]:
    """The same, each with where it stands: `FILE line 3`."""
    return [one for path in paths for one in _read(Path(path).expanduser())]


def _read(path: Path) -> list[tuple[str, Pair]]:
    try:
        text = path.read_text("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(
            f"{path} cannot be read ({reason(error)}); give a UTF-8 file of pairs: wrong TAB right a line"
        ) from None
    found = []
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        columns = line.rstrip("\r").split("\t")
        if len(columns) != 2 or not all(map(str.strip, columns)):
            raise UserError(
                f"{path} line {number} has {len(columns)} columns{' and an empty one' if len(columns) == 2 else ''}; "
                "allowed: two, wrong TAB right: mend the line"
            )
        found.append((f"{path} line {number}", Pair(*columns)))
    if not found:
        raise UserError(f"{path} has no pairs; give wrong TAB right, one a line")
    return found
