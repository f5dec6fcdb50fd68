"""What every registered kind of batches keeps, and the shift by one."""

import tempfile
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from foresay import parts
from foresay.data.batches import joined, shifted
from foresay.errors import UserError
from foresay.text.tokens import PAD, START, STOP
from tests.data.made import shards_of

SMALL = [
    {"kind": "streams", "rows": 3, "chunk": 4},
    {"kind": "streams", "rows": 2, "chunk": 3, "reset": True},
    {"kind": "buckets", "tokens": 12, "longest": 5, "width": 2},
    {"kind": "packed", "rows": 2, "length": 5},
]
DOCUMENTS = [[10, 11, 12], [], [13, 14, 15, 16, 17, 18, 19], [20], [21, 22], [], [23, 24, 25, 26]]
FLAT = [i for ids in DOCUMENTS for i in [*ids, STOP]]


def before(flat):
    return [START if i == STOP else i for i in [STOP, *flat[:-1]]]


def real(batch):
    """(input, target) of every real position, row by row."""
    mask = batch.mask if batch.mask is not None else torch.ones_like(batch.ids, dtype=torch.bool)
    return list(zip(batch.ids[mask].tolist(), batch.targets[mask].tolist(), strict=True))


def same(one, two):
    fields = ("ids", "targets", "mask", "starts")
    pairs = [(getattr(one, name), getattr(two, name)) for name in fields]
    return one.fresh == two.fresh and all((a is None) == (b is None) and (a is None or a.equal(b)) for a, b in pairs)


@pytest.fixture
def shards(tmp_path):
    return shards_of(tmp_path / "s", DOCUMENTS)


def test_every_registered_kind_is_tested():
    elsewhere = {
        "pairs",
        "tags",
        "labels",
        "images",
        "series",
        "speech",
    }  # each has a test of its own: test_pair_batches.py, ...
    assert {settings["kind"] for settings in SMALL} | elsewhere == set(parts.names("batches"))


@pytest.mark.parametrize("settings", SMALL, ids=str)
def test_a_batch_depends_on_seed_and_step_only(shards, settings):
    batches = parts.make("batches", settings)
    order = batches.open(shards, 1)
    steps = 3 * order.per_epoch
    through = [order.batch(step) for step in range(steps)]
    for step in reversed(range(steps)):
        assert same(batches.open(shards, 1).batch(step), through[step])
    other = batches.open(shards, 2)
    assert not all(same(other.batch(step), through[step]) for step in range(steps))


@pytest.mark.parametrize("settings", SMALL, ids=str)
def test_inputs_are_the_token_before_in_every_epoch(shards, settings):
    pairs = set(zip(before(FLAT), FLAT, strict=True))
    order = parts.make("batches", settings).open(shards, 5)
    for step in range(4 * order.per_epoch):
        batch = order.batch(step)
        assert batch.ids.dtype == batch.targets.dtype == torch.int64
        assert set(real(batch)) <= pairs
        if batch.mask is not None:
            assert (batch.ids[~batch.mask] == PAD).all() and (batch.targets[~batch.mask] == PAD).all()
            assert (batch.mask.int().diff(dim=1) <= 0).all()  # padding on the right only


@pytest.mark.parametrize("kind", ["streams", "buckets", "packed"])
@given(
    documents=st.lists(st.lists(st.integers(5, 999), max_size=9), min_size=2, max_size=8),
    sizes=st.tuples(st.integers(1, 9), st.integers(1, 9), st.integers(1, 4)),
)
def test_evaluation_has_every_token_once(kind, documents, sizes):
    names = {"streams": ("rows", "chunk"), "buckets": ("tokens", "longest", "width"), "packed": ("rows", "length")}
    batches = parts.make("batches", {"kind": kind, **dict(zip(names[kind], sizes, strict=False))})
    flat = [i for ids in documents for i in [*ids, STOP]]
    with tempfile.TemporaryDirectory() as folder:
        found = list(batches.evaluation(shards_of(Path(folder) / "s", documents)))
    pairs = [pair for batch in found for pair in real(batch)]
    expected = list(zip(before(flat), flat, strict=True))
    if kind == "streams":  # row by row: the rows of all batches, put end to end, are the text
        rows = [[] for _ in range(found[0].ids.shape[0])]
        for batch in found:
            for row, ids, targets in zip(rows, batch.ids, batch.targets, strict=True):
                row += [pair for pair in zip(ids.tolist(), targets.tolist(), strict=True) if pair[1] != PAD]
        pairs = [pair for row in rows for pair in row]
        assert [batch.fresh for batch in found] == [True] + [False] * (len(found) - 1)
    else:
        assert all(batch.fresh for batch in found)
    assert pairs == expected
    assert sum(batch.tokens for batch in found) == len(flat)


@pytest.mark.parametrize("settings", SMALL, ids=str)
def test_too_little_text_is_refused_and_two_tokens_are_enough(tmp_path, settings):
    batches = parts.make("batches", settings)
    with pytest.raises(UserError, match="holds 1 token; at least 2 are needed"):
        batches.open(shards_of(tmp_path / "one", [[]]), 1)
    order = batches.open(shards_of(tmp_path / "two", [[9]]), 1)
    assert set(real(order.batch(0))) == {(START, 9), (9, STOP)}


def test_shifted_goes_round(shards):
    ids, targets = shifted(shards, len(FLAT) - 2, 2 * len(FLAT))
    ring = FLAT[-2:] + FLAT + FLAT[:-2]
    assert targets.tolist() == ring
    assert ids.tolist() == [START if i == STOP else i for i in [FLAT[-3], *ring[:-1]]]


def test_joined_pads_on_the_right():
    batch = joined([(np.array([START, 7]), np.array([7, STOP])), (np.array([START]), np.array([STOP]))], 3, True, True)
    assert batch.ids.tolist() == [[START, 7, PAD], [START, PAD, PAD]]
    assert batch.targets.tolist() == [[7, STOP, PAD], [STOP, PAD, PAD]]
    assert batch.mask.tolist() == [[True, True, False], [True, False, False]]
    assert batch.starts.tolist() == [[True, False, False], [True, False, False]]
