"""Pictures side by side on one, enlarged so that small ones are seen, and single ones as files.

Every pixel becomes a square of the same size; a thin gap of grey is between two pictures and around all of them. Rows
that have names have them on the left, black on white.
"""

from __future__ import annotations

import io
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from foresay.train.aside import write_file

SEEN = 64  # pixels that the longer side of a picture is to have, where it is enlarged
GAP = 2  # pixels
GREY = 128
SIZE, SPACE, LONGEST = 14, 6, 24  # of names: the height of letters and the room beside them in pixels, and letters


def enlargement(image: np.ndarray) -> int:
    """How many pixels wide a pixel of a picture (rows, columns, channels) is shown."""
    return max(SEEN // max(image.shape[:2]), 1)


def enlarged(image: np.ndarray, times: int) -> np.ndarray:
    """A picture with every pixel a square, `times` pixels wide."""
    return image.repeat(times, 0).repeat(times, 1)


def squared(images: Sequence[np.ndarray]) -> list[Sequence[np.ndarray]]:
    """Pictures in rows that are about as many as they are long."""
    wide = math.ceil(math.sqrt(len(images)))
    return [images[first : first + wide] for first in range(0, len(images), wide)]


def sheet(rows: Sequence[Sequence[np.ndarray]], names: Sequence[str] = ()) -> np.ndarray:
    """Rows of pictures of one shape as one picture; where a row has fewer, its end stays grey."""
    first = rows[0][0]
    times, channels = enlargement(first), first.shape[2]
    down, right = first.shape[0] * times + GAP, first.shape[1] * times + GAP
    size = (len(rows) * down + GAP, max(map(len, rows)) * right + GAP, channels)
    whole = np.full(size, GREY, np.uint8)
    for r, row in enumerate(rows):
        for c, image in enumerate(row):
            top, left = GAP + r * down, GAP + c * right
            whole[top : top + down - GAP, left : left + right - GAP] = enlarged(image, times)
    return np.concatenate([_margin(names, down, len(whole), channels), whole], 1) if any(names) else whole


def sheet_of(drawn: Mapping[str | None, Sequence[np.ndarray]]) -> np.ndarray:
    """A row for each label, with its name; of one label, or none, about as many rows as columns."""
    if len(drawn) == 1:
        return sheet(squared(next(iter(drawn.values()))))
    return sheet(list(drawn.values()), [label or "" for label in drawn])


def _margin(names: Sequence[str], down: int, high: int, channels: int) -> np.ndarray:
    """The names of rows that are `down` pixels high, each in the middle of its own."""
    from PIL import Image, ImageDraw

    font = _font("".join(names), max(min(SIZE, down - 2 * GAP), 6))
    shown = [name if len(name) <= LONGEST else name[: LONGEST - 1] + "…" for name in names]
    wide = max(math.ceil(font.getlength(name)) for name in shown) + 2 * SPACE
    margin = Image.new("L", (wide, high), 255)
    pen = ImageDraw.Draw(margin)
    for row, name in enumerate(shown):
        pen.text((wide - SPACE, GAP + row * down + (down - GAP) / 2), name, 0, font, anchor="rm")
    return np.repeat(np.asarray(margin)[..., None], channels, 2)


def _font(text: str, size: int) -> Any:
    """One that has the letters, where one is installed."""
    from PIL import ImageFont

    from foresay.train.fonts import can_draw, installed_fonts

    fonts = installed_fonts()
    found = next((font for font in fonts if can_draw(text, [font])), fonts[0])
    return ImageFont.truetype(found.font.fname, size)


def write_image(path: Path, image: np.ndarray) -> None:
    """A picture (rows, columns, channels) of 0 .. 255 as PNG, whole or not at all."""
    write_file(path, png_bytes(image))


def png_bytes(image: np.ndarray) -> bytes:
    """A picture (rows, columns, channels) of 0 .. 255 as PNG."""
    from PIL import Image

    held = io.BytesIO()
    Image.fromarray(image[..., 0] if image.shape[2] == 1 else image).save(held, "png")
    return held.getvalue()
