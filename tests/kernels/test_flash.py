"""Attention of whole rows on a CPU against torch's in float64: values, gradients, and what is no number."""

from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F

from foresay.encode.attention import Attention, Heads, Seen
from foresay.kernels import flash
from foresay.kernels.switch import compiles

compiled = pytest.mark.skipif(not compiles(), reason="nothing is compiled")
SHAPES = [(2, 3, 48, 16), (1, 2, 16, 32), (3, 1, 81, 64), (1, 1, 272, 48), (2, 2, 1, 16), (1, 2, 23, 32)]


def rows(shape: tuple[int, ...], *, wide: bool = False, far: float = 1.0) -> tuple[torch.Tensor, list[torch.Tensor]]:
    """Queries, keys and values as parts of one product, as a model has them; queries may be `far`."""
    torch.manual_seed(1)
    b, n, t, d = shape
    whole = torch.randn(b, t, 3 * n * d)
    whole[..., : n * d] *= far
    whole = (whole.double() if wide else whole).requires_grad_()
    return whole, [one.unflatten(-1, (n, d)).transpose(1, 2) for one in whole.split(n * d, -1)]


@compiled
@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("causal", [True, False])
@pytest.mark.parametrize("shape", SHAPES)
def test_equals_float64(shape, causal, threads, monkeypatch):
    monkeypatch.setattr(flash, "LEAST", 0)
    before = torch.get_num_threads()
    torch.set_num_threads(threads)
    try:
        whole, given = rows(shape)
        assert flash.can_attend(*given)
        found = flash.attend(*given, 0.3, causal)
        wide, exact = rows(shape, wide=True)
        expected = F.scaled_dot_product_attention(*exact, is_causal=causal, scale=0.3)
        change = torch.randn_like(found)
        (gradient,) = torch.autograd.grad(found, whole, change)
        (due,) = torch.autograd.grad(expected, wide, change.double())
    finally:
        torch.set_num_threads(before)
    torch.testing.assert_close(found.double(), expected, atol=2e-6, rtol=2e-6)
    torch.testing.assert_close(gradient.double(), due, atol=2e-5, rtol=2e-5)


def documents(rows: int, steps: int, slots: int, *, causal: bool) -> torch.Tensor:
    """Several in a row, of three to five steps each."""
    own = torch.arange(max(steps, slots)).expand(rows, -1) // torch.arange(3, 3 + rows)[:, None]
    seen = own[:, :steps, None] == own[:, None, :slots]
    return seen.tril() if causal else seen


def window(rows: int, steps: int, slots: int) -> torch.Tensor:
    apart = torch.arange(steps)[:, None] - torch.arange(slots)
    return (apart.abs() < 9).expand(rows, -1, -1)


def padding(rows: int, steps: int, slots: int) -> torch.Tensor:
    """Of the last row nothing is seen."""
    lengths = torch.linspace(slots, 0, rows).long()
    return (torch.arange(slots) < lengths[:, None])[:, None]


def anywhere(rows: int, steps: int, slots: int) -> torch.Tensor:
    """Spans in no order, some of nothing."""
    ends = torch.randint(slots + 1, (2, rows, steps, 1))
    column = torch.arange(slots)
    return (column >= ends.amin(0)) & (column < ends.amax(0)) & (torch.rand(rows, steps, 1) < 0.8)


MASKS = {
    "documents before": lambda *sizes: documents(*sizes, causal=True),
    "documents": lambda *sizes: documents(*sizes, causal=False),
    "window": window,
    "padding": padding,
    "anywhere": anywhere,
}


