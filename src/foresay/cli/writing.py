"""Commands that write with a trained run: `generate`, by sampling, greedily or by beam search."""

from __future__ import annotations

import math
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from foresay.cli.app import (
    PSEUDO,
    Device,
    Force,
    Json,
    RunArgument,
    Trust,
    app,
    check_free,
    load_run,
    say,
    show,
    show_json,
    told,
)
from foresay.cli.lines import PIPED, Pipe, file_lines, holds, lines_of, placed_lines
from foresay.errors import UserError

if TYPE_CHECKING:
    from foresay.decode.search import Search
    from foresay.results import Written
    from foresay.run import Run

LENGTH = 200  # tokens, where nothing says how many
PLAIN = {"top_k": 0, "top_p": 1.0, "min_p": 0.0, "typical": 1.0, "repetition": 1.0}

Temperature = Annotated[
    float | None, typer.Option(help="0 is greedy, 1 as learnt (the default for texts), less is safer.")
]
Until = Annotated[
    str | None, typer.Option(help="Beam: end when sure of the best, at a number of finished ones, or at length.")
]
Diversity = Annotated[
    float | None, typer.Option(help="Beam: what a group loses for a token that another has just chosen.")
]
Fuse = Annotated[
    list[str] | None, typer.Option(metavar="RUN=WEIGHT", help="Beam: a second model, such as runs/lm=0.3.")
]


@app.command()
def generate(
    run: RunArgument,
    prompt: Annotated[
        str, typer.Argument(help="What to go on from, or the source; - a pipe; of sources also a file of lines.")
    ] = "",
    length: Annotated[int | None, typer.Option(help="The most tokens to write; by default 200, or by source.")] = None,
    number: Annotated[int, typer.Option(help="How many texts; of a beam, the best ones.")] = 1,
    label: Annotated[str | None, typer.Option(help="What the text is to be of, of runs that write for labels.")] = None,
    temperature: Temperature = None,
    top_k: Annotated[int, typer.Option(help="Only the k likeliest; 0: all.")] = 0,
    top_p: Annotated[float, typer.Option(help="Only the likeliest that hold this mass.")] = 1.0,
    min_p: Annotated[float, typer.Option(help="Only those at least this share of the likeliest.")] = 0.0,
    typical: Annotated[float, typer.Option(help="Only the most typical that hold this mass.")] = 1.0,
    repetition: Annotated[float, typer.Option(help="> 1 makes what was written rarer.")] = 1.0,
    stop: Annotated[list[str] | None, typer.Option(help="End before this string; may be given again.")] = None,
    beam: Annotated[int | None, typer.Option(help="Search with so many candidates; 0: none; from a source 5.")] = None,
    alpha: Annotated[float | None, typer.Option(help="Beam: log P / length ** alpha; 0, from a source 1.")] = None,
    until: Until = None,
    groups: Annotated[int, typer.Option(help="Beam: groups of candidates that differ.")] = 1,
    diversity: Diversity = None,
    least: Annotated[int, typer.Option(help="Beam: the fewest tokens to write.")] = 0,
    ban: Annotated[list[str] | None, typer.Option(help="Beam: a token that is not written.")] = None,
    require: Annotated[list[str] | None, typer.Option(help="Beam: a token that is written.")] = None,
    fuse: Fuse = None,
    tree: Annotated[Path | None, typer.Option(metavar="FILE.svg", help="Beam: a picture of the search.")] = None,
    seed: Annotated[int | None, typer.Option(help="The same seed, the same text; 1 if none is given.")] = None,
    force: Force = False,
    as_json: Json = False,
    device: Device = None,
    trust: Trust = False,
) -> None:
    """Write on from a prompt, or from a source, by sampling, greedily, or by beam search."""
    filters = {"top_k": top_k, "top_p": top_p, "min_p": min_p, "typical": typical, "repetition": repetition}
    if tree is not None:
        check_picture(tree, force)
    loaded: Any = load_run(run, device, trust)
    for_label = _for_label(loaded, label)
    plain = loaded.model.conditional and temperature is None and filters == PLAIN
    usual = plain and beam is None
    beam, beside = (5, "beam search, as sources get") if usual else (beam or 0, f"--beam {beam}")
    alpha = 1.0 if alpha is None and beam and loaded.model.conditional else alpha
    temperature = temperature if temperature is not None else 0.0 if plain and not beam else 1.0
    how = {"alpha": alpha, "groups": groups, "until": until, "diversity": diversity}
    given = how | {"groups": groups != 1, "least": least, "ban": ban, "require": require, "fuse": fuse, "tree": tree}
    drawn = {name.replace("_", "-"): value != PLAIN[name] for name, value in filters.items()}
    drawn["seed"] = seed is not None
    texts = sources_of(prompt, loaded) if loaded.model.conditional else [piped(prompt)]
    if beam:
        way = [] if usual else ["leave out --beam"]
        way += ["give a temperature"] if plain else []  # without which a source gets a beam again
        refuse({**drawn, "stop": stop}, beside, f"sampling: {' and '.join(way)}")
        search = beam_of(beam, number, temperature, how)
        most = LENGTH if length is None and not loaded.model.conditional else length
        limits = {"length": most, "least": least, "banned": ban or [], "required": require or [], **for_label}
        search_and_show(loaded, texts, search, limits, fused(fuse or [], device, trust), tree, as_json=as_json)
        return
    refuse(given, "no --beam", "beam search: give --beam 5")
    refuse(drawn if temperature == 0 else {}, "--temperature 0", "sampling: give a temperature above 0")
    more = for_label | {"number": number, "seed": 1 if seed is None else seed, "stop": stop or []}
    sample_and_show(loaded, texts, (temperature, filters), length, more, as_json=as_json)


