"""The API: OpenAI's /v1/models and /v1/completions, an endpoint for whatever else a run can do, health, counters, page.

    app = make_app(open_all(["runs/lstm"]))

Every answer comes from a public method of a run, called between two steps of the engine, which writes texts itself.
What a run cannot do is a line with status 400; `faults.py` has all that can go wrong.
"""

from __future__ import annotations

import asyncio
import time
import warnings
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, TypeVar

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import FileResponse, JSONResponse, Response, StreamingResponse
from starlette.exceptions import HTTPException

from foresay import __version__
from foresay.decode.beam import Beam
from foresay.errors import UserError
from foresay.serve import bodies
from foresay.serve.completions import Completion, answer, check, decoder_of, drawn, event
from foresay.serve.counters import Counters
from foresay.serve.engine import Busy, Engine, Limits
from foresay.serve.faults import Fault, fault_of, unfit
from foresay.serve.gate import Gate
from foresay.serve.served import Served, Shelf
from foresay.train.progress import without_nan

PAGE = Path(__file__).parent / "page"
FAULTS: dict[int | str, Any] = {
    status: {"description": why, "model": bodies.ErrorBody}
    for status, why in {
        400: "The request cannot be answered: given, allowed, remedy.",
        401: "The key is missing or another one.",
        404: "There is no run of this name.",
        413: "The body is too large.",
        429: "Too many wait.",
        500: "The run failed.",
        503: "The server is closing.",
    }.items()
}

_T = TypeVar("_T")


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
    _add_texts(app, shelf, engine)
    _add_words(app, shelf, engine)
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
    async def any_(_request: Request, error: Exception) -> Response:
        return told(fault_of(error))

    @app.exception_handler(RequestValidationError)
    async def unfit_(request: Request, error: RequestValidationError) -> Response:
        field = getattr(request.scope.get("route"), "body_field", None)
        allowed = list(getattr(getattr(field, "field_info", None), "annotation", bodies.Body).model_fields)
        return told(unfit(error.errors(), allowed))

    @app.exception_handler(HTTPException)
    async def strange(request: Request, error: HTTPException) -> Response:
        if error.status_code == 404:
            message = f"there is no {request.url.path[:60]}; allowed: /v1/models, /v1/completions, ..., /openapi.json"
        else:
            message = f"{request.method} {request.url.path[:60]}: {error.detail}"
        return told(Fault(error.status_code, message, "invalid_request_error"))


def _add_own(app: FastAPI, shelf: Shelf, engine: Engine, counters: Counters) -> None:
    """What is here, how it fares, and the page."""
    began = int(time.time())

    def about(one: Served) -> dict[str, Any]:
        return {"id": one.name, "object": "model", "created": began, "owned_by": "foresay"} | one.about()

    @app.get("/v1/models", responses=FAULTS)
    async def models() -> dict[str, Any]:
        return {"object": "list", "data": [about(one) for one in shelf.all.values()]}

    @app.get("/v1/models/{name:path}", responses=FAULTS)
    async def model(name: str) -> dict[str, Any]:
        return about(shelf.find(name))

    @app.get("/health", responses=FAULTS)
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
        app.get(path, include_in_schema=False)(lambda file=str(file): FileResponse(file))


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

    @app.post("/v1/completions", responses=FAULTS, response_model=None)
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
    engine.check(length or 1, body.n or 1)
    began, prompts = time.time(), [body.prompt] if isinstance(body.prompt, str) else body.prompt
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


