"""The command that asks whether a word has other vectors where it is another kind of word, `senses`."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from foresay.cli.app import (
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
from foresay.errors import UserError, counted, nearest

if TYPE_CHECKING:
    from foresay.data.tag_files import Tagged


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
        Path | None, typer.Option(metavar="FILE", help="One word's occurrences in the plane, .png or .svg.")
    ] = None,
    encoding: Encoding = None,
    force: Force = False,
    as_json: Json = False,
    device: Device = None,
    trust: Trust = False,
) -> None:
    """Whether a word's vectors in context tell the kind of word it is there, of each layer of a run of task bilm."""
    if word is not None and picture is None:
        raise UserError(f"--word {word} is the picture's; give --picture FILE too")
    if picture is not None:
        from foresay.study.pictures import check_ending

        check_free(check_ending(picture, "--picture"), force, "--picture")
    places = None if columns is None else _numbers(columns)
    loaded: Any = load_run(run, device, trust)
    if not hasattr(loaded, "embed"):
        task = loaded.recipe.task.part_name
        raise UserError(f"{run} is of task {task}; vectors in context are given by a run of task bilm: train elmo")
    from foresay.study.senses import senses as look

    asked = None if tags is None else [tag.strip() for tag in tags.split(",") if tag.strip()]
    found = look(loaded, _sentences(data, places, encoding), tags=asked, least=least)
    if picture is not None:
        from foresay.study.senses_picture import draw_senses

        with told():
            draw_senses(picture, found, word)
        say(f"{picture}: written")
    if as_json:
        show_json(found.as_dict())
        return
    many = sum(len(one.tags) for one in found.words)
    show(f"{counted(len(found.words), 'word')} of two kinds or more, {counted(many, 'occurrence')}")
    if found.left_out:
        say(f"{found.left_out:,} sentences left out: the run's tokens cut their words otherwise")
    show(f"{'layer':<8}{'nearest alike':>16}{'by chance':>12}{'cosine, alike':>16}{'others':>9}")
    for number, one in enumerate(found.layers):
        same = "-" if one.same is None else f"{one.same:.3f}"
        show(f"{number:<8}{one.nearest:>14.1f} %{one.chance:>10.1f} %{same:>16}{one.other:>9.3f}")


def _sentences(data: str, columns: list[int] | None, encoding: str | None) -> list[Tagged]:
    """Those of a file; of a known set, those that no model learnt from."""
    from foresay.data import builtin
    from foresay.data.tags import TagReading, Tags

    if not Path(data).expanduser().is_file() and not data.startswith(builtin.PREFIX) and not builtin.known_tags(data):
        known = builtin.tag_sets()
        raise UserError(f"{data} is no file; allowed: a file of columns, or {', '.join(known)}{nearest(data, known)}")
    try:
        parts = Tags(data, read=TagReading(columns=columns, encoding=encoding or "utf-8")).find(1)
        return [one for name, text in parts.items() if name != "train" or len(parts) == 1 for one in text]
    except UserError as error:  # the setting of a recipe is an option here
        raise UserError(re.sub(r"data\.columns=\[(\S+), (\S+)\]", r"--columns \1,\2", str(error))) from None


def _numbers(columns: str) -> list[int]:
    try:
        found = [int(one) for one in columns.split(",")]
    except ValueError:
        found = []
    if len(found) != 2 or 0 in found:
        raise UserError(
            f"--columns {columns}; allowed: two numbers, the word's and its tag's, from 1, such as 1,2; -1 is the last"
        )
    return found
