"""Paragraphs of the Python reference -> the heading of their section: titles from text, nothing to download.

    The pass statement is a null operation: when it is executed, nothing ... -> The "pass" statement

A section is what stands between two underlined headings. Its paragraphs are the sources, one by one; code and grammar,
which are indented, and paragraphs of under `LEAST` words are left out. Every paragraph counts once, for topics repeat
each other. The seed holds out paragraphs; others of the same section may be trained on, for a heading that was never
seen is not learnt from so few (docs/log.md).
"""

from __future__ import annotations

import functools
import random
import re
from collections.abc import Iterator

from foresay.errors import UserError

LEAST, MOST = 8, 60  # words of a paragraph; the rest is cut off
SHARE = 10  # one paragraph of so many is valid, and one test
_LINE = re.compile(r"([*=\-~^\"])\1+")


def sections(text: str) -> Iterator[tuple[str, str]]:
    """The sections of a text: heading and what stands under it, up to the next heading of any rank."""
    heading, body = "", list[str]()
    lines = text.split("\n")
    for line, below in zip(lines, [*lines[1:], ""], strict=True):
        if line.strip() and len(below) >= len(line) and _LINE.fullmatch(below):
            yield heading, "\n".join(body)
            heading, body = line.strip(), []
        elif not _LINE.fullmatch(line):
            body.append(line)
    yield heading, "\n".join(body)


def paragraphs(body: str) -> Iterator[str]:
    """The paragraphs of prose, each on one line and at most `MOST` words long."""
    for paragraph in re.split(r"\n\s*\n", body):
        words = paragraph.split()
        if len(words) >= LEAST and not paragraph.lstrip("\n").startswith(" "):
            yield " ".join(words[:MOST])


@functools.lru_cache(maxsize=2)
def headings(seed: int) -> dict[str, list[tuple[str, str]]]:
    """Train, valid and test of a seed."""
    from pydoc_data.topics import topics

    found: dict[str, str] = {}  # paragraph -> heading
    for name in sorted(topics):
        for heading, body in sections(topics[name]):
            for paragraph in paragraphs(body) if heading else ():
                found.setdefault(paragraph, heading)
    held = len(found) // SHARE
    if not held:
        raise UserError(
            "this Python comes without its reference (pydoc_data.topics); install a whole one, or give pairs"
        )
    pairs = list(found.items())
    random.Random(f"headings {seed}").shuffle(pairs)
    return {"test": pairs[:held], "valid": pairs[held : 2 * held], "train": pairs[2 * held :]}
