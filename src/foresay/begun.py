"""Weights of another run in a new model, and parts of it that do not learn (begin.py).

Parameters alone are taken, never what a model was told of its own data (counts, means, spellings). Tables with a row
for each symbol are taken symbol by symbol where the two vocabularies differ.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from foresay import parts
from foresay import recipe as recipes
from foresay.begin import Begin
from foresay.building import build
from foresay.data.prepare import Prepared
from foresay.embed.elmo import Elmo
from foresay.embed.embedding import Embedding
from foresay.errors import UserError, nearest
from foresay.models.task import Task
from foresay.output.output import Output
from foresay.recipe import Recipe
from foresay.text.levels import Levels
from foresay.text.numbers import Numbers
from foresay.text.saved import open_tokens
from foresay.text.tokens import Tokens
from foresay.train.checkpoint import CHECKPOINTS, numbered
from foresay.train.folder import MODEL, located, read_config, read_model

SHOWN = 3  # names in a note


@dataclass(frozen=True)
class Another:
    """The run that is begun with: its weights, and its symbols in their order."""

    name: str
    tensors: dict[str, Tensor]
    symbols: list[str]

    @classmethod
    def open(cls, name: str, folder: Path) -> Another:
        task = recipes.read(str(check_run(name, folder) / "recipe.yaml"))["task"]
        if hasattr(parts.find("task", task), "fit"):
            raise UserError(
                f"begin.run={name!r} is of task={task}, which is not trained in steps and has no parts to begin with; "
                "give a run that is (vectors of words: embedding.pretrained)"
            )
        tensors = read_model(folder, read_config(folder))
        assert tensors is not None
        return cls(name, tensors, symbols_of(open_tokens(folder)))


def check_run(name: str, folder: Path) -> Path:
    """Refuses what is no finished run."""
    if not (folder / MODEL).is_file():
        why = "it is not finished" if (folder / "recipe.yaml").is_file() else "no run is there"
        raise UserError(f"begin.run={name!r}: {why}; give the folder of a finished run")
    return folder


def symbols_of(tokens: Tokens) -> list[str]:
    """The symbols of a vocabulary, in their order."""
    return list(tokens.pieces(range(len(tokens))))


def with_tokens(recipe: Recipe) -> Recipe:
    """The recipe with the tokens of the run that it begins with, where it takes them."""
    if not recipe.learnt_tokens:
        return recipe
    assert recipe.begin is not None and recipe.begin.run is not None
    if getattr(recipe.data, "source_tokens", None) is not None:
        raise UserError(
            "begin.tokens=true takes one vocabulary, and data.source_tokens has two; set begin.tokens=false"
        )
    tokens = open_tokens(check_run(recipe.begin.run, Path(recipe.begin.run).expanduser()))
    for kind in (Levels, Numbers):
        if isinstance(tokens, kind) != isinstance(recipe.tokens, kind):
            raise UserError(
                f"begin.run={recipe.begin.run!r} has tokens={name_of(tokens)}, and this recipe reads "
                f"{name_of(recipe.tokens)}; give a run on data of the same kind, or set begin.tokens=false"
            )
    return replace(recipe, tokens=tokens)


def name_of(tokens: Any) -> str:
    return tokens.part_name


class Beginning:
    """Makes models with their first weights: those of the recipe's seed, or of the run that it begins with.

    `run` is the run's own folder, where it was begun before: with a whole checkpoint in it the other run may be gone.
    """

    def __init__(self, recipe: Recipe, prepared: Prepared, place: torch.device, run: Path | None = None):
        self.recipe, self.prepared, self.place, self.run = recipe, prepared, place, run
        self.notes: list[str] = []  # of the model that was made last
        self.other: Another | None = None
        begin = recipe.begin
        if begin is not None and begin.run is not None:
            there = begin.run if run is None else located(run, read_config(run), begin.run)
            folder = Path(there).expanduser()
            if run is None or not numbered(run / CHECKPOINTS) or (folder / MODEL).is_file():
                self.other = Another.open(begin.run, folder)

    def model(self) -> Task:
        recipe, prepared = self.recipe, self.prepared
        model = build(recipe, prepared.tokens, self.place, self.run, prepared.train, prepared.tags)
        if recipe.begin is not None:
            self.notes = []
            if self.other is not None:
                self.notes = take(model, recipe.begin, symbols_of(prepared.tokens), self.other)
            hold(model, recipe.begin.frozen)
        return model


def hold(model: Task, frozen: Sequence[str]) -> None:
    """Parts that do not learn."""
    for name in frozen:
        for parameter in _within(dict(model.named_parameters()), name, "begin.frozen").values():
            parameter.requires_grad_(False)
    for name, module in model.named_modules():
        if isinstance(module, Elmo) and module.thaw and any(_is_in(name, one) or _is_in(one, name) for one in frozen):
            raise UserError(f"begin.frozen holds {name}, whose thaw={module.thaw} lets it learn; leave one of them out")
    if frozen and not any(parameter.requires_grad for parameter in model.parameters()):
        raise UserError(f"begin.frozen={list(frozen)} is all of the model, and nothing is left to learn")


def take(model: Task, begin: Begin, symbols: list[str], other: Another) -> list[str]:
    """Puts the other run's weights into the model; what a person should know of it."""
    own, rows = dict(model.named_parameters()), _shared(symbols, other.symbols)
    pairs = _pairs(own, begin.parts, other)
    taken, left = list[str](), list[str]()
    with torch.no_grad():
        for name, theirs in pairs.items():
            found = other.tensors[theirs].to(own[name].dtype)
            table = rows is not None and _is_table(model, name, len(symbols)) and len(found) == len(other.symbols)
            if rows is not None and table and own[name].shape[1:] == found.shape[1:]:
                own[name][rows[0]] = found[rows[1]].to(own[name].device)
            elif not table and own[name].shape == found.shape:
                own[name].copy_(found)
            else:
                left.append(f"{name} is {tuple(own[name].shape)} here and {tuple(found.shape)} there")
                continue
            taken.append(name)
    if left and begin.parts is not None:
        raise UserError(f"begin.parts: {left[0]}, in {other.name}; make them alike, or name other parts")
    if not taken:
        why = left[0] if left else f"it has {', '.join(_heads(other.tensors))}, and not {', '.join(_heads(own))}"
        raise UserError(f"begin.run={other.name!r} has nothing that fits: {why}; name what is taken: begin.parts")
    return [*_told(own, taken, rows, other, len(symbols)), *_little(own, taken, left, other)]


