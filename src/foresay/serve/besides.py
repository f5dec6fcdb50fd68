"""What runs do besides writing texts, an endpoint each: score, predict, correct, translate, near words, analogies."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from fastapi import FastAPI, Request

from foresay.decode.beam import Beam
from foresay.errors import UserError
from foresay.serve import bodies
from foresay.serve.calls import done, noted, said, watched
from foresay.serve.engine import Engine
from foresay.serve.served import Shelf
from foresay.train.progress import without_nan


def add_texts(app: FastAPI, shelf: Shelf, engine: Engine) -> None:
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

    @app.post("/v1/score", responses=bodies.FAULTS)
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

    @app.post("/v1/predict", responses=bodies.FAULTS)
    async def predict(body: bodies.PredictBody, request: Request) -> dict[str, Any]:
        """The tag of every word, or the label of every text, with probabilities."""
        return await asked(request, body, "predict", lambda run, given: [_predicted(one) for one in run.predict(given)])

    @app.post("/v1/correct", responses=bodies.FAULTS)
    async def correct(body: bodies.CorrectBody, request: Request) -> dict[str, Any]:
        """What was meant by texts: each corrected, its changes, -log P before and after."""
        how = {"number": body.number, "seed": body.seed}
        return await asked(
            request, body, "correct", lambda run, given: [one.as_dict() for one in run.correct(given, **how)]
        )

    @app.post("/v1/translate", responses=bodies.FAULTS)
    async def translate(body: bodies.TranslateBody, request: Request) -> dict[str, Any]:
        """Targets of sources: translations, or texts rewritten, as the run has learnt."""
        search = Beam(width=body.beam, alpha=body.alpha)
        engine.check(body.length or 1, 1)

        def translated(run: Any, given: list[Any]) -> list[Any]:
            found = run.translate(given, search=search, length=body.length)
            return [{"source": source, "text": text} for source, text in zip(given, found, strict=True)]

        return await asked(request, body, "translate", translated)


def add_words(app: FastAPI, shelf: Shelf, engine: Engine) -> None:
    """Vectors of words."""

    def answers(found: list[tuple[str, float]]) -> list[dict[str, Any]]:
        return [{"word": word, "score": score} for word, score in found]

    @app.post("/v1/words/near", responses=bodies.FAULTS)
    async def near(body: bodies.NearBody) -> dict[str, Any]:
        """The nearest words, by cosine."""
        vectors = shelf.find(body.model).must("near")
        words = [body.input] if isinstance(body.input, str) else body.input
        found = await done(engine, lambda: vectors.near(words, body.number))
        told = [{"word": word, "near": answers(one)} for word, one in zip(words, found, strict=True)]
        return {"object": "list", "model": body.model, "data": told}

    @app.post("/v1/words/analogy", responses=bodies.FAULTS)
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
