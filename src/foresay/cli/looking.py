"""The command that looks inside a trained run: `look`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from foresay.cli.app import Device, Force, Json, RunArgument, Trust, app, check_free, load_run, say, show_json
from foresay.errors import UserError

if TYPE_CHECKING:
    from foresay.run import Run


@app.command()
def look(
    run: RunArgument,
    attention: Annotated[
        str | None, typer.Option(metavar="TEXT", help="Draw where a Transformer looks as it reads this.")
    ] = None,
    layer: Annotated[int | None, typer.Option(help="With --attention: this layer alone, 0 the lowest.")] = None,
    head: Annotated[int | None, typer.Option(help="With --attention: this head alone.")] = None,
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="The picture, .svg or .png; by default attention.svg.")
    ] = None,
    force: Force = False,
    as_json: Json = False,
    device: Device = None,
    trust: Trust = False,
) -> None:
    """Look inside a run: the attention of a Transformer as a picture, or with --json as numbers."""
    if attention is None:
        raise UserError("nothing to look at; give --attention TEXT")
    look_at_attention(load_run(run, device, trust), attention, (layer, head), out, force=force, as_json=as_json)


def look_at_attention(
    run: Run, text: str, place: tuple[int | None, int | None], out: Path | None, *, force: bool, as_json: bool
) -> None:
    from foresay.study import attention_map

    found = attention_map.attention_of(run, text)
    if as_json and out is None:
        show_json(found.as_dict(*place))
        return
    path = check_free(attention_map.check_ending(out or Path("attention.svg")), force)
    attention_map.write(path, attention_map.draw(found, *place))
    say(f"{path} is written: {len(found.maps)} layers of {len(found.maps[0])} heads, {len(found.tokens)} tokens")
    if as_json:
        show_json(found.as_dict(*place))
