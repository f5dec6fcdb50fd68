"""Pictures from files: values of every kind, their labels, sizes and colours, and what is refused."""

from __future__ import annotations

import gzip
import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from foresay.data.image_files import ImageText, idx, opened_image
from foresay.errors import UserError

GREY = np.arange(0, 240, 10, dtype=np.uint8).reshape(4, 6)


def found(path: Path, **how: Any) -> list[tuple[int, np.ndarray, tuple[str, ...]]]:
    return list(ImageText(str(path), path, **how))


def refused(path: Path, **how: Any) -> str:
    with pytest.raises(UserError) as error:
        found(path, **how)
    assert "\n" not in str(error.value)
    return str(error.value)


def saved(path: Path, values: np.ndarray, **how: Any) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.fromarray(values).save(path, **how)
    return path


def write_idx(path: Path, values: np.ndarray, kind: int = 8) -> Path:
    content = struct.pack(f">HBB{values.ndim}I", 0, kind, values.ndim, *values.shape) + values.tobytes()
    path.write_bytes(gzip.compress(content) if path.suffix == ".gz" else content)
    return path


def test_a_folder_for_each_label(tmp_path: Path) -> None:
    for name, value in (("b/2.png", 30), ("a/x/9.png", 10), ("a/1.bmp", 20), (".hidden/3.png", 99)):
        saved(tmp_path / name, GREY // 10 * 0 + np.uint8(value))
    (tmp_path / "a" / "notes.txt").write_text("no picture")
    rows = found(tmp_path)
    assert [(number, int(image[0, 0, 0]), label) for number, image, label in rows] == [
        (1, 20, ("a",)),
        (2, 10, ("a",)),
        (3, 30, ("b",)),
    ]
    assert all(image.shape == (4, 6, 1) and image.dtype == np.uint8 for _, image, _ in rows)
    assert [label for _, _, label in found(tmp_path, labelled=False)] == [()] * 3


def test_a_table_of_labels(tmp_path: Path) -> None:
    saved(tmp_path / "one.png", GREY)
    saved(tmp_path / "in" / "two.png", GREY)
    table = tmp_path / "labels.csv"
    table.write_text("file,label\none.png,cat\nin/two.png, dog \n")
    assert [label for _, _, label in found(tmp_path)] == [("dog",), ("cat",)]
    table.write_text("file,label\none.png,cat\n")
    assert refused(tmp_path) == f"{table} has no line for in/two.png; add it, or delete the picture"
    table.write_text("file,label\none.png,cat\nin/two.png,\n")
    assert refused(tmp_path).startswith(f"{table}: line 3 is not as needed; allowed: a line file,label")
    table.write_text("name,what\n")
    assert "line 1 is not as needed" in refused(tmp_path)
    table.write_bytes("file,label\none.png,Übung\n".encode("latin-1"))
    assert "is not UTF-8" in refused(tmp_path)


def test_pictures_without_labels_and_single_ones(tmp_path: Path) -> None:
    path = saved(tmp_path / "one.png", GREY)
    for place in (tmp_path, path):
        ((number, image, label),) = found(place)
        assert (number, label) == (1, ()) and image[..., 0].tolist() == GREY.tolist()
    saved(tmp_path / "a" / "two.png", GREY)
    assert refused(tmp_path) == f"{path} has no label, and others lie in folders that name theirs; move it into one"


def test_modes_of_picture_files(tmp_path: Path) -> None:
    """Colour, transparency on white, palettes, one bit, sixteen bits: by value."""
    colour = np.stack([GREY, GREY[::-1], GREY[:, ::-1]], 2)
    assert opened_image(saved(tmp_path / "c.png", colour)).tolist() == colour.tolist()
    clear = np.dstack([colour, np.full((4, 6), 255, np.uint8)])
    clear[0, 0] = (10, 20, 30, 0)
    seen = opened_image(saved(tmp_path / "t.png", clear))
    assert seen[0, 0].tolist() == [255, 255, 255] and seen[1:].tolist() == colour[1:].tolist()
    both = np.dstack([GREY, np.full((4, 6), 255, np.uint8)])
    both[0, 0] = (10, 0)
    seen = opened_image(saved(tmp_path / "la.png", both))
    assert seen.shape == (4, 6) and seen[0, 0] == 255 and seen[1:].tolist() == GREY[1:].tolist()
    Image.fromarray(GREY > 100).save(tmp_path / "bit.png")
    assert opened_image(tmp_path / "bit.png").tolist() == ((GREY > 100) * 255).tolist()
    Image.fromarray(colour).quantize(64).save(tmp_path / "p.gif")
    assert opened_image(tmp_path / "p.gif").shape == (4, 6, 3)
    deep = saved(tmp_path / "deep.png", GREY.astype(np.uint16) * 257)
    assert opened_image(deep).tolist() == GREY.tolist()  # 257 v is v of 8 bits
    turned = Image.fromarray(GREY)
    turned.getexif()[0x0112] = 6  # as a camera that was held upright says: a quarter to the right
    turned.save(tmp_path / "turned.png", exif=turned.getexif())
    assert opened_image(tmp_path / "turned.png").tolist() == np.rot90(GREY, -1).tolist()
    Image.fromarray(GREY.astype(np.float32)).save(tmp_path / "f.tiff")
    assert "f.tiff is no picture that can be read (numbers of 32 bits with a point" in refused(tmp_path / "f.tiff")


def test_colours_and_sizes_are_made_alike(tmp_path: Path) -> None:
    saved(tmp_path / "a.png", GREY)
    saved(tmp_path / "b.png", np.dstack([GREY, GREY * 0, GREY * 0]))
    assert "b.png has 4 x 6 pixels of three colours, others 4 x 6 of grey; make them alike" in refused(tmp_path)
    first, second = (image for _, image, _ in found(tmp_path, colour="grey"))
    assert first[..., 0].tolist() == GREY.tolist()
    assert second[..., 0].tolist() == np.rint(0.299 * GREY).astype(int).tolist()
    assert found(tmp_path, colour="rgb")[0][1].tolist() == np.dstack([GREY] * 3).tolist()
    saved(tmp_path / "b.png", GREY.repeat(2, 0).repeat(2, 1))
    assert "b.png has 8 x 12 pixels of grey, others 4 x 6 of grey" in refused(tmp_path)
    assert [image[..., 0].tolist() for _, image, _ in found(tmp_path, size=(4, 6))] == [GREY.tolist()] * 2
    halved = found(tmp_path / "a.png", size=(2, 3))[0][1][..., 0]
    assert halved.tolist() == np.rint(GREY.reshape(2, 2, 3, 2).mean((1, 3)) + 1e-9).astype(int).tolist()


def test_arrays_with_labels_beside_them(tmp_path: Path) -> None:
    values = np.arange(3 * 4 * 6, dtype=np.uint8).reshape(3, 4, 6)
    np.save(tmp_path / "x.npy", values)
    assert [label for _, _, label in found(tmp_path / "x.npy")] == [()] * 3
    (tmp_path / "x.labels.txt").write_text("one\ntwo\none\n")
    rows = found(tmp_path / "x.npy")
    assert [label for _, _, label in rows] == [("one",), ("two",), ("one",)]
    assert [image[..., 0].tolist() for _, image, _ in rows] == values.tolist()
    np.save(tmp_path / "x.labels.npy", np.array([3, 1, 2]))
    assert [label for _, _, label in found(tmp_path / "x.npy")] == [("3",), ("1",), ("2",)]
    np.save(tmp_path / "x.labels.npy", np.array([3, 1]))
    assert refused(tmp_path / "x.npy").endswith(
        "x.labels.npy has 2 labels, and there are 3 pictures; give one for each"
    )
    np.save(tmp_path / "y.npy", values / 255)
    assert "y.npy holds float64 (3, 4, 6); allowed: uint8 (N, rows, columns)" in refused(tmp_path / "y.npy")
    (tmp_path / "z.npy").write_bytes(b"\x93NUMPY no more")
    assert "z.npy is no array that can be read" in refused(tmp_path / "z.npy")


def test_no_array_runs_code(tmp_path: Path) -> None:
    np.save(tmp_path / "x.npy", np.array([object()]), allow_pickle=True)
    assert "is no array that can be read" in refused(tmp_path / "x.npy")


@pytest.mark.parametrize("packed", ["", ".gz"])
def test_idx_files(packed: str, tmp_path: Path) -> None:
    values = np.arange(2 * 3 * 4, dtype=np.uint8).reshape(2, 3, 4)
    path = write_idx(tmp_path / f"train-images-idx3-ubyte{packed}", values)
    assert idx(path).tolist() == values.tolist()
    write_idx(tmp_path / f"train-labels-idx1-ubyte{packed}", np.array([7, 0], np.uint8))
    rows = found(path)
    assert [label for _, _, label in rows] == [("7",), ("0",)]
    assert [image[..., 0].tolist() for _, image, _ in rows] == values.tolist()


def test_damaged_files_are_told(tmp_path: Path) -> None:
    path = tmp_path / "train-images-idx3-ubyte"
    write_idx(path, np.zeros((2, 3, 4), np.uint8))
    path.write_bytes(path.read_bytes()[:-1])
    assert "is no picture, no .npy and no idx file (23 values for (2, 3, 4)); allowed: a folder" in refused(path)
    assert "no idx file" in refused(write_idx(path, np.zeros((2, 3, 4), np.uint8), kind=9))
    path.write_text("# Notes\n\nA text of some length, whose first bytes would be axes without end.\n" * 20)
    assert "it begins as neither of them does" in refused(path)
    path.write_bytes(struct.pack(">HBB4I", 0, 8, 4, *[2**31] * 4))
    assert "no idx file (0 values for" in refused(path)
    path.write_text("a text")
    assert "no idx file" in refused(path)
    renamed = tmp_path / "a.png"
    renamed.write_text("a text")
    assert refused(renamed) == f"{renamed} is no picture by its contents; mend it, or leave it out"
    saved(renamed, GREY)
    renamed.write_bytes(renamed.read_bytes()[:-30])
    assert "a.png is no picture that can be read" in refused(tmp_path / "a.png")
    (tmp_path / "empty").mkdir()
    assert refused(tmp_path / "empty").startswith(
        f"{tmp_path / 'empty'} holds no pictures (.png, .jpg, .jpeg, .bmp ..."
    )
    np.save(tmp_path / "none.npy", np.zeros((2, 0, 4), np.uint8))
    assert refused(tmp_path / "none.npy").endswith("number 1 has no pixels; leave it out")
