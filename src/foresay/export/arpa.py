"""An n-gram run as an ARPA file."""

from __future__ import annotations

from pathlib import Path

from foresay.counts import arpa
from foresay.errors import UserError
from foresay.models.ngram import Ngram
from foresay.run import Run


def write(run: Run, path: Path) -> None:
    """Writes the file whole or not at all; packed where its name ends with .gz."""
    if not isinstance(run.model, Ngram):
        name = run.recipe.task.part_name
        raise UserError(f"{run.folder} is a {name}; an ARPA file holds n-grams: train ngram or kneser-ney")
    if not path.parent.is_dir():
        raise UserError(f"{path.parent} is no folder; make it first, or give another --out")
    arpa.write(path, run.model.table, run.tokens.pieces(range(len(run.tokens))))
