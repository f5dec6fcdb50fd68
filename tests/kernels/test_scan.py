"""Every way to scan against the recurrence written out, values and gradients.

Tolerances: float64 and complex128 1e-10 of the plain twin; float32 and complex64 1e-5 of the float64 twin.
"""

from __future__ import annotations

import pytest
import torch

from foresay.kernels import scan
from foresay.kernels.scan import linear_scan, plain_linear_scan
from tests.gpu import GPU, INTERPRETED, by_kernels

EXACT = [torch.float64, torch.complex128]
NARROW = {torch.float32: torch.float64, torch.complex64: torch.complex128}
STEPS = [1, 2, 3, 16, 29]


def case(dtype, steps=29, shape=(2, 7), device="cpu"):
    torch.manual_seed(steps)
    wide = NARROW.get(dtype, dtype)
    a, b = torch.randn(steps, *shape, dtype=wide) * 0.7, torch.randn(steps, *shape, dtype=wide)
    made = [a, b, torch.randn(shape, dtype=wide)]
    return [tensor.to(device, dtype).requires_grad_() for tensor in made]


def value_and_gradients(function, inputs):
    h = function(*inputs)
    torch.manual_seed(1)
    towards = torch.randn(h.shape, dtype=NARROW.get(h.dtype, h.dtype)).to(h.device, h.dtype)
    return [h, *torch.autograd.grad(h, inputs, towards)]


@pytest.fixture(params=["steps", "doubling"])
def way(request, monkeypatch):
    """Both ways of a CPU, whatever the size."""
    monkeypatch.setattr(scan, "SMALL", -1 if request.param == "steps" else 1 << 40)
    return request.param


def test_by_hand():
    """h0 = 4: 0.5 * 4 + 1 = 3, then 2 * 3 - 1 = 5, then 0 * 5 + 7 = 7."""
    a, b, h0 = torch.tensor([[0.5], [2.0], [0.0]]), torch.tensor([[1.0], [-1.0], [7.0]]), torch.tensor([4.0])
    assert plain_linear_scan(a, b, h0).tolist() == [[3.0], [5.0], [7.0]]
    assert linear_scan(a, b, h0).tolist() == [[3.0], [5.0], [7.0]]


def test_gradient_by_hand(way):
    """loss = h2 = a2 (a1 h0 + b1) + b2 with a = (0.5, 2), h0 = 4, h1 = 3: da = (2 * 4, 3), db = (2, 1), dh0 = 1."""
    a, b, h0 = [torch.tensor(v, requires_grad=True) for v in ([[0.5], [2.0]], [[1.0], [-1.0]], [4.0])]
    linear_scan(a, b, h0)[-1].sum().backward()
    assert [t.grad.flatten().tolist() for t in (a, b, h0)] == [[8.0, 3.0], [2.0, 1.0], [1.0]]


@pytest.mark.parametrize("dtype", EXACT)
@pytest.mark.parametrize("steps", STEPS)
def test_equals_the_plain_twin(way, dtype, steps):
    inputs = case(dtype, steps)
    expected, found = value_and_gradients(plain_linear_scan, inputs), value_and_gradients(linear_scan, inputs)
    torch.testing.assert_close(found, expected, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("dtype", NARROW)
def test_narrow_equals_the_wide_twin(way, dtype):
    found = value_and_gradients(linear_scan, case(dtype))
    expected = value_and_gradients(
        plain_linear_scan, [t.detach().to(NARROW[dtype]).requires_grad_() for t in case(dtype)]
    )
    assert all(tensor.dtype == dtype for tensor in found)
    torch.testing.assert_close(found, expected, rtol=1e-5, atol=1e-5, check_dtype=False)


@pytest.mark.parametrize("dtype", EXACT)
def test_factors_shared_by_all_steps(way, dtype):
    inputs = case(dtype)
    inputs[0] = inputs[0][0, 0].detach().requires_grad_()

    def written_out(a, b, h0):
        return plain_linear_scan(a.expand_as(b), b, h0)

    found, expected = value_and_gradients(linear_scan, inputs), value_and_gradients(written_out, inputs)
    assert found[1].shape == (7,)
    torch.testing.assert_close(found, expected, rtol=1e-10, atol=1e-10)


def test_strided_inputs(way):
    a, b, h0 = case(torch.float64, 7, (5, 6))
    turned = [t.transpose(0, 1).contiguous().transpose(0, 1) for t in (a, b)] + [h0[:, ::2]]
    turned[0], turned[1] = turned[0][:, :, ::2], turned[1][:, :, ::2]
    torch.testing.assert_close(linear_scan(*turned), plain_linear_scan(*turned), rtol=1e-12, atol=1e-12)


def test_long_scans_neither_overflow_nor_drift(way):
    """a = 0.999 for 5000 steps, b = 0.001: h tends to 1; a = 0 forgets at once."""
    a, b = torch.full((5000, 3), 0.999), torch.full((5000, 3), 0.001)
    h = linear_scan(a, b, torch.zeros(3))
    assert h[-1].tolist() == pytest.approx([1 - 0.999**5000] * 3, abs=1e-4)
    assert (linear_scan(torch.zeros(9, 2), torch.ones(9, 2), torch.full((2,), 1e30)) == 1).all()


def test_no_steps_and_switch(monkeypatch):
    assert linear_scan(torch.ones(0, 3), torch.ones(0, 3), torch.ones(3)).shape == (0, 3)
    monkeypatch.setenv("FORESAY_PLAIN", "1")
    monkeypatch.setattr(scan, "sweep", None)
    inputs = case(torch.float64, 4, (2,))
    assert torch.autograd.gradgradcheck(linear_scan, inputs)


def test_only_what_is_wanted(way):
    a, b, h0 = case(torch.float64)
    expected = torch.autograd.grad(plain_linear_scan(a, b, h0).sum(), b)
    found = torch.autograd.grad(linear_scan(a.detach(), b, h0.detach()).sum(), b)
    torch.testing.assert_close(found, expected)


@by_kernels
@pytest.mark.parametrize("triton", [True, False])
@pytest.mark.parametrize("dtype", [*EXACT, *NARROW])
@pytest.mark.parametrize("shape, shared", [((2, 7), False), ((3, 130), False), ((3, 130), True)])
def test_on_a_gpu(dtype, triton, shape, shared, monkeypatch):
    if not triton:
        if INTERPRETED:
            pytest.skip("this way is torch's own")
        monkeypatch.setattr(scan, "has_triton", lambda: False)
    inputs = case(dtype, 53, shape, GPU)
    if shared:
        inputs[0] = inputs[0][0, 0].detach().requires_grad_()
    wide = [t.detach().cpu().to(NARROW.get(dtype, dtype)).requires_grad_() for t in inputs]
    found = value_and_gradients(linear_scan, inputs)
    expected = value_and_gradients(lambda a, b, h: plain_linear_scan(a.expand_as(b), b, h), wide)
    tolerance = 1e-10 if dtype in EXACT else 1e-5  # of the whole: small numbers among large ones are off by more
    for value, wanted in zip(found, expected, strict=True):
        assert (value.cpu() - wanted).norm() <= tolerance * wanted.norm()
