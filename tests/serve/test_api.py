"""The API's answers are what the runs' methods give; what is wrong is one line in OpenAI's shape."""

from __future__ import annotations

import json
import socket
import urllib.error
import urllib.request
from typing import Any

import pytest

from foresay.decode.beam import Beam
from foresay.decode.sample import Sample
from foresay.run import Run
from foresay.serve.served import Shelf


@pytest.fixture
def tiny(shelf: Shelf) -> Run:
    run = shelf.find("tiny").run
    assert run is not None
    return run


@pytest.fixture
def ask(client: Any) -> Any:
    def asked(path: str, status: int = 200, **body: Any) -> Any:
        answer = client.post(path, json=body)
        assert answer.status_code == status, answer.text
        return answer.json()

    return asked


def pieces(client: Any, **body: Any) -> list[Any]:
    """The events of a stream, without the last one, which says that it is the last."""
    answer = client.post("/v1/completions", json=body | {"stream": True})
    assert answer.status_code == 200 and answer.headers["content-type"].startswith("text/event-stream")
    lines = answer.text.removesuffix("\n\n").split("\n\n")
    assert lines.pop() == "data: [DONE]" and all(line.startswith("data: ") for line in lines)
    return [json.loads(line.removeprefix("data: ")) for line in lines]


def test_models(client: Any, shelf: Shelf) -> None:
    found = client.get("/v1/models").json()
    assert found["object"] == "list" and [one["id"] for one in found["data"]] == list(shelf.all)
    ways = {one["id"]: one["can"] for one in found["data"]}
    assert ways["tiny"] == ["complete", "score", "correct"] and ways["pairs"] == ["complete", "translate", "score"]
    assert ways["both"] == ["score", "correct", "embed"] and ways["pics"] == ways["hums"] == ["draw"]
    assert ways["tides"] == ways["chords"] == ["forecast", "draw"]
    assert ways["bag"] == ways["hmm"] == ["predict"] and ways["v.vec"] == ["near", "analogy", "embed"]
    assert client.get("/v1/models/tiny").json() == found["data"][0]
    assert client.get("/v1/models/none").json()["error"]["code"] == "model_not_found"


def test_a_text_is_what_the_run_writes(ask: Any, tiny: Run) -> None:
    how = {"max_tokens": 20, "temperature": 0.8, "top_p": 0.9, "seed": 5, "n": 3}
    found = ask("/v1/completions", model="tiny", prompt=["the cat", "a "], **how)
    more = {"length": 20, "number": 3, "decoder": Sample(temperature=0.8, top_p=0.9), "seed": 5}
    want = [tiny.generate(prompt, **more) for prompt in ("the cat", "a ")]
    assert ["the cat" + one["text"] for one in found["choices"][:3]] == want[0]
    assert ["a " + one["text"] for one in found["choices"][3:]] == want[1]
    assert [one["index"] for one in found["choices"]] == list(range(6))
    written = sum(len(tiny.tokens.encode(one["text"])) for one in found["choices"])
    assert found["usage"] == {"prompt_tokens": 9, "completion_tokens": written, "total_tokens": 9 + written}
    assert found["object"] == "text_completion" and found["model"] == "tiny" and found["seed"] == 5


def test_without_a_seed_it_is_drawn_and_told(ask: Any, tiny: Run) -> None:
    first, second = (ask("/v1/completions", model="tiny", prompt="the", max_tokens=40) for _ in range(2))
    assert first["seed"] != second["seed"]
    again = tiny.generate("the", length=40, seed=first["seed"])[0]
    assert "the" + first["choices"][0]["text"] == again


def test_greedy_echo_and_stop(ask: Any, tiny: Run) -> None:
    whole = tiny.generate("the ", length=30, temperature=0)[0]
    found = ask("/v1/completions", model="tiny", prompt="the ", max_tokens=30, temperature=0, top_p=0.3, echo=True)
    assert found["choices"][0]["text"] == whole
    stop = whole[8:10]
    found = ask("/v1/completions", model="tiny", prompt="the ", max_tokens=30, temperature=0, stop=[stop, "\u0130"])
    assert found["choices"][0]["text"] == whole[4 : whole.index(stop, 4)]
    assert found["choices"][0]["finish_reason"] == "stop"
    assert tiny.generate("the ", length=30, temperature=0, stop=stop) == ["the " + found["choices"][0]["text"]]


