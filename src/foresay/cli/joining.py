"""Runs together and elsewhere: `mix`, `export`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from foresay.cli.app import Device, Force, Json, RunArgument, Trust, app, check_free, load_run, say, show, show_json
from foresay.errors import UserError
from foresay.hub import is_name, last_part

if TYPE_CHECKING:
    from foresay.run import Run

ENDINGS = {  # what a run can be written as
    "arpa": ".arpa",
    "word2vec": ".vec",
    "word2vec-binary": ".bin",
    "glove": ".glove.txt",
    "projector": "-projector",
    "safetensors": ".safetensors",
    "gpt2": "-gpt2",
    "llama": "-llama",
    "onnx": "-onnx",
}
FOLDERS = ("projector", "gpt2", "llama", "onnx")


@app.command()
def mix(
    runs: Annotated[list[Path], typer.Argument(metavar="RUN RUN...", help="Runs of one vocabulary.")],
    as_json: Json = False,
    device: Device = None,
    trust: Trust = False,
) -> None:
    """How well runs do together: weights fitted by EM on the first one's validation text, measured on its test text."""
    if len(runs) < 2:
        raise UserError("one run is no mixture; give two or more")
    from foresay.study.mix import mix as mixed

    found = mixed([load_run(run, device, trust) for run in runs])
    if as_json:
        show_json(found.as_dict())
        return
    for name, weight, alone in zip(found.names, found.weights, found.alone, strict=True):
        show(f"{weight:.4f}  perplexity {alone:10.3f}  {name}")
    show(f"together perplexity {found.together:10.3f}  on {found.tokens:,} tokens")


@app.command()
def adapt(
    run: RunArgument,
    places: Annotated[int, typer.Option(help="Of the cache: how many symbols it remembers.")] = 2000,
    tokens: Annotated[int, typer.Option(help="Of each text that is read, at most.")] = 20_000,
    as_json: Json = False,
    device: Device = None,
    trust: Trust = False,
) -> None:
    """What a language model gains from what it reads: by a cache, by learning while it reads, and by both."""
    from foresay.study.adapt import adapt as adapted
    from foresay.train.evaluate import perplexity
    from foresay.train.progress import watch_for

    loaded, watch = load_run(run, device, trust), watch_for()
    try:
        with watch.stage("reading") as tell:
            found = adapted(loaded, places=places, tokens=tokens, tell=tell)
    finally:
        watch.close()
    if as_json:
        show_json(found.as_dict())
        return
    for way in found.ways:
        low, high = map(perplexity, way.interval)
        settings = ", ".join(f"{name} {value:.4g}" for name, value in way.settings.items())
        show(f"{way.name:<8}  perplexity {way.perplexity:9.3f}  ({low:.3f} – {high:.3f})  {settings}".rstrip())
    show(f"on {found.tokens:,} tokens that nothing was fitted on")


@app.command()
def export(
    run: RunArgument,
    to: Annotated[
        str,
        typer.Option(
            help="onnx (writers of text, taggers, classifiers); gpt2, llama (Transformers); arpa (n-grams); word2vec, "
            "word2vec-binary, glove, projector, safetensors (words)"
        ),
    ],
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="By default RUN and the form's ending; .gz packs it.")
    ] = None,
    which: Annotated[
        str | None, typer.Option(help="Of word vectors: input (as by default), output, or both side by side.")
    ] = None,
    force: Force = False,
    trust: Trust = False,
) -> None:
    """A run as a file of other tools."""
    if to not in ENDINGS:
        raise UserError(f"--to {to}; allowed: {', '.join(ENDINGS)}")
    beside = Path(last_part(run)) if is_name(run) else run if run.name not in ("", "..") else run.resolve()
    path = out if out is not None else Path(f"{beside}{ENDINGS[to]}")
    if to not in FOLDERS and path.is_dir():
        raise UserError(f"{path} is a folder; {to} is one file: give --out {path / f'{beside.name}{ENDINGS[to]}'}")
    check_free(path, force, anywhere=out is None or to == "projector")
    models = ("arpa", "gpt2", "llama", "onnx")
    if to in models and which is not None:
        raise UserError(f"--which {which} with --to {to}; it is for word vectors: leave it out")
    if to in models:
        found = write_model(load_run(run, "cpu", trust), to, path)
    else:
        from foresay.vectors.word_vectors import WordVectors

        found = WordVectors.load(run, which=cast("Any", which or "input")).save(path, to)
    say(f"{path} is written")
    if to == "onnx":
        check = cast("dict[str, Any]", found)["check"]
        say(f"as the run: no number differs by more than {check['difference']:.1e} (allowed: {check['tolerance']:g})")
        for note in cast("dict[str, Any]", found)["notes"]:
            say(f"note: {note}")


def write_model(run: Run, to: str, path: Path) -> Any:
    """What the form's own writer gives."""
    from importlib import import_module

    home = "foresay.export.onnx.folder" if to == "onnx" else f"foresay.export.{to}"
    return import_module(home).write(run, path)
