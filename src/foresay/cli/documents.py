"""What `score` and `predict` do with pictures and sounds: files, folders of them, one answer for each."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

from foresay.cli.app import show, show_json
from foresay.errors import UserError

AT_ONCE = 64  # read together


def score_documents(run: Any, files: Sequence[str], label: str | None, *, as_json: bool) -> None:
    """-log P of each, and bits for each of its levels."""
    for some in blocks_of(run, files):
        for (place, values), nats in zip(some, run.nats([values for _, values in some], label), strict=True):
            bits = nats / math.log(2) / max(values.size, 1)
            dimension = "sample" if run.form.rate else "dimension"
            if as_json:
                about = {"file": place, "nats": nats, f"bits_per_{dimension}": bits}
                show_json(about if label is None else about | {"label": label}, compact=True)
            else:
                show(f"{nats:.4f}\t{bits:.4f} bits/{dimension}\t{place}")


def predict_documents(run: Any, files: Sequence[str], *, as_json: bool) -> None:
    """Of each its label, and with JSON the probability of every label."""
    for some in blocks_of(run, files):
        for (place, _), (label, shares) in zip(some, run.predict([values for _, values in some]), strict=True):
            if as_json:
                show_json({"file": place, "label": label, "probabilities": shares}, compact=True)
            else:
                show(f"{label}\t{place}")


def refuse_options(run: Any, given: dict[str, object]) -> None:
    """Refuses options that are for texts."""
    name = next((name for name, value in given.items() if value), None)
    if name is not None:
        raise UserError(f"--{name} is for runs on texts; {run.folder} is of {run.form.told()}: leave it out")


def blocks_of(run: Any, files: Sequence[str]) -> Iterator[list[tuple[str, Any]]]:
    """Documents that are read together; those before one that cannot be read come before its error."""
    block = []
    try:
        for one in run.documents(files):
            block.append(one)
            if len(block) == AT_ONCE:
                yield block
                block = []
    except UserError:
        if block:
            yield block
        raise
    if block:
        yield block