def _pairs(own: Mapping[str, Tensor], named: list[str] | dict[str, str] | None, other: Another) -> dict[str, str]:
    """Which of the own parameters is taken from which of the other run's."""
    if named is None:
        return {name: name for name in own if name in other.tensors}
    found = {}
    for mine, theirs in (named if isinstance(named, dict) else dict(zip(named, named, strict=True))).items():
        _within(other.tensors, theirs, "begin.parts", f" of {other.name}")
        for name in _within(own, mine, "begin.parts"):
            there = theirs + name.removeprefix(mine)
            if there not in other.tensors:
                raise UserError(f"begin.parts: {other.name} has no {there}; make the parts alike, or name smaller ones")
            found[name] = there
    return found


def _within(tensors: Mapping[str, Tensor], name: str, setting: str, of: str = "") -> dict[str, Tensor]:
    """The parameters of a part."""
    found = {one: tensor for one, tensor in tensors.items() if _is_in(one, name)}
    if not found:
        parent = name.rpartition(".")[0]
        while parent and not any(_is_in(one, parent) for one in tensors):
            parent = parent.rpartition(".")[0]
        inside = [one.removeprefix(f"{parent}.") if parent else one for one in tensors if _is_in(one, parent)]
        names = [f"{parent}.{one}" if parent else one for one in _heads(inside)]
        raise UserError(f"{setting}: {name} is no part{of}; allowed: {', '.join(names)}{nearest(name, names)}")
    return found


def _is_in(name: str, part: str) -> bool:
    return not part or name == part or name.startswith(f"{part}.")


def _heads(names: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(name.partition(".")[0] for name in names))


def _shared(symbols: list[str], others: list[str]) -> tuple[list[int], list[int]] | None:
    """The places of the symbols that both have, here and there; None where all are the same."""
    if symbols == others:
        return None
    places = {symbol: place for place, symbol in enumerate(others)}
    both = [(place, places[symbol]) for place, symbol in enumerate(symbols) if symbol in places]
    return [here for here, _ in both], [there for _, there in both]


def _is_table(model: Task, name: str, vocabulary: int) -> bool:
    """Whether a parameter has a row for each symbol."""
    way = name.split(".")[:-1]
    owners = [model.get_submodule(".".join(way[: depth + 1])) for depth in range(len(way))]
    kept = any(isinstance(module, Embedding | Output) for module in owners)
    return kept and len(model.get_parameter(name)) == vocabulary


def _little(own: Mapping[str, Tensor], taken: list[str], left: list[str], other: Another) -> Iterator[str]:
    """A warning where most of what has the same name has another size."""
    numbers, missed = (sum(own[one.partition(" ")[0]].numel() for one in names) for names in (taken, left))
    if missed > numbers:
        yield (
            f"warning: little of {other.name} fits: {left[0]}; give this recipe the sizes of that run, or name what "
            "is to be taken: begin.parts"
        )


def _told(
    own: Mapping[str, Tensor], taken: list[str], rows: tuple[list[int], list[int]] | None, other: Another, symbols: int
) -> Iterator[str]:
    """What was taken, and what begins at random."""
    numbers, whole = sum(own[name].numel() for name in taken), sum(one.numel() for one in own.values())
    yield f"begun with {other.name}: {numbers:,} of {whole:,} parameters, of {', '.join(_heads(taken))}"
    at_random = [name for name in own if name not in taken]
    if at_random:
        more = ", ..." if len(at_random) > SHOWN else ""
        yield f"at random begin {', '.join(at_random[:SHOWN])}{more}"
    if rows is not None and any(one in ("embedding", "output") for one in _heads(taken)):
        yield f"{len(rows[0]):,} of {symbols:,} symbols are in its vocabulary; the others begin at random"
