"""How far one model is behind another on the same pieces: each token in its place, and intervals by hand."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

from foresay.data.buckets import Buckets
from foresay.data.corpus import Corpus
from foresay.data.packed import Packed
from foresay.data.prepare import prepare
from foresay.data.streams import Streams
from foresay.study.paired import GROUPS, Pieces, behind, nats_in_places, pieces_of
from foresay.text.characters import Characters
from tests.tides import TRAIN, train_small


class Told(nn.Module):
    """-log P of a token is its number."""

    device = torch.device("cpu")

    def measure(self, batch: Any, state: Any) -> tuple[torch.Tensor, Any]:
        real = torch.ones_like(batch.targets, dtype=torch.bool) if batch.mask is None else batch.mask
        return -batch.targets.double() * real, state


@pytest.mark.parametrize("limit", [10**6, 700])
@pytest.mark.parametrize("batches", [Streams(7, 11), Packed(3, 50), Buckets(tokens=100)])
@pytest.mark.parametrize("unit", ["document", "line"])
def test_every_token_is_found_in_its_place(unit: Any, batches: Any, limit: int, corpus: Path) -> None:
    shards = prepare(Corpus(train=str(corpus), unit=unit), Characters(), 1).valid
    assert shards is not None
    found = nats_in_places(Told(), batches, shards, limit)  # pyright: ignore[reportArgumentType]
    assert found.tolist() == shards.slice(0, min(limit, len(shards))).tolist()


def drawn(n: int = 4000) -> tuple[Pieces, Pieces]:
    """Two models that differ little on pieces that differ much."""
    draw = np.random.default_rng(3)
    hard, own = draw.gamma(2.0, 5.0, n), draw.normal(0.1, 0.5, n)
    return Pieces(hard, np.ones(n), least=True), Pieces(hard + own, np.ones(n), least=True)


def test_the_interval_is_of_the_difference():
    one, other = drawn()
    found, (low, high) = behind(one, other)
    each = other.parts - one.parts
    assert found == pytest.approx(each.mean())
    error = 1.96 * each.std() / math.sqrt(len(each))
    assert (low, high) == (
        pytest.approx(found - error, abs=0.15 * error),
        pytest.approx(found + error, abs=0.15 * error),
    )
    alone = 1.96 * one.parts.std() / math.sqrt(len(each))
    assert alone > 10 * error  # what either interval alone would hide


def test_of_shares_the_best_is_the_greatest():
    one, _ = drawn()
    right = Pieces((one.parts > 5).astype(float), one.wholes, least=False)
    fewer = Pieces((one.parts > 8).astype(float), one.wholes, least=False)
    found, (low, high) = behind(right, fewer)
    assert found == pytest.approx(right.parts.mean() - fewer.parts.mean()) and 0 < low < found < high


def test_of_ratios_each_draw_has_its_own_whole():
    """Pieces of other sizes: F1 and accuracy of words are sums over sums."""
    wholes = np.array([1.0, 9.0] * 300)
    one, other = (Pieces(wholes * share, wholes, least=False) for share in (0.5, 0.25))
    found, interval = behind(one, other)
    assert found == pytest.approx(0.25) and interval == pytest.approx((0.25, 0.25))


def test_what_one_read_further_is_left_out():
    one, other = drawn()
    short = Pieces(other.parts[:1000], other.wholes[:1000], least=True)
    assert behind(one, short)[0] == pytest.approx((other.parts - one.parts)[:1000].mean())


def test_neighbours_are_drawn_together():
    """A difference that comes in runs is less sure than as many by chance."""
    runs = np.repeat(np.random.default_rng(1).normal(size=GROUPS // 4), 80)
    zero = Pieces(np.zeros(len(runs)), np.ones(len(runs)), least=True)
    low, high = behind(zero, Pieces(runs, np.ones(len(runs)), least=True))[1]
    assert high - low > 3 * 1.96 * runs.std() / math.sqrt(len(runs))


def test_an_impossible_token_is_infinitely_behind():
    one, other = drawn()
    other.parts[7] = math.inf
    found, interval = behind(one, other)
    assert found == math.inf and interval is None


def test_the_steps_of_series_are_found_in_their_places(tmp_path: Path) -> None:
    """However they are cut into windows; what is not predicted or not known is 0 of 0."""
    batches = {"kind": "series", "rows": 2, "length": 64}
    run = train_small(tmp_path, train=TRAIN | {"steps": 2, "batches": batches})
    _, shards = run.held_out(None, "valid")
    expected, counted = np.zeros(240), np.zeros(240)
    for number in range(6):
        nats = run.nats(shards.series(number).copy())[0]
        expected[40 * number + 36 : 40 * number + 40], counted[40 * number + 36 : 40 * number + 40] = nats[36:], 1
    found = pieces_of(run)
    assert found.parts == pytest.approx(expected, abs=1e-4) and np.array_equal(found.wholes, counted) and found.least
