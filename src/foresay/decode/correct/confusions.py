"""What is easily taken for what: sets of units (characters, or words) that stand for each other by mistake.

A set is symmetric: where a may be written for b, b may be written for a. `build` is told the units that a language
model knows; `of(unit)` is those that the unit is confused with, itself not among them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from foresay.parts import Part


class Confusions(Part):
    """One reason to confuse: a sound, a shape, a key, a spelling."""

    part_kind = "confusions"
    settings: dict[str, object]

    def build(self, units: Sequence[str]) -> None:
        raise AssertionError(f"{type(self).__name__} has no build")

    def of(self, unit: str) -> Sequence[str]:
        """The units that this one is confused with, each once, in a fixed order."""
        raise AssertionError(f"{type(self).__name__} has no of")


def grouped(keys: Iterable[tuple[str, Sequence[str]]]) -> dict[str, list[str]]:
    """Units by key, from (unit, its keys)."""
    found: dict[str, list[str]] = {}
    for unit, own in keys:
        for key in own:
            found.setdefault(key, []).append(unit)
    return found
