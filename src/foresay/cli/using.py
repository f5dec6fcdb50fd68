"""Commands that use a trained run: `eval`, `score`."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TextIO

import typer

from foresay.cli.app import Device, Encoding, Json, RunArgument, Trust, app, load_run, say, show, show_json, told
from foresay.errors import UserError

if TYPE_CHECKING:
    from foresay.run import Run
    from foresay.train.evaluate import Measured
    from foresay.train.overlap import Overlap

ENDS = (".txt", ".md", ".tsv", ".csv", ".json", ".jsonl", ".gz", ".xz", ".bz2", ".zst", ".zip")
BEGINS = ("./", "../", "/", "~/")


@app.command("eval")
def evaluate(
    run: RunArgument,
    data: Annotated[
        list[str] | None,
        typer.Option(help="A text file or folder; of pairs a table, or given twice: source and target."),
    ] = None,
    split: Annotated[str, typer.Option(help="valid or test.")] = "valid",
    encoding: Encoding = None,
    rows: Annotated[
        int | None, typer.Option(help="Rows that a stream is read in; 1: one state through it all.")
    ] = None,
    beam: Annotated[int, typer.Option(help="Of pairs: candidates of the search; 1 is greedy.")] = 5,
    alpha: Annotated[float, typer.Option(help="Of pairs: the score is log P / length ** alpha.")] = 1.0,
    limit: Annotated[int | None, typer.Option(help="Of pairs: only the first so many.")] = None,
    measures: Annotated[
        list[str] | None,
        typer.Option("--measure", help="Of pairs: exact, errors, bleu, chrf, rouge; given several times for several."),
    ] = None,
    picture: Annotated[Path | None, typer.Option(help="Of labels: a .png of what is taken for what.")] = None,
    as_json: Json = False,
    device: Device = None,
    trust: Trust = False,
) -> None:
    """Perplexity and bits of a run on its held-out text or on another; of pairs and labels what is right of them."""
    loaded = load_run(run, device, trust)
    if picture is not None and not loaded.model.classifies:
        raise UserError(f"--picture shows which labels are taken for which, and {run} gives none; leave it out")
    if loaded.model.classifies:
        evaluate_labels(loaded, data, split=split, encoding=encoding, picture=picture, as_json=as_json)
        return
    if loaded.model.conditional:
        from foresay.decode.beam import Beam

        with told():
            one = data[0] if data and len(data) == 1 else data
            judged = loaded.judge(  # pyright: ignore[reportAttributeAccessIssue]
                one,
                split=split,
                encoding=encoding,
                limit=limit,
                search=Beam(beam, alpha=alpha),
                measures=measures or None,
            )
        measured, about = judged.measured, judged.as_dict()
    else:
        if data is not None and len(data) > 1:
            raise UserError(f"--data is given {len(data)} times; allowed: once, as {run} reads one text")
        measured = loaded.evaluate(data[0] if data else None, split=split, encoding=encoding, rows=rows)
        judged, about = None, measured.as_dict()
    if as_json:
        show_json(about)
        return
    show_measured(measured)
    if judged is not None and judged.overlap is not None:
        show_overlap(judged.overlap)


def evaluate_labels(
    loaded: Run, data: list[str] | None, *, split: str, encoding: str | None, picture: Path | None, as_json: bool
) -> None:
    """Accuracy, macro-F1 and a line for each label."""
    from foresay.study.confusion import draw_confusion

    if data is not None and len(data) > 1:
        raise UserError(f"--data is given {len(data)} times; allowed: once, as {loaded.folder} reads one table")
    found: Any = loaded.evaluate(data[0] if data else None, split=split, encoding=encoding)
    if picture is not None:
        draw_confusion(picture, found)
    if as_json:
        show_json(found.report())
        return
    (low, high), (least, most) = found.accuracy_interval, found.macro_f1_interval
    lines = {
        "accuracy": f"{100 * found.accuracy:.2f} %  (95 % interval {100 * low:.2f} – {100 * high:.2f})",
        "macro-F1": f"{100 * found.macro_f1:.2f} %  (95 % interval {100 * least:.2f} – {100 * most:.2f})",
        "loss": f"{found.loss:.4f} nats per text",
        "texts": f"{found.texts:,}, of them {100 * found.most_frequent:.2f} % with the most frequent label",
    }
    show("\n".join(f"{name:<8}  {value}" for name, value in lines.items()))
    wide = max(5, *map(len, found.names))
    show(f"\n{'label':<{wide}}  precision  recall      F1   texts")
    for name, one in found.labels().items():
        shares = f"{100 * one['precision']:9.2f}  {100 * one['recall']:6.2f}  {100 * one['f1']:6.2f}"
        show(f"{name:<{wide}}  {shares}  {one['texts']:6,}")


def show_overlap(found: Overlap) -> None:
    lines: dict[str, str] = {}
    for name, title, value in (("bleu", "BLEU", found.bleu), ("chrf", "chrF", found.chrf)):
        if value is not None:
            lines[title] = f"{value:.2f}  ({found.signatures[name]})"
    if found.rouge is not None:
        lines["ROUGE-1 / 2 / L"] = f"{' / '.join(f'{one:.2f}' for one in found.rouge.values())}"
        lines["ROUGE-1 / 2 / L"] += f"  ({found.signatures['rouge']})"
    if found.errors is not None:
        lines["error rate"] = f"{100 * found.errors:.2f} % of the references' words"
    if found.exact is not None:
        lines["exact match"] = f"{100 * found.exact:.2f} % of {found.texts:,}"
    show("\n".join(f"{title:<18}  {value}" for title, value in lines.items()))


def show_measured(measured: Measured) -> None:
    about = measured.as_dict()
    low, high = about["perplexity_interval"]
    lines = {
        "loss": f"{measured.loss:.4f} nats per token",
        f"{measured.named}perplexity": f"{measured.perplexity:.3f}  (95 % interval {low:.3f} – {high:.3f})",
        f"{measured.named}bits per character": f"{measured.bits_per_character:.4f}",
        f"{measured.named}bits per byte": f"{measured.bits_per_byte:.4f}",
    }
    if measured.unknown:
        lines["  of known tokens"] = f"{about['perplexity_of_known']:.3f}"
    lines["tokens"] = f"{measured.tokens:,}, of them unknown {100 * measured.unknown:.2f} %"
    if measured.impossible:
        lines["impossible"] = f"{measured.impossible:,} tokens have probability 0; a smoothing gives them some"
    wide = max(map(len, lines))
    show("\n".join(f"{name:<{wide}}  {value}" for name, value in lines.items()))


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
    """-log P (nats) of each sentence, one a line, and of each token with --tokens; of pairs, SOURCE tab TARGET."""
    loaded = load_run(run, device, trust)
    if not loaded.model.causal and not as_json:
        say("pseudo: the sum of -log P of each token given all others, for the model sees both sides")
    for line in read_lines(texts):
        with told():
            scored = loaded.score(sides(line) if loaded.model.conditional else line)[0]  # pyright: ignore[reportArgumentType]
        if as_json:
            show_json(scored.as_dict(), compact=True)
            continue
        show(f"{scored.nats:.4f}\t{line}")
        for token, log_prob in zip(scored.tokens, scored.log_probs, strict=True) if tokens else ():
            show(f"  {-log_prob:8.4f}  {_visible(token)}")


def sides(line: str) -> tuple[str, str]:
    """Source and target of a line, with a tab between them."""
    source, tab, target = line.partition("\t")
    if not tab or not source.strip() or not target.strip():
        raise UserError(f"{line[:60]!r} is no pair; this run scores a target given its source: SOURCE, a tab, TARGET")
    return source, target


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
