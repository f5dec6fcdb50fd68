"""Vectors of texts are means over tokens, as OpenAI's own client reads them."""

from __future__ import annotations

import struct
from base64 import b64decode
from typing import Any

import numpy as np
import openai
import pytest

from foresay.serve.embeddings import mean_of_words
from foresay.serve.served import Shelf
from foresay.vectors.word_vectors import WordVectors


def ask(client: Any, status: int = 200, **body: Any) -> Any:
    answer = client.post("/v1/embeddings", json=body)
    assert answer.status_code == status, answer.text
    return answer.json()


def test_of_words_it_is_their_mean(client: Any) -> None:
    found = ask(client, model="v.vec", input=["king", "king  woman"])
    assert [one["index"] for one in found["data"]] == [0, 1] and "warnings" not in found
    assert found["data"][0]["embedding"] == [2, 2, 0]  # (2 2 0) and (0 -3 0) of the fixture, by hand
    assert found["data"][1]["embedding"] == [1, -0.5, 0]
    assert found["usage"] == {"prompt_tokens": 3, "total_tokens": 3}


def test_words_without_a_vector_are_left_out_and_told(client: Any) -> None:
    found = ask(client, model="v.vec", input="king zebra woman zebra")
    assert found["data"][0]["embedding"] == [1, -0.5, 0]
    assert found["warnings"] == ["1 word without a vector left out: zebra"]
    error = ask(client, 400, model="v.vec", input="zebra gnu")["error"]
    assert (
        error["message"].startswith("input has no word that has a vector ('zebra gnu')") and error["param"] == "input"
    )
    assert ask(client, 400, model="v.vec", input=" ")["error"]["param"] == "input"


def test_many_unknown_words_are_counted() -> None:
    vectors = WordVectors(["a"], [[1.0]])
    vector, number, notes = mean_of_words(vectors, "a b c d e f g a")
    assert vector.tolist() == [1.0] and number == 8
    assert notes == ["6 words without a vector left out: b, c, d, e, f, ..."]


def test_of_words_in_context_it_is_the_mean_of_the_topmost_layer(client: Any, shelf: Shelf) -> None:
    run: Any = shelf.find("both").run
    texts = ["the cat sat", "a mat"]
    found = ask(client, model="both", input=texts)
    for told, one in zip(found["data"], run.embed(texts), strict=True):
        rows = one.layers[-1].tolist()
        mean = [sum(column) / len(rows) for column in zip(*rows, strict=True)]
        assert told["embedding"] == pytest.approx(mean, abs=1e-5) and len(set(mean)) > 1
    assert found["usage"]["prompt_tokens"] == 5
    assert "text 1 of 1 has no tokens" in ask(client, 400, model="both", input=["a", ""])["error"]["message"]


def test_base64_are_the_same_numbers(client: Any) -> None:
    plain, packed = (
        ask(client, model="both", input="the cat", encoding_format=form)["data"][0]["embedding"]
        for form in ("float", "base64")
    )
    raw = b64decode(packed)
    assert list(struct.unpack(f"<{len(raw) // 4}f", raw)) == plain


def test_openais_client_reads_them(address: str) -> None:
    with openai.OpenAI(base_url=f"{address}/v1", api_key="none", max_retries=0) as client:
        found = client.embeddings.create(model="v.vec", input=["king woman", "queen"])
        assert np.allclose([one.embedding for one in found.data], [[1, -0.5, 0], [1, -1, 0.1]])
        with pytest.raises(openai.BadRequestError, match="cannot embed texts; allowed of it: /v1/completions"):
            client.embeddings.create(model="tiny", input="a")
        with pytest.raises(openai.BadRequestError, match="dimensions=2; allowed: null"):
            client.embeddings.create(model="v.vec", input="king", dimensions=2)
