"""One word wherever it stands, as points in the plane, a panel for each layer: near points have like vectors."""

from __future__ import annotations

from itertools import cycle, islice
from pathlib import Path

import torch
from torch import Tensor

from foresay.errors import UserError, nearest
from foresay.study.pictures import write
from foresay.study.senses import Occurrences, Senses

COLOURS = ("#1f5fa8", "#d1662c", "#3b8f4d", "#7a4fa3", "#8a8a8a", "#c23b5e", "#2aa5a0", "#b8a11f", "#7b4a2d", "#e58bb5")
MARKS = "o^sDvP*X"  # another once all colours are used
SIDE = 3.1
REACH = 0.12  # of a panel, how far points on one place are spread if all are on it


def draw_senses(path: Path, found: Senses, word: str | None) -> None:
    """The occurrences of a word as .png or .svg, by default of the one with the most of its second tag."""
    one = pick(found, word)
    from matplotlib.figure import Figure

    figure = Figure(figsize=(SIDE * len(one.layers), SIDE + 0.5), layout="constrained")
    panels = figure.subplots(1, len(one.layers), squeeze=False)[0]
    tags = sorted(set(one.tags), key=lambda tag: (-one.tags.count(tag), tag))
    for number, (axes, layer) in enumerate(zip(panels, found.layers, strict=True)):
        points = apart(flat(one.layers[number]))
        for tag, (colour, mark) in zip(tags, looks(len(tags)), strict=True):
            own = [place for place, other in enumerate(one.tags) if other == tag]
            named = f"{tag} ({len(own)})"
            axes.scatter(points[own, 0], points[own, 1], s=26, color=colour, marker=mark, alpha=0.8, label=named)
        axes.set_title(f"layer {number}: {layer.by_word[one.word]:.0f} % nearest alike", fontsize=9, loc="left")
        axes.set_xticks([])
        axes.set_yticks([])
    legend = panels[0].legend(fontsize=8, frameon=False, title=one.word, title_fontsize=9)
    for text in (*legend.get_texts(), legend.get_title()):
        text.set_parse_math(False)
    write(path, figure)


def looks(number: int) -> list[tuple[str, str]]:
    """Colour and mark of each tag; no two of the first eighty are the same."""
    return list(islice(cycle((colour, mark) for mark in MARKS for colour in COLOURS), number))


def pick(found: Senses, word: str | None) -> Occurrences:
    """The word asked for."""
    by_name = {one.word: one for one in found.words}
    if word is None:
        return max(found.words, key=lambda one: sorted(one.tags.count(tag) for tag in set(one.tags))[-2])
    if word.lower() not in by_name:
        shown = ", ".join(list(by_name)[:20]) + (", ..." if len(by_name) > 20 else "")
        raise UserError(f"--word {word} is not among the words looked at: {shown}{nearest(word, tuple(by_name))}")
    return by_name[word.lower()]


def apart(points: Tensor) -> Tensor:
    """Points that lie on one another, as those of a layer that knows no context do, are spread around their place."""
    _, same = (points / points.abs().max().clamp(min=1e-12)).mul(1e4).round().unique(dim=0, return_inverse=True)
    spread, wide = points.clone(), (points.max(0).values - points.min(0).values).clamp(min=1e-12)
    for place in same.unique():
        own = (same == place).nonzero()[:, 0]
        turn = 2.399963 * torch.arange(len(own), dtype=points.dtype)  # the golden angle: a sunflower's seeds
        radius = REACH * (torch.arange(len(own), dtype=points.dtype) / len(points)).sqrt()
        spread[own] += wide * radius[:, None] * torch.stack([turn.cos(), turn.sin()], 1)
    return spread


def flat(x: Tensor) -> Tensor:
    """The two directions in which rows differ most: (N, D) -> (N, 2)"""
    centred = x.double() - x.double().mean(0)
    _, _, directions = centred.svd()
    return centred @ directions[:, :2]