def test_log_probs_are_the_scores(ask: Any, tiny: Run) -> None:
    found = ask("/v1/completions", model="tiny", prompt="the", max_tokens=6, seed=1, logprobs=2, echo=True)
    (choice,) = found["choices"]
    logs, scored = choice["logprobs"], tiny.score(choice["text"])[0]
    assert logs["tokens"] == scored.tokens and logs["token_logprobs"] == pytest.approx(scored.log_probs, abs=1e-4)
    assert logs["text_offset"] == list(range(len(choice["text"])))
    assert logs["top_logprobs"][:3] == [None] * 3
    for place, top in enumerate(logs["top_logprobs"][3:], 3):
        after = tiny.step(choice["text"][:place])[0].clone()
        after[[0, 1, 2, 4]] = -float("inf")  # what no text has
        best = after.topk(2)
        assert list(top) == tiny.tokens.pieces(best.indices.tolist())
        assert list(top.values()) == pytest.approx(best.values.tolist(), abs=1e-4)
    found = ask("/v1/completions", model="tiny", prompt="the cat", max_tokens=0, logprobs=0, echo=True)
    assert found["choices"][0]["text"] == "the cat" and found["choices"][0]["logprobs"]["top_logprobs"] is None
    assert found["choices"][0]["logprobs"]["token_logprobs"] == pytest.approx(tiny.score("the cat")[0].log_probs)


@pytest.mark.parametrize("echo", [False, True])
def test_a_stream_is_the_text_in_pieces(client: Any, tiny: Run, echo: bool) -> None:
    more = {"max_tokens": 30, "seed": 2, "n": 2, "stop": ["e "], "echo": echo}
    found = pieces(client, model="tiny", prompt="the cat ", stream_options={"include_usage": True}, **more)
    assert found[-1]["choices"] == [] and found[-1]["usage"]["prompt_tokens"] == 8
    for number, whole in enumerate(tiny.generate("the cat ", length=30, seed=2, number=2, stop="e ")):
        own = [one["choices"][0] for one in found[:-1] if one["choices"][0]["index"] == number]
        assert "".join(one["text"] for one in own) == (whole if echo else whole.removeprefix("the cat "))
        assert [one["finish_reason"] for one in own[:-1]] == [None] * (len(own) - 1)
        assert own[-1]["finish_reason"] in ("stop", "length")


def test_a_stream_with_log_probs_has_each_token(client: Any, tiny: Run) -> None:
    found = pieces(client, model="tiny", prompt="the", max_tokens=5, temperature=0, logprobs=1)
    logs = [one["choices"][0]["logprobs"] for one in found if one["choices"][0]["logprobs"]]
    text = tiny.generate("the", length=5, temperature=0)[0]
    assert [piece for one in logs for piece in one["tokens"]] == list(text[3:])
    assert [n for one in logs for n in one["text_offset"]] == list(range(len(text) - 3))
    told = [log_prob for one in logs for log_prob in one["token_logprobs"]]
    assert told == pytest.approx(tiny.score(text)[0].log_probs[3:], abs=1e-4)


def test_from_a_source(ask: Any, client: Any, shelf: Shelf) -> None:
    run: Any = shelf.find("pairs").run
    found = ask("/v1/completions", model="pairs", prompt=["abc", "abab"])
    assert [one["text"] for one in found["choices"]] == run.generate(["abc", "abab"])
    found = ask("/v1/completions", model="pairs", prompt="abc", temperature=1, n=2, seed=3, max_tokens=9)
    assert [one["text"] for one in found["choices"]] == run.generate("abc", temperature=1.0, number=2, seed=3, length=9)
    (streamed,) = pieces(client, model="pairs", prompt="abc")
    assert streamed["choices"][0]["text"] == run.generate("abc")[0]
    found = ask("/v1/translate", model="pairs", input=["abc", "ab"], beam=3)
    want = run.translate(["abc", "ab"], search=Beam(width=3, alpha=1.0))
    assert [one["text"] for one in found["data"]] == want
    found = ask("/v1/score", model="pairs", input=[["abc", "xy"]])
    assert found["data"] == [run.score(("abc", "xy"))[0].as_dict()]


def test_what_a_run_warns_of_is_told(ask: Any) -> None:
    (note,) = ask("/v1/translate", model="pairs", input=["qqq", "abc", "qq"])["warnings"][:1]
    assert note.startswith("1 of 1 sources have under 60 % of their tokens from train sources")
    assert "warnings" in ask("/v1/completions", model="pairs", prompt="qqq")
    assert "warnings" not in ask("/v1/translate", model="pairs", input="abc")
    said = ask("/v1/translate", 400, model="pairs", input="abc", length=301)["error"]["message"]
    assert said == "length=301; allowed here: 300 tokens at most"


