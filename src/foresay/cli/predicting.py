"""The command that gives words their tags: `predict`."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import TYPE_CHECKING, Annotated

import typer

from foresay.cli.app import Device, Json, RunArgument, Trust, app, load_run, show, show_json
from foresay.cli.using import placed_lines
from foresay.errors import UserError

if TYPE_CHECKING:
    from foresay.train.tagged import Hits, TagFigures

BLOCK = 256  # lines of a file tagged at a time


@app.command()
def predict(
    run: RunArgument,
    texts: Annotated[
        list[str], typer.Argument(metavar="TEXT|FILE|-...", help="Text, a file of lines, or - for a pipe.")
    ],
    blanks: Annotated[bool, typer.Option("--blanks", help="Words stand between blanks: cut nowhere else.")] = False,
    as_json: Json = False,
    device: Device = None,
    trust: Trust = False,
) -> None:
    """Give every word of each sentence, one a line, its tag; spans and probabilities with --json."""
    loaded = load_run(run, device, trust)
    if not hasattr(loaded, "predict"):
        raise UserError(f"{run} predicts no tags; allowed: a run of task tagger or hmm, such as foresay train pos")
    lines = ((place, line) for place, line in placed_lines(texts) if _kept(place, line))
    while block := list(islice(lines, 1 if texts == ["-"] else BLOCK)):
        found = loaded.predict([line for _, line in block], blanks=blanks)  # pyright: ignore[reportAttributeAccessIssue]
        for one in found:
            if as_json:
                show_json(one.as_dict(), compact=True)
            else:
                show("\n".join(f"{word}\t{tag}" for word, tag in zip(one.words, one.tags, strict=True)) + "\n")


def _kept(place: str | None, line: str) -> bool:
    """Whether there is something to tag; a blank line of a file is none, a blank text a mistake."""
    if line.strip():
        return True
    if place is None:
        raise UserError("the text is empty; give a text with words")
    return False


def show_tagged(found: TagFigures) -> None:
    """The figures of a tagger, then its table."""
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
