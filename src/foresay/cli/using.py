"""Commands that use a trained run: `eval`, `score`."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from foresay.cli.app import (
    PSEUDO,
    Device,
    Encoding,
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
from foresay.cli.documents import refuse_options, score_documents
from foresay.cli.hearing import Bonus, Model, refuse_search, searched
from foresay.cli.lines import placed_lines
from foresay.errors import UserError

if TYPE_CHECKING:
    from foresay.train.evaluate import Measured
    from foresay.train.overlap import Overlap


Data = Annotated[
    list[str] | None,
    typer.Option(
        help="A text file or folder; of pairs a table, or given twice: files in the order of data.train, also with "
        "data.reverse."
    ),
]
Columns = Annotated[
    list[str] | None,
    typer.Option(metavar="NAME|NUMBER", help="With --data: its columns, as of training; once for each."),
]


@app.command("eval")
def evaluate(
    run: RunArgument,
    data: Data = None,
    split: Annotated[str, typer.Option(help="valid or test.")] = "valid",
    encoding: Encoding = None,
    column: Columns = None,
    rows: Annotated[
        int | None, typer.Option(help="Rows that a stream is read in; 1: one state through it all.")
    ] = None,
    beam: Annotated[
        int | None,
        typer.Option(help="Of pairs: candidates of the search, 5 by default; of recordings texts, none by default."),
    ] = None,
    lm: Model = None,
    bonus: Bonus = 0.0,
    alpha: Annotated[
        float | None, typer.Option(help="Of pairs: the score is log P / length ** alpha, 1 by default.")
    ] = None,
    length: Annotated[
        int | None, typer.Option(help="Of pairs: the most tokens to write; by default by source.")
    ] = None,
    limit: Annotated[int | None, typer.Option(help="Of pairs: only the first so many.")] = None,
    measures: Annotated[
        list[str] | None,
        typer.Option("--measure", help="Of pairs: exact, errors, bleu, chrf, rouge; given several times for several."),
    ] = None,
    picture: Annotated[Path | None, typer.Option(help="Of labels: a .png of what is taken for what.")] = None,
    force: Force = False,
    as_json: Json = False,
    device: Device = None,
    trust: Trust = False,
) -> None:
    """Perplexity and bits of a run on held-out text; of others what they are judged by."""
    if picture is not None:
        _check_picture(picture, force)
    loaded = load_run(run, device, trust)
    read = _read_as(data, encoding, column)
    of_pairs = {"beam": beam, "alpha": alpha, "length": length, "limit": limit, "measure": measures}
    if picture is not None:
        _check_labels(run, loaded.model)
    if loaded.model.conditional:
        if rows is not None:
            raise UserError(f"--rows {rows}, but pairs are read one a row; leave it out")
        judge_and_show(loaded, data, split, read, of_pairs, as_json=as_json)
        return
    of_sounds = searched(beam if hasattr(loaded, "recognise") else None, lm, bonus, device, trust)
    refuse_search(loaded, of_sounds)
    given = next((name for name, value in of_pairs.items() if value is not None and name not in of_sounds), None)
    if given is not None:
        raise UserError(f"--{given} is for runs that write from a source; {run} does not: leave it out")
    if data is not None and len(data) > 1:
        raise UserError(f"--data is given {len(data)} times; allowed: once, as {run} reads one text")
    measured: Any = loaded.evaluate(data[0] if data else None, split=split, rows=rows, **read, **of_sounds)
    _show(loaded.model.reads, measured, picture, as_json)


def _show(reads: str, measured: Any, picture: Path | None, as_json: bool) -> None:
    if reads in ("tags", "labels"):
        from foresay.cli.predicting import show_labelled, show_tagged

        if reads == "labels":
            show_labelled(measured, picture, as_json=as_json)
        else:
            show_tagged(measured, as_json=as_json)
    elif reads == "speech":
        from foresay.cli.hearing import show_heard

        show_heard(measured, as_json=as_json)
    elif as_json:
        show_json(measured.as_dict())
    elif reads == "series":
        from foresay.cli.forecasting import show_series

        show_series(measured)
    else:
        show_measured(measured)


def _read_as(data: list[str] | None, encoding: str | None, columns: list[str] | None) -> dict[str, Any]:
    """How other data is read; the run's own is read as it was."""
    given = f"--encoding {encoding}" if encoding is not None else f"--column {columns[0]}" if columns else None
    if given is not None and data is None:
        raise UserError(f"{given} without --data; a run's own text is read as it was for training")
    return {"encoding": encoding, "columns": [_numbered(column) for column in columns] if columns else None}


def _numbered(column: str) -> str | int:
    """A column by its name, or by its number; -1 is the last."""
    return int(column) if column.removeprefix("-").isdecimal() else column


def _check_picture(picture: Path, force: bool) -> None:
    if picture.suffix != ".png":
        raise UserError(f"--picture {picture}; allowed: a name that ends in .png")
    check_free(picture, force, "--picture")


def _check_labels(run: Path, model: Any) -> None:
    """Refuses, before anything is measured, a run whose answers no picture shows."""
    from foresay.study.confusion import check_confusion

    if model.reads != "labels":
        raise UserError(f"--picture shows which labels are taken for which, and {run} gives none; leave it out")
    check_confusion(model.labels)


