"""Gates and values read off all states at once equal those of the plain loop, values and gradients.

float32 against float64: 3e-6 of the largest value, as for the states.
"""

from __future__ import annotations

import pytest
import torch

from foresay import parts
from foresay.kernels.recurrent import engine
from foresay.kernels.recurrent.plain import Inputs, run_plain
from foresay.kernels.recurrent.values import read_values
from tests.contracts.settings import described, label

B, T, D, H = 3, 6, 5, 7


def made(recipe, dtype: torch.dtype = torch.float64) -> tuple:
    torch.manual_seed(1)
    cell = parts.make("cell", recipe)
    cell.build(D, H)
    with torch.no_grad():
        for parameter in cell.parameters():
            parameter.add_(0.2 * torch.randn_like(parameter))
    cell, x = cell.to(dtype), torch.randn(B, T, D).to(dtype)
    memory = {name: torch.rand(zero.shape).to(dtype) for name, zero in cell.begin(x).items()}
    torch.manual_seed(2)
    return cell.maths, cell.inputs(x, memory, torch.arange(T) < torch.tensor([[6], [2], [4]]))


@pytest.mark.parametrize("recipe", described("cell"), ids=label)
def test_all_at_once_equals_step_by_step(recipe):
    """The states from the plain loop, the values from them: the same values, at every real step."""
    maths, inputs = made(recipe)
    wanted = (*maths.values(), *(f"new:{name}" for name in maths.states))
    kept, _ = run_plain(maths, inputs, wanted)
    found = read_values(maths, inputs, histories(maths, inputs, kept), maths.values())
    assert set(found) == set(maths.values())
    for key, value in found.items():
        torch.testing.assert_close(value[inputs.mask], kept[key][inputs.mask], rtol=1e-10, atol=1e-10)


def histories(maths, inputs: Inputs, kept: dict) -> dict:
    """Every state with those before the first step, as many for each."""
    before = {name: state[:, None] if state.dim() == 2 else state for name, state in inputs.states.items()}
    most = max(state.shape[1] for state in before.values())
    padded = {n: torch.cat([s.new_zeros(B, most - s.shape[1], s.shape[2]), s], 1) for n, s in before.items()}
    return {name: torch.cat([padded[name].transpose(0, 1), kept[f"new:{name}"]]) for name in maths.states}


@pytest.mark.parametrize("kind", ["lstm", "gru", "shortcut"])
def test_a_fused_loop_gives_values_too(kind):
    from foresay.kernels.recurrent.loop import Loop

    maths, inputs = made({"kind": kind})
    wanted = (*maths.values(), "new:h")
    expected, _ = run_plain(maths, inputs, wanted)
    maths, inputs = made({"kind": kind}, torch.float32)
    fed = inputs.fed.clone()
    found, _ = engine.run_fused(Loop, maths, inputs, wanted)
    assert torch.equal(inputs.fed, fed)
    assert list(found) == ["new:h", *maths.values()]
    for key in wanted:
        off = (found[key].double() - expected[key])[inputs.mask].abs().max() / expected[key].abs().max()
        assert off < 3e-6, key
