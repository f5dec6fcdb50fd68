"""Batches of tagged sentences: words and tags side by side, every sentence once, long ones left out of training."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from foresay import parts
from foresay.data.batches import Batches
from foresay.data.tag_batches import tagged
from foresay.data.tag_shards import TagShards
from foresay.errors import UserError
from foresay.text.tokens import PAD
from tests.data.made import shards_of
from tests.data.tagged import ready


def test_batches():
    draw = np.random.default_rng(1)
    sizes = draw.integers(1, 20, 60)
    text = "\n".join("".join(f"w{draw.integers(9)} {'NV'[n % 2]}\n" for n in range(size)) for size in sizes)
    shards = ready(text).train
    assert isinstance(shards, TagShards)
    batches: Batches = parts.make("batches", {"kind": "tags", "tokens": 64, "longest": 15})
    order: Any = batches.open(shards, 3)
    assert order.left_out == (sizes > 15).sum() > 0
    seen = []
    for step in range(order.per_epoch):
        batch = order.batch(step)
        assert batch.ids.shape == batch.targets.shape and batch.ids.numel() <= 64
        mask = batch.mask if batch.mask is not None else batch.ids == batch.ids
        assert (batch.ids[~mask] == PAD).all()
        seen += [tuple(row[kept].tolist()) for row, kept in zip(batch.ids, mask, strict=True)]
        for row, kept in zip(batch.targets, mask, strict=True):
            assert row[kept].tolist() == [n % 2 for n in range(int(kept.sum()))]  # N and V in turn
    every = [tuple(shards.sentence(n)[0].tolist()) for n in range(60)]
    assert sorted(seen) == sorted(row for row in every if len(row) <= 15)
    measured = [b.ids[n] if b.mask is None else b.ids[n][b.mask[n]] for b in batches.evaluation(shards) for n in range(len(b.ids))]  # fmt: skip  # noqa: E501
    assert [tuple(row.tolist()) for row in measured] == every
    with pytest.raises(UserError, match="longest=1 leaves none of 1 sentences; the shortest has 2 words"):
        parts.make("batches", {"kind": "tags", "longest": 1}).open(ready("a N\nb N\n").train, 1)


def test_a_text_without_tags_is_refused(tmp_path):
    with pytest.raises(UserError, match=r"^train.batches=tags needs words with tags; allowed: data.kind=tags$"):
        tagged(shards_of(tmp_path / "text", [[5, 6]]))
