"""OpenAI's embeddings: one vector of each text, the mean over its tokens.

Of words in their context (a bidirectional language model) of the topmost layer; of vectors of words of the words
between blanks, without those that have no vector, which the answer's `warnings` name.
"""

from __future__ import annotations

import base64
from typing import Any

import numpy as np
from fastapi import FastAPI, Request

from foresay.errors import UserError, counted
from foresay.serve import bodies
from foresay.serve.calls import done, noted, said, watched
from foresay.serve.engine import Engine
from foresay.serve.served import Served, Shelf
from foresay.vectors.word_vectors import WordVectors


def add_embeddings(app: FastAPI, shelf: Shelf, engine: Engine) -> None:
    """The endpoint."""

    @app.post("/v1/embeddings", responses=bodies.FAULTS)
    async def embeddings(body: bodies.EmbeddingsBody, request: Request) -> dict[str, Any]:
        """A vector of each text: the mean over its tokens."""
        served = shelf.find(body.model)
        served.must("embed")
        texts = [body.input] if isinstance(body.input, str) else body.input
        told: list[dict[str, Any]] = []
        tokens, notes = 0, []

        async def each() -> None:
            nonlocal tokens
            for place, text in enumerate(texts):  # others go on between two texts
                (vector, number, note), more = await done(engine, lambda text=text: noted(lambda: _mean(served, text)))
                told.append({"object": "embedding", "index": place, "embedding": _sent(vector, body.encoding_format)})
                tokens += number
                notes.extend([*note, *more])

        await watched(request, each())
        usage = {"prompt_tokens": tokens, "total_tokens": tokens}
        return {"object": "list", "model": body.model, "data": told, "usage": usage} | said(notes)


def _mean(served: Served, text: str) -> tuple[np.ndarray, int, list[str]]:
    """A text's vector, of how many tokens it is, and what should be known of it."""
    if served.run is not None:
        run: Any = served.run
        (found,) = run.embed(text)
        return found.layers[-1].mean(0).numpy(), len(found.tokens), []
    assert served.vectors is not None
    return mean_of_words(served.vectors, text)


def mean_of_words(vectors: WordVectors, text: str) -> tuple[np.ndarray, int, list[str]]:
    """The mean over the words that have a vector."""
    words = text.split()
    found = [vector for word in words if (vector := vectors.get(word)) is not None]
    if not found:
        raise UserError(f"input has no word that has a vector ({text[:60]!r}); give some of the {vectors.allowed}")
    lost = list(dict.fromkeys(word for word in words if vectors.get(word) is None))
    named = ", ".join(lost[:5]) + (", ..." if lost[5:] else "")
    notes = [f"{counted(len(lost), 'word')} without a vector left out: {named}"] if lost else []
    return np.mean(found, 0), len(words), notes


def _sent(vector: np.ndarray, form: str | None) -> list[float] | str:
    """As a list, or as the bytes of float32, little-endian, in base64."""
    whole = np.asarray(vector, "<f4")
    return base64.b64encode(whole.tobytes()).decode() if form == "base64" else whole.tolist()
