"""Words on a plane, ready to be drawn."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from foresay.errors import UserError
from foresay.study.visible import visible

# Okabe and Ito's colours, which people who confuse red and green can tell apart; after the last one the mark changes
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#8C6D31")
MARKS = ("circle", "square", "diamond", "triangle-up", "cross")
REST, GREY, INK = "#9A9A9A", "#5A5A5A", "#262626"
OTHER = "other"


@dataclass(frozen=True)
class Look:
    """How the words of one group are drawn."""

    colour: str
    mark: str


@dataclass(frozen=True)
class Map:
    """N words and where they lie; `missing` were asked for and have no vector."""

    words: list[str]
    points: np.ndarray  # (N, 2)
    counts: np.ndarray | None  # (N,) where they are known
    groups: Mapping[str, str] | None  # word -> group, where words are coloured by group
    title: str
    note: str  # how the points were found
    missing: list[str]
    by_frequency: bool = False

    def looks(self) -> dict[str, tuple[Look, list[int]]]:
        """Each group with its look and its words' places, in the order they were given; ungrouped words last."""
        groups = self.groups or {}
        places: dict[str, list[int]] = {group: [] for group in groups.values()}
        for place, word in enumerate(self.words):
            if word in groups:
                places[groups[word]].append(place)
        places = {group: own for group, own in places.items() if own}
        rest = [place for place, word in enumerate(self.words) if word not in groups]
        most = len(COLOURS) * len(MARKS)
        if len(places) > most:
            raise UserError(f"{len(places)} groups; allowed: {most} at most, or colours repeat: join some")
        found = {
            group: (Look(COLOURS[i % len(COLOURS)], MARKS[i // len(COLOURS)]), own)
            for i, (group, own) in enumerate(places.items())
        }
        if rest:
            found[OTHER if OTHER not in found else "in no group"] = Look(REST, MARKS[0]), rest
        return found

    def by_importance(self) -> np.ndarray:
        """The places of the words, those whose labels come first: grouped ones, then the most frequent."""
        groups = self.groups
        last = np.array([groups is not None and word not in groups for word in self.words])
        return np.lexsort((last,) if self.counts is None else (-self.counts, last))


def shown(name: str) -> str:
    """A word or a group's name on a map: on one line, not too long, blanks as they are."""
    return visible(name, 24).replace("␣", " ")


def darker(colour: str) -> str:
    """A colour with so much black that it can be read on white."""
    return "#" + "".join(f"{int(int(colour[i : i + 2], 16) * 0.62):02X}" for i in (1, 3, 5))
