"""Commands that use a trained run: `eval`, `score`."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Annotated, TextIO

import typer

from foresay.cli.app import Device, Encoding, Json, RunArgument, Trust, app, load_run, show, show_json
from foresay.errors import UserError

ENDS = (".txt", ".md", ".tsv", ".csv", ".json", ".jsonl", ".gz", ".xz", ".bz2", ".zst", ".zip")
BEGINS = ("./", "../", "/", "~/")


@app.command("eval")
def evaluate(
    run: RunArgument,
    data: Annotated[str | None, typer.Option(help="A text file or folder; by default the run's own split.")] = None,
    split: Annotated[str, typer.Option(help="valid or test.")] = "valid",
    encoding: Encoding = None,
    rows: Annotated[
        int | None, typer.Option(help="Rows that a stream is read in; 1: one state through it all.")
    ] = None,
    as_json: Json = False,
    device: Device = None,
    trust: Trust = False,
) -> None:
    """Perplexity, bits per character and bits per byte of a run on its held-out text or on another."""
    measured = load_run(run, device, trust).evaluate(data, split=split, encoding=encoding, rows=rows)
    if as_json:
        show_json(measured.as_dict())
        return
    about = measured.as_dict()
    low, high = about["perplexity_interval"]
    show(f"loss                {measured.loss:.4f} nats per token")
    show(f"perplexity          {measured.perplexity:.3f}  (95 % interval {low:.3f} – {high:.3f})")
    show(f"bits per character  {measured.bits_per_character:.4f}")
    show(f"bits per byte       {measured.bits_per_byte:.4f}")
    if measured.unknown:
        show(f"  of known tokens   {about['perplexity_of_known']:.3f}")
    show(f"tokens              {measured.tokens:,}, of them unknown {100 * measured.unknown:.2f} %")
    if measured.impossible:
        show(f"impossible          {measured.impossible:,} tokens have probability 0; a smoothing gives them some")


@app.command()
def score(
    run: RunArgument,
    texts: Annotated[
        list[str], typer.Argument(metavar="TEXT|FILE|-...", help="Text, a file of lines, or - for a pipe.")
    ],
    tokens: Annotated[bool, typer.Option("--tokens", help="Each token's share too.")] = False,
    as_json: Json = False,
    device: Device = None,
    trust: Trust = False,
) -> None:
    """-log P (nats) of each sentence, one a line, and of each token with --tokens."""
    loaded = load_run(run, device, trust)
    for line in read_lines(texts):
        scored = loaded.score(line)[0]
        if as_json:
            show_json(scored.as_dict(), compact=True)
            continue
        show(f"{scored.nats:.4f}\t{line}")
        for token, log_prob in zip(scored.tokens, scored.log_probs, strict=True) if tokens else ():
            show(f"  {-log_prob:8.4f}  {_visible(token)}")


def read_lines(texts: Iterable[str]) -> Iterator[str]:
    """The lines of a pipe, of files, or the texts themselves; read one by one."""
    return (line for _, line in placed_lines(texts))


def placed_lines(texts: Iterable[str]) -> Iterator[tuple[str | None, str]]:
    """The same, each with where it stands: `FILE line 3`; None for a text itself."""
    for text in texts:
        if text == "-":
            yield from _numbered(sys.stdin, "standard input")
        elif os.path.isfile(text):  # noqa: PTH113 - no error for a text too long to be a name
            with Path(text).open(encoding="utf-8-sig") as file:
                yield from _numbered(file, text)
        elif is_path(text):
            raise UserError(f"{text} is no file; give a file of lines, - for a pipe, or the text itself")
        else:
            yield None, text


def is_path(text: str) -> bool:
    """Whether a text that names no file was plainly meant to: by how it ends, or begins."""
    return text.lower().endswith(ENDS) or (text.startswith(BEGINS) and not any(map(str.isspace, text)))


def _numbered(file: TextIO, name: str) -> Iterator[tuple[str, str]]:
    return ((f"{name} line {number}", line) for number, line in enumerate(lines_of(file, name), 1))


def lines_of(file: TextIO, name: str) -> Iterator[str]:
    """The lines of a file or a pipe, as they come."""
    number = 0
    try:
        for number, line in enumerate(file, 1):  # noqa: B007 - for the error
            yield line.rstrip("\n")
    except UnicodeDecodeError as error:
        byte = error.object[error.start]
        raise UserError(
            f"{name} is not UTF-8: byte 0x{byte:02X} after line {number}; convert it, as with iconv -f latin1 -t utf-8"
        ) from None


def _visible(token: str) -> str:
    return token.replace("\n", "⏎").replace("\t", "⇥") or "''"
