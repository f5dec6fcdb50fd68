"""The command line: parse, call, print. Everything it does is a public function of Python.

No torch is imported for `--help`; a user's mistake is one line on standard error and exit code 2.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NoReturn, TextIO

import typer

from foresay import __version__
from foresay.errors import UserError

if TYPE_CHECKING:
    from foresay.run import Run

app = typer.Typer(
    name="foresay",
    help="Train, compare and use sequence models on your own data.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)

RunArgument = Annotated[Path, typer.Argument(metavar="RUN", help="A run folder, as `foresay train` writes it.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON, for programs.")]
Device = Annotated[str | None, typer.Option(help="cpu or cuda; by default the GPU when there is one.")]
Words = Annotated[list[str] | None, typer.Argument(metavar="[KEY=VALUE]...", help="Settings, e.g. encoder.size=512")]


@app.command()
def train(
    source: Annotated[
        str | None, typer.Argument(metavar="RECIPE|TEXT", help="Recipe, .yaml, text file or folder.")
    ] = None,
    settings: Words = None,
    out: Annotated[Path | None, typer.Option(help="The run folder; by default runs/NAME.")] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with the run in --out, if there is one.")] = False,
    minutes: Annotated[float | None, typer.Option(help="Fit the steps to this time, by measuring the first.")] = None,
    device: Device = None,
) -> None:
    """Train a recipe or a text file into a run folder; a text file needs no settings."""
    from foresay import start

    if source is not None and "=" in source and not os.path.exists(source):  # noqa: PTH110 - no error for long text
        source, settings = None, [source, *(settings or [])]
    run = start.train(source, settings or [], out=out, resume=resume, minutes=minutes, device=device)
    _say(f"{run.folder}: done; see {run.folder / 'README.md'}, or: foresay generate {run.folder}")


@app.command("eval")
def evaluate(
    run: RunArgument,
    data: Annotated[str | None, typer.Option(help="A text file or folder; by default the run's own split.")] = None,
    split: Annotated[str, typer.Option(help="valid or test.")] = "valid",
    as_json: Json = False,
    device: Device = None,
) -> None:
    """Perplexity, bits per character and bits per byte of a run on its held-out text or on another."""
    measured = _load(run, device).evaluate(data, split=split)
    if as_json:
        _print_json(measured.as_dict())
        return
    low, high = measured.as_dict()["perplexity_interval"]
    _print(f"loss                {measured.loss:.4f} nats per token")
    _print(f"perplexity          {measured.perplexity:.3f}  (95 % interval {low:.3f} – {high:.3f})")
    _print(f"bits per character  {measured.bits_per_character:.4f}")
    _print(f"bits per byte       {measured.bits_per_byte:.4f}")
    _print(f"tokens              {measured.tokens:,}, of them unknown {100 * measured.unknown:.2f} %")


@app.command()
def score(
    run: RunArgument,
    texts: Annotated[
        list[str], typer.Argument(metavar="TEXT|FILE|-...", help="Text, a file of lines, or - for a pipe.")
    ],
    tokens: Annotated[bool, typer.Option("--tokens", help="Each token's share too.")] = False,
    as_json: Json = False,
    device: Device = None,
) -> None:
    """-log P (nats) of each sentence, one a line, and of each token with --tokens."""
    loaded = _load(run, device)
    for line in _lines(texts):
        scored = loaded.score(line)[0]
        if as_json:
            _print_json(scored.as_dict(), compact=True)
            continue
        _print(f"{scored.nats:.4f}\t{line}")
        for token, log_prob in zip(scored.tokens, scored.log_probs, strict=True) if tokens else ():
            _print(f"  {-log_prob:8.4f}  {_visible(token)}")


@app.command()
def generate(
    run: RunArgument,
    prompt: Annotated[str, typer.Argument(help="What to go on from; - reads it from a pipe.")] = "",
    length: Annotated[int, typer.Option(help="The most tokens to write.")] = 200,
    number: Annotated[int, typer.Option(help="How many texts.")] = 1,
    temperature: Annotated[float, typer.Option(help="0 is greedy, 1 as learnt, less is safer.")] = 1.0,
    top_k: Annotated[int, typer.Option(help="Only the k likeliest; 0: all.")] = 0,
    top_p: Annotated[float, typer.Option(help="Only the likeliest that hold this mass.")] = 1.0,
    min_p: Annotated[float, typer.Option(help="Only those at least this share of the likeliest.")] = 0.0,
    repetition: Annotated[float, typer.Option(help="> 1 makes what was written rarer.")] = 1.0,
    seed: Annotated[int, typer.Option(help="The same seed, the same text.")] = 1,
    as_json: Json = False,
    device: Device = None,
) -> None:
    """Write on from a prompt, by sampling or greedily."""
    from foresay.decode.sample import Greedy, Sample

    if temperature < 0:
        raise UserError(f"--temperature {temperature}; allowed: 0 (greedy) or more")
    decoder = Greedy() if temperature == 0 else Sample(temperature, top_k, top_p, min_p, repetition)
    loaded = _load(run, device)
    text = "\n".join(_lines_of(sys.stdin, "standard input")) if prompt == "-" else prompt
    written = loaded.generate(text, length=length, number=number, decoder=decoder, seed=seed)
    if as_json:
        _print_json([{"prompt": text, "text": one} for one in written])
        return
    for index, one in enumerate(written):
        _print(("" if index == 0 else "---\n") + one)


@app.command()
def compare(
    words: Annotated[
        list[str], typer.Argument(metavar="RECIPE... [KEY=VALUE]...", help="Recipes, then settings for all.")
    ],
    data: Annotated[str | None, typer.Option(help="A text file or folder; by default the recipes' own.")] = None,
    minutes: Annotated[float | None, typer.Option(help="For the whole comparison; shared out equally.")] = None,
    out: Annotated[Path | None, typer.Option(help="Where the runs go; by default runs/compare.")] = None,
    as_json: Json = False,
    device: Device = None,
) -> None:
    """Train several models on the same tokens and split: one table, one plot."""
    from foresay.study import compare as study

    names = [word for word in words if "=" not in word]
    settings = [word for word in words if "=" in word]
    rows = study.compare(names, settings, data=data, minutes=minutes, out=out, device=device)
    if as_json:
        _print_json(rows)
        return
    _rich(study.table(rows))


@app.command("list")
def list_(
    what: Annotated[str, typer.Argument(metavar="parts|recipes|data")] = "parts",
    as_json: Json = False,
) -> None:
    """Every part with its settings, types and defaults; every recipe; every known data set."""
    from foresay.study import catalogue

    kinds = {"parts": catalogue.parts, "recipes": catalogue.recipes, "data": catalogue.data}
    if what not in kinds:
        raise UserError(f"{what!r} cannot be listed; allowed: {', '.join(kinds)}")
    entries = kinds[what]()
    if as_json:
        _print_json(entries)
    else:
        _print(catalogue.spelt(entries))


@app.command()
def demo(
    out: Annotated[Path | None, typer.Option(help="Where the runs go; by default runs/demo.")] = None,
    minutes: Annotated[float, typer.Option(help="About how long, for all models together.")] = 2.2,
) -> None:
    """Two minutes, nothing to download: trains six models, compares them, writes, shows surprise."""
    from foresay.study import demo as study

    study.demo(out, minutes, _rich)


@app.callback(invoke_without_command=True)
def _options(version: Annotated[bool, typer.Option("--version", help="Show the version.")] = False) -> None:
    if version:
        _print(f"foresay {__version__}")
        raise typer.Exit


def main() -> NoReturn:
    """Runs the command line; mistakes give one line and code 2, signals 130 and 143."""
    signal.signal(signal.SIGTERM, _terminated)
    try:
        code = app(prog_name="foresay", standalone_mode=False) or 0
        if code == 130:  # how typer ends at Ctrl-C
            _fail("stopped", code)
        sys.stdout.flush()
    except SystemExit as error:
        code = 0 if isinstance(error.__context__, BrokenPipeError) else error.code  # typer has caught it
    except UserError as error:
        code = _fail(str(error))
    except (KeyboardInterrupt, typer.Abort):
        code = _fail("stopped", 130)
    except BrokenPipeError:  # the reader has gone (foresay ... | head)
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = 0
    except OSError as error:
        code = _fail(
            f"{error.filename or 'the system'}: {error.strerror or error}; check the path, its disk and rights"
        )
    except Exception as error:
        code = _known(error)
        if code is None:
            raise
    sys.exit(code)


def _known(error: Exception) -> int | None:
    """The exit code of a run that was stopped, or of a word the command line does not have; else None."""
    if hasattr(error, "format_message"):  # click's errors, which typer carries under names of its own
        text = error.format_message()  # pyright: ignore[reportAttributeAccessIssue]
        if type(error).__name__ == "NoArgsIsHelpError":
            _print(text)
            return 2
        return _fail(f"{text.rstrip('.')}; see foresay --help")
    code = getattr(error, "code", None)
    if code is not None:
        _say(str(error))
    return code


def _terminated(number: int, _frame: Any) -> NoReturn:
    raise SystemExit(128 + number)


def _fail(text: str, code: int = 2) -> int:
    _say("foresay: " + " ".join(text.split("\n")))
    return code


def _load(run: Path, device: str | None) -> Run:
    from foresay.run import load

    return load(run, device)


def _lines(texts: Iterable[str]) -> Iterator[str]:
    """The lines of a pipe, of files, or the texts themselves; read one by one."""
    for text in texts:
        if text == "-":
            yield from _lines_of(sys.stdin, "standard input")
        elif os.path.isfile(text):  # noqa: PTH113 - no error for a text too long to be a name
            with Path(text).open(encoding="utf-8-sig") as file:
                yield from _lines_of(file, text)
        elif text.endswith((".txt", ".md")) or ("/" in text and " " not in text):
            raise UserError(f"{text} is no file; give a file of lines, - for a pipe, or the text itself")
        else:
            yield text


def _lines_of(file: TextIO, name: str) -> Iterator[str]:
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


def _print(text: str) -> None:
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def _say(text: str) -> None:
    sys.stderr.write(text + "\n")


def _print_json(value: Any, *, compact: bool = False) -> None:
    _print(json.dumps(value, ensure_ascii=False, indent=None if compact else 1))


def _rich(thing: Any) -> None:
    from rich.console import Console

    Console(width=None if sys.stdout.isatty() else 120).print(thing, highlight=False)


if __name__ == "__main__":
    main()
