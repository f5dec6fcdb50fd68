"""The recipes for made tags learn: a few steps beat the most frequent tag of each word, which knows no context."""

from __future__ import annotations

from collections import Counter, defaultdict
from pathlib import Path

import pytest

from foresay import start
from foresay.data.made import made_rows
from foresay.loading import TagRun
from foresay.train.progress import Watch

SHORT = ["train.evaluate.every=1000", "train.save.every=1000", "train.schedule.warmup=5"]


def alone(name: str) -> float:
    """The share of the valid words that have the most frequent tag of their word in train."""
    met: dict[str, Counter[str]] = defaultdict(Counter)
    made = made_rows("tags", name, 1)
    for words, tags in made["train"]:
        for word, tag in zip(words, tags, strict=True):
            met[word][tag] += 1
    right = [met[word].most_common(1)[0][0] == tag for both in made["valid"] for word, tag in zip(*both, strict=True)]
    return sum(right) / len(right)


@pytest.mark.parametrize(
    ("name", "data", "steps"), [("chunking", "builtin:chunks", 100), ("protein", "builtin:proteins", 40)]
)
def test_context_tells(name: str, data: str, steps: int, tmp_path: Path) -> None:
    run = start.train(name, [f"train.steps={steps}", *SHORT], out=tmp_path / "run", device="cpu", watch=Watch())
    assert isinstance(run, TagRun) and run.recipe.data.train == data
    wrong, bar = 1 - run.evaluate().accuracy, 1 - alone(data)
    assert wrong < 0.7 * bar, (wrong, bar)
