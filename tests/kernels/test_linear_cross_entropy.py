"""The fused loss against its plain twin. Tolerances: float64 1e-10; float32 1e-5 of the float64 twin; bfloat16 2e-2."""

from __future__ import annotations

import pytest
import torch

import foresay.kernels.linear_cross_entropy as kernel
from foresay.kernels.linear_cross_entropy import linear_cross_entropy, plain_linear_cross_entropy, row_chunks
from tests.gpu import GPU, by_kernels

N, H, V = 37, 7, 101


@pytest.fixture(autouse=True)
def nothing_is_small(monkeypatch):
    monkeypatch.setattr(kernel, "CPU_SMALL", -1)
    monkeypatch.setattr(kernel, "GPU_SMALL", -1)


def case(dtype=torch.float64, bias=True, device="cpu"):
    torch.manual_seed(1)
    features = torch.randn(N, H, dtype=torch.float64)
    weight, b = torch.randn(V, H, dtype=torch.float64), torch.randn(V, dtype=torch.float64)
    targets, mask = torch.randint(0, V, (N,)), torch.rand(N) < 0.6
    made = [t.to(device, dtype).requires_grad_() for t in ([features, weight, b] if bias else [features, weight])]
    return (*made, *([] if bias else [None])), targets.to(device), mask.to(device)


def value_and_gradients(function, inputs, targets, mask, scale=3.0):
    loss = function(*inputs, targets, mask)
    wanted = [tensor for tensor in inputs if tensor is not None]
    return loss, torch.autograd.grad(loss * scale, wanted)


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("masked", [True, False])
@pytest.mark.parametrize("chunk_rows", [1, 16, 1000])
@pytest.mark.parametrize("dtype, tolerance", [(torch.float64, 1e-10), (torch.float32, 1e-5)])
def test_equals_the_float64_twin(bias, masked, chunk_rows, dtype, tolerance, monkeypatch):
    monkeypatch.setattr(kernel, "CPU_CHUNK", chunk_rows * V * dtype.itemsize)
    exact, targets, mask = case(bias=bias)
    inputs = case(dtype, bias)[0]
    keep = mask if masked else None
    expected = value_and_gradients(plain_linear_cross_entropy, exact, targets, keep)
    found = value_and_gradients(linear_cross_entropy, inputs, targets, keep)
    assert all(grad.dtype == dtype for grad in found[1])
    torch.testing.assert_close(found, expected, rtol=tolerance, atol=tolerance, check_dtype=False)


