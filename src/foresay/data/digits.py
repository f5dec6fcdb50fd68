"""Handwritten digits of 8 x 8 pixels in 17 greys, 1,797 of them, as scikit-learn ships them; labelled 0 to 9."""

from __future__ import annotations

import functools

import numpy as np

from foresay.extras import need

DARKEST = 16
TEST = VALID = 250


@functools.lru_cache(maxsize=2)
def digits(seed: int) -> dict[str, list[tuple[np.ndarray, str]]]:
    """Train, valid and test of a seed: pictures of 0 .. 255 and which digit it is."""
    library = need("sklearn.datasets", "images", "builtin:digits")
    found = library.load_digits()
    images = np.rint(found.images * (255 / DARKEST)).astype(np.uint8)
    rows = [(image, str(label)) for image, label in zip(images, found.target, strict=True)]
    order = np.random.default_rng([seed, 88]).permutation(len(rows)).tolist()
    mixed = [rows[place] for place in order]
    return {"train": mixed[: -TEST - VALID], "valid": mixed[-TEST - VALID : -TEST], "test": mixed[-TEST:]}
