"""Groups of words from a file: `word<TAB>group` lines, or `: group` lines, each above the words of that group.

    cat<TAB>animal            : animal
    oak<TAB>tree              cat dog
                              : tree
                              oak

Blank lines are left out. A word is in one group.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from foresay.errors import UserError

ALLOWED = "word<TAB>group, or words under a line ': group'"


def read_groups(path: str | Path) -> dict[str, str]:
    """The group of each word of a file, in its order."""
    try:
        text = Path(path).read_text("utf-8-sig")
    except OSError as error:
        raise UserError(f"{path} cannot be read ({error.strerror}); give a file of {ALLOWED}") from None
    except UnicodeDecodeError as error:
        raise UserError(f"{path} is no UTF-8 at byte {error.start}; save it as UTF-8") from None
    found: dict[str, str] = {}
    lines: dict[str, int] = {}
    for line, word, group in _pairs(text, str(path)):
        if found.setdefault(word, group) != group:
            first = f"line {lines[word]} has it in {found[word]!r}"
            raise UserError(f"{path} line {line}: {word!r} is in {group!r}, but {first}; leave it in one group")
        lines.setdefault(word, line)
    if not found:
        raise UserError(f"{path} has no words; allowed: {ALLOWED}")
    return found


def _pairs(text: str, path: str) -> Iterator[tuple[int, str, str]]:
    """Each word with its line and group."""
    section = None
    for number, line in enumerate(text.splitlines(), 1):
        place = f"{path} line {number}"
        if "\t" in line:
            word, *rest = (field.strip() for field in line.split("\t"))
            if len(rest) != 1 or not word or not rest[0]:
                raise UserError(f"{place}: {line!r} is not one word, a tab and its group; allowed: {ALLOWED}")
            yield number, word, rest[0]
        elif line.startswith(":"):
            section = line[1:].strip()
            if not section:
                raise UserError(f"{place}: ':' without a group; allowed: {ALLOWED}")
        elif line.strip() and section is None:
            raise UserError(f"{place}: {line.strip()!r} has no group; allowed: {ALLOWED}")
        else:
            yield from ((number, word, str(section)) for word in line.split())