@compiled
@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("sizes", [(3, 48, 48), (2, 37, 70), (4, 70, 5), (2, 8, 129), (3, 1, 9)])
@pytest.mark.parametrize("mask", MASKS)
def test_spans_equal_float64(mask, sizes, threads, monkeypatch):
    """What lies beside the rows is no number and stays so: nothing is read or written there."""
    (b, t, c), beside, made = sizes, 16, []
    monkeypatch.setattr(flash, "_like", lambda x: made.append(amid(torch.empty(x.shape))) or made[-1])

    def amid(x: torch.Tensor) -> torch.Tensor:
        around = torch.full((x.shape[0], x.shape[1], x.shape[2] + 2 * beside, x.shape[3]), torch.nan)
        around[:, :, beside:-beside] = x
        return around[:, :, beside:-beside]

    torch.manual_seed(4)
    seen = MASKS[mask](b, t, c)
    exact = [torch.randn(b, 2, steps, 32, dtype=torch.float64, requires_grad=True) for steps in (t, c, c)]
    given = [amid(one.detach().float()).requires_grad_() for one in exact]
    scores = (0.3 * exact[0] @ exact[1].transpose(2, 3)).masked_fill(~seen[:, None], -torch.inf)
    expected = scores.softmax(-1).nan_to_num(0.0) @ exact[2]
    before = torch.get_num_threads()
    torch.set_num_threads(threads)
    try:
        found = flash.attend(*given, 0.3, causal=False, spans=flash.spans_of(seen))
        change = torch.randn_like(found)
        gradients = torch.autograd.grad(found, given, change)
    finally:
        torch.set_num_threads(before)
    torch.testing.assert_close(found.double(), expected, atol=2e-6, rtol=2e-6)
    due = torch.autograd.grad(expected, exact, change.double())
    for one, other in zip(gradients, due, strict=True):
        torch.testing.assert_close(one.double(), other.nan_to_num(0.0), atol=2e-5, rtol=2e-5)
    assert len(made) == 4
    for one in made:
        around = one._base
        assert around[:, :, :beside].isnan().all() and around[:, :, -beside:].isnan().all()


@pytest.mark.parametrize("mask", MASKS)
def test_spans_of_a_mask(mask):
    seen = MASKS[mask](3, 20, 33)
    spans = flash.spans_of(seen)
    column = torch.arange(33)
    assert torch.equal((column >= spans[..., :1]) & (column < spans[..., 1:]), seen)


def test_a_mask_with_holes_has_no_spans():
    assert flash.spans_of(torch.tensor([[True, True], [True, False]])) is not None
    assert flash.spans_of(torch.tensor([[True, True, True], [True, False, True]])) is None


@compiled
def test_threads_change_no_bit(monkeypatch):
    monkeypatch.setattr(flash, "LEAST", 0)
    before, found = torch.get_num_threads(), []
    for threads in (1, 2):
        torch.set_num_threads(threads)
        whole, given = rows((2, 3, 48, 16))
        y = flash.attend(*given, 0.25, True)
        found.append((y, *torch.autograd.grad(y.sin().sum(), whole)))
    torch.set_num_threads(before)
    assert all(torch.equal(one, other) for one, other in zip(*found, strict=True))


@compiled
def test_far_scores_and_what_is_no_number(monkeypatch):
    """Scores of thousands are a choice; a step that is no number is none, and none before it in the row."""
    monkeypatch.setattr(flash, "LEAST", 0)
    given = rows((1, 1, 32, 16), far=3000.0)[1]
    found = flash.attend(*given, 1.0, True)
    exact = F.scaled_dot_product_attention(*(one.double() for one in given), is_causal=True, scale=1.0)
    torch.testing.assert_close(found.double(), exact, atol=1e-5, rtol=1e-5)
    q, k, v = rows((1, 1, 32, 16))[1]
    k = k.clone()
    k[0, 0, 20, 3] = torch.nan
    found = flash.attend(q, k, v, 1.0, True)[0, 0]
    assert found[:20].isfinite().all() and found[20:].isnan().all()


@compiled
@pytest.mark.parametrize("causal", [True, False])
def test_dropout(causal, monkeypatch):
    """Values that are the unit matrix show the weights: each is 0 or P / (1 - p), and the gradients are of those."""
    monkeypatch.setattr(flash, "LEAST", 0)
    torch.manual_seed(3)
    q, k = (torch.randn(4, 2, 64, 64, requires_grad=True) for _ in range(2))
    v = torch.eye(64).expand(4, 2, 64, 64).clone().requires_grad_()
    found = flash.attend(q, k, v, 0.2, causal, 0.3)
    wide = [one.detach().double().requires_grad_() for one in (q, k, v)]
    scores = 0.2 * wide[0] @ wide[1].transpose(2, 3)
    seen = torch.ones(64, 64, dtype=torch.bool).tril() if causal else torch.ones(64, 64, dtype=torch.bool)
    p = scores.masked_fill(~seen, -torch.inf).softmax(-1)
    kept = found > 0
    torch.testing.assert_close(found.double(), p.where(kept, 0.0).detach() / 0.7, atol=2e-6, rtol=2e-6)
    shares = (kept & seen).sum((2, 3)) / seen.sum()
    assert (shares - 0.7).abs().max() < 0.05 and abs(float(shares.mean()) - 0.7) < 0.015
    apart = (kept[:, :, -1] != kept[:1, :1, -1]).double().mean((2,)).flatten()[1:]
    assert (apart > 0.2).all()  # heads draw each for themselves
    change = torch.randn_like(found)
    due = torch.autograd.grad(p.where(kept, 0.0) / 0.7 @ wide[2], wide, change.double())
    for one, other in zip(torch.autograd.grad(found, (q, k, v), change), due, strict=True):
        torch.testing.assert_close(one.double(), other, atol=2e-5, rtol=2e-5)


