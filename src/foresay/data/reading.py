"""Stretches -> blocks of text of about 1 MiB, cut where no token can cross; never a whole file in memory."""

from __future__ import annotations

import codecs
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import BinaryIO

from foresay.data.source import BLOCK
from foresay.data.split import Stretch
from foresay.errors import UserError


@dataclass(frozen=True)
class Block:
    """Texts read together. As documents: one text, and `last` says whether its document ends with it."""

    texts: list[str]
    last: bool
    characters: int  # of the text; a line counts its newline
    bytes: int
    read: int  # bytes of the source, for progress


def documents(stretches: Iterable[Stretch], cuts_anywhere: bool, block: int = BLOCK) -> Iterator[Block]:
    """Each stretch is one document, in blocks cut after a newline or, when it may be, after any character."""
    for stretch in stretches:
        done = stretch.start
        for text, size in _texts(stretch, cuts_anywhere, block):
            done += size
            yield Block([text], done == stretch.stop, len(text), size, size)


def lines(stretches: Iterable[Stretch], block: int = BLOCK) -> Iterator[Block]:
    """Each line that is not empty is one document, without its newline."""
    for stretch in stretches:
        number = 0
        for text, size in _texts(stretch, False, block):
            found = text.removesuffix("\n").split("\n")
            if stretch.choice is not None:
                chosen = stretch.choice.chosen(number, len(found)).tolist()
                number += len(found)
                found = [line for line, keep in zip(found, chosen, strict=True) if keep]
            found = [line.removesuffix("\r") for line in found]
            found = [line for line in found if line and not line.isspace()]
            joined = "\n".join([*found, ""])
            yield Block(found, True, len(joined), len(joined.encode("utf-8")), size)


def _texts(stretch: Stretch, cuts_anywhere: bool, block: int) -> Iterator[tuple[str, int]]:
    """Texts and their sizes in bytes; a line longer than a block makes its block longer."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    left = stretch.stop - stretch.start
    held: list[bytes] = []  # read, but not yet followed by a newline
    with _opened(stretch) as file:
        while left:
            content = file.read(min(block, left))
            if not content:
                raise UserError(f"{stretch.source.name} became shorter while it was read; run again when it is at rest")
            left -= len(content)
            cut = len(content) if left == 0 or cuts_anywhere else content.rfind(b"\n") + 1
            if cut == 0:
                held.append(content)
                continue
            whole = b"".join([*held, content[:cut]])
            held = [content[cut:]] if cut < len(content) else []
            try:
                text = decoder.decode(whole, final=left == 0)
            except UnicodeDecodeError:
                raise UserError(
                    f"{stretch.source.name} changed while it was read; run again when it is at rest"
                ) from None
            yield text, len(whole)


@contextmanager
def _opened(stretch: Stretch) -> Iterator[BinaryIO]:
    """The source at the stretch's beginning; what goes wrong with it is told as the source's fault."""
    try:
        with stretch.source.open() as file:
            file.seek(stretch.start)
            yield file
    except OSError as error:
        raise UserError(f"{stretch.source.name} cannot be read: {error.strerror or error}; check the file") from None
