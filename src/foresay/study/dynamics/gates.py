"""What the gates of a trained language model do over a text, and how often they stand at an end: numbers and a picture.

Of each value with ends (study/dynamics/saturation.py): its mean over units at every token, of one in [-1, 1] that of
|v|; for every unit the share of tokens at its lower and at its upper end; and how all units' values spread.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from torch import Tensor

from foresay.errors import UserError
from foresay.models.language_model import LanguageModel
from foresay.run import Run
from foresay.study.dynamics.backwards import COLOURS, check_reads_text, recurrent_of
from foresay.study.dynamics.saturation import ENDS, NEAR, PIECES, Saturated, ends_of, saturated
from foresay.study.pictures import MOST
from foresay.study.visible import visible

END = "#B9B9B9"  # where a value is at its end


@dataclass(frozen=True)
class Gates:
    """The tokens, and by name (`0.f`: f of the lowest layer) the mean at each and the shares at the ends."""

    tokens: list[str]
    means: dict[str, Tensor]
    ends: dict[str, Saturated]

    def as_dict(self) -> dict[str, Any]:
        each = {name: one.as_dict() | {"means": self.means[name].tolist()} for name, one in self.ends.items()}
        return {"tokens": self.tokens, "values": each}


def gates_of(run: Run, text: str) -> Gates:
    """What a run's gates do while it reads a text, <start> first."""
    encoder, model = recurrent_of(run), run.model
    check_reads_text(run)
    if not isinstance(model, LanguageModel):
        task = getattr(model, "part_name", "")
        raise UserError(
            f"{run.folder} is of task {task}, whose gates are not traced; allowed: a run of task language-model"
        )
    found = run.trace(text)
    means, ends = {}, {}
    for layer, cell in enumerate(encoder.forwards):
        for name, kind in ends_of(cell).items():
            value = found[f"encoder.{layer}.{name}"].float().cpu()
            means[f"{layer}.{name}"] = (value.abs() if kind == "value" else value).mean(1)
            ends[f"{layer}.{name}"] = saturated(value[None], kind)
    if not ends:
        raise UserError(f"{run.folder} has no gate and no activation with an end; there is nothing to saturate")
    return Gates(found["tokens"], means, ends)


def lines(found: Gates) -> list[str]:
    """For a person: each value and its shares at both ends."""
    each = []
    for name, one in found.ends.items():
        low, high = ENDS[one.ends]
        ends = f"{low} {100 * float(one.lower.mean()):.1f} %"
        each.append(f"{name}\t{ends}" + (f"\t{high} {100 * float(one.upper.mean()):.1f} %" if high else ""))
    return each


def draw(found: Gates) -> Any:
    """matplotlib's figure: for every layer the means over the tokens, and how the values of all units spread."""
    from matplotlib.figure import Figure

    layers = list(dict.fromkeys(name.split(".")[0] for name in found.ends))
    few = len(found.tokens) <= MOST
    inches = min(max(0.16 * len(found.tokens), 5.0), 12.0)
    picture = Figure(figsize=(inches + 5.2, 4.3 * len(layers)), layout="constrained")
    places = picture.subplots(len(layers), 2, squeeze=False, width_ratios=(inches, 4.2))
    for (left, right), layer in zip(places, layers, strict=True):
        names = [name for name in found.ends if name.split(".")[0] == layer]
        _means(picture, left, found, [one for one in names if found.ends[one].ends != "positive"], few)
        left.set_title(f"layer {layer}: mean over units at each token", loc="left", fontweight="bold", fontsize=10)
        _spread(right, found, names)
    return picture


def _means(picture: Any, axes: Any, found: Gates, names: Sequence[str], few: bool) -> None:
    if not names:
        axes.set_axis_off()
        return
    rows = [found.means[name].tolist() for name in names]
    shown = axes.imshow(rows, aspect="auto", vmin=0, vmax=1, cmap="viridis", interpolation="nearest")
    labels = [one.split(".")[1] if found.ends[one].ends == "gate" else f"|{one.split('.')[1]}|" for one in names]
    axes.set_yticks(range(len(names)), labels)
    if few:
        axes.set_xticks(
            range(len(found.tokens)), [visible(one, 12) for one in found.tokens], rotation=90, fontsize=7.5,
            parse_math=False,
        )  # fmt: skip
    else:
        axes.set_xlabel("token")
    picture.colorbar(shown, ax=axes, shrink=0.8, pad=0.01)


def _spread(axes: Any, found: Gates, names: Sequence[str]) -> None:
    """A row for each value, the first on top: its shares in pieces from end to end, the greatest as high as the row."""
    for row, (name, colour) in enumerate(
        zip(reversed(names), list(reversed((COLOURS * 3)[: len(names)])), strict=True)
    ):
        one = found.ends[name]
        edges = np.linspace(one.low, one.high if one.ends != "positive" else 1.0, PIECES + 1)
        heights = 0.62 * one.spread.numpy() / float(one.spread.max())
        axes.stairs(row + heights, edges, baseline=row, fill=True, color=colour, alpha=0.75)
        low, high = ENDS[one.ends]
        ends = [(edges[0], NEAR if one.ends != "positive" else 0.0)] + ([(1 - NEAR, NEAR)] if high else [])
        for begin, wide in ends:
            axes.broken_barh([(begin, wide)], (row, 0.62), color=END, alpha=0.45, linewidth=0, zorder=0)
        label = name.split(".")[1] + (f" / {one.high:.2g}" if one.ends == "positive" else "")
        label += f": {low} {100 * float(one.lower.mean()):.0f} %"
        label += f", {high} {100 * float(one.upper.mean()):.0f} %" if high else ""
        axes.text(-1, row + 0.66, label, fontsize=8, va="bottom", parse_math=False)
    axes.set_xlim(-1.02, 1.02)
    axes.set_ylim(-0.05, len(names))
    axes.set_xticks([-1, -0.5, 0, 0.5, 1])
    axes.set_yticks([])
    axes.set_xlabel("value")
    axes.set_title("all units and tokens; the ends are grey", loc="left", fontsize=10)
    axes.spines[["top", "right", "left"]].set_visible(False)
