"""The engine: users come and go, and each gets what `run.generate` gives it alone; limits, calls, faults, the end."""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from foresay import start
from foresay.decode.sample import Sample
from foresay.errors import UserError
from foresay.loading import load
from foresay.run import Run
from foresay.serve.engine import Busy, Engine, Limits
from foresay.train.progress import Watch

SOON = 30.0  # seconds after which a test fails rather than hangs
PROMPTS = ["", "the cat ", "a small red house", "the"]


@pytest.fixture(scope="module")
def lstm(trained: Path) -> Run:
    return load(trained, "cpu")


@pytest.fixture(scope="module")
def transformer(trained: Path, tmp_path_factory: pytest.TempPathFactory) -> Run:
    """With windows of 10 tokens and no position beyond them."""
    recipe = start.recipes.read(trained / "recipe.yaml")
    positions = {"kind": "learnt", "longest": 10}
    recipe["encoder"] = {"kind": "transformer", "size": 8, "layers": 1, "heads": 2, "positions": positions}
    recipe["train"] |= {"batches": {"kind": "packed", "rows": 4, "length": 10}, "steps": 3}
    return start.train(recipe, out=tmp_path_factory.mktemp("t") / "r", device="cpu", watch=Watch())


@pytest.fixture(scope="module")
def ngram(corpus: Path, tmp_path_factory: pytest.TempPathFactory) -> Run:
    data = {"train": str(corpus)}
    return start.train(
        {"task": "ngram", "tokens": "words", "data": data}, out=tmp_path_factory.mktemp("n") / "r", watch=Watch()
    )


@pytest.fixture
def engine(lstm: Run, transformer: Run, ngram: Run) -> Iterator[Engine]:
    found = Engine({"lstm": lstm, "transformer": transformer, "ngram": ngram}, Limits(rows=6, waiting=200))
    yield found
    found.close()


def requests(number: int, seed: int) -> list[dict[str, Any]]:
    draw = random.Random(seed)
    found: list[dict[str, Any]] = []
    for _ in range(number):
        how: dict[str, Any] = {"length": draw.randint(1, 30), "number": draw.choice([1, 1, 3]), "seed": draw.random()}
        how["seed"] = int(1e6 * how["seed"])
        how |= draw.choice([{"temperature": 0}, {"temperature": 0.6}, {"decoder": Sample(top_p=0.7)}, {"stop": ["e "]}])
        found.append({"prompt": draw.choice(PROMPTS)} | how)
    return found


@pytest.mark.parametrize("name", ["lstm", "transformer", "ngram"])
def test_every_user_gets_what_the_run_gives_alone(engine: Engine, name: str) -> None:
    """Three users ask at once, at moments of their own, while a fourth asks and goes away again."""
    run = engine.runs[name]
    asked = [requests(6, seed) for seed in range(3)]
    found: list[list[list[str]]] = [[], [], []]

    def user(number: int) -> None:
        for how in asked[number]:
            ticket = engine.write(name, run.asked(**how))
            time.sleep(0.002 * number)
            found[number].append(ticket.result(SOON))

    users = [threading.Thread(target=user, args=(number,)) for number in range(3)]
    for one in users:
        one.start()
    for how in requests(8, 99):
        ticket = engine.write(name, run.asked(**how))
        time.sleep(0.003)
        ticket.cancel()
    for one in users:
        one.join()
    assert found == [[run.generate(**how) for how in mine] for mine in asked]


def test_tokens_are_told_as_they_come(engine: Engine, lstm: Run) -> None:
    told: list[tuple[int, Any]] = []
    asked = lstm.asked("the", length=5, number=2, seed=4)
    ticket = engine.write("lstm", asked, lambda number, what: told.append((number, what)), top=2)
    texts = ticket.result(SOON)
    for number, text in enumerate(texts):
        own = [what for n, what in told if n == number]
        ids, end = [one.id for one in own[:-1]], own[-1]
        assert end == ("length" if len(ids) == 5 else "stop") and all(len(one.top) == 2 for one in own[:-1])
        assert lstm.tokens.decode([*asked.ids, *ids]) == text


def test_calls_come_between_steps(engine: Engine, lstm: Run) -> None:
    ticket = engine.write("lstm", lstm.asked("the", length=200, seed=1))
    assert engine.do(lambda: lstm.score("a cat")[0].nats).result(SOON) == lstm.score("a cat")[0].nats
    with pytest.raises(ZeroDivisionError):
        engine.do(lambda: 1 / 0).result(SOON)
    assert ticket.result(SOON) == lstm.generate("the", length=200, seed=1)


