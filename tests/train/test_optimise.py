"""Optimisers: which weights decay, and a memory that survives without pickle."""

from __future__ import annotations

import copy

import pytest
import torch
from torch import Tensor, nn

from foresay import parts
from foresay.train.optimise import SGD, AdamW, Optimizer, optimizer_tensors, restore_optimizer, set_rate

EVERY = [AdamW(weight_decay=0.1), parts.make("optimizer", "adam"), SGD(momentum=0.9, weight_decay=0.1), SGD()]


def model() -> nn.Module:
    torch.manual_seed(0)
    net = nn.Sequential(nn.Linear(3, 5), nn.LayerNorm(5), nn.Linear(5, 2))
    net[0].weight.requires_grad_(False)
    return net


def step(net: nn.Module, optimizer: torch.optim.Optimizer, seed: int) -> None:
    torch.manual_seed(seed)
    net(torch.randn(7, 3)).square().mean().backward()
    optimizer.step()
    optimizer.zero_grad()


def weights(net: nn.Module) -> list[Tensor]:
    return [p.detach() for p in net.parameters()]


def test_every_registered_optimiser_is_here() -> None:
    assert {optimizer.part_name for optimizer in EVERY} == set(parts.names("optimizer"))


def test_only_matrices_decay_and_frozen_ones_are_left_out() -> None:
    net = model()
    groups = AdamW(lr=0.5, weight_decay=0.1).open(net).param_groups
    decayed, kept = groups
    assert decayed["weight_decay"] == 0.1 and kept["weight_decay"] == 0.0
    assert [p is net[2].weight for p in decayed["params"]] == [True]
    assert [tuple(p.shape) for p in kept["params"]] == [(5,), (5,), (5,), (2,)]  # biases and the norm's two


def test_one_step_of_decay_by_hand() -> None:
    net = model()
    before = [p.clone() for p in weights(net)]
    optimizer = SGD(lr=0.5, weight_decay=0.1).open(net)
    for parameter in net.parameters():
        parameter.grad = torch.zeros_like(parameter)
    optimizer.step()
    torch.testing.assert_close(net[2].weight.detach(), before[4] * (1 - 0.5 * 0.1))
    for index in (0, 1, 2, 3, 5):
        assert torch.equal(weights(net)[index], before[index])


@pytest.mark.parametrize("settings", EVERY, ids=lambda optimizer: optimizer.part_name)
def test_restored_it_steps_as_torchs_own_state_dict_does(settings: Optimizer) -> None:
    ours = model()
    optimizer = settings.open(ours)
    for seed in range(3):
        step(ours, optimizer, seed)
    theirs, restored = copy.deepcopy(ours), copy.deepcopy(ours)
    by_torch, by_us = settings.open(theirs), settings.open(restored)
    by_torch.load_state_dict(copy.deepcopy(optimizer.state_dict()))
    restore_optimizer(by_us, {name: tensor.clone() for name, tensor in optimizer_tensors(optimizer).items()})

    for index, values in by_torch.state_dict()["state"].items():
        for name, value in values.items():
            found = by_us.state_dict()["state"].get(index, {}).get(name)
            if isinstance(value, Tensor):
                assert found is not None and found.dtype == value.dtype and torch.equal(found, value)
    for net, made in ((ours, optimizer), (theirs, by_torch), (restored, by_us)):
        step(net, made, 3)
    for one, other, another in zip(weights(ours), weights(theirs), weights(restored), strict=True):
        assert torch.equal(one, other) and torch.equal(one, another)


def test_an_optimiser_that_forgets_steps_elsewhere() -> None:
    ours = model()
    optimizer = AdamW(lr=0.1).open(ours)
    step(ours, optimizer, 0)
    fresh = copy.deepcopy(ours)
    step(ours, optimizer, 1)
    step(fresh, AdamW(lr=0.1).open(fresh), 1)
    assert not torch.equal(ours[2].weight, fresh[2].weight)


def test_the_rate_is_set_in_every_group() -> None:
    optimizer = AdamW().open(model())
    set_rate(optimizer, 0.25)
    assert [group["lr"] for group in optimizer.param_groups] == [0.25, 0.25]
