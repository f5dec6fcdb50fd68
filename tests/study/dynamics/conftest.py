"""Runs of every recurrent cell that nobody has trained: models with their first weights, over a run's own tokens."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

from foresay import recipe as recipes
from foresay.building import build
from foresay.loading import load
from foresay.run import Run


@pytest.fixture
def fresh(trained: Path, tmp_path: Path) -> Callable[..., Run]:
    """`fresh("gru")`, `fresh({"kind": "transformer", ...}, whole=True)`."""
    tokens = load(trained, "cpu").tokens

    def made(cell: Any, *, whole: bool = False, **more: Any) -> Run:
        given = {"kind": "lstm-projected", "projection": 4} if cell == "lstm-projected" else cell
        encoder = cell if whole else {"kind": "recurrent", "cell": given, "size": 6} | more
        task = {"task": "language-model", "embedding": {"size": 4}, "output": {"tied": False}, "seed": 3}
        recipe = recipes.complete(task | {"data": {"train": "no.txt"}, "encoder": encoder})
        return Run(tmp_path / "run", recipe, tokens, build(recipe, tokens, torch.device("cpu")).eval())

    return made
