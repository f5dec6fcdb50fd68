"""What a model is measured by: the figures of its own kind; and what is too long for its positions."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
import torch

from foresay import parts
from foresay.building import build
from foresay.data.batches import Batches
from foresay.data.prepare import prepare
from foresay.data.tag_shards import TagShards
from foresay.errors import UserError
from foresay.train.classified import Classified
from foresay.train.evaluate import Measured
from foresay.train.measure import check_positions, measure_on
from foresay.train.tagged import TagFigures
from tests.data.tagged import TEXT, ready

ENCODER = {"kind": "recurrent", "size": 4}
SMALL = {"embedding": {"kind": "lookup", "size": 3}, "encoder": ENCODER}


def built(task: str, prepared):
    recipe = SimpleNamespace(task=parts.make("task", {"kind": task, **SMALL}), seed=1)
    return build(recipe, prepared.tokens, torch.device("cpu"), text=prepared.train, tags=prepared.tags)  # pyright: ignore


def test_each_kind_by_its_own_figures(tmp_path):
    (tmp_path / "a.csv").write_text("text,label\na b,x\nb,y\na,y\n")
    (tmp_path / "a.txt").write_text("a b a\nb a\n")
    tags = ready(TEXT)
    labels = prepare(parts.make("data", {"kind": "labels", "train": "a.csv", "share": 0.0}), blanks(), 1)
    text = prepare(parts.make("data", {"kind": "text", "train": "a.txt", "share": 0.0}), blanks(), 1)
    kinds: dict[str, Batches] = {kind: parts.make("batches", kind) for kind in ("tags", "labels", "buckets")}
    tagged = measure_on(built("tagger", tags), kinds["tags"], tags.train)
    labelled = measure_on(built("classifier", labels), kinds["labels"], labels.train)
    read = measure_on(built("language-model", text), kinds["buckets"], text.train)
    assert isinstance(tagged, TagFigures) and tagged.tokens == 7
    assert isinstance(labelled, Classified) and (labelled.texts, labelled.tokens) == (3, 4)
    assert isinstance(read, Measured) and read.tokens == len(text.train)


def blanks():
    return parts.make("tokens", "blanks")


def test_positions():
    shards = ready(TEXT).train
    assert isinstance(shards, TagShards)
    model = SimpleNamespace(encoder=SimpleNamespace(longest=4))
    with pytest.raises(UserError, match=r"^data.valid: line 1 begins a sentence of 5 words; encoder.positions=learnt"):
        check_positions(model, shards, "data.valid")
    check_positions(model, None, "data.valid")
    check_positions(torch.nn.Module(), shards, "data.valid")  # by counts: it has no positions
