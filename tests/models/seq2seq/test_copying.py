"""Copying by hand: the mass of each symbol, and the mixture in logarithms."""

from __future__ import annotations

import math

import torch

from foresay.models.seq2seq.copying import mass_of, mass_of_all, mixed

SOURCE = torch.tensor([[5, 7, 5]])
WEIGHTS = torch.tensor([[[0.2, 0.5, 0.3], [1.0, 0.0, 0.0]]], dtype=torch.float64)


def test_mass_is_what_is_looked_at_the_places_of_a_symbol():
    every = mass_of_all(WEIGHTS, SOURCE, 9)
    expected = torch.zeros(1, 2, 9, dtype=torch.float64)
    expected[0, 0, 5], expected[0, 0, 7], expected[0, 1, 5] = 0.5, 0.5, 1.0
    torch.testing.assert_close(every, expected)
    targets = torch.tensor([[5, 8]])
    torch.testing.assert_close(mass_of(WEIGHTS, SOURCE, targets), every.gather(2, targets[..., None])[..., 0])


def test_the_mixture():
    """g = sigmoid(log 3) = 3/4: P = 3/4 own + 1/4 mass; without mass log 3/4 + log own, and no NaN for the gradient."""
    gate = torch.full((3,), math.log(3), dtype=torch.float64, requires_grad=True)
    own = torch.tensor([0.2, 0.1, 0.7], dtype=torch.float64).log()
    mass = torch.tensor([0.5, 0.5, 0.0], dtype=torch.float64, requires_grad=True)
    found = mixed(own, gate, mass)
    torch.testing.assert_close(found.exp(), torch.tensor([0.275, 0.2, 0.525], dtype=torch.float64))
    found.sum().backward()
    assert gate.grad is not None and mass.grad is not None
    # d log P / d mass = 1/4 / P;  d log P / d gate = g (1 - g) (own - mass) / P
    torch.testing.assert_close(mass.grad, torch.tensor([0.25 / 0.275, 0.25 / 0.2, 0.0], dtype=torch.float64))
    slope = 3 / 16 * torch.tensor([-0.3 / 0.275, -0.4 / 0.2, 0.7 / 0.525], dtype=torch.float64)
    torch.testing.assert_close(gate.grad, slope)
