"""The command that asks whether a word has other vectors where it is another kind of word, `senses`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from foresay.cli.app import Device, Force, Json, RunArgument, Trust, app, check_free, load_run, say, show, show_json
from foresay.errors import UserError


@app.command()
def senses(
    run: RunArgument,
    data: Annotated[
        str, typer.Argument(metavar="FILE|NAME", help="Words with tags: a file of columns, or a known set.")
    ],
    tags: Annotated[str | None, typer.Option(metavar="A,B,...", help="Look at these tags alone.")] = None,
    columns: Annotated[
        str | None, typer.Option(metavar="WORD,TAG", help="Their columns, from 1; -1 is the last.")
    ] = None,
    least: Annotated[int, typer.Option(min=1, help="How often a word must stand with each of two tags.")] = 3,
    word: Annotated[str | None, typer.Option(help="The word of the picture.")] = None,
    picture: Annotated[
        Path | None, typer.Option(metavar="FILE.png", help="One word's occurrences in the plane.")
    ] = None,
    force: Force = False,
    as_json: Json = False,
    device: Device = None,
    trust: Trust = False,
) -> None:
    """Whether a word's vectors in context tell the kind of word it is there, of each layer of a run of task bilm."""
    if word is not None and picture is None:
        raise UserError(f"--word {word} is the picture's; give --picture FILE.png too")
    if picture is not None:
        check_free(picture, force)
    loaded: Any = load_run(run, device, trust)
    if not hasattr(loaded, "embed"):
        task = loaded.recipe.task.part_name
        raise UserError(f"{run} is of task {task}; vectors in context are given by a run of task bilm: train elmo")
    from foresay.data.tags import TagReading, Tags
    from foresay.study.senses import senses as look

    reading = TagReading(columns=None if columns is None else _numbers(columns))
    parts = Tags(data, read=reading).find(1)
    kept = [text for name, text in parts.items() if name != "train" or len(parts) == 1]  # what no model learnt from
    found = look(
        loaded, (one for text in kept for one in text), tags=None if tags is None else tags.split(","), least=least
    )
    if picture is not None:
        from foresay.study.senses_picture import draw_senses

        draw_senses(picture, found, word)
        say(f"{picture}: written")
    if as_json:
        show_json(found.as_dict())
        return
    many = sum(len(one.tags) for one in found.words)
    show(f"{len(found.words):,} words of two kinds or more, {many:,} occurrences")
    if found.left_out:
        say(f"{found.left_out:,} sentences left out: the run's tokens cut their words otherwise")
    show(f"{'layer':<8}{'nearest alike':>16}{'by chance':>12}{'cosine, alike':>16}{'others':>9}")
    for number, one in enumerate(found.layers):
        show(f"{number:<8}{one.nearest:>14.1f} %{one.chance:>10.1f} %{one.same:>16.3f}{one.other:>9.3f}")


def _numbers(columns: str) -> list[int]:
    try:
        return [int(one) for one in columns.split(",")]
    except ValueError:
        raise UserError(f"--columns {columns}; allowed: two numbers, the word's and its tag's, such as 1,2") from None
