"""Small models for the tests of graphs, their weights far from where they begin."""

from __future__ import annotations

from typing import Any

import torch

from foresay import parts
from foresay.data.label_shards import LabelSet
from foresay.data.tag_set import TagSet

V = 29


def made(task: str = "language-model", **settings: Any) -> Any:
    torch.manual_seed(1)
    model = parts.make("task", {"kind": task, "embedding": {"kind": "lookup", "size": 6}, **settings})
    if task == "tagger":
        model.tags = TagSet.of(["B-a", "I-a", "B-b", "I-b", "O"])
    if getattr(model, "condition", None) is not None or task == "classifier":
        model.learn_labels(LabelSet(("good", "bad", "so-so"), False, (3, 2, 1)))
    model.build(V)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(0.3 * torch.randn_like(parameter))
    return model.eval()
