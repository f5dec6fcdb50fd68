"""The picture of the claim `blind-spot`: what one pixel sees at three depths, and what can be learnt of where."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from foresay.study.claims.claim import interval
from foresay.study.claims.words_picture import GREY, plain

if TYPE_CHECKING:
    from foresay.study.claims.blind_spot import Field, Stack

SEEN, BLIND, FAR, AFTER, OWN = "#56B4E9", "#D55E00", "#D5D8DC", "#F3F4F5", "#1A1A1A"
KINDS = {"seen": SEEN, "blind spot": BLIND, "before it, out of reach": FAR, "after it": AFTER, "the pixel": OWN}
LOOKS = {"residual": ("#CC79A7", "s"), "gated": ("#009E73", "o")}
BELOW = 1  # rows of what comes after


def draw(fields: Sequence[Field], told: Mapping[str, Mapping[int, Sequence[float]]], blind_to: Stack) -> Any:
    """matplotlib's figure: a row of fields for each block, those of the first form, and the accuracies beside them."""
    from matplotlib.figure import Figure as Picture
    from matplotlib.patches import Patch

    kernel, first = fields[0].stack.kernel, fields[0].stack.first
    fields = [one for one in fields if (one.stack.kernel, one.stack.first) == (kernel, first)]
    depths = sorted({one.stack.layers for one in fields})
    most = max(one.stack.reach for one in fields) + 1
    picture = Picture(figsize=(13, 4.7), layout="constrained")
    picture.get_layout_engine().set(rect=(0, 0.04, 1, 0.96), wspace=0.05)  # pyright: ignore[reportOptionalMemberAccess, reportCallIssue]
    sides: Any = picture.subfigures(1, 2, width_ratios=(len(depths), 1.5))
    left, right = sides
    title = f"What the features of one pixel see, by gradient: kernel {kernel}, first {first}"
    left.suptitle(title, x=0.01, ha="left", fontweight="bold")
    places = left.subplots(len(LOOKS), len(depths), squeeze=False)
    for one in fields:
        _draw_field(places[list(LOOKS).index(one.stack.block)][depths.index(one.stack.layers)], one, most)
    patches = [Patch(color=colour, label=name) for name, colour in KINDS.items()]
    left.legend(handles=patches, loc="outside lower left", ncols=len(KINDS), frameon=False, fontsize=9)
    _draw_told(right.subplots(), told, blind_to)
    return picture


def _draw_field(axes: Any, field: Field, most: int) -> None:
    """Each pixel a square of the colour of what it is to the one in the middle."""
    from matplotlib.colors import ListedColormap

    kinds = list(KINDS)
    up, sides = range(-BELOW, most + 1), range(-most, most + 1)
    rows = [[kinds.index(_kind(field, row, right)) for right in sides] for row in up]
    colours = ListedColormap(list(KINDS.values()))
    axes.pcolormesh(rows, cmap=colours, vmin=0, vmax=len(kinds) - 1, edgecolors="white", linewidth=0.7)
    axes.set_aspect("equal")
    axes.tick_params(which="both", bottom=False, left=False, labelbottom=False, labelleft=False)
    axes.spines[:].set_visible(False)
    stack, blind = field.stack, len(field.blind)
    axes.set_title(f"{stack.block}, {stack.layers} layers", loc="left", fontsize=10)
    text = f"{blind} of {len(stack.before())} blind" if blind else "none blind"
    axes.set_title(text, loc="right", fontsize=10, color=BLIND if blind else GREY)


def _kind(field: Field, up: int, right: int) -> str:
    if (up, right) == (0, 0):
        return "the pixel"
    if (up, right) in field.seen:
        return "seen"
    if up < 0 or (not up and right > 0):
        return "after it"
    return "blind spot" if (up, right) in field.blind else "before it, out of reach"


def _draw_told(axes: Any, told: Mapping[str, Mapping[int, Sequence[float]]], blind_to: Stack) -> None:
    rights = sorted({right for own in told.values() for right in own})
    blind = [right for right in rights if not blind_to.sees(1, right)]
    if blind:
        axes.axvspan(blind[0] - 0.5, rights[-1] + 0.5, color=BLIND, alpha=0.13, linewidth=0)
        axes.text(rights[-1] + 0.4, 75, "the residual's\nblind spot", color=BLIND, ha="right", va="center", fontsize=9)
    for (block, own), wide in zip(told.items(), (9, 6), strict=True):  # where both are right, both are seen
        colour, mark = LOOKS[block]
        means = [statistics.fmean(own[right]) for right in rights]
        ends = [interval(own[right]) for right in rights]
        spread = [[middle - low for middle, low, _ in ends], [high - middle for middle, _, high in ends]]
        axes.errorbar(rights, means, yerr=spread, color=colour, marker=mark, markersize=wide, capsize=4, label=block)
    axes.axhline(50, color=GREY, linestyle="--", linewidth=1)
    axes.text(rights[0] - 0.4, 49.3, "guessing", color=GREY, va="top", fontsize=8.5)
    axes.set_xlim(rights[0] - 0.5, rights[-1] + 0.5)
    axes.set_ylim(40, 104)
    axes.set_xlabel("where the copied pixel is: in the row above,\nso many columns to the right")
    axes.set_ylabel("copies told, %")
    axes.legend(frameon=False, loc="center left", title="95 % interval over seeds", alignment="left", fontsize=9)
    plain(axes, f"A copied pixel, learnt with {blind_to.layers} layers")