def _add_texts(app: FastAPI, shelf: Shelf, engine: Engine) -> None:
    """What runs do with texts besides."""

    async def asked(request: Request, body: Any, way: str, call: Callable[[Any, list[Any]], list[Any]]) -> Any:
        run = shelf.find(body.model).must(way)
        given = [body.input] if isinstance(body.input, str) else body.input

        async def each() -> dict[str, Any]:
            parts = [given] if way == "predict" else [[one] for one in given]  # texts go on between two long calls
            answers = [await done(engine, lambda part=part: noted(lambda: call(run, part))) for part in parts]
            data = [one for found, _ in answers for one in found]
            return {"data": without_nan(data)} | said([note for _, notes in answers for note in notes])

        return {"object": "list", "model": body.model} | await watched(request, each())

    @app.post("/v1/score", responses=FAULTS)
    async def score(body: bodies.ScoreBody, request: Request) -> dict[str, Any]:
        """-log P (nats) of texts and of each of their tokens; of runs that write from a source, of [source, target]."""

        def scored(run: Any, given: list[Any]) -> list[Any]:
            pairs = [isinstance(one, list) for one in given]
            if run.model.conditional and not all(pairs):
                raise UserError(f"input is text; allowed of {body.model}: pairs, [source, target]")
            if not run.model.conditional and any(pairs):
                raise UserError(f"input has pairs; allowed of {body.model}: texts")
            if run.model.conditional and body.label is not None:
                raise UserError(f"label={body.label!r}, and {body.model} writes from a source; leave it out")
            texts = [tuple(one) for one in given] if run.model.conditional else given
            found = run.score(texts) if body.label is None else run.score(texts, label=body.label)
            return [one.as_dict() for one in found]

        return await asked(request, body, "score", scored)

    @app.post("/v1/predict", responses=FAULTS)
    async def predict(body: bodies.PredictBody, request: Request) -> dict[str, Any]:
        """The tag of every word, or the label of every text, with probabilities."""
        return await asked(request, body, "predict", lambda run, given: [_predicted(one) for one in run.predict(given)])

    @app.post("/v1/correct", responses=FAULTS)
    async def correct(body: bodies.CorrectBody, request: Request) -> dict[str, Any]:
        """What was meant by texts: each corrected, its changes, -log P before and after."""
        how = {"number": body.number, "seed": body.seed}
        return await asked(
            request, body, "correct", lambda run, given: [one.as_dict() for one in run.correct(given, **how)]
        )

    @app.post("/v1/translate", responses=FAULTS)
    async def translate(body: bodies.TranslateBody, request: Request) -> dict[str, Any]:
        """Targets of sources: translations, or texts rewritten, as the run has learnt."""
        search = Beam(width=body.beam, alpha=body.alpha)
        engine.check(body.length or 1, 1)

        def translated(run: Any, given: list[Any]) -> list[Any]:
            found = run.translate(given, search=search, length=body.length)
            return [{"source": source, "text": text} for source, text in zip(given, found, strict=True)]

        return await asked(request, body, "translate", translated)


def _add_words(app: FastAPI, shelf: Shelf, engine: Engine) -> None:
    """Vectors of words."""

    def answers(found: list[tuple[str, float]]) -> list[dict[str, Any]]:
        return [{"word": word, "score": score} for word, score in found]

    @app.post("/v1/words/near", responses=FAULTS)
    async def near(body: bodies.NearBody) -> dict[str, Any]:
        """The nearest words, by cosine."""
        vectors = shelf.find(body.model).must("near")
        words = [body.input] if isinstance(body.input, str) else body.input
        found = await done(engine, lambda: vectors.near(words, body.number))
        told = [{"word": word, "near": answers(one)} for word, one in zip(words, found, strict=True)]
        return {"object": "list", "model": body.model, "data": told}

    @app.post("/v1/words/analogy", responses=FAULTS)
    async def analogy(body: bodies.AnalogyBody) -> dict[str, Any]:
        """a is to b as c is to ?"""
        vectors = shelf.find(body.model).must("analogy")
        found = await done(engine, lambda: vectors.analogy(body.a, body.b, body.c, body.number, body.method))
        return {"object": "list", "model": body.model, "data": answers(found)}


def _predicted(one: Any) -> dict[str, Any]:
    """Tags as they are; a label, or several, with the probability of each."""
    if hasattr(one, "as_dict"):
        return one.as_dict()
    label, shares = one
    named = {"label": label} if isinstance(label, str) else {"labels": list(label)}
    return named | {"probabilities": shares}


def noted(call: Callable[[], _T]) -> tuple[_T, list[str]]:
    """What a call gives, and what it warns of: the client is who should know."""
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always", UserWarning)
        result = call()
    return result, list(dict.fromkeys(str(one.message) for one in found))


def said(notes: list[str]) -> dict[str, Any]:
    return {"warnings": list(dict.fromkeys(notes))} if notes else {}


async def done(engine: Engine, call: Callable[[], _T]) -> _T:
    """What a call gives, made between two steps of the engine."""
    return await asyncio.wrap_future(engine.do(call))


async def watched(request: Request, work: Coroutine[Any, Any, _T]) -> _T:
    """The work's result; it is given up when the client goes away."""

    async def gone() -> None:
        while (await request.receive())["type"] != "http.disconnect":
            pass

    tasks = asyncio.ensure_future(work), asyncio.ensure_future(gone())
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        if tasks[0].done():
            return tasks[0].result()
        raise Fault(499, "the client has gone", "invalid_request_error")
    finally:
        for task in tasks:
            task.cancel()
