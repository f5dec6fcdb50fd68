"""A carried state that does not fit is one line, for every encoder that carries one; the right one passes."""

from __future__ import annotations

import pytest
import torch

from foresay import parts
from foresay.encode.encoder import Encoder, map_state, reorder
from foresay.encode.recurrent import Recurrent
from foresay.errors import UserError
from tests.contracts.settings import B, D, T, described, label

CARRYING = [recipe for recipe in described("encoder") if parts.make("encoder", recipe).causal]
carrying = pytest.mark.parametrize("recipe", CARRYING, ids=label)


def build(recipe) -> Encoder:
    torch.manual_seed(1)
    encoder = parts.make("encoder", recipe)
    encoder.build(D)
    return encoder.eval()


def refused(encoder: Encoder, state, rows: int = B) -> str:
    with pytest.raises(UserError) as caught:
        encoder(torch.randn(rows, T, D), state=state)
    assert "\n" not in str(caught.value)
    return str(caught.value)


@carrying
def test_what_a_call_gave_is_admitted(recipe):
    encoder = build(recipe)
    state = encoder(torch.randn(B, T, D))[1]
    for good in (encoder.begin(B), state, reorder(state, torch.tensor([1, 0])), encoder(torch.randn(B, 0, D))[1]):
        encoder(torch.randn(B, T, D), state=good)


@carrying
def test_a_state_that_lacks_something(recipe):
    encoder = build(recipe)
    for name in encoder.begin(B):
        state = {key: value for key, value in encoder.begin(B).items() if key != name}
        line = refused(encoder, state)
        assert line.startswith(f"state has no {name}") and line.endswith(", or what the last call gave")


@carrying
def test_a_state_whose_rows_do_not_agree(recipe):
    encoder = build(recipe)
    for name, value in encoder.begin(3).items():
        line = refused(encoder, encoder.begin(B) | {name: value})
        assert "has 3 rows, others 2" in line or "has 2 rows, others 3" in line, line


@carrying
@pytest.mark.parametrize("rows", [1, 3])
def test_a_state_of_other_rows_than_x(recipe, rows):
    encoder = build(recipe)
    assert f"state has {rows} rows and x has 2" in refused(encoder, encoder.begin(rows))
    for call in (encoder.layers, encoder.trace):
        with pytest.raises(UserError, match=f"state has {rows} rows and x has 2"):
            call(torch.randn(B, T, D), state=encoder.begin(rows))


@carrying
def test_a_state_of_another_width(recipe):
    """Every tensor with one more axis."""
    encoder = build(recipe)
    state = map_state(encoder.begin(B), lambda tensor: tensor[..., None])
    assert "; allowed: (2" in refused(encoder, state)


@pytest.mark.parametrize("cell", ["lstm", "gru", "peephole", "elman", "mingru", {"kind": "shortcut", "steps": 3}])
@pytest.mark.parametrize("rows", [1, 3])
def test_a_recurrent_state_with_other_rows_than_x(cell, rows):
    """torch's own LSTM would read past the end of it."""
    encoder = Recurrent(cell=parts.make("cell", cell), size=64)
    encoder.build(D)
    expected = f"state has {rows} rows and x has 2; pass encoder.begin(2), or what the last call gave for these rows"
    assert refused(encoder, encoder.begin(rows)) == expected
    for call in (encoder.layers, encoder.trace, encoder.forward):
        with pytest.raises(UserError, match=f"state has {rows} rows"):
            call(torch.randn(2, T, D), None, encoder.begin(rows))


def test_the_lines_of_an_lstm():
    encoder = build({"kind": "recurrent", "size": 6})
    state = encoder.begin(2)
    remedy = "pass encoder.begin(2), or what the last call gave"
    assert refused(encoder, {"position": state["position"]}) == f"state has no 0; it has position; {remedy}"
    assert refused(encoder, {}) == f"state has no position; it has nothing; {remedy}"
    assert (
        refused(encoder, state | {"0": {"h": state["0"]["h"]}}) == f"state has no 0.c; it has position, 0.h; {remedy}"
    )
    assert refused(encoder, state | {"0": state["0"]["h"]}) == f"state has no 0.h; it has position, 0; {remedy}"
    narrow = state | {"0": {"h": torch.zeros(2, 5), "c": torch.zeros(2, 6)}}
    assert refused(encoder, narrow) == f"state 0.h is (2, 5); allowed: (2, 6); {remedy}"
    odd = state | {"0": {"h": torch.zeros(2, 6), "c": torch.zeros(3, 6)}}
    assert refused(encoder, odd) == f"state 0.c has 3 rows, others 2; {remedy}"


def test_an_encoder_built_again_expects_its_new_shapes():
    encoder = Recurrent(size=6)
    encoder.build(D)
    encoder(torch.randn(B, T, D), state=encoder.begin(B))
    encoder.size = 8
    encoder.build(D)
    encoder(torch.randn(B, T, D), state=encoder.begin(B))