def test_what_runs_do_besides(ask: Any, shelf: Shelf, tiny: Run) -> None:
    assert ask("/v1/score", model="tiny", input=["a cat", ""])["data"] == [
        one.as_dict() for one in tiny.score(["a cat", ""])
    ]
    assert ask("/v1/correct", model="tiny", input="teh", number=2)["data"] == [
        one.as_dict() for one in tiny.correct("teh", number=2)
    ]
    bag, hmm = (shelf.find(name).run for name in ("bag", "hmm"))
    label, shares = bag.predict("a a")[0]  # pyright: ignore[reportOptionalMemberAccess]
    assert ask("/v1/predict", model="bag", input="a a")["data"] == [{"label": label, "probabilities": shares}]
    found = ask("/v1/predict", model="hmm", input=["the cat", "a dog sees"])["data"]
    assert found == [one.as_dict() for one in hmm.predict(["the cat", "a dog sees"])]  # pyright: ignore[reportOptionalMemberAccess]
    assert [one["tags"] for one in found] == [["D", "N"], ["D", "N", "V"]]


def test_words(ask: Any) -> None:
    (found,) = ask("/v1/words/near", model="v.vec", input="man", number=2)["data"]
    assert found["near"] == [
        {"word": "king", "score": pytest.approx(0.5**0.5)},
        {"word": "apple", "score": pytest.approx(0.0, abs=1e-6)},
    ]
    (found,) = ask("/v1/words/analogy", model="v.vec", a="man", b="king", c="woman", number=1)["data"]
    assert found["word"] == "queen"
    assert "'cat'" in ask("/v1/words/near", 400, model="v.vec", input="cat")["error"]["message"]


WRONG = [
    ({"model": "tine"}, 404, "model", "model='tine'; allowed: tiny, pairs, bag, hmm, v.vec, both, pics, hums, "),
    ({}, 400, "model", "model is missing; give it"),
    ({"model": "tiny", "max_token": 3}, 400, "max_token", "max_token is unknown; allowed: model, prompt, max_tokens,"),
    ({"model": "tiny", "prompt": [1, 2]}, 400, "prompt", "prompt=[1, 2]; allowed: text, or a list of 1 to 256 texts"),
    ({"model": "tiny", "temperature": "1"}, 400, "temperature", 'temperature="1"; allowed: a number'),
    ({"model": "tiny", "temperature": -1}, 400, "temperature", "temperature=-1; allowed: 0 or more"),
    ({"model": "tiny", "top_p": 0}, 400, "top_p", "top_p=0; allowed: more than 0"),
    ({"model": "tiny", "logprobs": 21}, 400, "logprobs", "logprobs=21; allowed: 20 at most"),
    ({"model": "tiny", "suffix": "x"}, 400, "suffix", 'suffix="x"; allowed: null'),
    ({"model": "tiny", "max_tokens": 301}, 400, "max_tokens", "max_tokens=301; allowed here: 300 tokens at most"),
    ({"model": "tiny", "n": 5}, 400, "n", "n=5; allowed here: 4 texts at most"),
    ({"model": "tiny", "stop": ""}, 400, "stop", "stop='' is in every text; give strings that are not empty"),
    ({"model": "tiny", "label": "7"}, 400, "label", "label='7', but "),
    ({"model": "tiny", "best_of": 3}, 400, "best_of", "best_of=3; allowed: n, which is 1; leave it out"),
    ({"model": "tiny", "max_tokens": 0}, 400, "max_tokens", "max_tokens=0 writes nothing; allowed: 1 or more, or"),
    ({"model": "tiny", "stream_options": {}}, 400, "stream_options", "stream_options without stream; leave it out, or"),
    ({"model": "bag"}, 400, None, "bag is of task bag-of-words and cannot complete texts; allowed of it: /v1/predict;"),
    ({"model": "pairs", "prompt": "a", "echo": True}, 400, "echo", "echo, and pairs writes from a source"),
    ({"model": "pics"}, 400, None, "pics is of images of 4 x 3 pixels and cannot complete texts; allowed of it: /v1/"),
    ({"model": "tiny", "prompt": []}, 400, "prompt", "prompt=[]; allowed: text, or a list of 1 to 256 texts"),
    ({"model": "tiny", "prompt": None}, 400, "prompt", "prompt=null; allowed: text, or a list of 1 to 256 texts"),
    ({"model": "tiny", "prompt": ["a"] * 257}, 400, "prompt", 'prompt=["a", "a", "a", "a", "a", "a", "a", "a", '),
    ({"model": "tiny", "stop": [1]}, 400, "stop", "stop=[1]; allowed: text, or a list of 16 texts at most"),
    ({"model": "tiny", "n": True}, 400, "n", "n=true; allowed: a whole number"),
    ({"model": "tiny", "echo": 1}, 400, "echo", "echo=1; allowed: true or false"),
    ({"model": "tiny", "seed": 1.5}, 400, "seed", "seed=1.5; allowed: a whole number"),
    ({"model": "tiny", "logit_bias": {"5": 1}}, 400, "logit_bias", 'logit_bias={"5": 1}; allowed: 0 entries at most'),
    ({"model": "tiny", "stream_options": {"usage": 1}}, 400, "stream_options", "stream_options.usage is unknown; "),
    ({"model": "pairs", "prompt": ""}, 400, None, "source 1 of 1 is empty (''); give a text"),
]  # fmt: skip


