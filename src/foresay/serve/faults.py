"""What goes wrong, as OpenAI's clients read it: a status and {"error": {message, type, param, code}}, one line each."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from foresay.errors import UserError, nearest
from foresay.parts import shown
from foresay.serve.engine import Busy
from foresay.serve.served import NotThere

SHOWN = 60  # characters of what was given


class Fault(Exception):
    """A request that is not answered."""

    def __init__(self, status: int, message: str, kind: str, param: str | None = None, code: str | None = None):
        super().__init__(message)
        self.status, self.kind, self.param, self.code = status, kind, param, code

    @property
    def body(self) -> dict[str, Any]:
        return {"error": {"message": str(self), "type": self.kind, "param": self.param, "code": self.code}}


def fault_of(error: Exception) -> Fault:
    """What an error of the engine or of a run is to the client."""
    message = " ".join(str(error).split("\n"))
    if isinstance(error, Fault):
        return error
    if isinstance(error, NotThere):
        return Fault(404, message, "invalid_request_error", "model", "model_not_found")
    if isinstance(error, UserError):
        return Fault(400, message, "invalid_request_error")
    if isinstance(error, Busy):
        kind, code = ("server_error", "closing") if error.closing else ("rate_limit_error", "queue_full")
        return Fault(503 if error.closing else 429, message, kind, code=code)
    return Fault(500, f"the run could not answer: {type(error).__name__}", "server_error")


def unfit(errors: Sequence[Any], allowed: Sequence[str]) -> Fault:
    """A body that is no JSON, or not what a request may say: the first thing wrong with it."""
    first = errors[0]
    kind, place = first["type"], [part for part in first["loc"] if part != "body"]
    if kind == "json_invalid":
        why = first.get("ctx", {}).get("error", "it cannot be read")
        return Fault(400, f"the body is no JSON ({why}); give a JSON object", "invalid_request_error")
    param = str(place[0]) if place and isinstance(place[0], str) else None
    if param is None:
        return Fault(400, "the body is no JSON object; give one, as application/json", "invalid_request_error")
    if kind == "extra_forbidden":
        say = f"{param} is unknown; allowed: {', '.join(allowed)}{nearest(param, allowed)}"
    elif kind == "missing":
        say = f"{param} is missing; give it"
    else:
        own = [one for one in errors if one["loc"][: len(first["loc"])] and param in one["loc"]]
        ways = dict.fromkeys(one["msg"].removeprefix("Input should be ") for one in own)
        given = shown(first.get("input"))
        given = given if len(given) <= SHOWN else given[: SHOWN - 3] + "..."
        listed = any(one["type"].startswith("list") or len(one["loc"]) > len(first["loc"]) for one in own)
        texts = "text, or a list of texts" if kind.startswith("string") and listed else ""
        say = f"{param}={given}; allowed: {texts or ', or '.join(ways)}"
    return Fault(400, " ".join(say.split()), "invalid_request_error", param)
