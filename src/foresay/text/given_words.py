"""Words that join a vocabulary though the text has them not, as those of word vectors: `tokens.also`.

a folder    of a run or a prepared text: the words of its tokeniser
a file      one word a line, or what stands before the first blank there: a file of word vectors as text is one too
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path

from foresay.errors import UserError
from foresay.text import saved
from foresay.text.tokens import SPECIALS

LONGEST = 1000  # characters of a word


def given_words(place: str) -> list[str]:
    """The words of a folder or a file, each once, in order."""
    path = Path(place).expanduser()
    if path.is_dir():
        tokens = saved.open_tokens(path)
        return tokens.pieces(range(len(SPECIALS), len(tokens)))
    try:
        return list(dict.fromkeys(_words(path)))
    except FileNotFoundError:
        raise UserError(f"tokens.also={place!r} is no file; give a file of words, or a run with words") from None
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"tokens.also={place!r} cannot be read ({error}); give UTF-8 text, a word a line") from None


def digest_of_words(place: str) -> str:
    """SHA-256 of these words: prepared texts are named by it."""
    return hashlib.sha256("\n".join(given_words(place)).encode("utf-8", "surrogatepass")).hexdigest()


def _words(path: Path) -> Iterator[str]:
    with path.open(encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            found = line.split(maxsplit=1)
            if (
                number == 1
                and len(found) == 2
                and all(one.strip().isascii() and one.strip().isdigit() for one in found)
            ):
                continue  # of a file of vectors
            if found and len(found[0]) > LONGEST:
                raise UserError(
                    f"tokens.also={str(path)!r}, line {number}: a word of {len(found[0]):,} characters; allowed: "
                    f"{LONGEST:,}: give a word a line"
                )
            yield from found[:1]
