"""Rows of two lengths in buckets: which rows meet, how wide they are, and how an evaluation groups them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from foresay.data.batch import Batch
from foresay.data.buckets import grouped
from foresay.data.row_batches import RowBatches, held, padded
from foresay.data.row_shards import RowShards, RowWriter
from foresay.errors import UserError
from foresay.text.tokens import PAD
from tests.data.made import shards_of

SIZES = np.array([[1, 5], [2, 4], [6, 1], [3, 6], [5, 2], [9, 1]])


class Two(RowBatches):
    """Rows that only say which they are and how wide they were to be."""

    def own(self, shards):
        return shards

    def sizes(self, shards):
        return SIZES

    def batch_of(self, shards, rows, widths):
        self.seen.append((sorted(rows.tolist()), tuple(widths)))
        return Batch()

    def read(self) -> list:
        with RowWriter(Path("rows"), 9) as writer:
            writer.add(range(6), [np.array([5], np.uint32)] * 6, [""] * 6)
            writer.finish()
        self.seen, order = [], self.open(RowShards(Path("rows")), 1)
        assert order.left_out == 1
        for step in range(order.per_epoch):
            order.batch(step)
        return sorted(self.seen)


def test_both_lengths_are_rounded_up_to_the_width_but_not_above_the_longest() -> None:
    """Kept are those of up to 7: their longest are 6 and 6; (1, 5) and (3, 6) both become (4, 6), and so on."""
    found = Two(tokens=12, longest=7, width=4, workers=0).read()
    assert [tuple(rows) == (2, 4) for rows, widths in found if widths == (6, 4)] == [True]
    assert sorted(row for rows, widths in found if widths == (4, 6) for row in rows) == [0, 1, 3]  # 1 is (4, 4), alone
    one_by_one = Two(tokens=11, longest=7, width=4, workers=0).read()  # 2 rows of 6 are 12
    assert [rows for rows, _ in one_by_one] == [[0], [1], [2], [3], [4]]


def test_an_evaluation_goes_on_until_the_budget_is_spent() -> None:
    sizes = np.array([2, 3, 1, 9, 1, 1])
    assert [rows.tolist() for rows in grouped(sizes, 6)] == [[0, 1], [2], [3], [4, 5]]  # one above it stands alone
    assert [rows.tolist() for rows in grouped(sizes, 9)] == [[0, 1, 2], [3], [4, 5]]
    assert not list(grouped(sizes[:0], 9))


def test_padding() -> None:
    ids, mask = padded([np.array([5, 6]), np.array([7])], 3)
    assert ids.tolist() == [[5, 6, PAD], [7, PAD, PAD]]
    assert mask is not None and mask.tolist() == [[True, True, False], [True, False, False]]
    assert padded([np.array([5, 6])], 2)[1] is None


def test_refusals(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"train.batches=x needs a y; allowed: data.kind=x"):
        held(shards_of(tmp_path / "text", [[5, 6]]), RowShards, "x", "a y")
    with pytest.raises(UserError, match=r"rows=2, but rows are read one a row; leave it out"):
        Two(9, 9, 1, 0).in_rows(2)
