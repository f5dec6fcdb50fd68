"""The picture of the claim `huffman`: how deep each tree is on average, as the vocabulary grows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from foresay.study.claims.huffman import Measured

# Okabe and Ito's colours, which people who confuse red and green can tell apart; the marks say the same
LOOKS: dict[str, dict[str, Any]] = {
    "random, cut anywhere": {"color": "#CC79A7", "marker": "D", "markersize": 4.5},
    "balanced": {"color": "#D55E00", "marker": "s", "markersize": 8, "markerfacecolor": "white"},
    "random, cut half": {"color": "#009E73", "marker": "^", "markersize": 4.5, "linestyle": "--"},
    "semantic": {"color": "#E69F00", "marker": "x", "markersize": 7, "linestyle": ":"},
    "Huffman": {"color": "#0072B2", "marker": "o", "markersize": 5.5, "linewidth": 2.4, "zorder": 5},
}
BAND = "#BBD9EE"


def draw(found: Sequence[Measured], text: str) -> Any:
    """matplotlib's figure of two panels: the words of the text, and Zipf's law with exponent 1."""
    from matplotlib.figure import Figure as Picture

    picture = Picture(figsize=(11.5, 5), layout="constrained")
    picture.get_layout_engine().set(rect=(0, 0.04, 1, 0.96))  # pyright: ignore[reportOptionalMemberAccess, reportCallIssue]
    left, right = picture.subplots(1, 2, sharey=True)
    _draw_panel(left, [one for one in found if one.name == text], f"The most frequent words of the {text}")
    _draw_panel(right, [one for one in found if one.name == "Zipf, exponent 1"], "Zipf's law, P(r) ∝ 1/r")
    left.set_ylim(0, None)
    left.set_ylabel("expected depth: turns to a word of the text")
    left.legend(frameon=False, loc="upper left", fontsize=9)
    return picture


def _draw_panel(axes: Any, found: Sequence[Measured], title: str) -> None:
    """Each tree a line over the number of words; the band is where Huffman's must lie."""
    words, entropies = [one.words for one in found], [one.entropy for one in found]
    above = [entropy + 1 for entropy in entropies]
    axes.fill_between(words, entropies, above, color=BAND, alpha=0.6, linewidth=0, label="from H(P) to H(P) + 1")
    axes.plot(words, entropies, color="#5A5A5A", linewidth=1.2)
    for name, look in LOOKS.items():
        if all(name in one.depths for one in found):
            _draw_tree(axes, words, [one.depths[name] for one in found], name, look)
    axes.set_xscale("log")
    axes.set_xlabel("words")
    axes.set_title(title, loc="left", fontweight="bold")
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(alpha=0.25, linewidth=0.7)
    axes.set_axisbelow(True)


def _draw_tree(axes: Any, words: list[int], depths: list[list[float]], name: str, look: dict[str, Any]) -> None:
    """The mean over seeds, and from the least to the most of them."""
    means = [sum(own) / len(own) for own in depths]
    axes.plot(words, means, label=name, **look)
    axes.vlines(words, [min(own) for own in depths], [max(own) for own in depths], color=look["color"], linewidth=1.2)
