"""What the loops pass to one another. Nothing here needs numba: it is imported with the part that trains."""

from __future__ import annotations

import itertools
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

CHUNK = 64  # places whose input rows are read, and changed, together; fewer where words are few
MEAN_CHUNK = 16  # the same where a mean predicts: with 64 it answers 0.4 points fewer analogies, and is no faster
BLOCKS = 2  # of columns; the most threads that can share a batch
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
    """Where a chunk works."""

    x: np.ndarray  # (places and margins, D): input rows
    dx: np.ndarray
    h: np.ndarray  # (1, D): the mean
    dh: np.ndarray
    du: np.ndarray  # (most, D)
    targets: Targets  # (places * most,)
    sizes: np.ndarray  # (places,)
    near: np.ndarray
    zeroth: np.ndarray  # [0]
    scores: np.ndarray
    signs: np.ndarray


class Block(NamedTuple):
    """Some columns of both tables, and where a batch works on them."""

    inputs: np.ndarray
    outputs: np.ndarray
    x: np.ndarray  # (places and margins, columns): input rows
    dx: np.ndarray
    h: np.ndarray  # (1, columns): the mean
    dh: np.ndarray
    du: np.ndarray  # (places * most, columns)


Blocks = tuple[Block, ...]


class Shared(NamedTuple):
    """What threads tell one another of a batch; batches use the places in turn."""

    targets: tuple[Targets, Targets, Targets]  # (places * most,)
    sizes: np.ndarray  # (3, places)
    scores: np.ndarray  # (2, blocks, places * flat)
    flat: int


class Own(NamedTuple):
    """What a thread has for itself."""

    near: np.ndarray
    zeroth: np.ndarray  # [0]
    scores: np.ndarray
    signs: np.ndarray


NO_WAYS = Ways(np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0, np.float32))
NO_NOISE = Noise(np.zeros(0, np.int64), np.zeros(0, np.int64))
NOT_SPELT = Spelt(np.zeros(0, np.int64), np.zeros(0, np.int64))


def empty_text(size: int) -> Text:
    """For up to so many words."""
    return Text(np.empty(size, np.int64), np.empty(size, np.int64), np.empty(size, np.int64))


def room_for(plan: Plan, width: int, chunk: int = CHUNK) -> Room:
    """Room for a chunk of so many places."""
    rows = chunk + plan.before + plan.after
    return Room(
        aligned(rows, width),
        aligned(rows, width),
        aligned(1, width),
        aligned(1, width),
        aligned(plan.most, width),
        no_targets(chunk, plan),
        np.zeros(chunk, np.int64),
        *own_room(plan),
    )


def own_room(plan: Plan) -> Own:
    near, flat = plan.before + plan.after, flat_size(plan)
    return Own(lines(near, np.int64), np.zeros(1, np.int64), lines(flat, np.float32), lines(flat, np.float32))


def shared_room(plan: Plan, batch: int) -> Shared:
    """For batches of so many places."""
    flat = flat_size(plan)
    scores = lines(2 * BLOCKS * batch * flat, np.float32).reshape(2, BLOCKS, batch * flat)
    targets = (no_targets(batch, plan), no_targets(batch, plan), no_targets(batch, plan))
    return Shared(targets, np.zeros((3, batch), np.int64), scores, flat)


def no_targets(places: int, plan: Plan) -> Targets:
    return Targets(np.zeros(places * plan.most, np.int64), np.zeros(places * plan.most, np.float32))


def flat_size(plan: Plan) -> int:
    """Scores that a place can have, as whole lines, and one more to write beyond the last."""
    return -(-(plan.before + plan.after) * plan.most // 16) * 16 + 16


def cut(tables: Tables, plan: Plan, batch: int) -> Blocks:
    """Copies of the tables, in blocks of columns as alike as whole vectors of sixteen allow; some may have none."""
    vectors, rows = tables.inputs.shape[1] // 16, batch + plan.before + plan.after
    ends = [16 * -(-vectors * b // BLOCKS) for b in range(BLOCKS + 1)]
    blocks = []
    for begin, end in itertools.pairwise(ends):
        copies = [aligned(len(table), end - begin) for table in tables]
        for copy, table in zip(copies, tables, strict=True):
            copy[:] = table[:, begin:end]
        work = (aligned(many, end - begin) for many in (rows, rows, 1, 1, batch * plan.most))
        blocks.append(Block(*copies, *work))
    return tuple(blocks)


def join(blocks: Blocks, tables: Tables) -> None:
    """Back into the tables."""
    np.concatenate([block.inputs for block in blocks], 1, out=tables.inputs)
    np.concatenate([block.outputs for block in blocks], 1, out=tables.outputs)


def aligned(rows: int, width: int) -> np.ndarray:
    """Zeros whose rows begin where lines of the cache begin; the width is a multiple of 16."""
    return lines(rows * width, np.float32).reshape(rows, width)


def lines(size: int, kind: npt.DTypeLike) -> np.ndarray:
    """Zeros in lines of the cache that hold nothing else: no other thread writes beside them."""
    each = np.dtype(kind).itemsize
    held = np.zeros(-(-size * each // LINE) * LINE + LINE, np.uint8)
    skip = -held.ctypes.data % LINE
    return held[skip : skip + size * each].view(kind)
