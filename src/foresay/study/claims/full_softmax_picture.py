"""The picture of the claim `full-softmax`: perplexity of each output layer, after equal steps and in equal time."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from foresay.study.claims.claim import Figure
from foresay.study.claims.words_picture import GREY, LOOKS, plain, sheet


def draw(steps: Mapping[str, Figure], times: Mapping[str, Figure], best: str) -> Any:
    """matplotlib's figure; the band is the full softmax's interval."""
    picture, places = sheet(2)
    panels = (("After equal steps", steps), ("In equal time", {best: steps[best], **times}))
    for axes, (title, shown), (colour, mark) in zip(places, panels, LOOKS, strict=False):
        full = steps[best]
        assert full.low is not None and full.high is not None
        axes.axvspan(full.low, full.high, color=GREY, alpha=0.15, linewidth=0)
        for row, one in enumerate(shown.values()):
            assert one.value is not None and one.low is not None and one.high is not None
            spread = [[one.value - one.low], [one.high - one.value]]
            axes.errorbar(one.value, row, xerr=spread, color=colour, marker=mark, markersize=6, capsize=4)
        axes.set_yticks(range(len(shown)), list(shown))
        axes.invert_yaxis()
        axes.set_xlabel("perplexity of held-out text; grey: the full softmax's interval")
        plain(axes, title)
    return picture