def test_mask_inside_the_kernel():
    """The path of a GPU, where masked rows are weighted by 0, not left out; their targets may be anything."""
    inputs, targets, mask = case()
    expected = value_and_gradients(plain_linear_cross_entropy, inputs, targets, mask)
    targets = targets.where(mask, -100)
    loss = kernel._LinearCrossEntropy.apply(*inputs, targets, mask, [True] * 3)
    found = loss, torch.autograd.grad(loss * 3.0, inputs)
    torch.testing.assert_close(found, expected, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("function", [linear_cross_entropy, plain_linear_cross_entropy])
def test_all_masked_is_zero(function):
    inputs, targets, mask = case()
    loss, grads = value_and_gradients(function, inputs, targets, torch.zeros_like(mask))
    assert loss == 0 and all((grad == 0).all() for grad in grads)
    assert function(inputs[0][:0], *inputs[1:], targets[:0]) == 0


def test_large_logits_stay_finite():
    features = torch.tensor([[1000.0], [-1000.0]], requires_grad=True)
    weight = torch.tensor([[1.0], [-1.0], [0.5]], requires_grad=True)
    loss = linear_cross_entropy(features, weight, None, torch.tensor([1, 1]))
    loss.backward()
    assert loss == 1000.0  # (2000 + 0) / 2
    assert features.grad.isfinite().all() and weight.grad.isfinite().all()


def test_only_what_is_wanted():
    (features, weight, bias), targets, _ = case()
    expected = torch.autograd.grad(plain_linear_cross_entropy(features, weight, bias, targets), features)
    loss = linear_cross_entropy(features, weight.detach(), bias.detach(), targets)
    torch.testing.assert_close(torch.autograd.grad(loss, features), expected)
    with torch.no_grad():
        quiet = linear_cross_entropy(features, weight, bias, targets)
    assert not quiet.requires_grad
    torch.testing.assert_close(quiet, loss.detach())


def test_second_backward_is_refused():
    inputs, targets, _ = case()
    loss = linear_cross_entropy(*inputs, targets)
    loss.backward(retain_graph=True)
    with pytest.raises(RuntimeError, match="once per forward"):
        loss.backward()


def test_switch_runs_the_plain_twin(monkeypatch):
    monkeypatch.setenv("FORESAY_PLAIN", "1")
    inputs, targets, _ = case()
    loss = linear_cross_entropy(*inputs, targets)
    loss.backward(retain_graph=True)
    loss.backward()


def test_small_work_runs_the_plain_twin(monkeypatch):
    inputs, targets, _ = case()
    monkeypatch.setattr(kernel, "CPU_SMALL", N * V * 4)
    monkeypatch.setattr(kernel, "_run", None)
    assert linear_cross_entropy(*inputs, targets) == plain_linear_cross_entropy(*inputs, targets)


@pytest.mark.parametrize("rows, vocabulary", [(1, 10), (100, 10), (1000, 100_000), (0, 10)])
def test_chunks_cover_the_rows_once(rows, vocabulary):
    slices = list(row_chunks(rows, vocabulary, torch.device("cpu")))
    assert [i for s in slices for i in range(s.start, s.stop)] == list(range(rows))


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
@pytest.mark.parametrize("masked", [True, False])
@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_autocast_on_a_gpu(masked, dtype):
    """Half-precision products against the float64 twin: 2e-2, the rounding of 8 bits over sums of 7 and 101 terms."""
    exact, targets, mask = case(device="cuda")
    inputs = case(torch.float32, device="cuda")[0]
    keep = mask if masked else None
    expected = value_and_gradients(plain_linear_cross_entropy, exact, targets, keep)
    with torch.autocast("cuda", dtype):
        found = value_and_gradients(linear_cross_entropy, inputs, targets, keep)
    assert found[0].dtype == torch.float32 and all(grad.dtype == torch.float32 for grad in found[1])
    torch.testing.assert_close(found, expected, rtol=2e-2, atol=2e-2, check_dtype=False)


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("small", [0, 1 << 20], ids=["fused", "small"])
def test_even_sizes_change_nothing(bias, small, monkeypatch):
    """What a GPU's matrix units want: H and V multiples of eight, by zeros and by words of probability 0."""
    monkeypatch.setattr(kernel, "CPU_SMALL", small)
    torch.manual_seed(1)
    tensors = [torch.randn(5, 13), torch.randn(11, 13), *([torch.randn(11)] if bias else [])]
    tensors = [tensor.double().requires_grad_() for tensor in tensors]
    targets = torch.tensor([0, 10, 3, 3, 7])
    found = []
    for dtype in (None, torch.float64):
        monkeypatch.setattr(kernel, "half_on_gpu", lambda features, dtype=dtype: dtype)
        loss = kernel.linear_cross_entropy(tensors[0], tensors[1], tensors[2] if bias else None, targets)
        found.append([loss, *torch.autograd.grad(loss, tensors)])
    for expected, value in zip(*found, strict=True):
        torch.testing.assert_close(value, expected)


@by_kernels
@pytest.mark.parametrize("width", [7, 8192, 20000])
def test_softmax_gradient_on_a_gpu(width):
    from foresay.kernels.softmax_triton import softmax_gradient

    torch.manual_seed(1)
    z, targets = torch.randn(5, width, device=GPU), torch.randint(width, (5,), device=GPU)
    exact = z.double().requires_grad_()
    losses = torch.nn.functional.cross_entropy(exact, targets, reduction="none")
    (gradient,) = torch.autograd.grad(losses.sum(), exact)
    found = softmax_gradient(z, targets)
    torch.testing.assert_close(found.double(), losses, rtol=1e-5, atol=1e-5)
    torch.testing.assert_close(z.double(), gradient, rtol=1e-5, atol=1e-6)
