"""What every request passes: its key, the size of its body, the counters. Plain ASGI, so that streams stay streams."""

from __future__ import annotations

import hmac
import json
import time
from typing import Any

from foresay.serve.counters import Counters
from foresay.serve.faults import Fault

LARGEST = 8 << 20  # bytes of a body
DISCARDED = 64 << 20  # bytes that are read of one that is refused
OPEN = ("/", "/health", "/page.css", "/page.js", "/openapi.json")  # no key is asked for


class Gate:
    """Around an app."""

    def __init__(self, app: Any, counters: Counters, key: str | None = None):
        self.app, self.counters, self.key = app, counters, key

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        began, status, read, left = time.time(), "499", 0, True

        async def receiving() -> Any:
            nonlocal read, left
            message = await receive()
            left = message.get("more_body", False)
            read += len(message.get("body", b""))
            if read > LARGEST:
                raise TooLarge
            return message

        async def sending(message: Any) -> None:
            nonlocal status
            if read > LARGEST and status != "413":  # what the app says of a body it could not read
                status = "413"
                if left:
                    await discard(scope, receive, read)
                await refuse(TooLarge(), send)
            if read > LARGEST:
                return
            if message["type"] == "http.response.start":
                status = str(message["status"])
            await send(message)

        try:
            if (fault := self._refused(scope)) is not None:
                await discard(scope, receive, 0)
                await refuse(fault, sending)
            else:
                await self.app(scope, receiving, sending)
        except Exception:
            status = "500"
            raise
        finally:
            path = getattr(scope.get("route"), "path", "other")  # not what was asked: that has no end
            self.counters.requests.labels(path, status).inc()
            self.counters.seconds.labels(path).observe(time.time() - began)

    def _refused(self, scope: Any) -> Fault | None:
        headers = {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in scope["headers"]}
        if headers.get("content-length", "").isdigit() and int(headers["content-length"]) > LARGEST:
            return TooLarge()
        given = headers.get("authorization", "").removeprefix("Bearer ").encode()
        if self.key is None or scope["path"] in OPEN or hmac.compare_digest(given, self.key.encode()):
            return None
        what = "another key is given" if given else "no key is given"
        message = f"{what}; allowed: the server's, as the header Authorization: Bearer KEY"
        return Fault(401, message, "authentication_error", code="invalid_api_key")


class TooLarge(Fault):
    """A body that would fill the memory."""

    def __init__(self) -> None:
        super().__init__(
            413, f"the body is too large; allowed: {LARGEST >> 20} MiB; divide it", "invalid_request_error"
        )


async def discard(scope: Any, receive: Any, read: int) -> None:
    """Reads the rest of a body that nobody wants: who is still sending when the connection ends sees only that it
    broke, not the answer. Not beyond `DISCARDED`, and not of who waits to be told whether to send at all."""
    if any(name.lower() == b"expect" for name, _ in scope["headers"]):
        return
    while read <= DISCARDED:
        message = await receive()
        read += len(message.get("body", b""))
        if message["type"] != "http.request" or not message.get("more_body", False):
            return


async def refuse(fault: Fault, send: Any) -> None:
    """A fault as an answer."""
    body = json.dumps(fault.body).encode()
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": fault.status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
