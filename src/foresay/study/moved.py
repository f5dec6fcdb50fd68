"""Which words moved a classifier's decision: gradient times input, of a bag of words weight times count.

    s   = log P(label) / (1 - P(label))          of the answer, before it is calibrated
    m_t = x_t . ds/dx_t                          x_t the vector of word t, and of `beside` added to it

A word with m_t > 0 speaks for the answer, one with m_t < 0 against it. Where s is linear in x, as with averaged vectors
and two labels, the m_t add up to s without the biases; else they are what a small change of each vector would do.

A bag of words is linear in what it counts: x_v of word v, of which each place in the text has its part,

    m_t = x_v / n_v  W_v . ds/dz                 n_v the places of v: x_v = n_v, or 1 where counts are binary

and with two labels, or where there may be several, ds/dz does not depend on z: all that is in s but the biases.
"""

from __future__ import annotations

import html
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from foresay.data.batch import Batch
from foresay.data.strange import words_of
from foresay.errors import UserError
from foresay.loading import LabelRun
from foresay.models.bag_of_words import BagOfWords
from foresay.models.classifier import Classifier
from foresay.study import pictures
from foresay.study.visible import visible
from foresay.train.aside import write_file

FOR, AGAINST = (0, 114, 178), (213, 94, 0)  # colours
STRONGEST = 0.75  # how much of its colour the strongest word has
LINE = 0.24  # inches


@dataclass(frozen=True)
class Moved:
    """The tokens of a text, how much each moved the decision for `label`, and how probable that is."""

    tokens: list[str]
    shares: list[float]
    label: str
    probability: float
    by: str = "gradient × input"

    def as_dict(self) -> dict[str, Any]:
        told = {"label": self.label, "probability": self.probability}
        return told | {"tokens": self.tokens, "shares": self.shares}


def moved_by(run: Any, text: str, label: str | None = None) -> Moved:
    """What moved the decision for the answer to a text, or for another label."""
    model = run.model
    if not isinstance(run, LabelRun) or not isinstance(model, Classifier | BagOfWords):
        raise UserError(f"{run.folder} is no classifier; allowed: a run of task classifier or bag-of-words")
    names = model.labels.names
    if label is not None and label not in names:
        raise UserError(f"--label {label}; allowed: {', '.join(names)}")
    probabilities = run.predict(text)[0][1]
    chosen = label or max(names, key=lambda name: probabilities[name])
    batch, at = run.batch_of(text).to(model.device), names.index(chosen)
    shares, by = _counted(model, batch, at) if isinstance(model, BagOfWords) else _sloped(model, batch, at)
    words = words_of(run.tokens, text, run.tokens.encode(text).tolist())[: len(shares)]
    return Moved(words, shares, chosen, probabilities[chosen], by)


def _odds(z: Tensor, at: int, several: bool) -> Tensor:
    """s of the scores z (C,)."""
    return z[at] if several else z[at] - torch.cat([z[:at], z[at + 1 :]]).logsumexp(0)


def _sloped(model: Classifier, batch: Batch, at: int) -> tuple[list[float], str]:
    with torch.enable_grad():
        vectors = [x.detach().requires_grad_() for x in model.eval().vectors(batch)]
        odds = _odds(model.read(vectors, batch.mask)[0], at, model.labels.several)
        slopes = torch.autograd.grad(odds, vectors)
    each = [(x * slope).sum(2)[0] for x, slope in zip(vectors, slopes, strict=True)]
    return torch.stack(each).sum(0).tolist(), "gradient × input"


def _counted(model: BagOfWords, batch: Batch, at: int) -> tuple[list[float], str]:
    assert batch.ids is not None
    ids = batch.ids[0]
    with torch.enable_grad():
        z = model.scores(batch)[0].detach().requires_grad_()
        (slope,) = torch.autograd.grad(_odds(z, at, model.labels.several), z)
    places = (ids[:, None] == ids).sum(1) if model.counts == "binary" else torch.ones_like(ids)
    return (model.weight.detach()[ids] @ slope / places).tolist(), "weight × count"


def draw(found: Moved, path: Path) -> None:
    """A page (.html) of coloured words, or a picture (.svg, .png) with a bar for each."""
    if path.suffix.lower() == ".html":
        write_file(path, page(found).encode())
        return
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    pictures.check_number("the text", len(found.tokens))
    figure = Figure(figsize=(5.6, 1.1 + LINE * len(found.tokens)), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.subplots()
    colours = ["#%02x%02x%02x" % (FOR if share > 0 else AGAINST) for share in found.shares]
    axes.barh(range(len(found.tokens)), found.shares, 0.7, color=colours)
    axes.set_yticks(range(len(found.tokens)), list(map(visible, found.tokens)), fontsize=9, parse_math=False)
    axes.invert_yaxis()
    axes.axvline(0, color="#5A5A5A", linewidth=0.8)
    axes.set_xlabel(f"against   {found.by}   for {found.label}", parse_math=False)
    axes.set_title(f"{found.label}: {100 * found.probability:.1f} %", loc="left", parse_math=False)
    axes.tick_params(axis="y", length=0)
    axes.spines[["top", "right", "left"]].set_visible(False)
    pictures.write(path, figure)


def page(found: Moved) -> str:
    """The words in a line, blue for the answer and orange against it, the stronger the more."""
    most = max(map(abs, found.shares), default=0.0) or 1.0
    words = []
    for token, share in zip(found.tokens, found.shares, strict=True):
        red, green, blue = FOR if share > 0 else AGAINST
        style = f"background:rgba({red},{green},{blue},{STRONGEST * abs(share) / most:.3f})"
        words.append(f'<span style="{style}" title="{share:+.3f}">{html.escape(visible(token))}</span>')
    label = html.escape(found.label)
    return (
        f'<!doctype html><html lang="en"><meta charset="utf-8"><title>{label}</title>'
        "<style>body{font:18px/2 system-ui,sans-serif;max-width:50rem;margin:2rem auto;padding:0 1rem;"
        "background:#fff;color:#111}span{padding:.15em .25em;border-radius:.25em}</style>"
        f"<h1>{label}: {100 * found.probability:.1f} %</h1><p>{' '.join(words)}</p>"
        f"<p><small>Blue words speak for {label}, orange ones against it: {found.by}.</small></p></html>\n"
    )
