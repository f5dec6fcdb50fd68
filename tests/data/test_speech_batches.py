"""Batches of recordings: each once, frames and texts padded on the right; other shards are refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from foresay.data.speech_batches import SpeechBatches
from foresay.errors import UserError
from foresay.text.tokens import PAD
from tests.data.made import shards_of as texts_of
from tests.data.test_speech_prepare import shards_of


def test_batches_have_each_recording_once(tmp_path: Path) -> None:
    shards = shards_of(tmp_path).train
    batches = SpeechBatches(tokens=24, longest=64, width=4)
    order = batches.open(shards, 1)
    for some in ([order.batch(step) for step in range(order.per_epoch)], list(batches.evaluation(shards))):
        texts = sorted(tuple(row[row != PAD].tolist()) for batch in some for row in batch.targets)
        assert texts == sorted(tuple(one.tolist()) for one in shards.texts_of(np.arange(4)))
        assert sum(batch.tokens for batch in some) == len(shards)
    (batch,) = SpeechBatches(tokens=1000).evaluation(shards)
    assert batch.mask is None and batch.targets.shape == (4, 3) and batch.targets[2].tolist() == [PAD] * 3


def test_other_shards_are_refused(tmp_path: Path) -> None:
    texts: Any = texts_of(tmp_path / "train", [[5, 6]], vocabulary=7)
    with pytest.raises(
        UserError, match=r"^train\.batches=speech needs recordings with texts; allowed: data\.kind=speech"
    ):
        SpeechBatches().open(texts, 1)


def test_longer_ones_are_left_out(tmp_path: Path) -> None:
    shards = shards_of(tmp_path).train
    with pytest.raises(
        UserError, match=r"^train\.batches\.longest=2 leaves none of 4 recordings; the shortest has 10 fr"
    ):
        SpeechBatches(longest=2).open(shards, 1)
