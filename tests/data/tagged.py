"""Tagged words for the tests of this folder: prepared from a text, and read back."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from foresay import parts
from foresay.data.prepare import Prepared, prepare
from foresay.data.tag_shards import TagShards

TEXT = "Anna\tB-person\nlives\tO\nin\tO\nNew\tB-place\nYork\tI-place\n\nShe\tO\nsleeps\tO\n"


def ready(text: str | bytes, tokens: Any = "blanks", name: str = "a.conll", **settings: Any) -> Prepared:
    Path(name).write_bytes(text.encode() if isinstance(text, str) else text)
    settings = {"share": 0.0, **settings}
    corpus = parts.make("data", {"kind": "tags", "train": name, **settings})
    return prepare(corpus, parts.make("tokens", tokens), 1)


def read_back(prepared: Prepared, part: str = "train") -> list[list[tuple[str, str]]]:
    shards = getattr(prepared, part)
    assert isinstance(shards, TagShards) and prepared.tags is not None
    sentences = [shards.sentence(number) for number in range(shards.documents)]
    return [
        list(zip(prepared.tokens.pieces(words), [prepared.tags.names[tag] for tag in tags], strict=True))
        for words, tags in sentences
    ]