def _for_label(run: Any, label: str | None) -> dict[str, str]:
    """The label as Python takes it; a run that writes no texts, or none for labels, is refused."""
    if label is not None and run.model.conditional:
        raise UserError(f"--label {label}, and {run.folder} writes from a source; leave it out")
    if hasattr(run, "of_no_text"):
        run.of_no_text()
    return {} if label is None else {"label": label}


def beam_of(width: int, best: int, temperature: float, how: dict[str, Any]) -> Search:
    """The search, its settings checked."""
    from foresay.parts import make

    if how["diversity"] is not None and how["groups"] == 1:
        raise UserError("--diversity with one group; it is for --groups 2 and more")
    more = {name: value for name, value in how.items() if value is not None}
    return make("search", {"kind": "beam", "width": width, "best": best, "temperature": temperature, **more})


def sample_and_show(
    run: Run,
    texts: list[str],
    how: tuple[float, dict[str, Any]],
    length: int | None,
    more: dict[str, Any],
    *,
    as_json: bool,
) -> None:
    from foresay.decode.sample import Greedy, Sample

    temperature, filters = how
    if temperature < 0:
        raise UserError(f"--temperature {temperature}; allowed: 0 (greedy) or more")
    decoder = Greedy() if temperature == 0 else Sample(temperature, **filters)
    more = {**more, "decoder": decoder}
    if run.model.conditional:
        with told():
            written = run.generate(texts, length=length, **more)  # pyright: ignore[reportArgumentType]
    else:
        written = run.generate(texts[0], length=LENGTH if length is None else length, **more)
    each = [text for text in texts for _ in range(more["number"])]
    if as_json:
        show_json([{"prompt": text, "text": one} for text, one in zip(each, written, strict=True)])
        return
    for index, one in enumerate(written):
        show(("" if index == 0 or run.model.conditional else "---\n") + one)


def piped(prompt: str) -> str:
    """A prompt, or what comes through the pipe."""
    return "\n".join(lines_of(Pipe(), PIPED)) if prompt == "-" else prompt


def sources_of(prompt: str, run: Any) -> list[str]:
    """Sources: the lines of a pipe or of a file, or the one that is given; pictures by their files' names."""
    if run.recipe.data.pictured and os.path.isfile(prompt):  # noqa: PTH113
        return [prompt]
    if os.path.isfile(prompt):  # noqa: PTH113 - no error for a text too long to be a name
        kind, end = holds(prompt)
        if kind != "lines":
            what = "is a table" if kind == "table" else "holds no lines of text"
            raise UserError(f"{prompt} {what} by its name ({end}); give a file of sources, one a line")
    found = list(placed_lines([prompt])) if prompt else []
    blank = next((place for place, line in found if place is not None and not line.strip()), None)
    if blank is not None:
        raise UserError(f"{blank} is empty; give a source on every line, so that line by line they belong together")
    if not any(line.strip() for _, line in found):
        raise UserError("no source is given; this run writes from one: give a text, a file of lines, or - for a pipe")
    return [line for _, line in found]


def check_picture(path: Path, force: bool) -> None:
    """Refuses, before the search, a place where no SVG can be written, or where one is."""
    if path.suffix.lower() != ".svg":
        raise UserError(f"--tree {path}; allowed: a name that ends with .svg")
    if not path.parent.is_dir():
        raise UserError(f"--tree {path}: {path.parent} is no folder; make it first, or give another name")
    check_free(path, force, "--tree")


