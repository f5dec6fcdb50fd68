"""Confusion sets from a file, such as look-alikes: a character a line, a comma or a tab, those it is confused with.

    天,夫大无
    未,末

A line without the character, or with nothing after it, as published files have some, says nothing. The part keeps the
sets, not the name of the file: they are saved with the noise.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from foresay.decode.correct.confusions import Confusions
from foresay.errors import UserError, reason
from foresay.parts import part

_LINE = re.compile(r"([^\s,]?)[,\t]([^\n]*)")


@part("confusions", "listed")
class Listed(Confusions):
    """Sets from a file of lines such as 未,末 (shapes, or any others), made symmetric."""

    def __init__(self, sets: list[str] | str):
        lines = _read(sets) if isinstance(sets, str) else sets
        self.lines = lines
        self.settings = {"sets": lines}
        self.pairs: dict[str, dict[str, None]] = {}
        for number, line in enumerate(lines, 1):
            unit, others = entry(line, number)
            for other in others if unit else ():
                self.pairs.setdefault(unit, {})[other] = self.pairs.setdefault(other, {})[unit] = None
        self.known: frozenset[str] = frozenset()

    def build(self, units: Sequence[str]) -> None:
        self.known = frozenset(units)

    def of(self, unit: str) -> Sequence[str]:
        return [other for other in self.pairs.get(unit, ()) if other in self.known and other != unit]


def _read(path: str) -> list[str]:
    try:
        text = Path(path).expanduser().read_text("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(
            f"confusions {path!r} cannot be read ({reason(error)}); give a UTF-8 file of sets, one a line"
        ) from None
    lines = [(i, line) for i, line in enumerate(text.splitlines(), 1) if line.strip()]
    for i, line in lines:
        entry(line, i, f" of {path}")  # here, where blank lines are still counted
    if not lines:
        raise UserError(f"confusions {path!r} is empty; give sets such as 未,末, one a line")
    return [line for _, line in lines]


def entry(line: str, number: int, where: str = "") -> tuple[str, list[str]]:
    """A character and those it is confused with."""
    found = _LINE.fullmatch(line)
    if found is None:
        shown = f"{line[:20]!r}{'...' * (len(line) > 20)}"
        raise UserError(
            f"line {number}{where} is {shown}; allowed: one character, a comma or a tab, and those confused with it, "
            "as in 未,末"
        )
    return found[1], list(dict.fromkeys(re.sub(r"\s", "", found[2])))
