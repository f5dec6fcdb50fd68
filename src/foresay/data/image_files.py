"""Pictures one by one, with their labels, from files; every one (rows, columns, channels) of 0 .. 255.

    digits/7/a.png            a folder for each label; pictures that lie in the folder itself have none
    digits/labels.csv         or a table beside them: file,label
    x.npy                     uint8 (N, rows, columns) or (N, rows, columns, 3); labels in x.labels.npy or x.labels.txt
    train-images-idx3-ubyte   MNIST's format, packed or not; labels in train-labels-idx1-ubyte beside it

Grey pictures have one channel and coloured ones three; `colour` makes all alike, `size` scales them. A picture that is
scaled down is the mean of what it covers.
"""

from __future__ import annotations

import csv
import math
import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, Literal, cast

import numpy as np

from foresay.data.compressed import Damaged, packing, unpacked
from foresay.data.levels import Form, Leveled, spread
from foresay.errors import UserError

ENDINGS = (".png", ".jpg", ".jpeg", ".bmp", ".gif", ".webp", ".tif", ".tiff", ".pgm", ".ppm", ".pbm")
ALLOWED = "a folder of pictures, a .npy file of uint8, an idx file as MNIST's, builtin:digits, builtin:shapes, mnist"
PIECE = 2**24  # bytes
DEEP = 2**16 - 1  # white of sixteen bits
Colour = Literal["auto", "grey", "rgb"]
Named = tuple[str, np.ndarray, tuple[str, ...]]  # where it is from, the picture, its label


@dataclass(frozen=True)
class ImageText:
    """Pictures that can be gone through any number of times; those of a file, of a folder, or made in memory."""

    name: str
    path: Path | None = None
    made: Sequence[tuple[np.ndarray, str]] | None = None
    colour: Colour = "auto"
    size: tuple[int, int] | None = None
    labelled: bool = True  # False: labels are not looked for
    most: int | None = None  # so many at most, evenly spread; None: all
    form: Form | None = None  # what each must be like: a trained model's

    def __iter__(self) -> Iterator[Leveled]:
        for number, (_, image, label) in enumerate(self.named(), 1):
            yield number, image, label

    def named(self) -> Iterator[Named]:
        """Every picture with where it is from."""
        first = None if self.form is None else (self.form.rows, self.form.columns, self.form.channels)
        for where, image, label in self.read():
            found = self.shaped(where, image)
            first = found.shape if first is None else first
            if found.shape != first:
                raise self._differs(where, found.shape, first)
            yield where, found, label

    def _differs(self, where: str, found: tuple[int, ...], first: tuple[int, ...]) -> UserError:
        has = f"{where} has {found[0]} x {found[1]} pixels of {_colours(found[2])}"
        if self.form is not None:
            return UserError(
                f"{has}, and the run was trained on {self.form.told()}; scale it, or train with "
                f"data.size=[{first[0]}, {first[1]}], which scales all"
            )
        return UserError(
            f"{has}, others {first[0]} x {first[1]} of {_colours(first[2])}; make them alike: "
            f"data.size=[{first[0]}, {first[1]}] data.colour=grey"
        )

    def read(self) -> Iterator[Named]:
        """Every picture as it is, of any size and colours."""
        if self.made is not None:
            for number, (image, label) in spread(list(enumerate(self.made, 1)), self.most):
                yield f"{self.name} number {number}", image, (label,)
            return
        assert self.path is not None
        if self.path.is_dir():
            yield from _of_folder(self.path, self.labelled, self.most)
        elif self.path.suffix.lower() in ENDINGS:
            yield str(self.path), opened_image(self.path), ()
        else:
            yield from _of_array(self.path, self.most)

    def shaped(self, where: str, image: np.ndarray) -> np.ndarray:
        """(rows, columns, channels) of uint8, of the wanted colours and size."""
        image = image[..., None] if image.ndim == 2 else image
        if self.size is not None and image.shape[:2] != self.size:
            image = scaled(image, self.size)
        if self.colour == "grey" and image.shape[2] == 3:
            image = np.rint(image @ np.array([0.299, 0.587, 0.114])).astype(np.uint8)[..., None]  # ITU-R 601
        if self.colour == "rgb" and image.shape[2] == 1:
            image = np.repeat(image, 3, 2)
        if 0 in image.shape:
            raise UserError(f"{where} has no pixels; leave it out")
        return image


def _of_folder(folder: Path, labelled: bool, most: int | None) -> Iterator[Named]:
    """Every picture of a folder in the order of its name, labelled by the folder it is in or by labels.csv."""
    table = _labels_of_table(folder) if labelled else None
    files = [path for path in sorted(folder.rglob("*")) if path.suffix.lower() in ENDINGS and not hidden(path, folder)]
    if not files:
        raise UserError(f"{folder} holds no pictures ({', '.join(ENDINGS[:4])} ...); allowed: {ALLOWED}")
    inside = {labelled and path.parent != folder for path in files}
    if table is None and len(inside) == 2:
        loose = next(path for path in files if path.parent == folder)
        raise UserError(f"{loose} has no label, and others lie in folders that name theirs; move it into one")
    for path in spread(files, most):
        place = path.relative_to(folder).as_posix()
        if table is not None and place not in table:
            raise UserError(f"{folder / 'labels.csv'} has no line for {place}; add it, or delete the picture")
        label = (table[place],) if table is not None else (path.relative_to(folder).parts[0],) if True in inside else ()
        yield str(path), opened_image(path), label


def hidden(path: Path, folder: Path) -> bool:
    return any(part.startswith(".") for part in path.relative_to(folder).parts)


