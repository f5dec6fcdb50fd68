"""The command that shows what a model looks at: `look`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from foresay.cli.app import (
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
from foresay.errors import UserError, counted

if TYPE_CHECKING:
    from foresay.run import Run


@app.command()
def look(
    run: RunArgument,
    target: Annotated[str | None, typer.Argument(help="With --pair: the target; else what the model writes.")] = None,
    pair: Annotated[
        str | None, typer.Option(metavar="SOURCE", help="Draw which places of this source each written symbol sees.")
    ] = None,
    attention: Annotated[
        str | None, typer.Option(metavar="TEXT", help="Draw where a Transformer looks as it reads this.")
    ] = None,
    text: Annotated[
        str | None, typer.Option(metavar="TEXT", help="Draw which words of this moved a classifier's decision.")
    ] = None,
    label: Annotated[str | None, typer.Option(help="With --text: for this label, else for the answer.")] = None,
    layer: Annotated[int | None, typer.Option(help="With --attention: this layer alone, 0 the lowest.")] = None,
    head: Annotated[int | None, typer.Option(help="With --attention: this head alone.")] = None,
    out: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="The picture, .svg or .png (of words also .html); else in RUN."),
    ] = None,
    force: Force = False,
    as_json: Json = False,
    device: Device = None,
    trust: Trust = False,
) -> None:
    """Look inside a run: where a Transformer looks, what each written symbol saw, which words moved a decision."""
    given = [
        name for name, value in (("--pair", pair), ("--attention", attention), ("--text", text)) if value is not None
    ]
    if len(given) != 1:
        told_of = " and ".join(given) or "nothing to look at"
        raise UserError(f"{told_of}; give one of --attention TEXT, --pair SOURCE [TARGET] and --text TEXT")
    if text is None and label is not None:
        raise UserError(f"--label {label} without --text; it is for the words that moved a classifier")
    if pair is None and target is not None:
        raise UserError(f"{target!r} is a target without a source; give --pair SOURCE TARGET")
    if attention is None and (layer is not None or head is not None):
        raise UserError(f"--layer and --head with {given[0]}; they are for --attention")
    loaded = load_run(run, device, trust)
    if attention is not None:
        from foresay.study.attention_map import check_place

        check_place(loaded, layer, head)
    path = None
    if out is not None or not as_json:
        from foresay.study.pictures import check_ending

        name = {"--pair": "alignment.svg", "--attention": "attention.svg", "--text": "moved.svg"}[given[0]]
        path = check_ending(out or run / name, also=(".html",) if text is not None else ())
        check_free(path, force, anywhere=out is None)
    if text is not None:
        look_at_words(loaded, text, label, path, as_json=as_json)
    elif attention is not None:
        look_at_attention(loaded, attention, (layer, head), path, as_json=as_json)
    else:
        assert pair is not None
        look_at_pair(loaded, run, (pair, target), path, as_json=as_json)


def look_at_words(run: Run, text: str, label: str | None, path: Path | None, *, as_json: bool) -> None:
    from foresay.study import moved

    found = moved.moved_by(run, text, label)
    if path is not None:
        with told():
            moved.draw(found, path)
        say(f"{path} is written: {found.label}, {100 * found.probability:.1f} %")
    if as_json:
        show_json(found.as_dict())
        return
    for token, share in zip(found.tokens, found.shares, strict=True):
        show(f"{token}\t{share:+.4f}")


def look_at_attention(
    run: Run, text: str, place: tuple[int | None, int | None], path: Path | None, *, as_json: bool
) -> None:
    from foresay.study import attention_map, pictures

    with told():
        found = attention_map.attention_of(run, text)
    if path is not None:
        with told():
            pictures.write(path, attention_map.draw(found, *place))
        shape = f"{counted(len(found.maps), 'layer')} of {counted(len(found.maps[0]), 'head')}"
        say(f"{path} is written: {counted(len(found.tokens), 'token')}, of a model with {shape}")
    if as_json:
        show_json(found.as_dict(*place))


def look_at_pair(run: Run, folder: Path, pair: tuple[str, str | None], path: Path | None, *, as_json: bool) -> None:
    from foresay.study import alignment

    if not run.model.conditional:
        raise UserError(f"{folder} writes from no source; allowed: a run of task seq2seq, such as foresay train dates")
    if not pair[0].strip():
        raise UserError("no source is given; give one: foresay look RUN --pair SOURCE [TARGET]")
    with told():
        found = run.align(*pair)  # pyright: ignore[reportAttributeAccessIssue]
    if path is not None:
        with told():
            alignment.draw(found, path)
        say(f"{path} is written")
    if as_json:
        show_json(found.as_dict())
        return
    for symbol, row in zip(found.target, found.weights, strict=True):
        most = max(range(len(row)), key=row.__getitem__)
        show(f"{alignment.shown([symbol])[0]}\t{alignment.shown([found.source[most]])[0]}\t{row[most]:.3f}")
