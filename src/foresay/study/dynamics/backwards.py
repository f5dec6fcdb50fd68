"""How far error passes back in a trained language model: the gradient's profile over a text, and its picture.

    L_t = -log P(w_{t+1} | w_1 ... w_t)         at places t spread over the text, each with its own window before it

Each window is read from a fresh state and is a quarter longer than what is shown, so that its beginning is not.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from foresay.data.batch import Batch
from foresay.data.series_form import SeriesForm
from foresay.encode.recurrent import Recurrent
from foresay.errors import UserError, counted
from foresay.models.language_model import LanguageModel
from foresay.run import Run
from foresay.study.dynamics.gradient import Norms, fall, profile
from foresay.text.tokens import START

FAR = 64  # steps back
PLACES = 32  # where the loss is asked, at most
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")  # Okabe and Ito's


@dataclass(frozen=True)
class Passed:
    """Norms of dL_t / ds_{t-d} by the state's name, and over how many places t."""

    norms: Norms
    places: int

    def half_life(self, name: str) -> float:
        """In steps, by the line through d = 1 and on: at d = 0 nothing has passed back yet."""
        return fall(self.norms[name][1:]).half_life

    def as_dict(self) -> dict[str, Any]:
        each = {name: {"norms": own, "half_life": finite(self.half_life(name))} for name, own in self.norms.items()}
        return {"places": self.places, "states": each}


def finite(value: float) -> float | None:
    return value if math.isfinite(value) else None


def recurrent_of(run: Run) -> Recurrent:
    """The recurrent encoder of a run, or one line that says why there is none."""
    encoder = getattr(run.model, "encoder", None)
    if not isinstance(encoder, Recurrent):
        kind = getattr(encoder, "part_name", run.recipe.task.part_name)
        raise UserError(
            f"{run.folder} has no recurrence to look at: it is {kind}; give a run of a recurrent encoder, such as "
            "foresay train lstm"
        )
    return encoder


def check_reads_text(run: Run) -> None:
    """Refuses a run that a text says nothing to."""
    form = getattr(run, "form", None)
    if form is not None:
        what = "series of numbers" if isinstance(form, SeriesForm) else form.told()
        raise UserError(f"{run.folder} is of {what}, and reads no text; allowed: a run of texts, or --spectrum")


def gradient_of(run: Run, text: str, far: int | None = None) -> Passed:
    """The profile of a run over a text, up to `far` steps back, 64 or what the text has."""
    encoder, model = recurrent_of(run), run.model
    check_reads_text(run)
    if not isinstance(model, LanguageModel) or model.condition is not None or encoder.initial.state == "condition":
        task = getattr(model, "part_name", "")
        raise UserError(
            f"{run.folder} is of task {task}, and the gradient is that of the next token's loss; allowed: a run of "
            "task language-model that writes for no label"
        )
    ids = [START, *run.tokens.encode(text).tolist()]
    if len(ids) < 4:
        raise UserError(f"the text has {counted(len(ids) - 1, 'token')}; give at least three to pass anything back")
    most = len(ids) - 2
    if far is not None and not 1 <= far <= most:
        raise UserError(f"--far {far}; allowed: 1 to {most}, as the text has {counted(len(ids) - 1, 'token')}")
    far = min(FAR, most) if far is None else far
    wide = min(len(ids) - 1, far + far // 4 + 1)
    starts = torch.linspace(0, len(ids) - 1 - wide, min(PLACES, len(ids) - wide)).long()
    rows = torch.tensor(ids, device=model.device)[
        starts[:, None].to(model.device) + torch.arange(wide + 1).to(model.device)
    ]
    return Passed(_profile(model.eval(), encoder, rows, far), len(rows))


def _profile(model: LanguageModel, encoder: Recurrent, rows: Tensor, far: int) -> Norms:
    x = model.embedding(Batch(ids=rows[:, :-1]))
    kind = x.dtype

    def loss(features: Tensor) -> Tensor:
        return -model.output.log_prob(features.to(kind)[:, None], rows[:, -1:]).sum()

    return profile(encoder, x, loss, far)


def lines(found: Passed) -> list[str]:
    """For a person: each state and the steps in which its gradient halves."""
    return [f"{name}\t{told(found.half_life(name))}" for name in found.norms]


def draw(found: Passed) -> Any:
    """matplotlib's figure: a line for each state, dashed for the input."""
    from matplotlib.figure import Figure

    picture = Figure(figsize=(7.6, 4.8), layout="constrained")
    axes = picture.subplots()
    names = [name for name in found.norms if name != "x"]
    looks = {name: (COLOURS[at % len(COLOURS)], "-") for at, name in enumerate(names)} | {"x": ("#5A5A5A", "--")}
    for name, (colour, line) in looks.items():
        points = [(d, norm) for d, norm in enumerate(found.norms[name]) if norm > 0]
        label = f"{named(name)}: {told(found.half_life(name))}"
        axes.plot(*zip(*points, strict=True), color=colour, linestyle=line, linewidth=2, label=label)
    axes.set_yscale("log")
    axes.set_xlabel("d: steps back from the loss")
    axes.set_ylabel("‖∂L(t) / ∂state(t−d)‖")
    axes.set_title(f"How error passes back, over {counted(found.places, 'place')}", loc="left", fontweight="bold")
    axes.legend(frameon=False, title="halves in … steps", alignment="left", fontsize=9)
    axes.grid(alpha=0.25, linewidth=0.7)
    axes.spines[["top", "right"]].set_visible(False)
    return picture


def named(name: str) -> str:
    """`0.h` for a person."""
    layer, _, state = name.partition(".")
    return f"{state}, layer {layer}" if state else "the input"


def told(half_life: float) -> str:
    return f"{half_life:.3g}" if math.isfinite(half_life) else "∞"
