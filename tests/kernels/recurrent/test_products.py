"""The product of a step: torch's own numbers, however the weight lies in memory."""

from __future__ import annotations

import pytest
import torch

from foresay.kernels import wide
from foresay.kernels.recurrent import products
from foresay.kernels.recurrent.products import FEW, library, ready

T = FEW + 1
packs = pytest.mark.skipif(library() is None, reason="torch has no MKL here")
lays_out = pytest.mark.skipif(not wide._there(), reason="torch has no oneDNN here")


def weights(depth: int, columns: int) -> dict[str, torch.Tensor]:
    return {
        "as it is": torch.randn(depth, columns),
        "transposed": torch.randn(columns, depth).t(),
        "a slice": torch.randn(depth, columns + 3)[:, 1 : columns + 1],
        "a slice transposed": torch.randn(columns, depth + 3)[:, 2 : depth + 2].t(),
        "strided": torch.randn(depth, 2 * columns)[:, ::2],
    }


def check(out: torch.Tensor, left: torch.Tensor, weight: torch.Tensor, keep: float) -> None:
    expected = (keep * out.double() + left.double() @ weight.double()).to(out.dtype)
    if keep == 0:
        out.fill_(float("nan"))  # what was there is not read
    step = ready(out, left, weight, keep)
    for t in range(len(out)):
        step(t)
    torch.testing.assert_close(out, expected, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("way", ["as it is", "transposed", "a slice", "a slice transposed", "strided"])
@pytest.mark.parametrize("shape", [(5, 7, 11), (1, 1, 1), (2, 1, 9), (3, 9, 1), (33, 64, 130)])
@pytest.mark.parametrize("keep", [0.0, 1.0])
@pytest.mark.parametrize("found", [pytest.param("MKL", marks=packs), pytest.param("oneDNN", marks=lays_out), "neither"])
def test_the_product_of_every_step(way: str, shape: tuple[int, int, int], keep: float, found: str, monkeypatch) -> None:
    torch.manual_seed(1)
    rows, depth, columns = shape
    monkeypatch.setattr(wide, "has_idle_vectors", lambda: found == "oneDNN")
    monkeypatch.setattr(products, "WORTH", 1)
    if found != "MKL":
        monkeypatch.setattr(products, "library", lambda: None)
    check(torch.randn(T, rows, columns), torch.randn(T, rows, depth), weights(depth, columns)[way], keep)
    whole, left = torch.randn(T, rows, columns + 5), torch.randn(T + 2, rows, depth + 4)[1:-1, :, :depth]
    around = whole.clone()
    check(whole[:, :, 2 : columns + 2], left, weights(depth, columns)[way], keep)
    assert torch.equal(whole[:, :, :2], around[:, :, :2]) and torch.equal(
        whole[:, :, columns + 2 :], around[:, :, columns + 2 :]
    )


@pytest.mark.parametrize("idle", [pytest.param(True, marks=lays_out), False])
def test_one_place_for_all_steps(idle: bool, monkeypatch) -> None:
    """What is collected over a step lies in one array (B, N), seen as T of them."""
    monkeypatch.setattr(wide, "has_idle_vectors", lambda: idle)
    monkeypatch.setattr(products, "WORTH", 1)
    torch.manual_seed(1)
    out, left, weight = torch.randn(4, 6), torch.randn(T, 4, 5), torch.randn(5, 6)
    expected = out + (left @ weight).sum(0)
    step = ready(out.expand(T, -1, -1), left, weight)
    for t in reversed(range(T)):
        step(t)
    torch.testing.assert_close(out, expected)


@packs
def test_what_is_packed(monkeypatch) -> None:
    packed = []
    monkeypatch.setattr(wide, "has_idle_vectors", lambda: False)
    monkeypatch.setattr(products, "_packed", lambda *given: packed.append(given[0].shape))
    for steps, dtype in ((FEW, torch.float32), (FEW - 1, torch.float32), (FEW, torch.float64)):
        ready(
            torch.zeros(steps, 2, 3, dtype=dtype), torch.zeros(steps, 2, 4, dtype=dtype), torch.zeros(4, 3, dtype=dtype)
        )
    ready(torch.zeros(FEW, 2, 0), torch.zeros(FEW, 2, 4), torch.zeros(4, 0))
    ready(torch.zeros(FEW, 0, 3), torch.zeros(FEW, 0, 4), torch.zeros(4, 3))
    assert packed == [(FEW, 2, 3)]


@lays_out
@packs
def test_who_multiplies(monkeypatch) -> None:
    """oneDNN where vectors are idle and there is enough to multiply; nobody's library for the plain twin."""
    taken = []
    monkeypatch.setattr(products, "_packed", lambda *_: taken.append("MKL"))
    monkeypatch.setattr(products, "_added", lambda *_: taken.append("oneDNN"))
    large, small = ((torch.zeros(FEW, 64, n), torch.zeros(FEW, 64, n), torch.zeros(n, n)) for n in (128, 16))
    for idle in (True, False):
        monkeypatch.setattr(wide, "has_idle_vectors", lambda idle=idle: idle)
        ready(*large)
        ready(*small)
    assert taken == ["oneDNN", "MKL", "MKL", "MKL"]
