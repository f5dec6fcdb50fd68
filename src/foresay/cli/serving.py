"""The command that serves runs to many at once: `serve`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from foresay.cli.app import Device, Json, Trust, app, show, show_json, told
from foresay.errors import UserError


@app.command()
def serve(
    runs: Annotated[
        list[Path], typer.Argument(metavar="RUN...", help="Run folders, ARPA files, files of vectors of words.")
    ],
    host: Annotated[str, typer.Option(help="The address to listen on; 0.0.0.0 for all of this machine.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="0 is any free one.")] = 8000,
    key: Annotated[
        str | None, typer.Option(envvar="FORESAY_KEY", help="What clients must give, as OpenAI's API key.")
    ] = None,
    rows: Annotated[int, typer.Option(help="Texts that are written together.")] = 32,
    waiting: Annotated[int, typer.Option(help="Texts and calls that may wait; more are refused.")] = 256,
    length: Annotated[int, typer.Option(help="The most tokens of a text.")] = 4096,
    as_json: Json = False,
    device: Device = None,
    trust: Trust = False,
) -> None:
    """Serve runs to many at once: a page, and an API that OpenAI's clients know."""
    from foresay.extras import need

    for library in ("fastapi", "uvicorn", "prometheus_client"):
        need(library, "serve", "foresay serve")
    from foresay.serve import server
    from foresay.serve.engine import Limits
    from foresay.serve.served import open_all

    _check(port, {"rows": rows, "waiting": waiting, "length": length}, key)
    own = server.opened(host, port)  # before the runs are loaded, which may take long
    try:
        with told():
            shelf = open_all(runs, device, trust=trust)

        def ready() -> None:
            address, names = server.address_of(own), ", ".join(shelf.all)
            if as_json:
                show_json({"address": address, "models": list(shelf.all)}, compact=True)
            else:
                show(f"serving {names} at {address} (a page; /v1 for OpenAI's clients); Ctrl-C ends it")

        server.serve(shelf, own, key=key, limits=Limits(rows=rows, waiting=waiting, length=length), on_ready=ready)
    finally:
        own.close()


def _check(port: int, numbers: dict[str, int], key: str | None) -> None:
    if not 0 <= port < 1 << 16:
        raise UserError(f"--port {port}; allowed: 0 to 65535, 0 for any free one")
    for name, value in numbers.items():
        if value < 1:
            raise UserError(f"--{name} {value}; allowed: 1 or more")
    if key is not None and (not key.strip() or not key.isascii()):
        raise UserError("--key has no letters, or letters beyond ASCII; give a word in ASCII, or leave it out")
