"""OpenAI's own client against a server that listens: what it asks, what it understands, what it raises."""

from __future__ import annotations

from collections.abc import Iterator

import openai
import pytest

from foresay.decode.sample import Sample
from foresay.serve.served import Shelf


@pytest.fixture
def client(address: str) -> Iterator[openai.OpenAI]:
    with openai.OpenAI(base_url=f"{address}/v1", api_key="none", max_retries=0) as found:
        yield found


def test_models(client: openai.OpenAI, shelf: Shelf) -> None:
    assert [one.id for one in client.models.list()] == list(shelf.all)
    assert client.models.retrieve("tiny").owned_by == "foresay"


def test_a_completion(client: openai.OpenAI, shelf: Shelf) -> None:
    run = shelf.find("tiny").run
    assert run is not None
    found = client.completions.create(
        model="tiny", prompt="the cat", max_tokens=12, seed=3, n=2, logprobs=1, temperature=0.9, user="me",
        extra_body={"top_k": 5},
    )  # fmt: skip
    want = run.generate("the cat", length=12, number=2, seed=3, decoder=Sample(temperature=0.9, top_k=5))
    assert ["the cat" + one.text for one in found.choices] == want
    logs = found.choices[0].logprobs
    assert logs is not None and logs.tokens is not None and logs.token_logprobs is not None
    assert "".join(logs.tokens) == found.choices[0].text and len(logs.token_logprobs) == len(logs.tokens)


def test_a_stream(client: openai.OpenAI, shelf: Shelf) -> None:
    run = shelf.find("tiny").run
    assert run is not None
    parts = client.completions.create(model="tiny", prompt="the cat", max_tokens=25, seed=8, stream=True)
    assert "the cat" + "".join(part.choices[0].text for part in parts) == run.generate("the cat", length=25, seed=8)[0]


def test_a_stream_left_early_is_not_written_on(client: openai.OpenAI, address: str) -> None:
    import json
    import time
    import urllib.request

    with client.completions.create(model="tiny", prompt="t", max_tokens=5000, temperature=0, stream=True) as parts:
        next(iter(parts))
    for _ in range(200):
        with urllib.request.urlopen(f"{address}/health") as answer:
            if json.load(answer)["writing"] == 0:
                return
        time.sleep(0.01)
    raise AssertionError("it is still written")


def test_errors_are_its_own(client: openai.OpenAI) -> None:
    with pytest.raises(openai.NotFoundError, match="model='nobody'; allowed: tiny"):
        client.completions.create(model="nobody", prompt="")
    with pytest.raises(openai.BadRequestError, match="cannot complete") as caught:
        client.completions.create(model="bag", prompt="")
    assert caught.value.type == "invalid_request_error"
