"""A run as a folder that other programs use: the graph, what it takes and gives, and the tokeniser.

    model.onnx       the graph (graph.py)
    model.json       what it takes and gives: shapes, first states, ids of the marks; how near it comes to the run
    tokenizer.json   for the library `tokenizers`; text.json says what Foresay does to a text before that

The graph is checked before the folder is there (parity.py): one that differs from the run by more than `TOLERANCE` is
not written.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from torch import Tensor

from foresay.data.levels import LevelRows
from foresay.embed.characters import Characters
from foresay.errors import UserError
from foresay.export.onnx.graph import Graph, LabelGraph, TagGraph, TextGraph, graph_of
from foresay.export.onnx.parity import TOLERANCE, compare
from foresay.export.onnx.tracing import traced
from foresay.models.tagging import Tagging
from foresay.run import Run
from foresay.text.tokens import SPECIALS
from foresay.train.aside import remove, write_file
from foresay.train.folder import TOKENS

FORMAT = 1
FILES = ("model.onnx", *TOKENS, "model.json")  # the last one comes last


def write(run: Run, folder: str | Path) -> dict[str, Any]:
    """Writes the folder whole or not at all; gives what model.json says."""
    folder = Path(folder)
    if isinstance(run.recipe.data, LevelRows) or getattr(run.recipe.data, "source_tokens", None) is not None:
        raise UserError(f"{run.folder} reads no texts; onnx holds runs that do: give another run")
    if folder.exists() and not folder.is_dir():
        raise UserError(f"{folder} is no folder; onnx is a folder of {len(FILES)} files: give another --out")
    graph = graph_of(run.model, str(run.folder))
    program = traced(graph, str(run.folder))
    place = folder.with_name(f".{folder.name}.{os.getpid()}")
    try:
        place.mkdir()
        program.save(place / "model.onnx")
        about = _about(run, graph) | {"check": compare(graph, place / "model.onnx", _longest(run))}
        if not about["check"]["difference"] <= TOLERANCE:
            raise UserError(
                f"{run.folder} as onnx differs from the run by {about['check']['difference']:.2g} nats, more than "
                f"{TOLERANCE:g}; nothing is written: use the run itself"
            )
        run.tokens.save(place)
        write_file(place / "model.json", json.dumps(about, ensure_ascii=False, indent=1).encode() + b"\n")
        _move(place, folder)
    finally:
        remove(place)
    return about


def _move(place: Path, folder: Path) -> None:
    """The whole folder; or its files into one that is there, where what says what they are comes last."""
    if not folder.exists():
        place.rename(folder)
        return
    (folder / FILES[-1]).unlink(missing_ok=True)  # while it is not there the others are of no use
    for one in sorted(place.iterdir(), key=lambda one: one.name == FILES[-1]):
        one.replace(folder / one.name)


def _longest(run: Run) -> int | None:
    return getattr(getattr(run.model, "encoder", None), "longest", None)


def _about(run: Run, graph: Graph) -> dict[str, Any]:
    about: dict[str, Any] = {
        "format": FORMAT,
        "task": run.recipe.task.part_name,
        "graph": FILES[0],
        "tokenizer": TOKENS[0],
        "vocabulary": run.model.vocabulary,
        "ids": {mark.strip("<>"): number for number, mark in enumerate(SPECIALS)},
        "ends": run.ends_count,  # whether a text ends with <stop>
        "longest": _longest(run),
        "inputs": {
            name: _shape(one, graph.axes[name]) for name, one in graph.examples.items() if not name.startswith("state.")
        },
        "outputs": [*graph.outputs],
    }
    if isinstance(graph, TextGraph):
        about["state"] = {name: _state(one, graph.axes[name]) for name, one in graph.first.items()}
        about |= {"labels": list(run.labels)} if graph.labelled else {}
    if isinstance(graph, LabelGraph):
        about |= {"labels": list(graph.model.labels.names), "several": graph.model.labels.several}
    if isinstance(graph, TagGraph):
        about["tags"] = list(graph.model.tags.names)
    return about | {"notes": notes(run)}


def notes(run: Run) -> list[str]:
    """What differs from the run for whoever gives a text, not ids, to the graph."""
    found = []
    settings = run.tokens.settings
    steps = [step for step in ("normalise", "segment", "stem", "phrases") if settings.get(step) is not None]
    if steps:
        found.append(f"before tokenizer.json a text goes through {', '.join(steps)}, as text.json says: do so too")
    if isinstance(run.model, Tagging) and any(isinstance(one, Characters) for one in run.model.modules()):
        found.append("words outside the vocabulary are read as <unk>: the graph does not see their letters")
    return found


def _shape(example: Tensor, axes: dict[int, str]) -> dict[str, Any]:
    shape = [axes.get(axis, length) for axis, length in enumerate(example.shape)]
    return {"type": str(example.dtype).removeprefix("torch."), "shape": shape}


def _state(first: Tensor, axes: dict[int, str]) -> dict[str, Any]:
    """The shape of a state, and its first value: one number for all, or those of a row; `past` begins at length 0."""
    same = first.numel() == 0 or bool((first == first.flatten()[0]).all())
    value = 0 if first.numel() == 0 else first.flatten()[0].item() if same else first[0].tolist()
    return _shape(first, axes) | {"first": value}
