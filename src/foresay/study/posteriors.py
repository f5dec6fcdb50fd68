"""How probable each tag, or hidden state, is at every word: by what was read so far, and by all.

    filtered   P(s_t | o_1 .. o_t)        what a reader knows when it has read so far
    smoothed   P(s_t | o_1 .. o_T)        what it knows at the end

Of a tagger the states are its tags (tag.py says how each kind knows them); of a hidden Markov language model they are
numbers, each with the symbols that it emits most. The picture has a panel for each, a column for every word.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from foresay.errors import UserError
from foresay.loading import TagRun
from foresay.models.markov.words import HiddenMarkov
from foresay.run import Run
from foresay.study import pictures
from foresay.study.visible import visible
from foresay.tag import Posteriors

SHOWN, LEAST = 24, 0.02  # states in a picture at most, and the share that one must reach somewhere
TYPICAL = 3  # symbols that stand for a state
LONG = 28  # letters of a name that are shown


def posteriors_of(run: Run, text: str) -> Posteriors:
    """Of a text, by a run that knows tags or hidden states."""
    if not text.strip():
        raise UserError("the text is empty; give a text with words")
    if isinstance(run, TagRun):
        return run.posteriors(text)[0]
    if not isinstance(run.model, HiddenMarkov):
        raise UserError(
            f"{run.folder} is a {getattr(run.model, 'part_name', '')}, which knows no tags and no hidden states; "
            "allowed: a run of task tagger, hmm or hmm-lm"
        )
    ids = run.tokens.encode(text)
    filtered, smoothed = run.model.posteriors(torch.from_numpy(ids.astype(np.int64)))
    return Posteriors(run.tokens.pieces(ids), tuple(_names(run)), filtered, smoothed)


def _names(run: Run) -> list[str]:
    """Every state by its number and its most frequent symbols."""
    emits = run.model.get_buffer("emits")
    best = emits.topk(min(TYPICAL, len(emits)), 0).indices.T.tolist()
    return [f"{state}: {' '.join(map(visible, run.tokens.pieces(own)))}" for state, own in enumerate(best)]


def lines(found: Posteriors) -> list[str]:
    """A line for each word: the word, the best state by the words so far and by all, each with its share."""
    rows = zip(found.words, found.filtered, found.smoothed, strict=True)
    return [f"{visible(word)}\t{_best(found, one)}\t{_best(found, other)}" for word, one, other in rows]


def _best(found: Posteriors, shares: np.ndarray) -> str:
    return f"{found.names[int(shares.argmax())]}\t{shares.max():.3f}"


def draw(found: Posteriors) -> Any:
    """matplotlib's figure: two panels of states by words."""
    from matplotlib.figure import Figure as Picture

    number = len(found.words)
    pictures.check_number("the text", number)
    most = np.maximum(found.filtered, found.smoothed).max(0)
    shown = np.sort(np.argsort(-most, kind="stable")[: min(SHOWN, max(int((most >= LEAST).sum()), 1))])
    names = [one if len(one) <= LONG else one[: LONG - 1] + "…" for one in (found.names[state] for state in shown)]
    wide = 2.2 + 0.09 * max(map(len, names)) + max(0.3 * number, 3.4)
    picture = Picture(figsize=(wide, 2 * (0.8 + 0.2 * max(len(shown), 3)) + 0.8), layout="constrained")
    panels = picture.subplots(2, 1, sharex=True)
    said = (("filtered: by the words so far, P(s | o_1 .. o_t)", found.filtered),)
    said += (("smoothed: by all words, P(s | o_1 .. o_T)", found.smoothed),)
    image: Any = None
    for axes, (title, shares) in zip(panels, said, strict=True):
        image = axes.imshow(shares[:, shown].T, vmin=0, vmax=1, cmap="Blues", aspect="auto", interpolation="nearest")
        axes.set_title(title, loc="left", fontsize=10)
        axes.set_yticks(range(len(shown)), names, fontsize=8, parse_math=False)
        axes.set_ylabel("tag or state", fontsize=9)
        axes.tick_params(length=0)
    words = [visible(word, 14) for word in found.words]
    panels[1].set_xticks(range(number), words, rotation=90, fontsize=9, parse_math=False)
    panels[1].set_xlabel("word", fontsize=9)
    picture.colorbar(image, ax=panels, label="probability", shrink=0.7)
    return picture
