"""From a recipe and a prepared text to a model with its first weights; its parts are told what they want to know."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch

from foresay import parts
from foresay.counts.frequency import count_tokens
from foresay.data.frame_shards import Framed
from foresay.data.label_shards import LabelShards
from foresay.data.levels import Form, LevelShards
from foresay.data.pair_shards import PairShards
from foresay.data.series_shards import SeriesShards
from foresay.data.shards import Shards
from foresay.data.tag_set import TagSet
from foresay.embed.elmo import FOLDER as ELMO
from foresay.embed.elmo import WEIGHTS, Elmo
from foresay.embed.frames import tell_form
from foresay.encode.encoder import tell_grid
from foresay.errors import UserError
from foresay.models.labelling import Labelling
from foresay.models.language_model import LanguageModel
from foresay.models.seq2seq.task import Seq2Seq
from foresay.models.series import Series
from foresay.models.tagging import Tagging
from foresay.models.task import Task
from foresay.output.output import Output
from foresay.recipe import Recipe
from foresay.text.tokens import Tokens
from foresay.train import folder as folders
from foresay.train.checkpoint import CHECKPOINTS, numbered


def build(
    recipe: Recipe,
    tokens: Tokens | int,
    place: torch.device,
    run: Path | None = None,
    text: Shards | None = None,
    tags: TagSet | None = None,
) -> Task:
    """The model of a recipe with its first weights, which depend on the seed and the text; `run` is where it was begun.

    A tagger needs its `tags` too. In place of its tokens, a model that begins with no vectors of words needs only
    their number. Without the text, parts that want to know how frequent symbols are take them all for alike.
    """
    model: Task = parts.anew(recipe.task)
    if isinstance(model, Tagging):
        model.tags = tags
    for module in model.modules():
        if getattr(module, "pretrained", None):
            _name_vectors(module, tokens, run)
        if isinstance(module, Elmo) and run is not None:
            module.place = _place_of(module, run)
        if isinstance(module, Elmo) and not isinstance(tokens, int):
            module.cut = getattr(tokens, "part_name", None)
        if getattr(module, "wants_symbols", False) and not isinstance(tokens, int):
            module.symbols = tokens.pieces(range(len(tokens)))  # pyright: ignore[reportArgumentType]
    torch.manual_seed(recipe.seed)
    vocabulary = tokens if isinstance(tokens, int) else len(tokens)
    if isinstance(text, PairShards) and recipe.data.source_tokens is not None:
        model.source_vocabulary = text.source.vocabulary
    if isinstance(text, LabelShards) and isinstance(model, Labelling):
        model.learn_labels(text.labels)
    if isinstance(text, LabelShards) and isinstance(model, LanguageModel):
        model.learn_labels(text.labels)
    if isinstance(text, SeriesShards) and isinstance(model, Series):
        model.learn_form(text.form)
    if isinstance(text, Framed):
        tell_form(model, text.form)
    if isinstance(text, LevelShards):
        tell_grid(model, text.form.columns, text.form.channels)
        _check_positions(model, text.form)
    try:
        model.build(vocabulary)
    except (MemoryError, RuntimeError) as error:
        if isinstance(error, RuntimeError) and "memory" not in str(error):
            raise
        raise UserError("the model does not fit into memory; make its sizes smaller") from error
    if isinstance(text, PairShards) and isinstance(model, Seq2Seq):
        sources = count_tokens(text.source, text.source.vocabulary)
        model.learn_sources(sources, count_tokens(text, vocabulary))
    wanting = [module for module in model.modules() if isinstance(module, Output) and module.wants_counts]
    if wanting and text is not None:
        counts = count_tokens(text, vocabulary)
        for module in wanting:
            module.learn_counts(counts)
    return model.to(place)


def _check_positions(model: Any, form: Form) -> None:
    """Refuses pictures with more levels than there are positions, which is not known before they are read."""
    longest = getattr(getattr(model, "encoder", None), "longest", None)
    if longest is not None and form.size >= longest:  # <start> takes one
        raise UserError(
            f"encoder.positions=learnt ends at {longest}, and {form.told()} have {form.size:,} levels and a start; set "
            f"encoder.positions=sinusoidal or encoder.positions.longest={form.size + 1}"
        )


def _place_of(module: Elmo, run: Path) -> Path:
    """Where the bilm of a run that was begun before lies: in the run, unless nothing there or saved has its weights."""
    if (run / ELMO / WEIGHTS).is_file() or numbered(run / CHECKPOINTS):
        return run / ELMO
    there = Path(folders.located(run, folders.read_config(run), module.run)).expanduser()
    return there if (there / WEIGHTS).is_file() else run / ELMO


def _name_vectors(module: Any, tokens: Tokens | int, run: Path | None) -> None:
    """Tells a table that begins with given vectors which symbols it is of, and where a run has left the file."""
    if not isinstance(tokens, int):
        module.symbols = tokens.pieces(range(len(tokens)))
    if run is not None:
        module.pretrained = folders.located(run, folders.read_config(run), str(module.pretrained))