@compiled
def test_dropout_is_torchs_to_seed(monkeypatch):
    monkeypatch.setattr(flash, "LEAST", 0)
    given, found = rows((1, 2, 32, 16))[1], []
    for seed in (1, 1, 2):
        torch.manual_seed(seed)
        found.append(flash.attend(*given, 0.25, True, 0.5))
    assert torch.equal(found[0], found[1]) and not torch.equal(found[0], found[2])


@compiled
def test_half_precision_is_widened(monkeypatch):
    monkeypatch.setattr(flash, "LEAST", 0)
    given = [one.bfloat16() for one in rows((1, 2, 32, 16))[1]]
    found = flash.attend(*given, 0.25, True)
    assert found.dtype == torch.bfloat16
    exact = F.scaled_dot_product_attention(*(one.double() for one in given), is_causal=True, scale=0.25)
    torch.testing.assert_close(found, exact.bfloat16(), atol=0, rtol=0.008)


@compiled
@pytest.mark.parametrize("scale", [True, False])
def test_heads_take_it_and_can_do_without(scale, monkeypatch):
    """A layer of heads gives the same with it and without, and its weights the same gradients."""
    torch.manual_seed(2)
    own, x = Attention(32, 2, Heads(scale=scale)), torch.randn(2, 48, 32)
    found = []
    for least in (0, 1 << 60):
        monkeypatch.setattr(flash, "LEAST", least)
        q, k, v = own.project(x)
        assert flash.can_attend(q, k.transpose(1, 2), v.transpose(1, 2)) == (least == 0)
        y = own.mix(q, k, v, Seen(causal=True))
        found.append((y, *torch.autograd.grad(y.square().sum(), list(own.parameters()))))
    for one, other in zip(*found, strict=True):
        torch.testing.assert_close(one, other, atol=1e-4, rtol=1e-4)


@compiled
@pytest.mark.parametrize("holes", [False, True])
@pytest.mark.parametrize("drop", [0.0, 0.5])
def test_heads_take_a_mask_without_holes(holes, drop, monkeypatch):
    """One without seen slots gives zeros either way; one with holes is torch's."""
    calls = []
    own, x = Attention(32, 2, Heads()), torch.randn(3, 21, 32)
    q, k, v = own.project(x)
    slots = documents(3, 21, 21, causal=True)[:, None]
    slots[1, :, 4] = False
    if holes:
        slots[2, :, 20, 0] = True
    found = []
    attend = flash.attend
    monkeypatch.setattr(flash, "attend", lambda *given: calls.append(given) or attend(*given))
    for least in (0, 1 << 60):
        monkeypatch.setattr(flash, "LEAST", least)
        y = own.mix(q, k, v, Seen.only(slots), drop=drop)
        found.append((y, *torch.autograd.grad(y.square().sum(), list(own.parameters()), retain_graph=True)))
        assert len(calls) == (0 if holes else 1)
    if not drop:
        for one, other in zip(*found, strict=True):
            torch.testing.assert_close(one, other, atol=1e-4, rtol=1e-4)


@pytest.mark.parametrize("shape", [(8, 8, 128, 24), (1, 1, 2048, 16)])
def test_other_rows_are_torchs(shape):
    assert not flash.can_attend(*rows(shape)[1])


def test_without_gradients_or_compiler_it_is_torchs(monkeypatch):
    given = rows((8, 8, 128, 16))[1]
    assert flash.can_attend(*given) == compiles()
    with torch.no_grad():
        assert not flash.can_attend(*given)
    monkeypatch.setenv("FORESAY_PLAIN", "1")
    assert not flash.can_attend(*given)
