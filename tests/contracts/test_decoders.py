"""What every registered decoder keeps: one symbol a row, never an impossible one, whatever its neighbours."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from foresay import parts
from foresay.decode.chance import gumbel, keys

B, V = 5, 11
every = pytest.mark.parametrize("name", parts.names("decoder"))


def log_probs() -> Tensor:
    torch.manual_seed(1)
    return (2 * torch.randn(B, V)).log_softmax(1)


def written() -> Tensor:
    torch.manual_seed(2)
    return torch.randint(0, V, (B, 3))


def noise(step: int = 0) -> Tensor:
    return gumbel(keys(1, torch.arange(B)), step, V)


@every
def test_one_symbol_a_row(name):
    chosen = parts.make("decoder", name).choose(log_probs(), written(), noise())[0]
    assert chosen.shape == (B,) and chosen.dtype == torch.long
    assert ((chosen >= 0) & (chosen < V)).all()


@every
def test_never_an_impossible_symbol(name):
    decoder = parts.make("decoder", name)
    possible = torch.rand(B, V, generator=torch.Generator().manual_seed(3)) < 0.3
    possible[:, 4] = True
    barred = log_probs().masked_fill(~possible, -torch.inf)
    for step in range(20):
        chosen = decoder.choose(barred, written(), noise(step))[0]
        assert possible.gather(1, chosen[:, None]).all()


@every
def test_a_certain_symbol_is_chosen(name):
    certain = torch.full((B, V), -torch.inf)
    certain[torch.arange(B), torch.arange(B) + 3] = 0.0
    assert parts.make("decoder", name).choose(certain, written(), noise())[0].tolist() == [3, 4, 5, 6, 7]


@every
def test_a_row_does_not_depend_on_its_neighbours(name):
    decoder = parts.make("decoder", name)
    together = decoder.choose(log_probs(), written(), noise())[0]
    for row in range(B):
        alone = decoder.choose(*(tensor[row : row + 1] for tensor in (log_probs(), written(), noise())))[0]
        assert alone[0] == together[row]


@every
def test_a_clear_choice_stays_when_numbers_shake(name):
    """Within half of the margin nothing that was called clear changes; what is not clear is there too."""
    decoder, margin = parts.make("decoder", name), 0.2
    for step in range(20):
        chosen, clear = decoder.choose(log_probs(), written(), noise(step), margin)
        shaken = log_probs() + margin * (torch.rand(B, V, generator=torch.Generator().manual_seed(step)) - 0.5)
        again = decoder.choose(shaken, written(), noise(step))[0]
        assert (again == chosen)[clear].all()


@every
def test_what_is_given_stays_as_it_was(name):
    given = log_probs(), written(), noise()
    parts.make("decoder", name).choose(*given)
    assert all(torch.equal(one, other) for one, other in zip(given, (log_probs(), written(), noise()), strict=True))
