"""A writing goes on in the tensors of the last one of its shape, and writes what it would write in its own."""

from __future__ import annotations

import gc
import weakref
from dataclasses import dataclass

import pytest
import torch
from torch import nn

from foresay.decode import kept
from foresay.decode.beam import Beam
from foresay.decode.generate import generate
from foresay.decode.graphed import Repeated
from foresay.decode.kept import going_on
from foresay.decode.sample import Greedy, Sample
from foresay.decode.search import Limits
from tests.decode.models import neural

ENCODERS = {
    "lstm": {"kind": "recurrent", "size": 9},
    "transformer": {"kind": "transformer", "size": 16, "heads": 2, "layers": 2, "block": {"activation": "gelu-tanh"}},
    "dilated": {"kind": "dilated", "size": 9, "dilations": [1, 2, 4]},
    "masked": {"kind": "masked", "size": 9, "layers": 2, "columns": 3},
}


@dataclass
class Noted:
    sizes: torch.Tensor


class Own:
    def __init__(self, model, number: float, rows: int = 2):
        self.model, self.name = model, f"number {number}"
        self.x, self.state = torch.full((rows,), number), {"a": {"h": torch.full((rows, 3), number)}}
        self.noted = Noted(torch.full((rows,), number))


def go_on(model, number: float, settings: object = 1, rows: int = 2) -> tuple[Own, Own, Repeated]:
    """The object that was given, what it became, and what is repeated; as if a graph had been captured."""
    new, captured = Own(model, number, rows), object()
    with going_on(new, lambda own: None, model, settings) as (own, repeated):
        repeated.graph = repeated.graph or captured
        assert own.model is model
    return new, own, repeated


@pytest.fixture
def model():
    return nn.Linear(2, 3)


def test_the_last_one_is_taken_up(model):
    _, first, repeated = go_on(model, 1.0)
    new, own, again = go_on(model, 2.0)
    assert own is first and own is not new and again is repeated
    assert own.name == "number 2.0" and own.model is None and new.model is model
    assert float(own.x[0]) == float(own.state["a"]["h"][0, 0]) == float(own.noted.sizes[0]) == 2.0


@pytest.mark.parametrize("other", [{"settings": 2}, {"rows": 3}])
def test_another_begins_anew(model, other):
    _, first, _ = go_on(model, 1.0)
    new, own, _ = go_on(model, 2.0, **other)
    assert own is new and own is not first


def test_other_weights_begin_anew(model):
    go_on(model, 1.0)
    model.weight = nn.Parameter(torch.zeros(3, 2))
    new, own, _ = go_on(model, 2.0)
    assert own is new


def test_plain_twins_and_dropout_begin_anew(model, monkeypatch):
    go_on(model.eval(), 1.0)
    new, own, _ = go_on(model.train(), 2.0)
    assert own is new
    monkeypatch.setenv("FORESAY_PLAIN", "1")
    new, own, _ = go_on(model.eval(), 3.0)
    assert own is new


def test_what_is_large_is_not_kept(model, monkeypatch):
    monkeypatch.setattr(kept, "MOST", 10)
    go_on(model, 1.0)
    new, own, _ = go_on(model, 2.0)
    assert own is new


def test_a_few_are_kept_the_last_used_longest(model):
    go_on(model, 1.0, "first")
    for number in range(kept.FEW):
        go_on(model, 1.0, number)
        go_on(model, 1.0, "first") if number < kept.FEW - 1 else None
    new, own, _ = go_on(model, 2.0, 0)
    assert own is new, "the oldest went"
    new, own, _ = go_on(model, 2.0, "first")
    assert own is not new


def test_no_model_is_kept_alive():
    model = nn.Linear(2, 3)
    go_on(model, 1.0)
    seen = weakref.ref(model)
    del model
    gc.collect()
    assert seen() is None


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device")
@pytest.mark.parametrize("kind", ENCODERS)
def test_texts_as_on_a_cpu(kind, monkeypatch):
    """Three writings each way with other prompts: the second and the third go on in what the first one left."""
    model, other = neural(ENCODERS[kind], double=True), neural(ENCODERS[kind], double=True).cuda()
    made: list[Repeated] = []
    begin = Repeated.__init__
    monkeypatch.setattr(Repeated, "__init__", lambda self, *given: (begin(self, *given), made.append(self))[0])
    given = [[[5, 6, 7], [8, 8, 5]], [[8, 8, 8], [5, 7, 6]], [[7, 6, 7], [6, 6, 5]]]
    for decoder in (Greedy(), Sample(top_p=0.9)):
        made.clear()
        for seed, prompts in enumerate(given):
            found, expected = (generate(one, prompts, decoder, length=20, seed=seed) for one in (other, model))
            assert found == expected
        assert 1 <= sum(one.graph is not None for one in made) <= 2, "for two rows, and for one in doubt"
    made.clear()
    for prompts in given:
        found, expected = (Beam(width=3, alpha=0.6).find(one, prompts, Limits(12)) for one in (other, model))
        assert [own[0].ids for own in found] == [own[0].ids for own in expected]
    assert 1 <= sum(one.graph is not None for one in made) <= 2