@pytest.mark.parametrize(("body", "status", "param", "message"), WRONG, ids=[one[3][:30] for one in WRONG])
def test_what_is_wrong_is_one_line(ask: Any, body: dict, status: int, param: str | None, message: str) -> None:
    error = ask("/v1/completions", status, **body)["error"]
    assert error["message"].startswith(message) and "\n" not in error["message"]
    assert error["type"] == "invalid_request_error" and error["param"] == param and "code" in error


def test_other_mistakes(client: Any, ask: Any) -> None:
    json_ = {"content-type": "application/json"}
    for content, said in (
        ("{", "the body is no JSON ("),
        ("[1]", "the body is no JSON object"),
        ("", "the body is no"),
        (b'{"a": "\xff"}', "the body is no JSON (it is not UTF-8: byte 0xFF at 8); give a JSON object"),
        ("[" * 200_000, "the body is no JSON (its lists or objects are nested too deep); give a JSON object"),
        ("1" * 5000, "the body is no JSON (a number has too many digits); give a JSON object"),
    ):
        answer = client.post("/v1/score", content=content, headers=json_)
        assert answer.status_code == 400 and answer.json()["error"]["message"].startswith(said), answer.text
    assert client.get("/nothing").json()["error"]["message"].startswith("there is no /nothing; allowed:")
    assert client.get("/v1/score").status_code == 405
    assert "allowed of tiny: texts" in ask("/v1/score", 400, model="tiny", input=[["a", "b"]])["error"]["message"]
    assert "[source, target]" in ask("/v1/score", 400, model="pairs", input="a")["error"]["message"]
    said = ask("/v1/words/near", 400, model="tiny", input="a")["error"]["message"]
    assert said.startswith("tiny is of task language-model and cannot find near words; allowed of it: /v1/completions,")
    assert "cannot translate" in ask("/v1/translate", 400, model="tiny", input="a")["error"]["message"]
    plain = {"content-type": "text/plain"}  # what a foreign page could send without asking
    answer = client.post("/v1/score", content='{"model": "tiny", "input": "a"}', headers=plain)
    assert answer.status_code == 400 and "application/json" in answer.json()["error"]["message"]
    long = client.post("/v1/score", content=b" " * (9 << 20), headers=json_)
    assert long.status_code == 413 and "8 MiB" in long.json()["error"]["message"]
    parts = client.post("/v1/score", content=iter([b" " * (1 << 20)] * 9), headers=json_)
    assert parts.status_code == 413


HALVES = [
    ("/v1/score", {"input": "\ud800"}, "input holds half a character (U+D800), which no text does"),
    ("/v1/score", {"input": ["a", ["b", "c\udfff"]]}, "input holds half a character (U+DFFF)"),
    ("/v1/completions", {"prompt": "\ud800", "echo": True, "max_tokens": 2}, "prompt holds half a character (U+D800)"),
    ("/v1/completions", {"prompt": "\ud800", "echo": True, "max_tokens": 2, "stream": True}, "prompt holds half"),
    ("/v1/completions", {"stop": ["a", "\udc00"]}, "stop holds half a character (U+DC00)"),
    ("/v1/completions", {"logit_bias": {"\ud800": 1}}, "logit_bias holds half a character (U+D800)"),
    ("/v1/completions", {"\ud800": 1}, r"\ud800 is unknown; allowed: model, prompt"),
    ("/v1/words/analogy", {"a": "\ud800", "b": "b", "c": "c"}, "a holds half a character (U+D800)"),
    ("/v1/embeddings", {"model": "\ud800", "input": "a"}, "model holds half a character (U+D800)"),
]  # fmt: skip


@pytest.mark.parametrize(("path", "body", "message"), HALVES, ids=range(len(HALVES)))
def test_half_a_character_is_refused(client: Any, path: str, body: dict[str, Any], message: str) -> None:
    """Which JSON can spell and no text is made of; both halves are a character as any other."""
    content = json.dumps({"model": "tiny"} | body)
    answer = client.post(path, content=content, headers={"content-type": "application/json"})
    error = answer.json()["error"]
    assert answer.status_code == 400 and error["message"].startswith(message), answer.text


