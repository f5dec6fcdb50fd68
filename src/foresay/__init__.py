"""Foresay: train, compare and use sequence models on your own data.

    import foresay

    run = foresay.train("my.txt", minutes=5)
    run.perplexity("a sentence")
    run.generate("Once upon", length=100)
    again = foresay.load(run.folder)

The names below are loaded when first used: importing foresay does nothing else.
"""

from __future__ import annotations

import importlib
import sys
import types
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from foresay.decode.beam import Beam
    from foresay.decode.sample import Greedy, Sample
    from foresay.encode.cells.cell import Cell, stage
    from foresay.errors import UserError
    from foresay.loading import load
    from foresay.ready import prepare
    from foresay.run import Run, Scored
    from foresay.start import train
    from foresay.study.compare import compare
    from foresay.study.mix import mix
    from foresay.study.rate import find_rate
    from foresay.study.vocabulary.survey import vocabulary
    from foresay.vectors.word_vectors import WordVectors

__version__ = "0.1.0"
__all__ = [
    "Beam",
    "Cell",
    "Greedy",
    "Run",
    "Sample",
    "Scored",
    "UserError",
    "WordVectors",
    "compare",
    "find_rate",
    "load",
    "mix",
    "prepare",
    "stage",
    "train",
    "vocabulary",
]

_HOMES = {
    "Beam": "foresay.decode.beam",
    "Cell": "foresay.encode.cells.cell",
    "Greedy": "foresay.decode.sample",
    "Sample": "foresay.decode.sample",
    "Run": "foresay.run",
    "Scored": "foresay.results",
    "UserError": "foresay.errors",
    "WordVectors": "foresay.vectors.word_vectors",
    "compare": "foresay.study.compare",
    "find_rate": "foresay.study.rate",
    "load": "foresay.loading",
    "mix": "foresay.study.mix",
    "prepare": "foresay.ready",
    "stage": "foresay.encode.cells.cell",
    "train": "foresay.start",
    "vocabulary": "foresay.study.vocabulary.survey",
}


class _Package(types.ModuleType):
    """Keeps `foresay.train` the function: importing the folder of that name would bind the folder in its place."""

    @property
    def train(self) -> Any:
        return _loaded("train")

    @train.setter
    def train(self, _folder: types.ModuleType) -> None:
        """What the import system does after `import foresay.train`; `from foresay.train import ...` needs it not."""


sys.modules[__name__].__class__ = _Package


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return _loaded(name)
    raise AttributeError(f"module 'foresay' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*__all__, *globals()})


def _loaded(name: str) -> Any:
    from foresay.waiting import wait_briefly

    wait_briefly()
    return getattr(importlib.import_module(_HOMES[name]), name)
