"""What the gates of a trained language model do over a text, and how often they stand at an end: numbers and a picture.

Of each value with ends (study/dynamics/saturation.py): its mean over units at every token, of one in [-1, 1] that of
|v|; and for every unit the share of tokens at its lower and at its upper end.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from torch import Tensor

from foresay.errors import UserError
from foresay.run import Run
from foresay.study.dynamics.backwards import COLOURS, recurrent_of
from foresay.study.dynamics.saturation import ENDS, Saturated, ends_of, saturated
from foresay.study.pictures import MOST
from foresay.study.visible import visible

MARKS = ("o", "s", "^", "D", "v", "P")


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
    encoder = recurrent_of(run)
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
    """matplotlib's figure: for every layer the means over the tokens, and each unit by its shares at both ends."""
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
        _shares(right, found, names)
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


def _shares(axes: Any, found: Gates, names: Sequence[str]) -> None:
    for name, colour, mark in zip(names, COLOURS * 3, MARKS * 3, strict=False):
        one = found.ends[name]
        low, high = ENDS[one.ends]
        label = f"{name.split('.')[1]}: {low} {100 * float(one.lower.mean()):.0f} %"
        label += f", {high} {100 * float(one.upper.mean()):.0f} %" if high else ""
        axes.plot(100 * one.lower, 100 * one.upper, mark, color=colour, alpha=0.55, markersize=4.5, label=label)
    axes.plot([0, 100], [100, 0], color="#5A5A5A", linewidth=1, linestyle="--")
    axes.set_xlabel("at the lower end, % of tokens")
    axes.set_ylabel("at the upper end, % of tokens")
    axes.set_xlim(-4, 104)
    axes.set_ylim(-4, 104)
    axes.legend(fontsize=8, framealpha=0.85, edgecolor="none", loc="upper right")
    axes.set_title("each unit a mark", loc="left", fontsize=10)
    axes.spines[["top", "right"]].set_visible(False)
