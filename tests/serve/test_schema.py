"""Whatever the schema allows, and what it does not, is answered as the schema says."""

from __future__ import annotations

from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings
from schemathesis import GenerationMode
from schemathesis.specs.openapi.checks import positive_data_acceptance

PATHS = {
    "/v1/models": "get",
    "/v1/models/{name}": "get",
    "/health": "get",
    "/v1/completions": "post",
    "/v1/score": "post",
    "/v1/predict": "post",
    "/v1/correct": "post",
    "/v1/translate": "post",
    "/v1/words/near": "post",
    "/v1/words/analogy": "post",
    "/v1/embeddings": "post",
    "/v1/draw": "post",
    "/v1/forecast": "post",
}
MODELS = {"/v1/predict": "bag", "/v1/translate": "pairs", "/v1/words/near": "v.vec", "/v1/words/analogy": "v.vec",
    "/v1/embeddings": "v.vec", "/v1/draw": "pics", "/v1/forecast": "tides"}  # fmt: skip


@pytest.fixture(scope="module")
def schema(app: Any) -> Any:
    async def living_on(scope: Any, receive: Any, send: Any) -> None:
        """The app, which other tests need too when this client has ended."""
        if scope["type"] != "lifespan":
            await app(scope, receive, send)
            return
        for what in ("startup", "shutdown"):
            await receive()
            await send({"type": f"lifespan.{what}.complete"})

    return schemathesis.openapi.from_asgi("/openapi.json", living_on)


def test_every_path_is_tried(schema: Any) -> None:
    found = {(path, method) for path, of_path in schema.raw_schema["paths"].items() for method in of_path}
    assert found == set(PATHS.items())
    responses = [one["responses"] for of_path in schema.raw_schema["paths"].values() for one in of_path.values()]
    assert all("422" not in one and one["400"]["content"]["application/json"]["schema"] for one in responses)


@pytest.mark.parametrize("mode", ["positive", "negative"])
@pytest.mark.parametrize("path", PATHS)
def test_answers_are_those_of_the_schema(schema: Any, path: str, mode: str) -> None:
    operation = schema[path][PATHS[path]]
    if mode == "negative" and PATHS[path] == "get":
        return

    @settings(max_examples=10, derandomize=True, suppress_health_check=list(HealthCheck))
    @given(case=operation.as_strategy(generation_mode=GenerationMode(mode)))
    def tried(case: Any) -> None:
        if isinstance(case.body, dict) and isinstance(case.body.get("model"), str):
            case.body["model"] = MODELS.get(path, "tiny")  # by chance it would never be found
        if isinstance(case.body, dict) and mode == "positive" and path == "/v1/translate":
            case.body |= {"beam": 2, "length": 9}  # a wide beam and a long target take seconds
        # that a run does not know a word, the schema cannot say
        case.call_and_validate(excluded_checks=[positive_data_acceptance])

    tried()
