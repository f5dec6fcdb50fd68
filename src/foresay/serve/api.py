"""The API: OpenAI's /v1/models and /v1/completions, an endpoint for whatever else a run can do, health, counters, page.

    app = make_app(open_all(["runs/lstm"]))

Every answer comes from a public method of a run, called between two steps of the engine, which writes texts itself.
What a run cannot do is a line with status 400; `faults.py` has all that can go wrong.
"""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import FileResponse, JSONResponse, Response, StreamingResponse
from pydantic.fields import FieldInfo
from starlette.exceptions import HTTPException

from foresay import __version__
from foresay.errors import UserError
from foresay.serve import bodies
from foresay.serve.besides import add_texts, add_words
from foresay.serve.calls import done, noted, said, watched
from foresay.serve.completions import NAMES, Completion, answer, check, decoder_of, drawn, event
from foresay.serve.counters import Counters
from foresay.serve.drawing import add_drawing
from foresay.serve.embeddings import add_embeddings
from foresay.serve.engine import Busy, Engine, Limits
from foresay.serve.faults import Fault, fault_of, unfit, unread
from foresay.serve.gate import Gate
from foresay.serve.served import Served, Shelf

PAGE = Path(__file__).parent / "page"
OWN = {
    "Content-Security-Policy": "default-src 'self'; img-src data:; media-src data:",
    "Cache-Control": "no-cache",
}  # nothing elsewhere


def make_app(shelf: Shelf, *, key: str | None = None, limits: Limits = Limits()) -> FastAPI:  # noqa: B008 - frozen
    """The app over what is served; `app.state.engine` is its engine, closed with it."""
    engine = Engine(shelf.writers(), limits)
    counters = Counters(engine)

    @asynccontextmanager
    async def living(_app: FastAPI) -> AsyncIterator[None]:
        yield
        engine.close()

    app = FastAPI(title="Foresay", version=__version__, lifespan=living, docs_url=None, redoc_url=None)
    app.state.engine, app.state.shelf = engine, shelf
    app.add_middleware(Gate, counters=counters, key=key)
    _tell_faults(app)
    _add_own(app, shelf, engine, counters)
    _add_completions(app, shelf, engine, counters)
    add_texts(app, shelf, engine)
    add_words(app, shelf, engine)
    add_embeddings(app, shelf, engine)
    add_drawing(app, shelf, engine)
    whole = app.openapi

    def openapi() -> dict[str, Any]:
        found = whole()
        for path in found["paths"].values():
            for operation in path.values():
                operation["responses"].pop("422", None)  # what does not fit is status 400
        return found

    app.openapi = openapi
    return app


def _tell_faults(app: FastAPI) -> None:
    """Whatever goes wrong has OpenAI's shape."""

    def told(fault: Fault) -> JSONResponse:
        headers = {"Retry-After": "1"} if fault.status in (429, 503) else None
        return JSONResponse(fault.body, fault.status, headers)

    @app.exception_handler(UserError)
    @app.exception_handler(Fault)
    @app.exception_handler(Busy)
    @app.exception_handler(Exception)
    async def any_(request: Request, error: Exception) -> Response:
        return told(fault_of(error, _fields(request)))

    @app.exception_handler(RequestValidationError)
    async def unfit_(request: Request, error: RequestValidationError) -> Response:
        if error.errors()[0]["type"] == "json_invalid":
            return told(unread(error.__cause__))
        return told(unfit(error.errors(), _fields(request)))

    @app.exception_handler(HTTPException)
    async def strange(request: Request, error: HTTPException) -> Response:
        if error.status_code == 400:  # of FastAPI's, for all that ends the reading of a body but JSON's own errors
            return told(unread(error.__cause__))
        if error.status_code == 404:
            message = f"there is no {request.url.path[:60]}; allowed: /v1/models, /v1/completions, ..., /openapi.json"
        else:
            message = f"{request.method} {request.url.path[:60]}: {error.detail}"
        return told(Fault(error.status_code, message, "invalid_request_error"))


def _fields(request: Request) -> Mapping[str, FieldInfo]:
    """What a request to this path may say."""
    field = getattr(request.scope.get("route"), "body_field", None)
    return getattr(getattr(field, "field_info", None), "annotation", bodies.Body).model_fields


