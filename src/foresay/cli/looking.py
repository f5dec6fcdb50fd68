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
from foresay.errors import UserError

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
    layer: Annotated[int | None, typer.Option(help="With --attention: this layer alone, 0 the lowest.")] = None,
    head: Annotated[int | None, typer.Option(help="With --attention: this head alone.")] = None,
    out: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="The picture, .svg or .png; else RUN/attention.svg or RUN/alignment.svg."),
    ] = None,
    force: Force = False,
    as_json: Json = False,
    device: Device = None,
    trust: Trust = False,
) -> None:
    """Look inside a run: where a Transformer looks, or what each written symbol saw of its source."""
    if (pair is None) == (attention is None):
        given = "nothing to look at" if pair is None else "--pair and --attention"
        raise UserError(f"{given}; give one of --attention TEXT and --pair SOURCE [TARGET]")
    if pair is None and target is not None:
        raise UserError(f"{target!r} is a target without a source; give --pair SOURCE TARGET")
    if pair is not None and (layer is not None or head is not None):
        raise UserError("--layer and --head with --pair; they are for --attention")
    loaded = load_run(run, device, trust)
    path = None
    if out is not None or not as_json:
        from foresay.study.pictures import check_ending

        name = "attention.svg" if pair is None else "alignment.svg"
        path = check_free(check_ending(out or run / name), force)
    if attention is not None:
        look_at_attention(loaded, attention, (layer, head), path, as_json=as_json)
    else:
        assert pair is not None
        look_at_pair(loaded, run, (pair, target), path, as_json=as_json)


def look_at_attention(
    run: Run, text: str, place: tuple[int | None, int | None], path: Path | None, *, as_json: bool
) -> None:
    from foresay.study import attention_map, pictures

    with told():
        found = attention_map.attention_of(run, text)
    if path is not None:
        pictures.write(path, attention_map.draw(found, *place))
        say(f"{path} is written: {len(found.maps)} layers of {len(found.maps[0])} heads, {len(found.tokens)} tokens")
    if as_json:
        show_json(found.as_dict(*place))


def look_at_pair(run: Run, folder: Path, pair: tuple[str, str | None], path: Path | None, *, as_json: bool) -> None:
    from foresay.study import alignment

    if not run.model.conditional:
        raise UserError(f"{folder} writes from no source; allowed: a run of task seq2seq, such as foresay train dates")
    if not pair[0]:
        raise UserError("no source is given; give one: foresay look RUN --pair SOURCE [TARGET]")
    with told():
        found = run.align(*pair)  # pyright: ignore[reportAttributeAccessIssue]
    if path is not None:
        alignment.draw(found, path)
        say(f"{path} is written")
    if as_json:
        show_json(found.as_dict())
        return
    for symbol, row in zip(found.target, found.weights, strict=True):
        most = max(range(len(row)), key=row.__getitem__)
        show(f"{alignment.shown([symbol])[0]}\t{alignment.shown([found.source[most]])[0]}\t{row[most]:.3f}")
