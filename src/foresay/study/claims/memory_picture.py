"""The picture of the claim `memory`: what is recalled at each lag, and how the gradient falls with the distance."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from foresay.study.claims.claim import Figure, number
from foresay.study.recall import ENOUGH, SYMBOLS

if TYPE_CHECKING:
    from foresay.study.claims.memory import Searched

# Okabe and Ito's colours, which people who confuse red and green can tell apart; the marks say the same
COLOURS = ("#D55E00", "#0072B2", "#009E73", "#CC79A7")
MARKS = ("s", "o", "^", "D")
PRINTED = {"RNN": 7, "LSTM": 100}  # what the lecture says
GREY = "#5A5A5A"


def draw(
    runs: dict[str, list[Searched]], longest: dict[str, Figure], before: dict[str, Figure], after: dict[str, Figure]
) -> Any:
    """matplotlib's figure of two panels; everything by the network's name."""
    from matplotlib.figure import Figure as Picture

    picture = Picture(figsize=(11.5, 5), layout="constrained")
    picture.get_layout_engine().set(rect=(0, 0.04, 1, 0.96))  # pyright: ignore[reportOptionalMemberAccess, reportCallIssue]
    left, right = picture.subplots(1, 2)
    for name, colour, mark in zip(runs, COLOURS, MARKS, strict=False):
        _draw_recall(left, name, (colour, mark), runs[name], longest[name])
        _draw_gradient(right, name, colour, runs[name], (before[name], after[name]))
    _finish_recall(left)
    _finish_gradient(right)
    for axes in (left, right):
        axes.spines[["top", "right"]].set_visible(False)
        axes.grid(alpha=0.25, linewidth=0.7)
        axes.set_axisbelow(True)
    return picture


def _draw_recall(axes: Any, name: str, look: tuple[str, str], runs: Sequence[Searched], figure: Figure) -> None:
    """Each network a mark, each seed a thin line, and the interval of the longest lag on the line of 95 %."""
    colour, mark = look
    for run in runs:
        points = sorted((one.lag, 100 * one.accuracy) for one in run.tried)
        lags, shares = zip(*points, strict=True)
        axes.plot(lags, shares, color=colour, alpha=0.4, linewidth=1, marker=mark, markersize=4)
    assert figure.value is not None and figure.low is not None and figure.high is not None
    label = f"{name}\n{figure.sign}{number(figure.value)} steps ({figure.interval})"
    spread = [[figure.value - figure.low], [figure.high - figure.value]]
    axes.errorbar(
        figure.value, 100 * ENOUGH, xerr=spread, color=colour, marker=mark, markersize=9, capsize=5,
        linewidth=2.2, zorder=5, label=label, markeredgecolor="white",
    )  # fmt: skip
    if name in PRINTED:
        axes.axvline(PRINTED[name], color=colour, linestyle=":", linewidth=1.4)
        text = f"lecture: {name} ~{PRINTED[name]} "
        axes.text(PRINTED[name], 101.5, text, color=colour, fontsize=8.5, ha="center", va="bottom")


def _finish_recall(axes: Any) -> None:
    for level, text in ((100 * ENOUGH, "95 %"), (100 / SYMBOLS, "chance")):
        axes.axhline(level, color=GREY, linestyle="--", linewidth=1)
        axes.text(1.0, level - 1, text, color=GREY, fontsize=8.5, va="top")
    axes.set_xscale("log", base=2)
    right = max(128.0, axes.get_xlim()[1])
    axes.set_xlim(0.9, right * 1.3)
    ticks = [2**power for power in range(int(math.log2(right)) + 1)]
    axes.set_xticks(ticks, [str(tick) for tick in ticks])
    axes.set_ylim(0, 101)
    axes.set_xlabel("lag: steps between the symbol and the question")
    axes.set_ylabel("recalled after training on this lag, %")
    axes.set_title("What is recalled", loc="left", fontweight="bold", pad=22)
    title = "longest lag, 95 % interval"
    axes.legend(loc="center left", framealpha=0.9, edgecolor="none", title=title, alignment="left", fontsize=9)


def _draw_gradient(axes: Any, name: str, colour: str, runs: Sequence[Searched], lives: tuple[Figure, Figure]) -> None:
    """The geometric mean over seeds, relative to d = 0: after training, and dotted before it."""
    kinds = (([run.norms_before for run in runs], "before", ":"), ([run.norms for run in runs], "after", "-"))
    for (profiles, when, line), life in zip(kinds, lives, strict=True):
        label = f"{name}, {when}: {number(life.value)} steps ({life.interval})"
        axes.plot(_mean(profiles), color=colour, linewidth=2, linestyle=line, label=label)


def _finish_gradient(axes: Any) -> None:
    axes.set_yscale("log")
    axes.set_ylim(max(axes.get_ylim()[0], 1e-16), None)
    axes.set_xlabel("distance d: steps back from the question")
    axes.set_ylabel("‖∂J/∂h(t−d)‖ / ‖∂J/∂h(t)‖")
    axes.set_title("How the gradient falls, before and after training", loc="left", fontweight="bold", pad=22)
    axes.legend(frameon=False, loc="lower left", title="half-life, 95 % interval", alignment="left", fontsize=9)


def _mean(profiles: Sequence[Sequence[float]]) -> list[float]:
    logs = [[math.log(max(norm, 1e-300) / max(profile[0], 1e-300)) for norm in profile] for profile in profiles]
    return [math.exp(sum(column) / len(column)) for column in zip(*logs, strict=True)]
