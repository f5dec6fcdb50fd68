"""Rows that come and go: each writes what `generate` writes for it alone, whatever its neighbours are and do."""

from __future__ import annotations

import random
from typing import Any

import pytest
import torch

from foresay import parts
from foresay.decode.asked import Asked
from foresay.decode.generate import Writing, generate
from foresay.decode.given import Given
from foresay.decode.sample import Decoder, Greedy, Sample
from foresay.serve.batch import Batch, Chosen, Row
from foresay.text.tokens import START, STOP
from tests.decode.models import Markov, told
from tests.decode.test_generate import ENCODERS, PROMPTS, model_of

DECODERS = [Greedy(), Sample(), Sample(temperature=0.7, top_k=4), Sample(top_p=0.8, repetition=1.3)]


class Heard:
    """What a row has told."""

    def __init__(self, asked: Asked, number: int = 0, top: int = 0):
        self.told: list[Chosen] = []
        self.ends: list[str] = []
        self.row = Row(asked, number, self.told.append, self.ends.append, top)


def asked(prompt: list[int], decoder: Decoder, length: int, seed: int = 1, **how: Any) -> Asked:
    label = how.pop("label", None)
    return Asked("", prompt, 1, decoder, Writing(length, seed, **how), [], label)


def alone(model: Any, one: Asked, number: int = 0) -> list[int]:
    """Written by `generate`, with no other beside it."""
    model = model if one.label is None else Given(model, torch.tensor([one.label]))
    how = {"length": one.how.length, "seed": one.how.seed, "context": one.how.context, "ends": one.how.ends}
    return generate(model, [one.ids], one.decoder, numbers=[number], **how)[0]


def all_at_random(batch: Batch, rows: list[Heard], seed: int, gone: tuple[int, ...] = ()) -> None:
    """Rows join a few at a time, between any two steps; some leave before they have ended."""
    draw, waiting = random.Random(seed), list(rows)
    while waiting or batch.rows:
        new = [waiting.pop(0) for _ in range(min(len(waiting), draw.choice([0, 0, 1, 2, 3])))]
        batch.join([one.row for one in new])
        batch.step()
        batch.drop([one.row for place, one in enumerate(rows) if place in gone and len(one.told) > 2])


@pytest.mark.parametrize("encoder", ENCODERS)
@pytest.mark.parametrize("context", [None, 6])
def test_a_row_writes_what_it_writes_alone(encoder: str, context: int | None) -> None:
    model, draw = model_of(encoder), random.Random(3)
    rows = [
        Heard(asked(draw.choice(PROMPTS), draw.choice(DECODERS), draw.randint(1, 16), seed, context=context), seed % 3)
        for seed in range(14)
    ]
    all_at_random(Batch(model, context), rows, 5, gone=(4, 9))
    for place, one in enumerate(rows):
        found, want = [chosen.id for chosen in one.told], alone(model, one.row.asked, one.row.number)
        assert found == (want[: len(found)] if place in (4, 9) else want) == one.row.written
        assert one.ends == ([] if place in (4, 9) and len(want) > 3 else [one.row.ended])
        assert one.row.ended in (("length", None) if len(found) == one.row.asked.how.length else ("stop", None))


def test_rows_for_labels() -> None:
    torch.manual_seed(1)
    recipe = {"kind": "language-model", "embedding": {"size": 5}, "encoder": {"size": 9}, "condition": 3}
    model = parts.make("task", recipe)
    model.build(13)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(0.5 * torch.randn_like(parameter))
        model.output.bias[STOP] = -9.0
    model.double().eval()
    rows = [Heard(asked([5, 6], Sample(), 8, seed // 2, label=seed % 2)) for seed in range(6)]
    all_at_random(Batch(model), rows, 1)
    found = [one.row.written for one in rows]
    assert found == [alone(model, one.row.asked) for one in rows]
    assert found[::2] != found[1::2]  # the label says something


def test_what_is_told_is_the_models_own() -> None:
    model = model_of("lstm")
    one = Heard(asked([5, 6, 7], Sample(), 4, 2), top=3)
    beside = Heard(asked([8], Greedy(), 9))
    all_at_random(Batch(model), [one, beside], 0)
    text = [5, 6, 7]
    for chosen in one.told:
        log_probs = model.step(torch.tensor([text]), model.begin(1))[0][0].detach()
        assert chosen.log_prob == pytest.approx(float(log_probs[chosen.id]), rel=1e-9)
        log_probs[[0, 1, 2, 4]] = -torch.inf  # what no text has
        assert chosen.top == [
            (id, pytest.approx(float(log_probs[id]))) for id in log_probs.argsort(descending=True)[:3].tolist()
        ]
        text.append(chosen.id)
    assert all(chosen.top == [] for chosen in beside.told)


def test_a_text_ends_where_it_is_said_to() -> None:
    model = model_of("lstm")
    whole = alone(model, asked([5], Greedy(), 12))
    one = Heard(asked([5], Greedy(), 12, ends=lambda row: len(row) == 3))
    other = Heard(asked([5], Greedy(), 3))
    all_at_random(Batch(model), [one, other], 0)
    assert one.row.written == other.row.written == whole[:3]
    assert one.ends == ["stop"] and other.ends == ["length"]


def test_nothing_can_follow() -> None:
    one = Heard(asked([], Sample(), 5))
    all_at_random(Batch(told({START: {5: 1.0}})), [one], 0)
    assert one.row.written == [5] and one.ends == ["stop"]


class Shaky(Markov):
    """Rows differ by the size of the batch: far less than the margin, and enough to turn near ties."""

    steady = False

    def step(self, ids, state, mask=None):
        log_probs, state = super().step(ids, state, mask)
        return log_probs + 1e-6 * len(ids) * torch.arange(9) / 9, state


def test_an_unsure_choice_is_what_the_row_alone_says(monkeypatch: pytest.MonkeyPatch) -> None:
    table = told({START: {5: 0.5, 6: 0.5}, 5: {7: 0.5, 8: 0.5}, 6: {STOP: 1.0}, 7: {STOP: 1.0}, 8: {STOP: 1.0}}).table
    table[START, 5] += 2e-7  # alone 6 gains 1.1e-7 on 5, among two 2.2e-7
    table[5, 7] += 2e-7

    def written(rows: int) -> list[list[int]]:
        found, batch = [Heard(asked([], Greedy(), 4)) for _ in range(rows)], Batch(Shaky(table))
        batch.join([one.row for one in found])
        while batch.rows:
            batch.step()
        return [one.row.written for one in found]

    assert written(1) == [[5, 7]] and written(2) == [[5, 7]] * 2
    monkeypatch.setattr(Batch, "asks", False)  # as on a GPU: the whole text is written alone, and told from there on
    assert written(1) == [[5, 7]] and written(2) == [[5, 7]] * 2
    monkeypatch.setattr("foresay.decode.search.MARGIN", 0.0)
    assert written(2) == [[6]] * 2  # so the model does turn them
