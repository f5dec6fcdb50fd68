"""What graphs are on a CPU: nothing; calls and steps go through as they come. test_on_gpu.py has the rest."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from foresay.decode.graphed import Graphed, Repeated, graphed, taken_over
from tests.decode.models import KINDS, neural

CPU = torch.device("cpu")


@pytest.mark.parametrize("kind", KINDS)
def test_on_a_cpu_a_model_is_itself(kind):
    model = KINDS[kind]()
    assert graphed(model) is model


def test_a_call_is_made_each_time():
    made = []
    again = Repeated(lambda: made.append(len(made)), CPU)
    for _ in range(5):
        again()
    assert made == [0, 1, 2, 3, 4] and again.graph is None


def test_what_is_new_is_taken_as_it_is():
    ours, new = torch.zeros(3), torch.ones(3)
    assert taken_over(ours, new) is new and ours.sum() == 0
    state = {"h": new, "inner": {"c": torch.ones(2, 2)}}
    found = taken_over({"h": ours, "inner": {"c": torch.zeros(2, 2)}}, state)
    assert found["h"] is new and found["inner"]["c"] is state["inner"]["c"]
    assert taken_over({"other": ours}, state) is state


@torch.no_grad()
def test_prompts_and_masked_rows_go_to_the_model():
    """Neither is ever captured, and they give what the model gives."""
    model = neural({"kind": "recurrent", "size": 6}, double=True)
    whole, ids = Graphed(model), torch.tensor([[5, 6], [7, 8]])
    mask = torch.tensor([[True, False], [True, True]])
    for asked in ((ids, None), (ids, mask), (ids[:, :1], mask[:, 1:])):
        found = whole.step(asked[0], whole.begin(2), asked[1])[0]
        torch.testing.assert_close(found, model.step(asked[0], model.begin(2), asked[1])[0], rtol=0, atol=0)
    assert whole.graph is None


@torch.no_grad()
def test_a_state_that_grows_is_never_captured():
    """Of a Transformer without room made for it: every step has another shape."""
    model = neural({"kind": "transformer", "size": 8, "layers": 1, "heads": 2}, double=True)
    whole = Graphed(model)
    state, own = whole.begin(1), model.begin(1)
    for symbol in (5, 6, 7, 5):
        found, state = whole.step(torch.tensor([[symbol]]), state)
        expected, own = model.step(torch.tensor([[symbol]]), own)
        torch.testing.assert_close(found, expected, rtol=0, atol=0)
    assert whole.graph is None


def test_room_is_asked_for_once_and_counted_down():
    """A cache of 5 slots of which 3 are used has room for two steps; a state without slots has no end."""
    whole = Graphed(neural({"kind": "recurrent", "size": 6}))
    state: Any = {"encoder": {"at": torch.zeros(1, 5), "used": torch.tensor([3])}}
    assert [whole._has_room(state) for _ in range(3)] == [True, True, False]
    assert all(whole._has_room({"encoder": {"h": torch.zeros(1, 2)}}) for _ in range(9))
