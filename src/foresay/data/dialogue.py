"""Talk -> pairs of what is said and what is answered, from one file.

    play     speeches between blank lines, the speaker's name with a colon on the first line:     FIRST CITIZEN:
             successive speeches are pairs; a block without a name goes on with the speech.       You are all resolved?
    lines    every line answers the one before it; a blank line ends the talk.

The lines of a speech are joined by blanks. A pair has the line number of its answer.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Literal

from foresay.errors import UserError

Talk = Literal["play", "lines"]
TALKS = ("play", "lines")
RUN = 16  # successive pairs that are held out together: an answer is the next pair's question


def answered(lines: Iterable[str], talk: Talk, name: str) -> Iterator[tuple[int, str, str]]:
    """Line, what is said, what is answered."""
    before = ""
    for line, said in _speeches(lines, name) if talk == "play" else _each(lines):
        if before and said:
            yield line, before, said
        before = said


def _each(lines: Iterable[str]) -> Iterator[tuple[int, str]]:
    return ((number, line.strip()) for number, line in enumerate(lines, 1))


def _speeches(lines: Iterable[str], name: str) -> Iterator[tuple[int, str]]:
    begins, said, opens, speaks = 0, list[str](), True, False
    for number, line in _each(lines):
        if opens and line.endswith(":"):
            if said:
                yield begins, " ".join(said)
            begins, said, speaks = number, [], True
        elif line and not speaks:
            raise UserError(
                f"{name}: line {number} is said by nobody; a play has NAME: on a line of its own and the speech below "
                "it; for a file where each line answers the one before: data.format=lines"
            )
        elif line:
            said.append(line)
        opens = not line
    if said:
        yield begins, " ".join(said)
