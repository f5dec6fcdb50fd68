"""What the loops pass to one another. Nothing here needs numba: it is imported with the part that trains."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

CHUNK = 64  # places whose input rows are read, and changed, together; fewer where words are few
MEAN_CHUNK = 16  # the same where a mean predicts: with 64 it answers 0.4 points fewer analogies, and is no faster
LINE = 64  # bytes that come from memory together


class Plan(NamedTuple):
    """What is predicted from what."""

    before: int
    after: int
    dynamic: bool = True
    outward: bool = False
    averaged: int = 0  # 0: each input alone; 1: their mean; 2: their sum / the places the window has
    subset: int = 0  # so many of the words near, by chance; 0: all
    negatives: int = 5
    most: int = 6  # targets a place can have, a multiple of 3


class Noise(NamedTuple):
    """Word i keeps its own draw when the second number is under limits[i], else others[i] is drawn."""

    limits: np.ndarray  # (V,) of 2**32
    others: np.ndarray  # (V,)


class Ways(NamedTuple):
    """A tree: word v is reached through nodes[first[v]:first[v + 1]]; all empty where there is none."""

    first: np.ndarray  # int64
    nodes: np.ndarray  # int64
    signs: np.ndarray  # float32


class Spelt(NamedTuple):
    """The rows of a word's pieces, pieces[first[v]:first[v + 1]]; both empty where words are not spelt."""

    first: np.ndarray  # int64
    pieces: np.ndarray  # int64


class World(NamedTuple):
    """What does not change while a text is walked."""

    plan: Plan
    noise: Noise
    ways: Ways
    spelt: Spelt


class Tables(NamedTuple):
    """(rows, D) float32: inputs have a row for each word and then for each piece of spelling."""

    inputs: np.ndarray
    outputs: np.ndarray


class Text(NamedTuple):
    """The words that were kept, and from where to where the document of each goes; all int64."""

    words: np.ndarray
    begins: np.ndarray
    ends: np.ndarray


class Targets(NamedTuple):
    """Rows of the output table, and y of each."""

    rows: np.ndarray  # int64
    signs: np.ndarray  # float32


class Room(NamedTuple):
    """Where a chunk, or a batch of chunks, works."""

    x: np.ndarray  # (places and margins of a chunk, D): input rows
    dx: np.ndarray  # the same for each chunk
    h: np.ndarray  # (1, D): the mean
    dh: np.ndarray
    du: np.ndarray  # (places * most, D), or (most, D)
    targets: Targets  # (places * most,)
    sizes: np.ndarray  # (places,)
    near: np.ndarray
    scores: np.ndarray
    signs: np.ndarray


NO_WAYS = Ways(np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0, np.float32))
NO_NOISE = Noise(np.zeros(0, np.int64), np.zeros(0, np.int64))
NOT_SPELT = Spelt(np.zeros(0, np.int64), np.zeros(0, np.int64))


def empty_text(size: int) -> Text:
    """For up to so many words."""
    return Text(np.empty(size, np.int64), np.empty(size, np.int64), np.empty(size, np.int64))


def room_for(plan: Plan, width: int, chunk: int = CHUNK, chunks: int = 1, *, keep: bool = False) -> Room:
    """Room for `chunks` times `chunk` places; with `keep` their gradients stay."""
    near, places = plan.before + plan.after, chunks * chunk
    rows, flat = chunk + near, near * plan.most + 16
    return Room(
        aligned(rows, width),
        aligned(chunks * rows, width),
        aligned(1, width),
        aligned(1, width),
        aligned((places if keep else 1) * plan.most, width),
        Targets(np.zeros(places * plan.most, np.int64), np.zeros(places * plan.most, np.float32)),
        np.zeros(places, np.int64),
        lines(near, np.int64),
        lines(flat, np.float32),
        lines(flat, np.float32),
    )


def beside(room: Room) -> Room:
    """Room for another thread that works on the same batch."""
    own = {name: aligned(*getattr(room, name).shape) for name in ("x", "h", "dh")}
    small = {name: lines(len(one), one.dtype) for name in ("near", "scores", "signs") for one in [getattr(room, name)]}
    return room._replace(**own, **small)


def aligned(rows: int, width: int) -> np.ndarray:
    """Zeros whose rows begin where lines of the cache begin; the width is a multiple of 16."""
    return lines(rows * width, np.float32).reshape(rows, width)


def lines(size: int, kind: npt.DTypeLike) -> np.ndarray:
    """Zeros in lines of the cache that hold nothing else: no other thread writes beside them."""
    each = np.dtype(kind).itemsize
    held = np.zeros(-(-size * each // LINE) * LINE + LINE, np.uint8)
    skip = -held.ctypes.data % LINE
    return held[skip : skip + size * each].view(kind)
