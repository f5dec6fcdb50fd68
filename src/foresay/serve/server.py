"""The server: a socket, uvicorn, and an end that loses nothing that can be finished."""

from __future__ import annotations

import contextlib
import signal
import socket
import threading
from collections.abc import Callable, Iterator
from typing import Any

import uvicorn

from foresay.errors import UserError, reason
from foresay.serve.api import make_app
from foresay.serve.engine import Limits
from foresay.serve.served import Shelf

PATIENCE = 10.0  # seconds for what is being written when the server ends


class Server(uvicorn.Server):
    """Ends at SIGTERM and Ctrl-C with what it has begun, and without a signal's exit code."""

    def __init__(self, config: uvicorn.Config, engine: Any, on_ready: Callable[[], None]):
        super().__init__(config)
        self.engine, self.on_ready = engine, on_ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self.on_ready()

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        before = {number: signal.signal(number, self.handle_exit) for number in (signal.SIGINT, signal.SIGTERM)}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    def handle_exit(self, sig: int, frame: Any) -> None:
        if not self.should_exit:
            threading.Thread(target=self.engine.close, args=(PATIENCE,), daemon=True).start()
        super().handle_exit(sig, frame)


def opened(host: str, port: int) -> socket.socket:
    """The socket to listen on; port 0 is any free one."""
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        found = socket.socket(family, kind, protocol)
        try:
            found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            found.bind(address)
            found.listen(2048)
        except OSError:
            found.close()
            raise
        return found
    except OSError as error:
        remedy = "give another --port, or 0 for any free one" if not isinstance(error, socket.gaierror) else (
            "give a --host of this machine, such as 127.0.0.1 or 0.0.0.0")  # fmt: skip
        raise UserError(f"{host}:{port} cannot be listened on: {reason(error)}; {remedy}") from None


def address_of(own: socket.socket) -> str:
    """Where a browser finds it; what listens everywhere is found on this machine by its name."""
    host, port = own.getsockname()[:2]
    host = {"0.0.0.0": "127.0.0.1", "::": "[::1]"}.get(host, f"[{host}]" if ":" in host else host)
    return f"http://{host}:{port}"


def serve(
    shelf: Shelf,
    own: socket.socket,
    *,
    key: str | None = None,
    limits: Limits = Limits(),  # noqa: B008 - frozen
    on_ready: Callable[[], None] = lambda: None,
) -> None:
    """Answers until a signal ends it."""
    app = make_app(shelf, key=key, limits=limits)
    config = uvicorn.Config(
        app, log_level="warning", access_log=False, timeout_graceful_shutdown=int(PATIENCE) + 2, ws="none"
    )
    Server(config, app.state.engine, on_ready).run(sockets=[own])
