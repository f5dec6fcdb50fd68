"""Where a Transformer looks: its attention maps over a text, every layer and head, as a picture.

    A_h (T, T):  row t is how much the step of token t takes from each token, 0 for what it does not see; rows sum to 1

A grid has a small map for each head, layers from top to bottom; with a layer and a head one large map with its tokens.
The maps are exact: they are computed by the plain formula beside the fast path, which never holds them.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from foresay.data.batch import Batch
from foresay.encode.transformer import Transformer
from foresay.errors import UserError, counted
from foresay.loading import PairRun
from foresay.run import Run
from foresay.study import pictures
from foresay.study.visible import visible
from foresay.text.tokens import START

LABELLED = 24  # tokens up to which each small map has its labels


@dataclass(frozen=True)
class Attention:
    """The tokens, and of every layer the maps of its heads (N, T, T)."""

    tokens: list[str]
    maps: list[Tensor]

    def picked(self, layer: int | None, head: int | None) -> list[tuple[int, int]]:
        """The layers and heads asked for, all where nothing is."""
        layers, heads = len(self.maps), len(self.maps[0])
        _check(layers, heads, layer, head)
        return [
            (one, other)
            for one in (range(layers) if layer is None else [layer])
            for other in (range(heads) if head is None else [head])
        ]

    def as_dict(self, layer: int | None = None, head: int | None = None) -> dict[str, Any]:
        maps = [
            {"layer": one, "head": other, "weights": self.maps[one][other].tolist()}
            for one, other in self.picked(layer, head)
        ]
        return {"tokens": self.tokens, "maps": maps}


def check_place(run: Run, layer: int | None, head: int | None) -> None:
    """Refuses what a run of a Transformer has not, before anything is read."""
    encoder = getattr(run.model, "encoder", None)
    if isinstance(encoder, Transformer):
        _check(len(encoder.blocks), encoder.blocks[0].attention.heads, layer, head)


def _check(layers: int, heads: int, layer: int | None, head: int | None) -> None:
    for name, given, most in (("--layer", layer, layers), ("--head", head, heads)):
        if given is not None and not 0 <= given < most:
            raise UserError(f"{name} {given}; allowed: 0 to {most - 1}, as the run has {most}")


@torch.inference_mode()
def attention_of(run: Run, text: str) -> Attention:
    """The maps of a run while it reads a text.

    A model that reads from left to right reads <start> first; one that writes from a source reads the text as its
    source, with <stop> at the end.
    """
    model: Any = run.model.eval()
    encoder = getattr(model, "encoder", None)
    if not isinstance(encoder, Transformer):
        kind = getattr(encoder, "part_name", run.recipe.task.part_name)
        raise UserError(f"{run.folder} has no attention to look at: it is {kind}; give a run of a transformer")
    if isinstance(run, PairRun):
        ids, tokens = run.conditions([text])[0].tolist(), run.source_tokens
        embedding = model.source_embedding or model.embedding
    else:
        ids, tokens = _read(run, text, encoder.longest), run.tokens
        embedding = model.embedding
    x = embedding(Batch(ids=torch.tensor([ids], device=model.device)))
    return Attention(tokens.pieces(ids), [one[0].float().cpu() for one in encoder.attention(x)])


def _read(run: Run, text: str, longest: int | None) -> list[int]:
    """What a model of one text reads."""
    ids = [*([START] if run.model.causal else []), *run.tokens.encode(text).tolist()]
    if len(ids) < 2:
        raise UserError(f"the text has {counted(len(ids), 'token')}; give at least two to look from one to the other")
    if longest is not None and len(ids) > longest:
        raise UserError(f"the text has {len(ids)} tokens; the run has positions for {longest}: give a shorter one")
    return ids


def draw(found: Attention, layer: int | None = None, head: int | None = None) -> Any:
    """matplotlib's figure of the maps asked for."""
    from matplotlib.figure import Figure as Picture

    number, picked = len(found.tokens), found.picked(layer, head)
    pictures.check_number("the text", number)
    columns = len({other for _, other in picked}) if layer is None or head is None else 1
    rows = math.ceil(len(picked) / columns)
    large = len(picked) == 1
    inches = 2.2 + 0.24 * number if large else 1.6 + (0.15 * number if number <= LABELLED else 0.9)
    picture = Picture(figsize=(columns * inches + 0.6, rows * inches + 0.5), layout="constrained")
    shown: Any = None
    for axes, (one, other) in zip(picture.subplots(rows, columns, squeeze=False).flat, picked, strict=True):
        shown = axes.imshow(found.maps[one][other].numpy(), vmin=0, vmax=1, cmap="Blues", aspect="equal")
        axes.set_title(f"layer {one}, head {other}", fontsize=11 if large else 8.5, loc="left")
        _label(axes, found.tokens, large)
    picture.supxlabel("looked at", fontsize=9)
    picture.supylabel("looks", fontsize=9)
    picture.colorbar(shown, ax=picture.axes, shrink=0.6 if large else 0.4, label="share of the look")
    return picture


def _label(axes: Any, tokens: Sequence[str], large: bool) -> None:
    if not large and len(tokens) > LABELLED:
        axes.set_xticks([])
        axes.set_yticks([])
        return
    size, places = 9 if large else 6.5, range(len(tokens))
    names = [visible(token, 12) for token in tokens]
    axes.set_xticks(places, names, rotation=90, fontsize=size)
    axes.set_yticks(places, names, fontsize=size)
    for text in (*axes.get_xticklabels(), *axes.get_yticklabels()):  # $ is no formula in a text
        text.set_parse_math(False)
    axes.tick_params(length=0)
    for side in axes.spines.values():
        side.set_alpha(0.3)
