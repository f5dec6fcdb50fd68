"""Stretches -> blocks of text of about 1 MiB, cut where no token can cross; never a whole file in memory."""

from __future__ import annotations

import codecs
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace

from foresay.data.compressed import Damaged, NotText
from foresay.data.duplicates import Seen
from foresay.data.source import BLOCK, Stream
from foresay.data.split import Stretch
from foresay.errors import UserError
from foresay.text.tokens import Cuts

LONGEST_LINE = 2**24  # bytes; such a line is held in memory with all its tokens


@dataclass(frozen=True)
class Block:
    """Texts read together. Of a plain document: one text, and `last` says whether the document ends with it."""

    texts: list[str]
    last: bool
    characters: int  # of the texts; a line counts its newline
    bytes: int
    read: int  # bytes of the source, for progress
    whole: bool = True  # each text is a whole line or document
    repeated: int = 0  # texts that were seen before


def documents(stretches: Iterable[Stretch], cuts: Cuts, block: int = BLOCK) -> Iterator[Block]:
    """A plain stretch is one document, in blocks cut after a newline or, where they may be, elsewhere.

    Of a table each row is a document, and a block has as many as fit.
    """
    for stretch in stretches:
        if stretch.source.has_records:
            yield from _rows(stretch, block)
            continue
        done = stretch.start
        for text, size in _texts(stretch, None if cuts == "anywhere" else b"\n", block, blanks=cuts == "at blanks"):
            done += size
            yield Block([text], done == stretch.stop, len(text), size, size, whole=False)


def lines(stretches: Iterable[Stretch], block: int = BLOCK) -> Iterator[Block]:
    """Each line is one document, without its newline; blank ones are left out, or kept as empty ones."""
    for stretch in stretches:
        number = 0
        for text, size in _texts(stretch, b"\0" if stretch.source.has_records else b"\n", block):
            if stretch.source.has_records:
                text = text.replace("\0", "\n")
            every = text.removesuffix("\n").split("\n")
            found = [line.removesuffix("\r") for line in _chosen(stretch, number, every)]
            number += len(every)
            if stretch.source.read.blank == "drop":
                found = [line for line in found if line and not line.isspace()]
            joined = "\n".join([*found, ""])
            yield Block(found, True, len(joined), len(joined.encode("utf-8")), size)


def _rows(stretch: Stretch, block: int) -> Iterator[Block]:
    number = 0
    for text, size in _texts(stretch, b"\0", block):
        rows = text.removesuffix("\0").split("\0")
        found = _chosen(stretch, number, rows)
        number += len(rows)
        yield Block(found, True, sum(map(len, found)), len("".join(found).encode("utf-8")), size)


def _chosen(stretch: Stretch, first: int, texts: list[str]) -> list[str]:
    if stretch.choice is None:
        return texts
    chosen = stretch.choice.chosen(first, len(texts)).tolist()
    return [text for text, keep in zip(texts, chosen, strict=True) if keep]


def watched(blocks: Iterable[Block], seen: Seen, *, drop: bool, remember: bool = True) -> Iterator[Block]:
    """The blocks, with how many of their whole texts were seen before; with `drop`, without those."""
    for block in blocks:
        if not block.whole or not block.texts:
            yield block
            continue
        again = seen.among(block.texts) if remember else seen.has(block.texts)
        repeated = int(again.sum())
        if repeated and drop:
            gone = [text for text, out in zip(block.texts, again.tolist(), strict=True) if out]
            kept = [text for text, out in zip(block.texts, again.tolist(), strict=True) if not out]
            ends = block.characters - sum(map(len, block.texts))  # newlines counted with the lines
            per_text = ends // len(block.texts)
            block = replace(
                block,
                texts=kept,
                characters=block.characters - sum(map(len, gone)) - per_text * repeated,
                bytes=block.bytes - len("".join(gone).encode("utf-8")) - per_text * repeated,
            )
        yield replace(block, repeated=repeated)


def _texts(stretch: Stretch, cut_after: bytes | None, block: int, *, blanks: bool = False) -> Iterator[tuple[str, int]]:
    """Texts and their sizes in bytes; a line longer than a block makes its block longer, or is cut after a blank."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    left = stretch.stop - stretch.start
    held: list[bytes] = []  # read, but not yet at a place to cut
    with _opened(stretch) as stream:
        while left:
            content = stream.read(min(block, left))
            if not content:
                raise UserError(f"{stretch.source.name} became shorter while it was read; run again when it is at rest")
            left -= len(content)
            cut = len(content) if left == 0 or cut_after is None else content.rfind(cut_after) + 1
            if cut == 0 and blanks:
                cut = content.rfind(b" ") + 1
            if cut == 0:
                held.append(content)
                if blanks and sum(map(len, held)) > LONGEST_LINE:
                    raise UserError(
                        f"{stretch.source.name} has more than {LONGEST_LINE} bytes without a blank or a line end; "
                        "break them up, or use tokens characters or bytes"
                    )
                continue
            whole = b"".join([*held, content[:cut]])
            held = [content[cut:]] if cut < len(content) else []
            try:
                text = decoder.decode(whole, final=left == 0)
            except UnicodeDecodeError:
                raise UserError(_CHANGED.format(stretch.source.name)) from None
            yield text, len(whole)


@contextmanager
def _opened(stretch: Stretch) -> Iterator[Stream]:
    """The source at the stretch's beginning; what goes wrong with it is told as the source's fault."""
    try:
        with stretch.source.open(stretch.start) as stream:
            yield stream
    except OSError as error:
        raise UserError(f"{stretch.source.name} cannot be read: {error.strerror or error}; check the file") from None
    except (NotText, Damaged):  # it was scanned and passed
        raise UserError(_CHANGED.format(stretch.source.name)) from None


_CHANGED = "{} changed while it was read; run again when it is at rest"
