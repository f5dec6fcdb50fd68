"""One step that looks back: the loops against the plain twin, and that against attention over gathered slots."""

from __future__ import annotations

import pytest
import torch

from foresay.kernels import attend as module
from foresay.kernels.attend import Slots, attend, attend_plain
from tests.gpu import GPU, by_kernels

B, N, G, C, D, E = 3, 4, 2, 7, 5, 6


def given(kind=torch.float32, window: int = 1 << 60):
    generator = torch.Generator().manual_seed(1)
    q, k, v = (torch.randn(B, *shape, generator=generator).to(kind) for shape in ((N, D), (C, G, D), (C, G, E)))
    rows = torch.randint(B, (B, C), generator=generator)
    at = torch.tensor([[0, 1, 2, 3, 4, 5, 6], [0, -1, 1, -1, 2, 3, -1], [0, 1, 2, -1, -1, -1, -1]])
    return q, k, v, Slots(rows, at, torch.tensor([2, 0, 3]), torch.tensor([6, 3, 3]), 6, window)


@pytest.mark.parametrize("window", [1 << 60, 2])
def test_loops_equal_plain(window):
    q, k, v, slots = given(window=window)
    wide = [t.double() for t in (q, k, v)]
    torch.testing.assert_close(
        attend(q, k, v, slots, 0.4).double(), attend_plain(*wide, slots, 0.4), rtol=1e-5, atol=1e-6
    )


def test_plain_equals_a_loop_over_slots():
    q, k, v, slots = given(torch.float64)
    y = attend_plain(q, k, v, slots, 0.4)
    for b in range(B):
        seen = [c for c in range(6) if slots.begun[b] <= slots.at[b, c] <= slots.position[b]]
        for n in range(N):
            scores = torch.stack([0.4 * (q[b, n] @ k[slots.rows[b, c], c, n // 2]) for c in seen]) if seen else None
            expected = torch.zeros(E, dtype=torch.float64)
            if scores is not None:
                expected = scores.softmax(0) @ torch.stack([v[slots.rows[b, c], c, n // 2] for c in seen])
            torch.testing.assert_close(y[b, n], expected)
    assert (y[2] == 0).all()  # its document begins after its last slot


def test_threads_give_the_same(monkeypatch):
    q, k, v, slots = given()
    alone = attend(q, k, v, slots, 0.4)
    monkeypatch.setattr(module, "WORTH", 1)
    monkeypatch.setattr(torch, "get_num_threads", lambda: 3)
    assert torch.equal(attend(q, k, v, slots, 0.4), alone)


@by_kernels
@pytest.mark.parametrize("window", [1 << 60, 2])
@pytest.mark.parametrize("some", [2, 4, 64])
def test_on_a_gpu(window, some, monkeypatch):
    """The newest slot comes beside the query and is written to its place; slots in one part, and in several."""
    from foresay.kernels import attend_triton
    from foresay.kernels.attend_triton import attend_and_keep

    monkeypatch.setattr(attend_triton, "SLOTS", some)
    q, k, v, slots = given(torch.float64, window)
    rows, at, last = slots.rows.clone(), slots.at.clone(), slots.end - 1
    rows[:, last] = torch.arange(B)
    at[:, last] = slots.position
    expected = attend_plain(q, k, v, slots._replace(rows=rows, at=at), 0.4)
    device = {name: value.to(GPU) for name, value in {"rows": rows, "at": at, "begun": slots.begun}.items()}
    state = device | {"used": torch.full((B,), last, device=GPU)}
    held = {"k": k.float().to(GPU), "v": v.float().to(GPU)}
    new_k, new_v = held["k"][:, last].clone(), held["v"][:, last].clone()
    held["k"][:, last], held["v"][:, last] = 0, 0
    arrived = torch.zeros(B, N, dtype=torch.int32, device=GPU)
    found = attend_and_keep(q.float().to(GPU), new_k, new_v, held, state, slots.position.to(GPU), 0.4, window, arrived)
    visible = slots.position >= slots.begun
    torch.testing.assert_close(found.cpu().double()[visible], expected[visible], rtol=1e-5, atol=1e-5)
    assert torch.equal(held["k"][:, last], new_k) and torch.equal(held["v"][:, last], new_v)
