"""A model with the sources of its rows: each row writes from its own, alone too, and in any order."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from foresay import parts
from foresay.decode.given import Endless, Given, Telling, alone
from foresay.text.tokens import PAD, STOP
from tests.decode.models import neural, random_table

SOURCES = torch.tensor([[5, 6, 7, STOP], [8, STOP, PAD, PAD], [6, 6, STOP, PAD]])
WROTE = torch.tensor([[5, 8], [7, 7], [6, 5]])


@pytest.fixture
def model() -> Any:
    torch.manual_seed(3)
    recurrent = {"kind": "recurrent", "size": 7}
    made: Any = parts.make("task", {
        "kind": "seq2seq", "embedding": {"size": 5}, "encoder": recurrent, "writer": recurrent,
    })  # fmt: skip
    made.build(9)
    with torch.no_grad():
        for parameter in made.parameters():
            parameter.add_(0.5 * torch.randn_like(parameter))
    return made.double().eval()


@torch.no_grad()
def test_a_row_writes_from_its_own_source(model):
    """log P after each prompt is that of the model scored with the same sources; other sources give another."""
    given = Given(model, SOURCES)
    found, _ = given.step(WROTE, given.begin(3))
    expected, _ = model.step(WROTE, model.begin(3, SOURCES))
    torch.testing.assert_close(found, expected, rtol=0, atol=0)
    other, _ = model.step(WROTE, model.begin(3, SOURCES.flip(0)))
    assert (found - other)[[0, 2]].abs().amax(1).min() > 1e-3
    assert (given.vocabulary, given.device, given.steady) == (9, model.device, model.steady)


@torch.no_grad()
def test_alone_is_the_same_row(model):
    given = Given(model, SOURCES)
    found, _ = given.step(WROTE, given.begin(3))
    for row in range(3):
        one = alone(given, row)
        own, _ = one.step(WROTE[row : row + 1], one.begin(1))
        torch.testing.assert_close(own, found[row : row + 1])


@torch.no_grad()
def test_rows_that_change_places_keep_their_source(model):
    given, order = Given(model, SOURCES), torch.tensor([2, 0, 0])
    _, state = given.step(WROTE[:, :1], given.begin(3))
    whole, _ = given.step(WROTE[:, 1:], state)
    _, state = given.step(WROTE[:, :1], given.begin(3))
    moved, _ = given.step(WROTE[order, 1:], given.reorder(state, order))
    torch.testing.assert_close(moved, whole[order])


def test_a_model_without_sources_is_alone_as_it_is():
    table = random_table(1)
    assert alone(table, 2) is table


def test_without_an_end() -> None:
    """<stop> cannot come, whatever it is worth; everything else stays as it is."""
    own = neural({"kind": "recurrent", "size": 7})
    endless, ids = Endless(own), torch.tensor([[5], [7]])
    log_probs = own.step(ids, own.begin(2))[0]
    found, state = endless.step(ids, endless.begin(2))
    assert found[:, STOP].tolist() == [-torch.inf] * 2
    others = [place for place in range(own.vocabulary) if place != STOP]
    assert torch.equal(found[:, others], log_probs[:, others])
    turned = endless.reorder(state, torch.tensor([1, 1]))
    one, other = endless.step(ids[:1].expand(2, 1), turned)[0]
    assert torch.equal(one, other) and one[STOP] == -torch.inf
    assert isinstance(endless.alone(1), Endless)


@torch.no_grad()
def test_steps_are_told(model):
    """A share of all that are awaited, and none beyond; what is computed is the model's own."""
    told: list[float] = []
    given = Given(model, SOURCES)
    telling = Telling(given, 2, told.append)
    state, own = telling.begin(3), given.begin(3)
    for _ in range(3):
        (found, state), (expected, own) = telling.step(WROTE, state), given.step(WROTE, own)
        torch.testing.assert_close(found, expected, rtol=0, atol=0)
    assert told == [0.5, 1.0] and (telling.vocabulary, telling.steady) == (9, model.steady)
    one, _ = alone(telling, 1).step(WROTE[1:2], alone(telling, 1).begin(1))
    torch.testing.assert_close(one, given.step(WROTE, given.begin(3))[0][1:2])
