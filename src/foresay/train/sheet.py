"""Pictures side by side on one, enlarged so that small ones are seen, and single ones as files.

Every pixel becomes a square of the same size; a thin gap of grey is between two pictures and around all of them.
"""

from __future__ import annotations

import io
import math
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from foresay.train.aside import write_file

SEEN = 64  # pixels that the longer side of a picture is to have, where it is enlarged
GAP = 2  # pixels
GREY = 128


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


def sheet(rows: Sequence[Sequence[np.ndarray]]) -> np.ndarray:
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
    return whole


def write_image(path: Path, image: np.ndarray) -> None:
    """A picture (rows, columns, channels) of 0 .. 255 as PNG, whole or not at all."""
    write_file(path, png_bytes(image))


def png_bytes(image: np.ndarray) -> bytes:
    """A picture (rows, columns, channels) of 0 .. 255 as PNG."""
    from PIL import Image

    held = io.BytesIO()
    Image.fromarray(image[..., 0] if image.shape[2] == 1 else image).save(held, "png")
    return held.getvalue()