def judge_and_show(
    run: Any, data: list[str] | None, split: str, read: dict[str, Any], how: dict[str, Any], *, as_json: bool
) -> None:
    """What a run that writes from a source is worth, on its own pairs or on others."""
    from foresay.parts import make

    alpha = 1.0 if how["alpha"] is None else how["alpha"]
    search = make("search", {"kind": "beam", "width": how["beam"] or 5, "alpha": alpha})
    place, more = data[0] if data and len(data) == 1 else data, {"length": how["length"], "limit": how["limit"]}
    with told():
        judged = run.judge(place, split=split, **read, search=search, measures=how["measure"] or None, **more)
    if as_json:
        show_json(judged.as_dict())
        return
    show_measured(judged.measured)
    if judged.overlap is not None:
        show_overlap(judged.overlap)


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
    hidden = "  (what <unk> stands for is left out)" if measured.unknown else ""
    lines = {
        "loss": f"{measured.loss:.4f} nats per token",
        f"{measured.named}perplexity": f"{measured.perplexity:.3f}  ({measured.between()})",
        **{f"  {way}": f"{about[f'perplexity_{way}']:.3f}" for way in measured.ways},
        f"{measured.named}bits per character": f"{measured.bits_per_character:.4f}{hidden}",
        f"{measured.named}bits per byte": f"{measured.bits_per_byte:.4f}{hidden}",
    }
    if measured.unknown:
        lines["perplexity of known"] = f"{about['perplexity_of_known']:.3f}"
    lines["tokens"] = f"{measured.tokens:,}, of them unknown {100 * measured.unknown:.2f} %"
    lines = lines_of_media(measured) if measured.noun else lines
    if measured.impossible:
        lines["impossible"] = f"{measured.impossible:,} tokens have probability 0; a smoothing gives them some"
    wide = max(map(len, lines))
    show("\n".join(f"{name:<{wide}}  {value}" for name, value in lines.items()))


def lines_of_media(measured: Measured) -> dict[str, str]:
    """What there is to say of a model of pictures or of sounds."""
    bits, loss = measured.bits_per_character, measured.loss
    low, high = (bits * edge / loss if 0 < loss < math.inf else edge for edge in measured.interval)
    return {
        f"{measured.named}nats per {measured.noun}": f"{measured.nats_each:.3f}",
        f"{measured.named}bits per {measured.dimension}": f"{bits:.4f}  (95 % interval {low:.4f} – {high:.4f})",
        "loss": f"{loss:.4f} nats per level",
        f"{measured.noun}s": f"{measured.documents:,}, {measured.tokens:,} levels",
    }


@app.command()
def score(
    run: RunArgument,
    texts: Annotated[
        list[str],
        typer.Argument(
            metavar="TEXT|FILE|-...", help="Text, a file of lines, or - for a pipe; pictures or sounds, or folders."
        ),
    ],
    tokens: Annotated[bool, typer.Option("--tokens", help="Each token's share too.")] = False,
    label: Annotated[str | None, typer.Option(help="What they are given, of runs that write for labels.")] = None,
    encoding: Encoding = None,
    as_json: Json = False,
    device: Device = None,
    trust: Trust = False,
) -> None:
    """-log P (nats) of each sentence, one a line, and of each token with --tokens; of pairs, SOURCE tab TARGET."""
    from foresay.study.visible import visible_text

    loaded: Any = load_run(run, device, trust)
    if loaded.model.sequence and not loaded.model.causal and not as_json:
        say(PSEUDO)
    if hasattr(loaded, "recognise"):
        from foresay.cli.hearing import score_recordings

        refuse_options(loaded, {"tokens": tokens, "label": label, "encoding": encoding})
        score_recordings(loaded, texts, as_json=as_json)
        return
    if loaded.model.reads == "series":
        from foresay.cli.forecasting import score_series

        score_series(loaded, texts, steps=tokens, as_json=as_json)
        return
    if hasattr(loaded, "nats"):
        refuse_options(loaded, {"tokens": tokens, "encoding": encoding})
        score_documents(loaded, texts, label, as_json=as_json)
        return
    line, empty = None, "''"
    given = {} if label is None and not loaded.labels else {"label": label}
    if given and loaded.model.conditional:
        raise UserError(f"--label {label}, and {run} writes from a source; leave it out")
    for place, line in placed_lines(texts, encoding=encoding or "utf-8"):
        pair = sides(line, place) if loaded.model.conditional else None
        with told():
            scored = loaded.score(pair or line, **given)[0]
        if as_json:
            show_json(({"source": pair[0]} if pair else {}) | scored.as_dict(), compact=True)
            continue
        shown = "\t".join(map(visible_text, pair or [line]))
        show(f"{scored.nats:.4f}\t{shown}")
        for token, log_prob in zip(scored.tokens, scored.log_probs, strict=True) if tokens else ():
            show(f"  {0.0 - log_prob:8.4f}  {visible_text(token) or empty}")
    if line is None:
        raise UserError(f"{' '.join(texts)} has no line; give a text, a file of lines, or - for a pipe")


def sides(line: str, place: str | None = None) -> tuple[str, str]:
    """Source and target of a line, with a tab between them."""
    source, tab, target = line.partition("\t")
    if not tab or not source.strip() or not target.strip() or "\t" in target:
        where = "" if place is None else f"{place}: "
        raise UserError(
            f"{where}{line[:60]!r} is no pair; this run scores a target given its source: SOURCE, a tab, TARGET"
        )
    return source, target