def _add_own(app: FastAPI, shelf: Shelf, engine: Engine, counters: Counters) -> None:
    """What is here, how it fares, and the page."""
    began = int(time.time())

    def about(one: Served) -> dict[str, Any]:
        return {"id": one.name, "object": "model", "created": began, "owned_by": "foresay"} | one.about()

    @app.get("/v1/models", responses=bodies.FAULTS)
    async def models() -> dict[str, Any]:
        return {"object": "list", "data": [about(one) for one in shelf.all.values()]}

    @app.get("/v1/models/{name:path}", responses=bodies.FAULTS)
    async def model(name: str) -> dict[str, Any]:
        return about(shelf.find(name))

    @app.get("/health", responses=bodies.FAULTS)
    async def health() -> dict[str, Any]:
        """Whether the server takes requests."""
        if not engine.thread.is_alive() or engine.closing:
            raise Fault(503, "the server is closing; ask another one, or later", "server_error", code="closing")
        return {"status": "ok", "writing": engine.writing, "waiting": engine.queued}

    @app.get("/metrics", include_in_schema=False)
    async def metrics() -> Response:
        return Response(counters.page(), media_type=counters.kind)

    for path, name in {"/": "index.html", "/page.css": "page.css", "/page.js": "page.js"}.items():
        file = PAGE / name
        app.get(path, include_in_schema=False)(lambda file=str(file): FileResponse(file, headers=OWN))


class Stream(StreamingResponse):
    """A stream whose texts are given up when the client goes away."""

    def __init__(self, completion: Completion):
        super().__init__(completion.stream(), media_type="text/event-stream", headers={"Cache-Control": "no-store"})
        self.completion = completion

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        try:
            await super().__call__(scope, receive, send)
        finally:
            self.completion.cancel()


def _add_completions(app: FastAPI, shelf: Shelf, engine: Engine, counters: Counters) -> None:
    """OpenAI's completions."""

    @app.post("/v1/completions", responses=bodies.FAULTS, response_model=None)
    async def completions(body: bodies.CompletionBody, request: Request) -> Any:
        """Texts that go on from a prompt; a run that writes from a source writes from it."""
        run = shelf.find(body.model).must("complete")
        if run.model.conditional:
            return await watched(request, _from_source(run, body, engine))
        completion = Completion(engine, counters, run, body)
        completion.begin()
        return Stream(completion) if body.stream else await watched(request, completion.whole())


async def _from_source(run: Any, body: bodies.CompletionBody, engine: Engine) -> Any:
    """Of a run that writes from a source: all its texts, in one piece."""
    check(body)
    wrong = {"echo": body.echo, "logprobs": body.logprobs is not None, "stop": body.stop, "label": body.label}
    given = next((name for name, value in wrong.items() if value), None)
    if given is not None:
        raise UserError(f"{given}, and {body.model} writes from a source, whose target ends by itself; leave it out")
    length = body.max_tokens if "max_tokens" in body.model_fields_set else None
    began, prompts = time.time(), [body.prompt] if isinstance(body.prompt, str) else body.prompt
    engine.check(length or 1, body.n or 1, len(prompts), names=NAMES)
    seed = drawn(body)
    how = {"length": length, "decoder": decoder_of(body, usual=0.0), "number": body.n or 1, "seed": seed}
    texts, notes = await done(engine, lambda: noted(lambda: run.generate(prompts, **how)))
    choices = [{"index": n, "text": text, "logprobs": None, "finish_reason": "stop"} for n, text in enumerate(texts)]
    told = answer(body.model, f"cmpl-{int(began * 1e6):x}", began, choices) | {"seed": seed} | said(notes)
    if not body.stream:
        sizes = [len(run.source_tokens.encode(one)) for one in prompts], [len(run.tokens.encode(one)) for one in texts]
        first, then = map(sum, sizes)
        return told | {"usage": {"prompt_tokens": first, "completion_tokens": then, "total_tokens": first + then}}
    return StreamingResponse(iter([event(told), "data: [DONE]\n\n"]), media_type="text/event-stream")
