"""What a recogniser hears when: the spectrogram of a recording, and beneath it P of every symbol at every step.

Above the frames as they are read, a band a row; below p_t of each symbol that is likely somewhere, and of the blank.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from foresay.output.ctc import BLANK
from foresay.study import pictures
from foresay.study.visible import visible
from foresay.train.report import COLOURS

LIKELY = 0.05  # of a symbol that is drawn
MOST = 14  # symbols that can be told apart


@dataclass(frozen=True)
class Listened:
    """Of a recording its frames (T, D), p (T', V) of every symbol, how long a frame and a step are, and its text."""

    name: str
    text: str
    symbols: list[str]
    bands: list[str]
    frames: np.ndarray
    p: np.ndarray
    hop: float  # seconds
    step: float

    def as_dict(self) -> dict[str, Any]:
        return {
            "file": self.name,
            "text": self.text,
            "seconds_per_step": self.step,
            "symbols": self.symbols,
            "blank": BLANK,
            "probabilities": self.p.tolist(),
        }

    def spans(self) -> list[tuple[str, float, float, float]]:
        """Of each symbol of the best path from when to when it is the likeliest, in seconds, and its greatest P."""
        best, found = self.p.argmax(1), []
        edges = np.flatnonzero(np.diff(np.concatenate([[-1], best, [-1]])))
        for begin, end in pairwise(edges.tolist()):
            if (one := int(best[begin])) != BLANK:
                most = float(self.p[begin:end, one].max())
                found.append((self.symbols[one], float(begin * self.step), float(end * self.step), most))
        return found


def hear(run: Any, sound: str) -> Listened:
    """What a run of task recogniser hears in a recording."""
    frames, p = run.posteriors(sound)
    hop = run.recipe.data.read.hop
    symbols = run.tokens.pieces(range(p.shape[1]))
    text = run.recognise([frames])[0].text
    return Listened(Path(sound).name, text, symbols, list(run.form.columns), frames, p, hop, hop * run.model.by)


def draw(found: Listened, path: Path) -> None:
    """Writes the picture, as SVG or PNG by the name's ending."""
    pictures.write(path, figure_of(found))


def figure_of(found: Listened) -> Any:
    """The picture as matplotlib's figure."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    seconds = len(found.frames) * found.hop
    figure = Figure(figsize=(min(max(5.5, 4.0 * seconds), 16.0), 5.4), layout="constrained")
    FigureCanvasAgg(figure)
    above, below = figure.subplots(2, 1, sharex=True, height_ratios=[1.1, 1.0])
    extent = (0.0, seconds, -0.5, len(found.bands) - 0.5)
    above.imshow(found.frames.T, origin="lower", aspect="auto", cmap="magma", extent=extent, interpolation="nearest")
    shown = np.linspace(0, len(found.bands) - 1, 5).astype(int)
    above.set_yticks(shown, [found.bands[one] for one in shown])
    above.set_title(f"{found.name}: {found.text or 'nothing'}", loc="left", parse_math=False)
    above.set_ylabel("band")
    _draw_steps(below, found)
    below.set_xlabel("seconds")
    below.set_ylabel("P at each step")
    below.set_xlim(0, seconds)
    return figure


def _draw_steps(axes: Any, found: Listened) -> None:
    """A curve for each symbol that is likely somewhere."""
    middles = (np.arange(len(found.p)) + 0.5) * found.step
    axes.fill_between(middles, found.p[:, BLANK], color="0.85", label="blank", linewidth=0)
    likely = [one for one in np.argsort(-found.p.max(0)) if one != BLANK and found.p[:, one].max() >= LIKELY][:MOST]
    for place, one in enumerate(sorted(likely)):
        style = "-" if place < len(COLOURS) else "--"
        name, colour = visible(found.symbols[one]), COLOURS[place % len(COLOURS)]
        axes.plot(middles, found.p[:, one], style, color=colour, label=name, linewidth=1.6)
    axes.set_ylim(0, 1.02)
    axes.spines[["top", "right"]].set_visible(False)
    legend = axes.legend(frameon=False, fontsize=8, loc="upper left", bbox_to_anchor=(1.0, 1.0))
    for text in legend.get_texts():
        text.set_parse_math(False)