def refuse(given: dict[str, object], beside: str, what: str) -> None:
    """Options that mean nothing here are a mistake, not a wish to be passed over."""
    name = next((name for name, value in given.items() if value), None)
    if name is not None:
        raise UserError(f"--{name} with {beside}; it is for {what}")


def fused(given: list[str], device: str | None, trust: bool) -> list[tuple[Run, float]]:
    """Runs and their weights, from RUN=WEIGHT."""
    found = []
    for one in given:
        place, _, weight = one.rpartition("=")
        try:
            number = float(weight)
        except ValueError:
            number = math.nan
        if not 0 <= number < math.inf:
            raise UserError(f"--fuse {one}; allowed: a run and its weight, 0 or more, such as runs/lm=0.3")
        found.append((place, number))
    return [(load_run(Path(place), device, trust), weight) for place, weight in found]


def search_and_show(
    run: Run,
    texts: list[str],
    search: Search,
    limits: dict[str, object],
    others: list[tuple[Run, float]],
    tree: Path | None,
    *,
    as_json: bool,
) -> None:
    from foresay.decode.beams import Trail
    from foresay.study import search_tree
    from foresay.train.aside import write_file

    trail, number = None if tree is None else Trail(), getattr(search, "best", 1)
    shown = Shown(number, len(texts))
    each: Any = {"on_found": shown} if run.model.conditional and not as_json else {}
    with told():
        found = run.search(texts, search=search, fuse=others, trail=trail, **each, **limits)  # pyright: ignore[reportArgumentType]
    if tree is not None and trail is not None:
        longest = limits.get("length") or len(trail.steps) + 1
        drawn = search_tree.draw(trail, found[0][0].found, run.tokens.pieces, texts[0], search, longest)  # pyright: ignore[reportArgumentType]
        write_file(tree, drawn.encode())
        say(f"{tree} is written")
    fewer = sum(len(best) < number for best in found)
    if fewer:
        say(f"--number {number}: for {fewer:,} of {len(texts):,} fewer were found; a wider --beam finds more")
    if as_json:
        pairs = [(text, one) for text, best in zip(texts, found, strict=True) for one in best]
        show_json([{"prompt": text, **one.as_dict()} for text, one in pairs])
    elif not each:
        for best in found:
            shown(best)


class Shown:
    """Shows the best of each source as they are found: with their scores where several are asked for."""

    def __init__(self, number: int, total: int):
        self.number, self.total, self.done = number, total, 0

    def __call__(self, best: list[Written]) -> None:
        for one in best:
            show(f"{one.found.score:.4f}\t{one.text}" if self.number > 1 else one.text)
        self.done += 1
        if self.total > 1 and sys.stderr.isatty() and not sys.stdout.isatty():
            end = "\n" if self.done == self.total else "\r"
            sys.stderr.write(f"{self.done:,} of {self.total:,} sources{end}")


@app.command()
def rescore(
    run: RunArgument,
    file: Annotated[str, typer.Argument(metavar="FILE|-", help="Lines of id, score and text, or JSON; - for a pipe.")],
    weight: Annotated[float, typer.Option(help="Of log P.")] = 1.0,
    bonus: Annotated[float, typer.Option(help="For every token, against short texts.")] = 0.0,
    best: Annotated[bool, typer.Option("--best", help="Only the first of each id.")] = False,
    as_json: Json = False,
    device: Device = None,
    trust: Trust = False,
) -> None:
    """Put lists of the n best in a new order: score + weight * log P + bonus * tokens."""
    from foresay.decode.rescore import read, rescore

    if file == "-":
        given = list(read(lines_of(Pipe(), PIPED), PIPED))
    elif not Path(file).is_file():
        raise UserError(f"{file} is no file; give lines of id, score and text, or - for a pipe")
    else:
        given = list(read(lines_of(file_lines(file), file), file))
    loaded = load_run(run, device, trust)
    if loaded.model.sequence and not loaded.model.causal and not as_json:
        say(PSEUDO)
    lists = rescore(loaded, given, weight, bonus)
    shown = [one for own in lists for one in (own[:1] if best else own)]
    if as_json:
        show_json([one.as_dict() for one in shown])
        return
    for one in shown:
        show(f"{one.hypothesis.id}\t{one.total:.4f}\t{one.hypothesis.text}")
