"""A table that begins with given vectors: matched by word from every form, the others at random."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

from foresay.embed.lookup import Lookup
from foresay.errors import UserError
from foresay.vectors.word_vectors import WordVectors
from tests.vectors.made import run_folder, tensors

SYMBOLS = ["<pad>", "<unk>", "cat", "zebra", "the"]
WORDS, MATRIX = ["the", "cat", "dog"], np.arange(12, dtype=np.float32).reshape(3, 4)


def built(path: str | Path, **settings: object) -> Lookup:
    torch.manual_seed(1)
    embedding = Lookup(size=4, pretrained=str(path), **settings)  # pyright: ignore[reportArgumentType]
    embedding.symbols = SYMBOLS
    embedding.build(len(SYMBOLS))
    return embedding


def at_random(**settings: object) -> torch.Tensor:
    torch.manual_seed(1)
    embedding = Lookup(size=4, **settings)  # pyright: ignore[reportArgumentType]
    embedding.build(len(SYMBOLS))
    return embedding.weight().detach()


@pytest.mark.parametrize("name", ["v.txt", "v.vec.gz", "v.bin", "v.glove.txt", "v.safetensors"])
@pytest.mark.parametrize("settings", [{}, {"bound": 0.1, "frozen": True}])
def test_rows_are_matched_by_word(name: str, settings: dict) -> None:
    WordVectors(WORDS, MATRIX).save(name)
    embedding, random = built(name, **settings), at_random(**settings)
    table = embedding.weight().detach()
    assert table[2].tolist() == [4, 5, 6, 7] and table[4].tolist() == [0, 1, 2, 3]
    assert torch.equal(table[[0, 1, 3]], random[[0, 1, 3]])
    assert embedding.weight().requires_grad == (not settings)
    rest = (
        "; the other 3 begin at random and stay so, for the table is frozen" if settings else ", the others at random"
    )
    assert embedding.notes == [f"2 of 5 symbols begin with their vectors of {name}{rest}"]


def test_a_run_of_word_vectors(tmp_path: Path) -> None:
    found = tensors()
    run_folder(tmp_path / "run", found)
    table = built(tmp_path / "run").weight().detach()
    assert table[4].tolist() == found["vectors"][5].tolist() and table[2].tolist() == found["vectors"][6].tolist()


def test_what_does_not_fit(tmp_path: Path) -> None:
    WordVectors(WORDS, MATRIX[:, :3]).save("narrow.txt")
    with pytest.raises(UserError, match=r"has vectors of 3 numbers, and size=4; set size=3, or give other vectors"):
        built("narrow.txt")
    WordVectors(["Zebra"], [[1, 2, 3, 4]]).save("other.txt")
    with pytest.raises(UserError, match="has none of the 5 symbols, but words such as 'Zebra'; use tokens of whole"):
        built("other.txt")
    with pytest.raises(UserError, match="line 1"):
        (tmp_path / "broken.txt").write_text("hello\n")
        built("broken.txt")
    WordVectors(WORDS, MATRIX).save("v.txt")
    with pytest.raises(UserError, match=r"built without its symbols; set embedding.symbols"):
        Lookup(size=4, pretrained="v.txt").build(5)
