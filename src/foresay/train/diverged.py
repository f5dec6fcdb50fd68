"""Whether what training kept is worth keeping: a run that diverged ends with one line, and is not called done.

    diverged    weights or a loss that are no numbers; or, on the text it learnt from and on the one held out,
                loss > CLIMBED max(loss of guessing, loss of the first weights)

Few steps are no divergence: what has not learnt yet stands near its beginning. Nor is overfitting, which knows the text
it learnt from, nor are answers that are too sure, where they are right more often than always the same one would be.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from foresay.errors import UserError
from foresay.models.labelling import Labelling
from foresay.models.series import Series
from foresay.models.tagging import Tagging
from foresay.models.task import Task
from foresay.train.loop import Trainer
from foresay.train.measure import measure_on

CLIMBED = 1.25  # times what it could do without training
LOOKED_AT = 20_000  # tokens of the training text, at most


class Diverged(UserError):
    """Training that stepped too far: there are weights, and they are worth nothing."""


def check_learnt(trainer: Trainer, valid: dict[str, Any] | None, begun: Callable[[], Task]) -> None:
    """Refuses weights that are worth nothing; `valid` was measured with them, `begun` makes the first ones again."""
    model = trainer.model
    if not all(bool(one.isfinite().all()) for one in model.parameters()):
        raise _diverged(trainer, "the weights are no longer numbers")
    if valid is not None and math.isnan(valid["loss"]):
        raise _diverged(trainer, "the validation loss is no number")
    guessing = guessed(model)
    most = guessing + (CLIMBED - 1) * abs(guessing)  # a density's may be below 0
    if valid is not None and (valid["loss"] <= most or _better_than_one_answer(valid)):
        return
    known = _on_training_text(trainer, model)
    if known["loss"] <= most or _better_than_one_answer(known):
        return
    first = _on_training_text(trainer, begun())["loss"]
    loss = known["loss"] if valid is None else min(valid["loss"], known["loss"])
    if not loss <= first + (CLIMBED - 1) * abs(first):
        raise _diverged(trainer, f"the loss is {loss:.3g}, and guessing gives {guessing:.2f}")


def guessed(model: Task) -> float:
    """The loss of taking everything for equally probable; of numbers, of knowing their means and deviations alone."""
    if isinstance(model, Series):
        return model.guessing()
    if isinstance(model, Labelling):
        labels = len(model.labels.names)
        return labels * math.log(2) if model.labels.several else math.log(labels)
    if isinstance(model, Tagging):
        assert model.tags is not None
        return math.log(len(model.tags))
    return math.log(model.vocabulary)


def _better_than_one_answer(measured: dict[str, Any]) -> bool:
    """Whether answers are right more often than always the same one, by more than chance."""
    return "accuracy" in measured and measured["accuracy_interval"][0] > measured.get("most_frequent", 1.0)


def _on_training_text(trainer: Trainer, model: Task) -> dict[str, Any]:
    loop = trainer.loop
    limit = min(LOOKED_AT, loop.evaluate.tokens)
    return measure_on(model, loop.batches.as_learnt(), trainer.prepared.train, limit=limit).as_dict()


def _diverged(trainer: Trainer, what: str) -> Diverged:
    return Diverged(
        f"train.lr={trainer.loop.optimizer.lr:g}: training diverged: {what}; start a new run with a lower train.lr; "
        f"{trainer.folder} keeps the checkpoints of this one"
    )
