"""What a person should not have to find out of a finished run: no better than guessing, or much that is unknown."""

from __future__ import annotations

import math
from typing import Any

from foresay.models.task import Task
from foresay.train.progress import Watch

LITTLE = 1e-3  # of a deviation, which nobody need be warned of
FEW_STEPS = 200  # in which a model may well not have begun to learn


def _how_to_learn(steps: int | None, warmup: int) -> str:
    """What to do where nothing was learnt, in so many steps or by counting."""
    if steps is None:
        return "lower the order, give more text, or use another smoothing"
    if steps <= warmup:
        return f"its {steps} steps were all of warm-up: raise train.steps beyond {warmup}"
    return f"raise train.steps ({steps} are few)" if steps < FEW_STEPS else "lower train.lr"


def warn(results: dict[str, Any], watch: Watch, warmup: int, model: Task) -> None:
    """Says what a person should not have to find out: worse than guessing, or much that is unknown."""
    valid = results["valid"]
    if valid is None:
        return
    if "most_frequent" in valid:
        if valid["accuracy"] <= valid["most_frequent"]:
            share = 100 * valid["most_frequent"]
            watch.note(
                f"warning: the accuracy is no better than always giving the most frequent answer ({share:.1f} %)"
            )
        return
    if "error_rate" in valid:
        if valid["error_rate"] >= 1:
            remedy = _how_to_learn(results.get("steps"), warmup)
            watch.note(f"warning: the symbol error rate is {100 * valid['error_rate']:.0f} %: {remedy}")
        return
    if "nats_per_step" in valid:
        steps = results.get("steps")
        remedy = "try more states, starts or passes" if steps is None else _how_to_learn(steps, warmup)
        _of_series(valid, watch, remedy, model)
        return
    guessing = math.log(results["vocabulary"])
    if valid.get("impossible"):
        watch.note(
            f"warning: {valid['impossible']:,} validation tokens have probability 0, so perplexity is infinite; a "
            "smoothing other than none gives them some"
        )
    elif not valid["loss"] < guessing:
        remedy = _how_to_learn(results.get("steps"), warmup)
        watch.note(f"warning: the loss {valid['loss']:.3g} is no better than guessing ({guessing:.2f}): {remedy}")
    if valid["unknown"] > 0.005:
        watch.note(
            f"warning: {100 * valid['unknown']:.1f} % of the validation tokens are <unk>: perplexity and bits leave "
            "out what they stand for; bytes and subwords know every text"
        )


def _of_series(valid: dict[str, Any], watch: Watch, remedy: str, model: Any) -> None:
    """Where the step before foresees the next better, and the mean is off by more than a thousandth of a deviation."""
    little = LITTLE * math.fsum(model.form.deviations) / model.form.width
    if "f1_of_ones" in valid or valid["error"] < max(valid["naive_error"], little):
        return
    remedy += "" if getattr(model, "relative", True) else ", or set relative=true"
    watch.note(
        f"warning: the mean of the next step is off by {valid['error']:.4g}, and the step before by "
        f"{valid['naive_error']:.4g}: {remedy}"
    )