def _labels_of_table(folder: Path) -> dict[str, str] | None:
    """The label of each file, from labels.csv; None without it."""
    path = folder / "labels.csv"
    if not path.is_file():
        return None
    try:
        with path.open(newline="", encoding="utf-8-sig") as file:
            rows = list(csv.reader(file))
    except UnicodeDecodeError as error:
        raise UserError(f"{path} is not UTF-8: byte 0x{error.object[error.start]:02X}; save it as UTF-8") from None
    if not rows or rows[0] != ["file", "label"] or any(len(row) != 2 or not row[1].strip() for row in rows[1:]):
        line = next((n for n, row in enumerate(rows[1:], 2) if len(row) != 2 or not row[1].strip()), 1)
        raise UserError(
            f"{path}: line {line} is not as needed; allowed: a line file,label and then NAME,LABEL for each"
        )
    return {name: label.strip() for name, label in rows[1:]}


def opened_image(path: Path) -> np.ndarray:
    """A picture file as (rows, columns) or (rows, columns, 3); on white where it is transparent, and upright."""
    from PIL import Image, ImageOps, UnidentifiedImageError

    try:
        with Image.open(path) as file:
            image = ImageOps.exif_transpose(file)
            if image.mode == "F":
                raise ValueError("numbers of 32 bits with a point, not 0 to 255")
            if image.mode.startswith("I"):  # greys of sixteen bits
                return np.rint(np.clip(np.asarray(image).astype(float), 0, DEEP) * (255 / DEEP)).astype(np.uint8)
            if image.mode in ("RGBA", "LA", "PA") or "transparency" in image.info:
                white = Image.new("RGBA", image.size, "white")
                white.alpha_composite(image.convert("RGBA"))
                grey = image.mode == "LA"
                return np.asarray(white.convert("L" if grey else "RGB"))
            return np.asarray(image.convert("L" if image.mode in ("1", "L") else "RGB"))
    except UnidentifiedImageError:
        raise UserError(f"{path} is no picture by its contents; mend it, or leave it out") from None
    except (OSError, ValueError, SyntaxError, Image.DecompressionBombError) as error:
        raise UserError(f"{path} is no picture that can be read ({error}); mend it, or leave it out") from None


def _of_array(path: Path, most: int | None) -> Iterator[Named]:
    """The pictures of a .npy or an idx file, with their labels."""
    if path.suffix == ".npy":
        images, beside = _npy(path), [path.with_suffix(".labels.npy"), path.with_suffix(".labels.txt")]
    else:
        images, beside = idx(path), [path.with_name(path.name.replace("images-idx3", "labels-idx1"))]
    if images.ndim not in (3, 4) or images.dtype != np.uint8 or (images.ndim == 4 and images.shape[3] not in (1, 3)):
        raise UserError(
            f"{path} holds {images.dtype} {images.shape}; allowed: uint8 (N, rows, columns) or (N, rows, columns, 3)"
        )
    labels = next((_labels(one, len(images)) for one in beside if one != path and one.is_file()), None)
    for number in spread(range(len(images)), most):
        yield f"{path} number {number + 1}", np.asarray(images[number]), () if labels is None else (labels[number],)


def _labels(path: Path, number: int) -> list[str]:
    if path.suffix == ".txt":
        found = [line.strip() for line in path.read_text("utf-8").splitlines()]
    else:
        found = [str(label) for label in (_npy(path) if path.suffix == ".npy" else idx(path)).tolist()]
    if len(found) != number or not all(found):
        raise UserError(f"{path} has {len(found)} labels, and there are {number} pictures; give one for each")
    return found


def _npy(path: Path) -> np.ndarray:
    try:
        return np.lib.format.open_memmap(path, mode="r")
    except (ValueError, OSError, EOFError) as error:
        raise UserError(f"{path} is no array that can be read ({error}); write it with numpy.save") from None


def idx(path: Path) -> np.ndarray:
    """An array in MNIST's format: two zero bytes, its kind (8: uint8), how many axes, their lengths, the values."""
    try:
        with path.open("rb") as raw:
            file = cast("IO[bytes]", unpacked(raw, packing(path)))
            zero, kind, axes = struct.unpack(">HBB", file.read(4))
            if zero or kind != 8 or not 1 <= axes <= 4:
                raise ValueError("it begins as neither of them does")
            shape = struct.unpack(f">{axes}I", file.read(4 * axes))
            wanted = math.prod(shape)
            values = np.frombuffer(_read(file, wanted + 1), np.uint8)
        if values.size != wanted:
            raise ValueError(f"{values.size} values for {shape}")
    except (OSError, Damaged, struct.error, ValueError) as error:
        raise UserError(f"{path} is no picture, no .npy and no idx file ({error}); allowed: {ALLOWED}") from None
    return values.reshape(shape)


def _read(file: IO[bytes], most: int) -> bytes:
    """Up to so many bytes, piece by piece: a damaged header may ask for more than there is memory."""
    held = bytearray()
    while len(held) < most and (piece := file.read(min(most - len(held), PIECE))):
        held += piece
    return bytes(held)


def scaled(image: np.ndarray, size: tuple[int, int]) -> np.ndarray:
    """A picture (rows, columns, channels) of another size; made smaller, by means."""
    from PIL import Image

    shown: Any = Image.fromarray(image[..., 0] if image.shape[2] == 1 else image)
    smaller = size[0] <= image.shape[0] and size[1] <= image.shape[1]
    found = np.asarray(shown.resize((size[1], size[0]), Image.Resampling.BOX if smaller else Image.Resampling.BILINEAR))
    return found[..., None] if found.ndim == 2 else found


def _colours(channels: int) -> str:
    return "grey" if channels == 1 else "three colours"
