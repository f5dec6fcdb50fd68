"""What every registered cell keeps, alone: each of its fast paths equals the plain loop, values and gradients.

The encoder's contract runs over every cell too (padding, chunks, starts, reversal, save and load): test_encoders.py.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
import torch
from torch import Tensor

from foresay import parts
from foresay.encode.cells.cell import Cell
from foresay.encode.cells.scanned import Scanned
from foresay.kernels.recurrent import engine
from foresay.kernels.recurrent.library import Library
from foresay.kernels.switch import as_file
from tests.contracts.settings import B, D, T, described, label

every = pytest.mark.parametrize("recipe", described("cell"), ids=label)
H = 7
LONG = 37  # two vectors of sixteen and a tail: the fused loop's own width
# float32 against float64, the length of the difference over that of the reference: test_fused.py's 2e-6 for cells, and
# more for modifiers around modifiers, where the plain loop in float32 is off by 4e-6 itself
FUSED = 1e-5


def build(recipe: dict[str, Any], size: int = H, dtype: torch.dtype = torch.float64) -> Cell:
    torch.manual_seed(1)
    cell = parts.make("cell", recipe)
    cell.build(D, size)
    with torch.no_grad():
        for parameter in cell.parameters():
            parameter.add_(0.1 * torch.randn_like(parameter))
    return cell.to(dtype)


@pytest.fixture
def ways(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """How often each fast way has run; the fused one is worth it at any size."""
    ran: Counter[str] = Counter()

    def counted(owner: Any, name: str, way: str) -> None:
        whole = getattr(owner, name)

        def call(*given: Any) -> Any:
            ran[way] += 1
            return whole(*given)

        monkeypatch.setattr(owner, name, call)

    counted(engine, "run_fused", "fused")
    counted(Library, "run", "library")
    for cls in (Scanned, *(parts.find("cell", name) for name in parts.names("cell"))):
        if "scan" in vars(cls):
            counted(cls, "scan", "scan")
    monkeypatch.setattr(engine, "WORTH", 0)
    return ran


def run(cell: Cell, monkeypatch: pytest.MonkeyPatch, plain: str) -> Any:
    """y, the states after, the gradients of x and parameters, and those of the states before."""
    monkeypatch.setenv("FORESAY_PLAIN", plain)
    dtype = next(cell.parameters()).dtype
    torch.manual_seed(2)
    x = torch.randn(B, T, D, dtype=torch.float64).to(dtype).requires_grad_()
    zeros = cell.begin(x)
    memory = {name: torch.rand(zero.shape, dtype=torch.float64).to(dtype) for name, zero in zeros.items()}
    memory = {name: state.requires_grad_() for name, state in memory.items()}
    torch.manual_seed(3)  # what a modifier draws, the same whatever the dtype
    y, after = cell.run(x, memory)
    values = [y, *(after[name] for name in memory)]
    generator = torch.Generator().manual_seed(4)
    pulls = [torch.randn(v.shape, dtype=torch.float64, generator=generator).to(dtype) for v in values]
    loss = sum((value * pull).sum() for value, pull in zip(values, pulls, strict=True))
    grads = torch.autograd.grad(loss, [x, *cell.parameters(), *memory.values()], materialize_grads=True)
    return y, after, grads[: -len(memory)], grads[-len(memory) :]


def tensors(found: Any) -> list[Tensor]:
    y, after, grads, pulled = found
    return [y, *(after[name] for name in sorted(after)), *grads, *pulled]


@pytest.mark.parametrize("training", [False, True], ids=["eval", "training"])
@every
def test_fast_path_equals_plain_loop(recipe, training, ways, monkeypatch):
    """The fused loop in float32 against the plain one in float64; torch's functions and scans in float64 too."""
    fast = run(build(recipe, LONG, torch.float32).train(training), monkeypatch, "0")
    assert ways, "nothing but the plain loop has run"
    cell, ran = build(recipe, LONG).train(training), dict(ways)
    plain = run(cell, monkeypatch, "1")
    assert ways == ran
    for one, other in zip(tensors(fast), tensors(plain), strict=True):
        assert (one.double() - other).norm() <= FUSED * other.norm()
    if "fused" not in ways:
        torch.testing.assert_close(run(cell, monkeypatch, "0"), plain, rtol=1e-10, atol=1e-10)
        assert ways.total() > sum(ran.values())
    assert all((grad != 0).any() for grad in plain[2])
    assert any((grad != 0).any() for grad in plain[3])


@every
@torch.no_grad()
def test_rolled_up_equals_plain_loop(recipe, monkeypatch):
    """As a graph in a file runs it, the mask too: no state moves at padding."""
    monkeypatch.setenv("FORESAY_PLAIN", "1")
    cell = build(recipe).eval()
    x, mask = (
        torch.randn(B, T, D, dtype=torch.float64),
        torch.arange(T) < torch.tensor([T - 2, *[T] * (B - 1)])[:, None],
    )
    memory = {name: torch.rand_like(zero) for name, zero in cell.begin(x).items()}
    for kept in (None, mask):
        plain = cell.run(x, memory, kept)
        with as_file():
            rolled = cell.run(x, memory, kept)
        torch.testing.assert_close(rolled, plain, rtol=1e-10, atol=1e-10)


@every
def test_states_and_shapes(recipe):
    cell = build(recipe).eval()
    x = torch.randn(B, T, D, dtype=torch.float64)
    memory = cell.begin(x)
    y, after = cell.run(x, memory)
    assert y.shape == (B, T, cell.width) and after.keys() == memory.keys() >= set(cell.states)
    assert torch.equal(after["h"], y[:, -1])
    assert all(after[name].shape == zero.shape for name, zero in memory.items())


@every
def test_trace_names_every_state_and_value(recipe):
    """All (B, T, width); the states are those of the run, and the last of each is what is carried on."""
    cell = build(recipe).eval()
    x = torch.randn(B, T, D, dtype=torch.float64)
    found, after = cell.trace(x, cell.begin(x))
    assert set(found) >= set(cell.states)
    assert all(value.shape[:2] == (B, T) for value in found.values())
    y, expected = cell.run(x, cell.begin(x))
    torch.testing.assert_close(found["h"], y, rtol=1e-10, atol=1e-10)
    torch.testing.assert_close(after, expected, rtol=1e-10, atol=1e-10)
    for name in cell.states:
        torch.testing.assert_close(found[name][:, -1], after[name], rtol=1e-10, atol=1e-10)


@every
def test_describe_and_make(recipe):
    cell = build(recipe)
    assert parts.describe(parts.make("cell", parts.describe(cell))) == parts.describe(cell)
