"""The command that writes vectors of words in their context, `embed`."""

from __future__ import annotations

import io
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from foresay.cli.app import Device, Encoding, Force, RunArgument, Trust, app, check_free, load_run, say, show_json
from foresay.cli.lines import Pipe, Placed, begun, blocks, holds, placed_lines, single
from foresay.errors import TextError, UserError, counted

if TYPE_CHECKING:
    from foresay.results import Embedded

ENDINGS = (".safetensors", ".npy", ".json")


@app.command()
def embed(
    run: RunArgument,
    texts: Annotated[
        list[str], typer.Argument(metavar="TEXT|FILE|-...", help="Text, a file of lines, or - for a pipe.")
    ],
    out: Annotated[Path | None, typer.Option(help="A .safetensors, .npy or .json file; by default JSON lines.")] = None,
    layer: Annotated[int | None, typer.Option(help="One layer alone; 0 is the word's own vector, twice.")] = None,
    encoding: Encoding = None,
    force: Force = False,
    device: Device = None,
    trust: Trust = False,
) -> None:
    """Vectors of each token of every line, of each layer of a run of task bilm."""
    if out is not None and out.suffix not in ENDINGS:
        raise UserError(f"--out {out}; allowed: a name that ends with {', '.join(ENDINGS)}")
    if out is not None:
        for path in (out, _beside(out)) if out.suffix == ".npy" else (out,):
            check_free(path, force)
    for text in texts:
        if not text.strip():
            raise UserError("the text is empty; give a text with words")
        if os.path.isfile(text) and not _has_lines(text):  # noqa: PTH113 - no error for a text too long to be a name
            raise UserError(f"{text} holds no lines of text by its name ({holds(text)[1]}); allowed: a text a line")
    loaded: Any = load_run(run, device, trust)
    if not hasattr(loaded, "embed"):
        task = loaded.recipe.task.part_name
        raise UserError(f"{run} is of task {task}; vectors in context are given by a run of task bilm: train elmo")
    found: list[Embedded] = []
    pipe = Pipe(encoding)
    lines = single(placed_lines(texts, pipe, encoding or "utf-8"))
    for block in blocks(begun(lines, texts, "embed"), pipe):
        for one in _embedded(loaded, block):
            chosen = _chosen(one, layer)
            if out is not None:
                found.append(chosen)
            else:
                show_json(chosen.as_dict(), compact=True)
    if out is None:
        return
    _write(out, found, [layer] if layer is not None else list(range(len(found[0].layers))))
    tokens = sum(len(one.tokens) for one in found)
    say(f"{out}: {counted(tokens, 'token')} of {counted(len(found), 'text')}")


def _has_lines(name: str) -> bool:
    """Whether it holds texts by its name; a file called .fasta, which may hold tags elsewhere, holds sequences."""
    from foresay.data.source import format_of

    return holds(name)[0] == "lines" or format_of(Path(name)) == "fasta"


def _embedded(run: Any, block: list[Placed]) -> Iterator[Embedded]:
    """Those of lines, up to one without tokens, which is told with its place; a blank one keeps its place."""
    full = [n for n, (_, line) in enumerate(block) if line.strip()]
    try:
        found = iter(run.embed([block[n][1] for n in full]))
    except TextError as error:
        bad = full[error.number - 1]
        place, line = block[bad]
        yield from _embedded(run, block[:bad])
        raise UserError(f"{place or repr(line[:60])} {error.why}") from None
    for _, line in block:
        yield next(found) if line.strip() else run.embed_none(line)


def _chosen(one: Embedded, layer: int | None) -> Embedded:
    from dataclasses import replace

    if layer is None:
        return one
    if not 0 <= layer < len(one.layers):
        raise UserError(f"--layer {layer}; allowed: 0 to {len(one.layers) - 1}")
    return replace(one, layers=[one.layers[layer]])


def _beside(out: Path) -> Path:
    """Where the tokens of an .npy go."""
    return out.with_suffix(".json")


def _write(out: Path, found: list[Embedded], numbers: list[int]) -> None:
    """All texts one after another; beside an .npy, which holds numbers alone, a .json with the tokens."""
    import numpy as np
    import torch

    from foresay.train.aside import write_file

    if out.suffix == ".json":
        write_file(out, (json.dumps([one.as_dict() for one in found], ensure_ascii=False) + "\n").encode())
        return
    tokens = json.dumps([one.tokens for one in found], ensure_ascii=False)
    layers = [torch.cat(parts) for parts in zip(*(one.layers for one in found), strict=True)]
    if out.suffix == ".safetensors":
        from safetensors.torch import save

        ends = torch.tensor([len(one.tokens) for one in found]).cumsum(0)
        named = {f"h{number}": layer for number, layer in zip(numbers, layers, strict=True)}
        write_file(out, save(named | {"ends": ends}, {"tokens": tokens}))
        return
    if len({layer.shape[1] for layer in layers}) > 1:
        wide = ", ".join(str(layer.shape[1]) for layer in layers)
        raise UserError(f"--out {out}: layers are {wide} wide, and .npy holds one table; use .safetensors, or --layer")
    held = io.BytesIO()
    np.save(held, torch.stack(layers, 1).numpy(), allow_pickle=False)
    write_file(_beside(out), (tokens + "\n").encode())
    write_file(out, held.getvalue())