def test_both_halves_are_a_character(client: Any, tiny: Run) -> None:
    content = r'{"model": "tiny", "input": "\ud83d\ude00"}'
    answer = client.post("/v1/score", content=content, headers={"content-type": "application/json"})
    assert answer.json()["data"] == [tiny.score("\U0001f600")[0].as_dict()]


def test_the_rest_of_a_refused_body_is_read(address: str) -> None:
    """Else who sends it sees that the connection broke; who asks first, as curl does, is told before."""
    for content in (b" " * (9 << 20), iter([b" " * (1 << 20)] * 9)):
        request = urllib.request.Request(f"{address}/v1/score", content, {"content-type": "application/json"})
        with pytest.raises(urllib.error.HTTPError) as caught:
            urllib.request.urlopen(request)
        assert caught.value.code == 413 and "8 MiB" in json.load(caught.value)["error"]["message"]
        caught.value.close()
    host, port = address.removeprefix("http://").split(":")
    with socket.create_connection((host, int(port))) as sent:
        head = f"POST /v1/score HTTP/1.1\r\nhost: {host}\r\ncontent-length: {9 << 20}\r\nexpect: 100-continue\r\n\r\n"
        sent.sendall(head.encode())
        assert sent.recv(100).startswith(b"HTTP/1.1 413 ")


def test_a_run_that_fails_is_told_without_its_inside(client: Any, tiny: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tiny, "score", lambda texts: 1 / 0)
    answer = client.post("/v1/score", json={"model": "tiny", "input": "a"})
    assert answer.status_code == 500
    assert answer.json()["error"]["message"] == "the run could not answer: ZeroDivisionError"


def test_health_and_counters(client: Any, ask: Any) -> None:
    engine = client.app.state.engine
    while engine.writing:  # what another test has just read
        pass
    assert client.get("/health").json() == {"status": "ok", "writing": 0, "waiting": 0}

    def counted(name: str) -> float:
        lines = client.get("/metrics").text.splitlines()
        return sum(float(line.rsplit(" ", 1)[1]) for line in lines if line.startswith(name))

    name = 'foresay_written_tokens_total{model="tiny"}'
    before, path = counted(name), 'foresay_requests_total{path="/v1/completions",status="200"}'
    asked = counted(path)
    written = ask("/v1/completions", model="tiny", seed=1, max_tokens=7)["usage"]["completion_tokens"]
    while engine.writing:
        pass
    assert counted(name) == before + written and counted(path) == asked + 1
    assert counted("foresay_writing ") == counted("foresay_waiting ") == 0


def test_a_key(shelf: Shelf) -> None:
    from fastapi.testclient import TestClient

    from foresay.serve.api import make_app

    with TestClient(make_app(shelf, key="secret")) as client:
        assert client.get("/health").status_code == client.get("/").status_code == 200
        for headers in ({}, {"authorization": "Bearer other"}):
            answer = client.get("/v1/models", headers=headers)
            assert answer.status_code == 401 and answer.json()["error"]["code"] == "invalid_api_key"
        assert client.get("/metrics").status_code == 401
        assert client.get("/v1/models", headers={"authorization": "Bearer secret"}).status_code == 200
        engine = client.app.state.engine  # pyright: ignore[reportAttributeAccessIssue]
    assert not engine.thread.is_alive()


def test_a_full_queue_and_a_closing_server(shelf: Shelf) -> None:
    import threading

    from fastapi.testclient import TestClient

    from foresay.serve.api import make_app
    from foresay.serve.engine import Limits

    app, held = make_app(shelf, limits=Limits(waiting=2)), threading.Event()
    client, engine = TestClient(app), app.state.engine
    answer = client.post("/v1/completions", json={"model": "tiny", "prompt": ["a"] * 3})
    assert answer.status_code == 400 and "divide them" in answer.json()["error"]["message"]  # it would never fit
    engine.do(held.wait)
    while engine.queued:
        pass
    waits = engine.do(lambda: None)
    answer = client.post("/v1/completions", json={"model": "tiny", "prompt": ["a"] * 2})
    assert answer.status_code == 429 and answer.headers["retry-after"] == "1"
    assert engine.queued == 2 and not waits.done()  # the one that had a place leaves as soon as it goes on
    held.set()
    engine.close(10)
    answer = client.post("/v1/completions", json={"model": "tiny"})
    assert answer.status_code == 503 and "closing" in answer.json()["error"]["message"]
    assert client.get("/health").status_code == 503
