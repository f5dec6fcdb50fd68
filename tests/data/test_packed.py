"""Packed windows, by value."""

from foresay.data.packed import Packed
from foresay.text.tokens import START, STOP
from tests.data.made import shards_of


def test_windows_of_the_first_epoch(tmp_path):
    shards = shards_of(tmp_path / "s", [list(range(10, 19))])  # 10 tokens: 3 windows of 3
    order = Packed(rows=1, length=3).open(shards, 1)
    batches = [order.batch(step) for step in range(order.per_epoch)]
    assert sorted(batch.targets.tolist()[0] for batch in batches) == [[10, 11, 12], [13, 14, 15], [16, 17, 18]]
    assert all(batch.starts is None and batch.fresh and batch.mask is None for batch in batches)
    orders = {tuple(int(order.batch(3 * e + i).targets[0, 0]) for i in range(3)) for e in range(9)}
    assert len(orders) > 3


def test_starts_where_a_document_begins_inside(tmp_path):
    shards = shards_of(tmp_path / "s", [[10], [11, 12], [13, 14, 15]])
    first, second = Packed(rows=1, length=5).evaluation(shards)
    assert first.targets.tolist() == [[10, STOP, 11, 12, STOP]]
    assert first.ids.tolist() == [[START, 10, START, 11, 12]]
    assert first.starts.tolist() == [[True, False, True, False, False]]
    assert second.targets.tolist() == [[13, 14, 15, STOP]]
    assert second.starts is None


def test_across_documents(tmp_path):
    shards = shards_of(tmp_path / "s", [[10], [11, 12], [13, 14, 15]])
    packed = Packed(rows=1, length=5, across=True)
    batches = [*packed.evaluation(shards), packed.open(shards, 1).batch(0)]
    assert [batch.starts for batch in batches] == [None] * 3
    assert batches[0].ids.tolist() == [[START, 10, START, 11, 12]]


def test_a_text_shorter_than_a_window(tmp_path):
    shards = shards_of(tmp_path / "s", [[10, 11]])
    order = Packed(rows=4, length=50).open(shards, 1)
    assert order.batch(0).targets.tolist() == [[10, 11, STOP]]
