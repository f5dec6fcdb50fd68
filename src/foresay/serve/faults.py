"""What goes wrong, as OpenAI's clients read it: a status and {"error": {message, type, param, code}}, one line each."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from pydantic.fields import FieldInfo

from foresay.errors import UserError, nearest
from foresay.serve.engine import Busy
from foresay.serve.served import NotThere

SHOWN = 60  # characters of what was given
ALLOWED = {  # by the kinds of pydantic's errors
    "string_type": "text",
    "list_type": "a list",
    "int_type": "a whole number",
    "int_from_float": "a whole number",
    "float_type": "a number",
    "finite_number": "a finite number",
    "bool_type": "true or false",
    "none_required": "null",
    "dict_type": "an object",
    "model_type": "an object",
    "model_attributes_type": "an object",
    "literal_error": "{expected}",
    "greater_than_equal": "{ge} or more",
    "greater_than": "more than {gt}",
    "less_than_equal": "{le} at most",
    "less_than": "less than {lt}",
    "too_short": "{min_length} entries at least",
    "too_long": "{max_length} entries at most",
}
NAMED = re.compile(r"^([a-z_]+)(?==|, | is | has | holds | without )")  # how a message names the setting it is about


class Fault(Exception):
    """A request that is not answered."""

    def __init__(self, status: int, message: str, kind: str, param: str | None = None, code: str | None = None):
        super().__init__(whole(message))
        self.status, self.kind, self.param, self.code = status, kind, param, code

    @property
    def body(self) -> dict[str, Any]:
        param = None if self.param is None else whole(self.param)
        return {"error": {"message": str(self), "type": self.kind, "param": param, "code": self.code}}


def whole(text: str) -> str:
    """A text that can be sent: half a character is spelt, `\\ud800`."""
    return text.encode("utf-8", "backslashreplace").decode()


def fault_of(error: Exception, fields: Mapping[str, FieldInfo] | None = None) -> Fault:
    """What an error of the engine or of a run is to the client; `fields` are what the request could say."""
    message = " ".join(str(error).split("\n"))
    if isinstance(error, Fault):
        return error
    if isinstance(error, NotThere):
        return Fault(404, message, "invalid_request_error", "model", "model_not_found")
    if isinstance(error, UserError):
        named = NAMED.match(message)
        param = named[1] if named is not None and named[1] in (fields or {}) else None
        return Fault(400, message, "invalid_request_error", param)
    if isinstance(error, Busy):
        kind, code = ("server_error", "closing") if error.closing else ("rate_limit_error", "queue_full")
        return Fault(503 if error.closing else 429, message, kind, code=code)
    return Fault(500, f"the run could not answer: {type(error).__name__}", "server_error")


def unread(error: BaseException | None) -> Fault:
    """A body that cannot be read as JSON, whatever is the matter with it."""
    why = "it cannot be read"
    if isinstance(error, json.JSONDecodeError):
        why = f"{error.msg} at character {error.pos + 1:,}"
    elif isinstance(error, UnicodeDecodeError):
        why = f"it is not UTF-8: byte 0x{error.object[error.start]:02X} at {error.start + 1:,}"
    elif isinstance(error, RecursionError):
        why = "its lists or objects are nested too deep"
    elif isinstance(error, ValueError):
        why = "a number has too many digits"  # Python reads 4,300
    return Fault(400, f"the body is no JSON ({why}); give a JSON object", "invalid_request_error")


def unfit(errors: Sequence[Any], fields: Mapping[str, FieldInfo]) -> Fault:
    """A body that is not what a request may say: the first thing wrong with it, in JSON's spelling."""
    first = errors[0]
    kind, place = first["type"], [part for part in first["loc"] if part != "body"]
    param = str(place[0]) if place and isinstance(place[0], str) else None
    if param is None and kind == "string_unicode":  # a name with half a character, which pydantic cannot read
        param, kind, place = first["input"], "extra_forbidden", [first["input"]]
    if param is None:
        return Fault(400, "the body is no JSON object; give one, as application/json", "invalid_request_error")
    if kind == "extra_forbidden":
        inner = len(place) > 1
        remedy = "leave it out" if inner else f"allowed: {', '.join(fields)}{nearest(param, fields)}"
        say = f"{'.'.join(map(str, place))} is unknown; {remedy}"
    elif kind == "missing":
        say = f"{param} is missing; give it"
    elif kind == "half_character":
        say = (
            f"{param} holds half a character ({first['msg']}), which no text does; give the other half, or leave it out"
        )
    else:
        told = (fields[param].description if param in fields else None) or ""
        own = [one for one in errors if param in one["loc"]]
        allowed = (
            told if told.startswith(("text, or ", "a list of ")) else ", or ".join(dict.fromkeys(map(_allowed, own)))
        )
        say = f"{param}={_spelt(first.get('input'))}; allowed: {allowed}"
    return Fault(400, " ".join(say.split()), "invalid_request_error", param)


def _allowed(error: Any) -> str:
    """What one of pydantic's errors says is allowed."""
    bounds = {name: f"{one:g}" if isinstance(one, float) else one for name, one in error.get("ctx", {}).items()}
    return ALLOWED[error["type"]].format(**bounds) if error["type"] in ALLOWED else error["msg"]


def _spelt(value: Any) -> str:
    """A value as JSON writes it, cut where it is long."""
    try:
        text = json.dumps(value, ensure_ascii=False)
    except RecursionError:
        text = "[[..."
    return text if len(text) <= SHOWN else text[: SHOWN - 3] + "..."
