"""Pictures as sources of pairs: levels column by column, by hand; texts beside them; what is refused."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from foresay import parts
from foresay.data.captions import CaptionReading, Captions, spelt
from foresay.data.pair_shards import PairShards
from foresay.data.prepare import prepare
from foresay.errors import UserError
from foresay.text.levels import FIRST, Levels
from foresay.text.tokens import STOP


def data_of(place: str, height: int = 2, number: int = 4) -> Captions:
    return Captions(place, share=0.0, source_tokens=Levels(number), read=CaptionReading(height))


def folder_of(pictures: dict[str, np.ndarray], texts: dict[str, str]) -> str:
    Path("in").mkdir()
    for name, picture in pictures.items():
        Image.fromarray(picture).save(f"in/{name}")
    lines = ["file,label", *(f'{name},"{text}"' for name, text in texts.items())]
    Path("in/labels.csv").write_text("\n".join(lines) + "\n")
    return "in"


def test_columns_from_the_left_each_from_above() -> None:
    picture = np.array([[0, 64, 255], [63, 128, 192]], np.uint8)
    assert spelt(picture, "a.png", 2, 4) == "0 0 1 2 3 3"
    assert spelt(np.dstack([picture] * 3), "a.png", 2, 4) == "0 0 1 2 3 3"
    wide = np.repeat(np.repeat(picture, 3, 0), 3, 1)  # the mean of each nine is what it was
    assert spelt(wide, "a.png", 2, 4) == "0 0 1 2 3 3"
    assert len(spelt(picture, "a.png", 4, 2).split()) == 4 * 6


def test_shards_hold_both_sides() -> None:
    one, other = np.array([[0, 255]] * 2, np.uint8), np.array([[128]] * 2, np.uint8)
    place = folder_of({"a.png": one, "b.png": other}, {"a.png": "a, b", "b.png": "c"})
    tokens = parts.make("tokens", "characters")
    prepared = prepare(data_of(place), tokens, 1)
    shards = prepared.train
    assert isinstance(shards, PairShards)
    assert shards.source.slice(0, len(shards.source)).tolist() == [
        FIRST, FIRST, FIRST + 3, FIRST + 3, STOP, FIRST + 2, FIRST + 2, STOP,
    ]  # fmt: skip
    assert prepared.tokens.decode(shards.slice(0, 4).tolist()) == "a, b"


def test_a_source_is_a_file_or_its_levels() -> None:
    data = data_of(folder_of({"a.png": np.array([[0, 255]] * 2, np.uint8)}, {"a.png": "x"}))
    assert data.source_of("in/a.png") == "0 0 3 3" == data.source_of("0 0 3 3")
    np.save("two.npy", np.zeros((2, 2, 2), np.uint8))
    for given, why in (
        ("nix.png", "^'nix.png' is no file; this run writes from a picture"),
        ("", "^'' is no file"),
        ("in", "^'in' is no file"),
        ("two.npy", "^two.npy has 2 pictures; allowed: a file of one"),
        ("in/labels.csv", "is no picture"),
    ):
        with pytest.raises(UserError, match=why):
            data.source_of(given)


def test_what_is_refused() -> None:
    for number in (Levels(257), parts.make("tokens", "characters")):
        with pytest.raises(
            UserError, match=r"^data\.source_tokens of pictures; allowed: \{kind: levels, number: 2\} to"
        ):
            Captions("in", source_tokens=number)
    Path("bare").mkdir()
    Image.fromarray(np.zeros((2, 2), np.uint8)).save("bare/a.png")
    with pytest.raises(UserError, match=r"^bare/a\.png has no text; give each picture one: a table labels\.csv"):
        prepare(data_of("bare"), parts.make("tokens", "characters"), 1)
    with pytest.raises(UserError, match=r"^data\.train='nix' is no file, folder or known"):
        prepare(data_of("nix"), parts.make("tokens", "characters"), 1)


def test_numbers_bring_all_parts() -> None:
    found = data_of("builtin:numbers", 8, 17).find(1)
    assert sorted(found) == ["test", "train", "valid"] and found["test"].name == "builtin:numbers (test)"
    line, source, target = next(iter(found["valid"]))
    assert line == 1 and target.isdecimal() and len(source.split()) % 8 == 0
    assert max(map(int, source.split())) == 16