def test_what_is_too_much(lstm: Run) -> None:
    engine, held = Engine({"lstm": lstm}, Limits(rows=1, waiting=2, length=50, number=2, prompt=6)), threading.Event()
    with pytest.raises(UserError, match="length=51; allowed here: 50 tokens"):
        engine.write("lstm", lstm.asked(length=51))
    with pytest.raises(UserError, match="number=3; allowed here: 2 texts"):
        engine.write("lstm", lstm.asked(length=3, number=3))
    with pytest.raises(UserError, match="a prompt of 7 tokens; allowed here: 6 at most: shorten it"):
        engine.write("lstm", lstm.asked("the cat", length=3))
    with pytest.raises(UserError, match="2 prompts with 2 texts each; allowed here: 2 texts at most; divide them"):
        engine.check(3, 2, 2)
    engine.do(held.wait)
    while engine.queued:
        time.sleep(0.001)
    first = engine.write("lstm", lstm.asked(length=3, number=2))
    with pytest.raises(Busy, match="2 texts and calls wait; allowed: 2"):
        engine.write("lstm", lstm.asked(length=3))
    with pytest.raises(Busy):
        engine.do(lambda: None)
    held.set()
    assert first.result(SOON) == lstm.generate(length=3, number=2)
    engine.close()


def test_who_goes_away_is_not_written_for(engine: Engine, lstm: Run) -> None:
    told: list[Any] = []
    ticket = engine.write(
        "lstm", lstm.asked(length=4000, temperature=0, prompt="the"), lambda n, what: told.append(what)
    )
    while not told:
        time.sleep(0.001)
    ticket.cancel()
    ticket.result(SOON)
    assert told[-1] == "cancelled" and len(told) < 4000 and engine.writing == 0


def test_who_cannot_hear_is_as_one_who_went_away(engine: Engine, lstm: Run) -> None:
    heard: list[Any] = []

    def deaf(_number: int, what: Any) -> None:
        heard.append(what)
        raise RuntimeError("Event loop is closed")

    deaf_one = engine.write("lstm", lstm.asked("the", length=4000, temperature=0), deaf)
    other = engine.write("lstm", lstm.asked("the", length=9, seed=1))
    assert other.result(SOON) == lstm.generate("the", length=9, seed=1)
    deaf_one.result(SOON)
    for _ in range(1000):  # the row of the other leaves just after its end is told
        if not engine.writing:
            break
        time.sleep(0.01)
    assert len(heard) == 1 and engine.writing == 0


def test_a_fault_ends_one_runs_texts_alone(
    engine: Engine, lstm: Run, ngram: Run, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    broken = engine.write("lstm", lstm.asked("the", length=4000, temperature=0))
    going_on = engine.write("ngram", ngram.asked("the", length=40, seed=3))
    monkeypatch.setattr(engine.batches["lstm"], "step", lambda: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        broken.result(SOON)
    assert caplog.messages == ["lstm could not go on"] and caplog.records[0].exc_info
    assert going_on.result(SOON) == ngram.generate("the", length=40, seed=3)
    again = engine.write("lstm", lstm.asked("the", length=4, seed=3))
    assert again.result(SOON) == lstm.generate("the", length=4, seed=3)


def test_the_end_finishes_or_cancels(lstm: Run) -> None:
    engine = Engine({"lstm": lstm})
    ticket = engine.write("lstm", lstm.asked("the", length=60, seed=2))
    engine.close(SOON)
    assert ticket.result(0) == lstm.generate("the", length=60, seed=2) and not engine.thread.is_alive()
    with pytest.raises(Busy, match="closing"):
        engine.write("lstm", lstm.asked())

    hurried, told = Engine({"lstm": lstm}, Limits(rows=1, length=100_000)), list[Any]()
    tickets = [
        hurried.write("lstm", lstm.asked("the", length=100_000, temperature=0), lambda n, what: told.append(what))
        for _ in range(2)
    ]
    call = hurried.do(lambda: time.sleep(0.01))
    hurried.close()
    assert all(ticket.done.done() for ticket in tickets) and (call.done() or call.cancelled())
    assert told.count("cancelled") == 2 and not hurried.thread.is_alive()
