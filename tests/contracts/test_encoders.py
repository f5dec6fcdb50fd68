"""What every registered encoder keeps (contract 3), in float64 so that equal means equal to 1e-10."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from safetensors.torch import load, save
from torch import Tensor

from foresay import parts
from foresay.encode.encoder import Encoder, State, flatten_state, joined, map_state, reorder, unflatten_state
from foresay.errors import UserError
from tests.contracts.settings import B, D, T, described, label

CELLS = [{"kind": "recurrent", "size": 7, "cell": cell} for cell in described("cell")]
CELLS += [{"kind": "recurrent", "size": 14, "cell": cell, "bidirectional": True} for cell in described("cell")]
ALL = described("encoder") + CELLS
CAUSAL = [recipe for recipe in ALL if parts.make("encoder", recipe).causal]
BOTH_SIDED = [recipe for recipe in ALL if recipe not in CAUSAL]
every = pytest.mark.parametrize("recipe", ALL, ids=label)
every_causal = pytest.mark.parametrize("recipe", CAUSAL, ids=label)


def build(recipe: dict[str, Any]) -> Encoder:
    torch.manual_seed(1)
    encoder = parts.make("encoder", recipe)
    encoder.build(D)
    with torch.no_grad():
        for parameter in encoder.parameters():  # nothing at zero, where a mistake would not show
            parameter.add_(0.3 * torch.randn_like(parameter))
    return encoder.double().eval()


def inputs(rows: int = B, steps: int = T) -> Tensor:
    torch.manual_seed(2)
    return torch.randn(rows, steps, D, dtype=torch.float64)


def right_padding(*lengths: int, steps: int = T) -> Tensor:
    return torch.arange(steps) < torch.tensor(lengths)[:, None]


def same(one: Tensor, other: Tensor) -> None:
    torch.testing.assert_close(one, other, rtol=1e-10, atol=1e-10)


def same_state(one: State, other: State) -> None:
    a, b = flatten_state(one), flatten_state(other)
    assert a.keys() == b.keys()
    for name in a:
        same(a[name], b[name])


def follow_up(encoder: Encoder, state: State) -> Tensor:
    """What a state is worth: the outputs that follow from it."""
    return encoder(inputs(len(state["position"]), 4).flip(1), None, state)[0]


@every
def test_shapes(recipe):
    encoder = build(recipe)
    y, state = encoder(inputs())
    assert y.shape == (B, T, encoder.width) and y.dtype == torch.float64
    assert state["position"].tolist() == [T] * B
    layers = encoder.layers(inputs())
    same(layers[-1], y)
    assert all(layer.shape[:2] == (B, T) for layer in layers)


@every
def test_state_is_tensors_batch_first(recipe):
    state = build(recipe)(inputs(), right_padding(3, 5))[1]
    flat = flatten_state(state)
    assert all(isinstance(tensor, Tensor) and len(tensor) == B for tensor in flat.values())
    assert state["position"].dtype == torch.long and state["position"].tolist() == [3, 5]
    same_state(unflatten_state(flat), state)


@every
def test_padding_changes_no_real_position(recipe):
    encoder, x = build(recipe), inputs(4)
    lengths, mask = [3, 5, 1, 0], right_padding(3, 5, 1, 0)
    y, _ = encoder(x, mask)
    other = encoder(torch.where(mask[..., None], x, 9.0), mask)[0]
    same(other, y)
    assert (y[~mask] == 0).all()
    for row, length in enumerate(lengths):
        if length:
            same(y[row : row + 1, :length], encoder(x[row : row + 1, :length])[0])


@every
def test_batch_order_does_not_matter(recipe):
    encoder, x, mask = build(recipe), inputs(3), right_padding(3, 5, 4)
    order = torch.tensor([2, 0, 1])
    y, state = encoder(x, mask)
    moved, moved_state = encoder(x[order], mask[order])
    same(moved, y[order])
    same_state(moved_state, reorder(state, order))


@every_causal
def test_ignores_the_future(recipe):
    encoder, x = build(recipe), inputs().requires_grad_()
    for step in range(T):
        (grad,) = torch.autograd.grad(encoder(x)[0][:, step].square().sum(), x)
        assert (grad[:, step + 1 :] == 0).all()
        assert (grad[:, step] != 0).any()


@every_causal
@pytest.mark.parametrize("sizes", [[2, 3], [1, 3, 1], [1] * T])
def test_chunks_equal_one_pass(recipe, sizes):
    encoder, x = build(recipe), inputs()
    whole, end = encoder(x)
    state, outputs = encoder.begin(B), []
    state = map_state(state, lambda t: t.double() if t.is_floating_point() else t)
    for chunk in x.split(sizes, 1):
        y, state = encoder(chunk, None, state)
        outputs.append(y)
    same(torch.cat(outputs, 1), whole)
    assert state["position"].tolist() == [T] * B
    same(follow_up(encoder, state), follow_up(encoder, end))


@every_causal
def test_ragged_chunks_equal_one_pass(recipe):
    """Rows of 5, 2, 4 and 3 steps, given as 2, 2, 0 and 1 and then 3, 0, 4 and 2, then two more together."""
    encoder, x, more = build(recipe), inputs(4, 7), inputs(4, 9)[:, 7:]
    first, second, steps = [2, 2, 0, 1], [3, 0, 4, 2], 4
    rest = torch.zeros(4, steps, D, dtype=torch.float64)
    for row, (a, b) in enumerate(zip(first, second, strict=True)):
        rest[row, :b] = x[row, a : a + b]
    one, state = encoder(x[:, :2], right_padding(*first, steps=2))
    two, state = encoder(rest, right_padding(*second, steps=steps), state)
    three, state = encoder(more, None, state)
    assert state["position"].tolist() == [7, 4, 6, 5]
    for row, (a, b) in enumerate(zip(first, second, strict=True)):
        whole = encoder(torch.cat([x[row, : a + b], more[row]])[None])[0][0]
        same(torch.cat([one[row, :a], two[row, :b], three[row]]), whole)


@every_causal
def test_masked_steps_leave_the_state(recipe):
    encoder, x = build(recipe), inputs()
    state = encoder(x)[1]
    y, after = encoder(inputs().flip(0), torch.zeros(B, T, dtype=torch.bool), state)
    assert (y == 0).all()
    assert after["position"].tolist() == [T] * B
    same(follow_up(encoder, after), follow_up(encoder, state))


@every
def test_starts_equal_fresh_runs(recipe):
    encoder, x, mask = build(recipe), inputs(3), right_padding(5, 5, 4)
    starts = torch.zeros(3, T, dtype=torch.bool)
    starts[0, 2] = starts[1, 1] = starts[1, 4] = starts[2, 3] = True
    y, state = encoder(x, mask, starts=starts)
    for row, documents in enumerate([[(0, 2), (2, 5)], [(0, 1), (1, 4), (4, 5)], [(0, 3), (3, 4)]]):
        for begin, end in documents:
            alone, last = encoder(x[row : row + 1, begin:end])
            same(y[row : row + 1, begin:end], alone)
        if encoder.causal:
            gone_on = follow_up(encoder, reorder(state, torch.tensor([row])))
            same(gone_on, follow_up(encoder, last))


@every_causal
def test_start_at_the_first_step_drops_the_state(recipe):
    encoder, x = build(recipe), inputs()
    state = encoder(inputs().flip(0))[1]
    starts = torch.zeros(B, T, dtype=torch.bool)
    starts[0, 0] = True
    y = encoder(x, None, state, starts=starts)[0]
    same(y[0], encoder(x)[0][0])
    same(y[1], encoder(x, None, state)[0][1])


@every_causal
def test_begin_is_no_state(recipe):
    encoder, x = build(recipe), inputs()
    begin = encoder.begin(B, capacity=T)
    assert begin["position"].tolist() == [0] * B
    y, state = encoder(x)
    again, same_end = encoder(x, None, begin)
    same(again, y)
    if not {"rows", "rings", "row"} & begin.keys():  # with room for what comes it holds the same in another way
        same_state(same_end, state)
    same(follow_up(encoder, same_end), follow_up(encoder, state))


@every_causal
def test_reordered_state_branches(recipe):
    encoder = build(recipe)
    state = encoder(inputs())[1]
    rows = torch.tensor([1, 1, 0])
    branched = encoder(inputs()[rows], None, reorder(state, rows))[0]
    same(branched, encoder(inputs(), None, state)[0][rows])


@every_causal
@pytest.mark.parametrize("capacity", [None, 3])
def test_joined_states_go_on_as_each_alone(recipe, capacity):
    """Of rows that have read more and less, some of it padding; each goes on with what follows it, twice."""
    encoder = build(recipe)
    long, short, after = inputs(2), inputs(3, 2).flip(0), inputs(5, 3)
    states = [
        encoder(long, right_padding(T, 1), encoder.begin(2, capacity))[1],
        encoder(short, None, encoder.begin(3, capacity))[1],
    ]
    state = joined([map_state(one, Tensor.clone) for one in states])
    for step in after.split([1, 2], 1):
        y, state = encoder(step, None, state)
        for n, rows in enumerate((slice(0, 2), slice(2, 5))):
            own, states[n] = encoder(step[rows], None, states[n])
            same(y[rows], own)


@every
def test_every_parameter_gets_gradient(recipe):
    encoder = build(recipe).train()
    y = encoder(inputs())[0]
    (y * torch.randn_like(y)).sum().backward()
    silent = [n for n, p in encoder.named_parameters() if p.grad is None or not p.grad.abs().sum() > 0]
    assert not silent


@every
def test_save_and_load(recipe):
    encoder = build(recipe)
    other = parts.make("encoder", parts.describe(encoder))
    other.build(D)
    other.double().eval().load_state_dict(load(save(encoder.state_dict())))
    assert torch.equal(other(inputs())[0], encoder(inputs())[0])
    assert parts.describe(other) == parts.describe(encoder)


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
@every
def test_gpu_equals_cpu(recipe):
    """float32 within 1e-3 of the CPU (cuDNN multiplies in TF32, 11 bits), bfloat16 (8 bits) within 0.1."""
    encoder, x, mask = build(recipe).float(), inputs(4).float(), right_padding(3, 5, 1, 0)
    starts = torch.zeros_like(mask)
    starts[1, 2] = True
    expected, state = encoder(x, mask, starts=starts)
    further = encoder(x, mask, state)[0] if encoder.causal else None
    encoder, x, mask, starts = encoder.cuda(), x.cuda(), mask.cuda(), starts.cuda()
    y, state = encoder(x, mask, starts=starts)
    torch.testing.assert_close(y.cpu(), expected, rtol=1e-3, atol=1e-3)
    if encoder.causal:
        torch.testing.assert_close(encoder(x, mask, state)[0].cpu(), further, rtol=1e-3, atol=1e-3)
    with torch.autocast("cuda", torch.bfloat16):
        y = encoder(x, mask, starts=starts)[0]
    torch.testing.assert_close(y.float().cpu(), expected, rtol=0.1, atol=0.1)
    with torch.autocast("cuda", torch.bfloat16):  # in training some encoders draw noise
        y, state = encoder.train()(x, mask, starts=starts)
        if encoder.causal:
            y = y + 0 * encoder(x, mask, state)[0]
    y.float().sum().backward()
    assert all(parameter.grad.isfinite().all() for parameter in encoder.parameters())


@pytest.mark.parametrize("recipe", BOTH_SIDED, ids=label)
def test_both_sided_encoders_refuse_a_state(recipe):
    encoder = build(recipe)
    with pytest.raises(UserError, match="sees both sides"):
        encoder(inputs(), None, encoder(inputs())[1])


@every
def test_condition_is_refused(recipe):
    with pytest.raises(UserError, match="takes no condition"):
        build(recipe)(inputs(), condition=inputs())
