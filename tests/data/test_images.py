"""Pictures as levels: by value, there and back; what is held out, known sets, and pictures that differ."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from foresay import parts
from foresay.data.images import ImageReading, Images
from foresay.data.levels import Form, LevelShards
from foresay.data.prepare import Prepared, prepare
from foresay.data.row_shards import documents
from foresay.errors import UserError
from foresay.text.levels import Levels
from foresay.text.tokens import STOP
from tests.data.test_image_files import write_idx


def written(path: Path, count: int = 40, labelled: bool = True, shape: tuple[int, ...] = (2, 3)) -> str:
    """Pictures of noise, labelled a and b in turn."""
    np.save(path, np.random.default_rng(count).integers(0, 256, (count, *shape), np.uint8))
    if labelled:
        path.with_suffix(".labels.txt").write_text("".join("ab"[n % 2] + "\n" for n in range(count)))
    return str(path)


def prepared(number: int = 256, **data: Any) -> Prepared:
    return prepare(Images(**data), Levels(number), 1)


def refused(**data: Any) -> str:
    with pytest.raises(UserError) as error:
        prepared(**data)
    return str(error.value)


@pytest.mark.parametrize("number", [2, 3, 17, 256])
def test_levels_by_hand(number: int) -> None:
    data, values = Images("x.npy"), np.array([0, 1, 127, 128, 254, 255], np.uint8)
    levels = data.levels(values, number)
    assert levels.tolist() == [v * number // 256 for v in values.tolist()]
    assert levels[0] == 0 and levels[-1] == number - 1
    shown = data.values(levels, number, Form(2, 3))
    assert shown.shape == (2, 3, 1) and shown.dtype == np.uint8
    assert shown.reshape(-1).tolist() == [round(255 * level / (number - 1)) for level in levels.tolist()]
    assert data.levels(shown, number).reshape(-1).tolist() == levels.tolist()  # what is shown is read as it was


@pytest.mark.parametrize("number", [100, 129, 200, 255])
def test_what_is_shown_of_any_level_is_read_as_it_was(number: int) -> None:
    data, levels = Images("x.npy"), np.arange(number)
    shown = data.values(levels, number, Form(1, number))
    assert data.levels(shown, number).reshape(-1).tolist() == levels.tolist()
    assert shown.min() == 0 and shown.max() == 255


def test_raster_order_and_colours_of_a_pixel_together() -> None:
    shown = np.arange(2 * 2 * 3, dtype=np.uint8).reshape(2, 2, 3)
    np.save("one.npy", np.stack([shown] * 4))
    found = prepared(train="one.npy", share=0.0)
    shards = found.train
    assert isinstance(shards, LevelShards) and shards.form == Form(2, 2, 3) and shards.unlabelled
    assert documents(shards, np.array([2]))[0].tolist() == [*range(5, 17), STOP]
    assert found.tokens.decode(range(5, 17)) == "0 1 2 3 4 5 6 7 8 9 10 11"
    assert (shards.characters, shards.bytes, len(shards)) == (48, 48, 52)


def test_labels_are_kept_with_their_pictures() -> None:
    found = prepared(train=written(Path("x.npy")), share=0.25)
    values = np.lib.format.open_memmap("x.npy", mode="r")
    seen = []
    for shards in (found.train, found.valid):
        assert isinstance(shards, LevelShards) and shards.labels.names == ("a", "b") and not shards.unlabelled
        for row in range(shards.documents):
            number = int(shards.lines[row]) - 1
            levels = documents(shards, np.array([row]))[0][:-1] - 5
            assert levels.tolist() == values[number].reshape(-1).tolist()
            assert shards.labels_of(np.array([row])).tolist() == [number % 2]
            seen.append(number)
    assert sorted(seen) == list(range(40))
    assert found.train.documents < 40


def test_a_made_set_brings_its_parts() -> None:
    found = prepared(17, train="builtin:digits")
    assert [one.documents for one in (found.train, found.valid, found.test) if one] == [1297, 250, 250]
    assert isinstance(found.train, LevelShards) and found.train.form == Form(8, 8, 1)
    assert found.train.labels.names == tuple("0123456789")


def test_mnist_is_its_four_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORESAY_DATA", str(tmp_path / "data"))
    (tmp_path / "data" / "mnist").mkdir(parents=True)
    for name, count in (("train", 20), ("t10k", 6)):
        images = np.random.default_rng(count).integers(0, 256, (count, 4, 4), np.uint8)
        write_idx(tmp_path / "data" / "mnist" / f"{name}-images-idx3-ubyte.gz", images)
        write_idx(tmp_path / "data" / "mnist" / f"{name}-labels-idx1-ubyte.gz", np.arange(count, dtype=np.uint8) % 2)
    found = prepared(2, train="mnist")
    assert found.valid is not None and found.test is not None
    assert found.train.documents + found.valid.documents == 20 and found.test.documents == 6
    assert isinstance(found.test, LevelShards) and found.test.labels_of(np.arange(6)).tolist() == [0, 1] * 3


def test_what_is_refused() -> None:
    written(Path("x.npy"))
    assert refused(train="nix.npy").startswith("data.train='nix.npy' is no file, folder or known text")
    other = written(Path("y.npy"), shape=(3, 3))
    assert refused(train="x.npy", valid=other) == (
        "y.npy has images of 3 x 3 pixels, and data.train has images of 2 x 3 pixels; make them alike: "
        "data.size=[2, 3] data.colour=grey"
    )
    assert refused(train="builtin:tones").startswith("builtin:tones has no images; allowed: builtin:digits, ")
    assert refused(train="ptb").startswith("ptb holds no images; allowed: builtin:digits, builtin:shapes, mnist")
    for size in ([8], [8, 0], [1, 2, 3]):
        with pytest.raises(UserError, match="allowed: two integers > 0, the rows and the columns"):
            Images("x.npy", read=ImageReading(size=size))
    with pytest.raises(UserError, match=r"tokens=characters with data\.kind=images; allowed: tokens\.kind=levels"):
        prepare(Images("x.npy"), parts.make("tokens", "characters"), 1)
    with pytest.raises(UserError, match=r"^tokens\.number=257 with data\.kind=images; allowed: 2 to 256$"):
        prepare(Images("x.npy"), Levels(257), 1)
    Path("x.labels.txt").write_text("a\n" * 39 + "b\n")
    (Path("y.npy")).write_bytes(Path("x.npy").read_bytes())
    Path("y.labels.txt").write_text("c\n" * 40)
    assert "has the label 'c', which the train text has not; allowed: a, b" in refused(train="x.npy", valid="y.npy")


def test_a_part_of_pictures_is_named_by_all_that_is_done_with_them(tmp_path: Path) -> None:
    """Other levels, other labels, another size: other shards."""
    written(Path("x.npy"))
    one = prepared(train="x.npy").folder
    assert prepared(train="x.npy").folder == one
    assert prepared(16, train="x.npy").folder != one
    assert prepared(train="x.npy", read=ImageReading(size=[1, 2])).folder != one
    Path("x.labels.txt").write_text("b\na\n" * 20)
    assert prepared(train="x.npy").folder != one
