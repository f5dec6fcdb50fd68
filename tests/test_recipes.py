"""The recipes that rebuild published results have the published sizes; on the published texts, the published counts."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
import torch

from foresay import recipe as recipes
from foresay.building import build
from foresay.data.prepare import prepare

V = 10_003  # of PTB: 10,000 with <stop> and <unk>, and <start>, <pad>, <mask>
DATA = Path(os.environ.get("FORESAY_DATA", "none"))


def read(name: str, *words: str) -> Any:
    return recipes.complete(recipes.override(recipes.read(name), list(words))[0])


def test_zarembas_medium_lstm() -> None:
    """Two layers of 650, 4 * 650 * (650 + 650 + 2) each; table and softmax of their own; 20 M in all."""
    recipe = read("zaremba-medium")
    model: Any = build(recipe, V, torch.device("cpu"))
    assert model.size() == 2 * V * 650 + V + 2 * 4 * 650 * (650 + 650 + 2)
    assert (recipe.train.batches.rows, recipe.train.batches.chunk) == (20, 35)
    # the paper's rate 1 and limit 5 are for the loss summed over a chunk's 35 steps
    assert recipe.train.optimizer.lr == 35 * 1.0 and recipe.train.clip.limit == pytest.approx(5 / 35)
    for table in (model.embedding.table, model.output.weight, model.encoder.forwards[1].weight_hh):
        assert 0.0499 < table.abs().max() <= 0.05
    epoch = 929_589 // 20 // 35
    assert recipe.train.steps == 39 * epoch == 13 * recipe.train.evaluate.every
    schedule = recipe.train.optimizer.schedule.in_steps(epoch)
    assert schedule.factor(6 * epoch - 1, 1) == 1.0
    assert schedule.factor(recipe.train.steps - 1, 1) == pytest.approx(1.2**-33)


@pytest.mark.parametrize(("name", "vocabulary"), [("awd-lstm", V), ("awd-lstm-wikitext-2", 33_281)])
def test_awd_lstm(name: str, vocabulary: int) -> None:
    """400-1150-1150-400, the softmax tied to the table: 24 M on PTB, 33 M on WikiText-2."""
    recipe = read(name)
    model: Any = build(recipe, vocabulary, torch.device("cpu"))
    lstm = sum(4 * h * (d + h + 2) for d, h in ((400, 1150), (1150, 1150), (1150, 400)))
    assert model.size() == 400 * vocabulary + vocabulary + lstm
    assert model.output.weight is model.embedding.table and model.output.project is None
    optimizer = recipe.train.optimizer
    assert (optimizer.lr, optimizer.weight_decay, optimizer.average.patience) == (30.0, 1.2e-6, 5)


@pytest.mark.data
@pytest.mark.parametrize(
    ("name", "symbols", "counts", "epoch"),
    [
        ("zaremba-medium", V, (929_589, 73_760, 82_430), 1327),
        ("awd-lstm", V, (929_589, 73_760, 82_430), 340),
        ("awd-lstm-wikitext-2", 33_281, (2_088_628, 217_646, 245_569), 382),
    ],
)
def test_the_published_counts(name: str, symbols: int, counts: tuple[int, ...], epoch: int) -> None:
    recipe = read(name)
    if not (DATA / recipe.data.train).is_dir():
        pytest.skip(f"{recipe.data.train} is not under FORESAY_DATA")
    prepared = prepare(recipe.data, recipe.tokens, recipe.seed)
    found = tuple(len(shards) for shards in (prepared.train, prepared.valid, prepared.test) if shards is not None)
    assert (len(prepared.tokens), found) == (symbols, counts)
    order = recipe.train.batches.open(prepared.train, recipe.seed)
    assert order.per_epoch == epoch and recipe.train.evaluate.every % epoch == 0
    lengths = {order.batch(step).ids.shape for step in range(epoch)}
    assert len(lengths) == (1 if name == "zaremba-medium" else 6)
