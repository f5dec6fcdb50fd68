"""Which of the weights that were measured are the best: by `train.best`, the loss or what a task gets right.

loss        the smallest validation loss
accuracy    the greatest share of right tags or labels
f1          the greatest F1 of spans, or of labels the mean over them (macro)
last        those of the last step, unless it is no number: what is written may get better (BLEU) where the loss of
            single words, of which the model is too sure, gets worse
"""

from __future__ import annotations

import math
from typing import Any, Literal

from foresay.errors import UserError
from foresay.models.task import Task

By = Literal["loss", "accuracy", "f1", "last"]


def check_best(by: By, model: Task, *, measured: bool = True) -> None:
    """Refuses what a task does not measure, and what is not measured at all, without a validation text."""
    tags = getattr(model, "tags", None)
    allowed = ["loss", "last"] + ["accuracy"] * (model.reads in ("tags", "labels"))
    allowed += ["f1"] * (model.reads == "labels" or (tags is not None and tags.scheme != "none"))
    if by not in allowed:
        why = "these tags write no spans" if model.reads == "tags" else "this task does not measure it"
        raise UserError(f"train.best={by}, and {why}; allowed: {', '.join(allowed)}")
    if by not in ("loss", "last") and not measured:
        raise UserError(
            f"train.best={by} is measured on a validation text, and data.share=0 keeps none; give data.valid or a "
            "data.share, or set train.best=loss"
        )


def cost(measured: dict[str, Any], by: By, step: int) -> list[float]:
    """What is to be small: the share that is wrong, and of equal ones the loss; of `loss` it alone."""
    loss = measured["loss"]
    if not math.isfinite(loss):
        return [math.inf, math.inf]
    if by == "last":
        return [-step, loss]
    if by == "loss":
        return [loss, loss]
    if by == "accuracy":
        return [1 - measured["accuracy"], loss]
    return [1 - (measured["spans"]["f1"] if "spans" in measured else measured["macro_f1"]), loss]
