"""The command that gives words tags, texts labels and recordings texts, `predict`; and what `eval` shows of these."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from foresay.cli.app import Device, Encoding, Json, RunArgument, Trust, app, load_run, say, show, show_json
from foresay.cli.documents import predict_documents, refuse_options
from foresay.cli.hearing import Beam, Bonus, Model, recognise_documents, refuse_search, searched
from foresay.cli.lines import Pipe, Placed, begun, blocks, holds, placed_lines, single
from foresay.errors import TextError, UserError

if TYPE_CHECKING:
    from foresay.train.classified import Classified
    from foresay.train.tagged import Hits, TagFigures


@app.command()
def predict(
    run: RunArgument,
    texts: Annotated[
        list[str],
        typer.Argument(
            metavar="TEXT|FILE|-...", help="Text, a file of lines, or - for a pipe; pictures or sounds, or folders."
        ),
    ],
    blanks: Annotated[
        bool, typer.Option("--blanks", help="Of tags: words stand between blanks, cut nowhere else.")
    ] = False,
    shares: Annotated[
        bool, typer.Option("--shares", help="Of tags: how probable each is, by the words so far and by all.")
    ] = False,
    column: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME|NUMBER", help="FILEs are tables: this column; twice for pairs (CSV, TSV, JSON lines)."
        ),
    ] = None,
    form: Annotated[
        str | None, typer.Option("--format", help="With --column: csv, tsv or jsonl, else by name.")
    ] = None,
    encoding: Encoding = None,
    beam: Beam = None,
    lm: Model = None,
    bonus: Bonus = 0.0,
    as_json: Json = False,
    device: Device = None,
    trust: Trust = False,
) -> None:
    """Give each word its tag, each line its label, or each recording its text, as the run learnt; more with --json."""
    loaded: Any = load_run(run, device, trust)
    how = searched(beam, lm, bonus, device, trust)
    refuse_search(loaded, how)
    labels = loaded.model.reads == "labels"
    _check_predicts(run, loaded)
    if hasattr(loaded, "form"):
        others = {"column": column, "format": form, "encoding": encoding}
        refuse_options(loaded, {"blanks": blanks, "shares": shares, **others})
        show_documents(loaded, texts, how, as_json=as_json)
        return
    _check_options(run, labels=labels, blanks=blanks, shares=shares)
    if form is not None and not column:
        raise UserError(f"--format {form} without --column; name the column that holds the texts")
    pipe = Pipe(encoding)
    if not column:
        _check_lines(run, texts, tags=not labels)
        found: Iterator[Placed] = single(placed_lines(texts, pipe, encoding or "utf-8"))
    else:
        from foresay.cli.columns import column_texts

        found = column_texts(texts, column, form, _between(loaded, column), pipe, encoding or "utf-8")
    given = blocks(begun(found, texts, "predict"), pipe)
    show_lines(loaded, given, {} if labels else {"blanks": blanks}, shares=shares, as_json=as_json)


def show_documents(run: Any, files: Sequence[str], how: dict[str, Any], *, as_json: bool) -> None:
    """The answers for pictures or recordings."""
    if run.model.reads == "speech":
        recognise_documents(run, files, how, as_json=as_json)
    else:
        predict_documents(run, files, as_json=as_json)


def show_lines(run: Any, given: Iterator[list[Placed]], how: dict[str, bool], *, shares: bool, as_json: bool) -> None:
    """The answers for lines, blocks of them as they come."""
    labels = run.model.reads == "labels"
    for block in given:
        answers = _predicted(run, [one for one in block if one[1].strip()], how, shares=shares)
        for _, line in block:
            told = next(answers) if line.strip() else None
            show_one = _show_label if labels else _show_shares if shares else _show_tags
            show_one(told, as_json=as_json)
    if labels and run.cut_off:
        from foresay.measuring import cut_short

        of = run.read_whole + run.cut_off
        say(cut_short("predict", run.cut_off, of, run.recipe.train.batches.longest))


def _check_predicts(run: Path, loaded: Any) -> None:
    if not hasattr(loaded, "predict"):
        raise UserError(
            f"{run} predicts no tags, labels or texts; allowed: a run of task tagger, hmm, classifier, bag-of-words or "
            "recogniser, such as foresay train pos"
        )


def _check_options(run: Path, *, labels: bool, blanks: bool, shares: bool) -> None:
    """Refuses, of a run that gives labels, what is for runs that tag words."""
    if blanks and labels:
        raise UserError(f"--blanks is for runs that tag words; {run} gives labels to whole texts: leave it out")
    if shares and labels:
        raise UserError(f"--shares is for runs that tag words; {run} gives labels to whole texts: their shares: --json")


def _check_lines(run: Path, texts: Sequence[str], *, tags: bool) -> None:
    """Refuses, before the first answer, a blank text and files whose name says that they hold no lines of text."""
    for text in texts:
        if not text.strip():
            raise UserError("the text is empty; give a text with words")
        if not os.path.isfile(text):  # noqa: PTH113 - no error for a text too long to be a name
            continue
        kind, end = holds(text)
        if kind == "table":
            raise UserError(
                f"{text} is a table by its name ({end}); name the column that holds the texts: --column NAME, or a "
                "number where the table has no header"
            )
        if kind == "else":
            raise UserError(
                f"{text} holds no lines of text by its name ({end}); allowed: a text a line, or CSV, TSV and JSON "
                "lines with --column"
            )
        if kind == "tags":
            measured = f"foresay eval {run} --data {text} measures on them; " if tags else ""
            raise UserError(
                f"{text} holds words with their tags by its name ({end}); {measured}to predict, give the words alone, "
                "one sentence a line"
            )


def _predicted(run: Any, given: list[Placed], how: dict[str, bool], *, shares: bool = False) -> Iterator[Any]:
    """The answers, up to a text that has none, which is told with its place."""
    if not given:
        return
    lines = [line for _, line in given]
    try:
        found = run.predict(lines, **how)
        yield from zip(found, run.posteriors(lines, **how), strict=True) if shares else found
    except TextError as error:
        before, (place, line) = given[: error.number - 1], given[error.number - 1]
        yield from _predicted(run, before, how, shares=shares)
        raise UserError(f"{place or repr(line[:60])} {error.why}") from None


def _between(run: Any, columns: list[str]) -> str:
    """What joins the texts of so many columns, as it did in training."""
    if len(columns) == 1:
        return ""
    if run.model.reads != "labels" or len(columns) > 2:
        raise UserError(
            f"--column {' --column '.join(columns)}; allowed: one, or two of a run that labels pairs of texts"
        )
    from foresay.text.tokens import UNK

    between = run.recipe.data.read.between
    if UNK in run.tokens.encode(between):
        raise UserError(
            f"--column {' --column '.join(columns)}, but no text of training had {between!r} between two; allowed: one"
        )
    return between


def _show_label(told: Any, *, as_json: bool) -> None:
    """A label on a line of its own; several with tabs between them, none, and that of a blank line, as an empty one."""
    if told is None:
        show("null" if as_json else "")
        return
    label, shares = told
    if as_json:
        named = {"label": label} if isinstance(label, str) else {"labels": list(label)}
        show_json(named | {"probabilities": shares}, compact=True)
    else:
        show(label if isinstance(label, str) else "\t".join(label))


def _show_tags(told: Any, *, as_json: bool) -> None:
    """Words with their tags and a blank line after them, which of a blank line is all."""
    if as_json:
        show_json(None if told is None else told.as_dict(), compact=True)
    else:
        rows = () if told is None else zip(told.words, told.tags, strict=True)
        show("".join(f"{word}\t{tag}\n" for word, tag in rows))


def _show_shares(told: Any, *, as_json: bool) -> None:
    """Words with their tags, and the shares of the tags by the words so far and by all; the best first."""
    if told is None:
        show_json(None, compact=True) if as_json else show("")
        return
    found, own = told
    if as_json:
        each = own.as_dict()
        show_json(found.as_dict() | {"filtered": each["filtered"], "smoothed": each["smoothed"]}, compact=True)
        return
    rows = zip(found.words, found.tags, own.filtered, own.smoothed, strict=True)
    lines = [f"{w}\t{tag}\t{_best(own.names, one)}\t{_best(own.names, all_)}\n" for w, tag, one, all_ in rows]
    show("".join(lines))


def _best(names: Sequence[str], shares: Any) -> str:
    """`NOUN 0.93, VERB 0.06`: tags with a share of a hundredth or more."""
    order = sorted(range(len(names)), key=lambda tag: -shares[tag])
    return ", ".join(f"{names[tag]} {shares[tag]:.2f}" for tag in order if shares[tag] >= 0.01)


def show_tagged(found: TagFigures, *, as_json: bool) -> None:
    """The figures of a tagger, then its table."""
    for note in found.notes:
        say(note)
    if as_json:
        show_json(found.as_dict(table=True))
        return
    low, high = found.accuracy_interval
    lines = {
        "loss": f"{found.loss:.4f} nats per word",
        "accuracy": f"{100 * found.accuracy:.2f} %  (95 % interval {100 * low:.2f} – {100 * high:.2f})",
    }
    if found.unknown:
        lines["  of unknown words"] = f"{100 * found.unknown_accuracy:.2f} %"
    if found.spans is not None:
        low, high = found.f1_interval
        lines["span F1"] = f"{100 * found.spans.f1:.2f} %  (95 % interval {100 * low:.2f} – {100 * high:.2f})"
        lines["  precision"] = f"{100 * found.spans.precision:.2f} %"
        lines["  recall"] = f"{100 * found.spans.recall:.2f} %"
    lines["words"] = f"{found.tokens:,}, of them unknown {100 * found.unknown:.2f} %"
    show("\n".join(f"{name:<18}  {value}" for name, value in lines.items()) + "\n")
    wide = max(map(len, [*found.table, "span" if found.spans else "tag"]))
    show(f"{'span' if found.spans else 'tag':<{wide}}  precision  recall      F1   number")
    show("\n".join(_rows(found.table, wide)))


def _rows(table: dict[str, Hits], wide: int) -> Iterator[str]:
    for name, hits in table.items():
        share = f"{100 * hits.precision:9.2f}  {100 * hits.recall:6.2f}  {100 * hits.f1:6.2f}"
        yield f"{name:<{wide}}  {share}  {hits.true:7,}"


def show_labelled(found: Classified, picture: Path | None, *, as_json: bool) -> None:
    """The figures of a classifier, then a line for each label; its picture is drawn first."""
    from foresay.study.confusion import draw_confusion

    for note in found.notes:
        say(note)
    if picture is not None:
        draw_confusion(picture, found)
    if as_json:
        show_json(found.report())
        return
    (low, high), (least, most) = found.accuracy_interval, found.macro_f1_interval
    answer = "label" if found.confusion is not None else "set of labels"
    before = f", before {100 * found.raw_calibration_error:.2f} % (scores divided by {found.temperature:.3f})"
    lines = {
        "accuracy": f"{100 * found.accuracy:.2f} %  (95 % interval {100 * low:.2f} – {100 * high:.2f})",
        "macro-F1": f"{100 * found.macro_f1:.2f} %  (95 % interval {100 * least:.2f} – {100 * most:.2f})",
        "loss": f"{found.loss:.4f} nats per text",
        "calibration": f"error {100 * found.calibration_error:.2f} %{'' if found.temperature == 1 else before}",
        "texts": f"{found.texts:,}, of them {100 * found.most_frequent:.2f} % with the most frequent {answer}",
    }
    show("\n".join(f"{name:<11}  {value}" for name, value in lines.items()))
    wide = max(5, *map(len, found.names))
    show(f"\n{'label':<{wide}}  precision  recall      F1   texts")
    for name, one in found.labels().items():
        shares = f"{100 * one['precision']:9.2f}  {100 * one['recall']:6.2f}  {100 * one['f1']:6.2f}"
        show(f"{name:<{wide}}  {shares}  {one['texts']:6,}")
