"""The set of tags a tagger knows: their names in the order of their ids, and how they write spans; `tags.json`."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from foresay.data.spans import OUTSIDE, PREFIXES, Scheme, closed, follows, scheme_of
from foresay.errors import UserError

FILE = "tags.json"
MOST = 256  # different tags up to which neighbours are noted: sets of spans are smaller


@dataclass(frozen=True)
class TagSet:
    """Names by id, and the scheme of spans, `none` where they are no spans."""

    names: tuple[str, ...]
    scheme: Scheme

    @staticmethod
    def of(tags: Iterable[str], scheme: Scheme | None = None) -> TagSet:
        """The set of some tags, closed: of spans, every tag that their types can have."""
        given = set(tags)
        found = scheme_of(given) if scheme is None else scheme
        return TagSet(tuple(closed(given, found)), found)

    @cached_property
    def ids(self) -> dict[str, int]:
        return {name: number for number, name in enumerate(self.names)}

    @cached_property
    def follows(self) -> list[list[bool]]:
        """Which tag (column) may stand after which (row); the last row is the beginning, the last column the end."""
        rows, columns = [*self.names, OUTSIDE], [*self.names, OUTSIDE]
        return [[follows(before, after, self.scheme) for after in columns] for before in rows]

    def __len__(self) -> int:
        return len(self.names)

    def save(self, folder: Path) -> None:
        text = json.dumps({"scheme": self.scheme, "tags": self.names}, ensure_ascii=False, indent=1)
        (folder / FILE).write_text(text + "\n", encoding="utf-8")


class Met:
    """The tags of a text, and which stand side by side in it: enough to tell that no sentence breaks a scheme."""

    def __init__(self):
        self.tags, self.pairs = set[str](), set[tuple[str, str]]()

    def add(self, tags: Sequence[str]) -> None:
        """Notes a sentence."""
        self.tags.update(tags)
        if len(self.tags) <= MOST:
            self.pairs.update(zip([OUTSIDE, *tags], [*tags, OUTSIDE], strict=True))

    def keeps(self, scheme: Scheme) -> bool:
        """Whether every sentence keeps to a scheme; of more than `MOST` tags nobody knows."""
        if scheme == "none":
            return True
        return len(self.tags) <= MOST and all(follows(before, after, scheme) for before, after in self.pairs)


def open_tags(folder: Path) -> TagSet:
    """What `save` wrote."""
    path = folder / FILE
    try:
        about = json.loads(path.read_text(encoding="utf-8"))
        names, scheme = tuple(map(str, about["tags"])), about["scheme"]
        if scheme not in PREFIXES or not names:
            raise ValueError
    except FileNotFoundError:
        raise UserError(f"{path} is missing; copy it back, or prepare or train anew") from None
    except (OSError, ValueError, KeyError, TypeError):
        raise UserError(f"{path} is damaged or of another program; prepare or train anew") from None
    return TagSet(names, scheme)
