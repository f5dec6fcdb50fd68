"""CTC: against every alignment written out, torch's loss and gradient, and cases by hand."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import torch
from torch import Tensor

from foresay.output.ctc import BLANK, best_path, forwards, joined, log_likelihood, needed


def every_text(log_p: Tensor) -> dict[tuple[int, ...], float]:
    """P of each text, by adding up all V^T alignments."""
    found: dict[tuple[int, ...], float] = {}
    steps, symbols = log_p.shape
    for alignment in itertools.product(range(symbols), repeat=steps):
        p = float(log_p[torch.arange(steps), list(alignment)].sum().exp())
        text = tuple(key for key, _ in itertools.groupby(alignment) if key != BLANK)
        found[text] = found.get(text, 0.0) + p
    return found


@pytest.fixture
def log_p() -> Tensor:
    return torch.randn(1, 5, 4, dtype=torch.float64, generator=torch.Generator().manual_seed(3)).log_softmax(-1)


@pytest.mark.parametrize("plain", ["0", "1"])
def test_the_sum_over_all_alignments(log_p: Tensor, plain: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORESAY_PLAIN", plain)
    texts = every_text(log_p[0])
    assert sum(texts.values()) == pytest.approx(1.0, abs=1e-12)
    for text, p in texts.items():
        targets = torch.tensor([[*text, BLANK]])
        found = log_likelihood(log_p, targets, torch.tensor([5]))
        assert found.item() == pytest.approx(np.log(p), abs=1e-10), text


def test_two_steps_by_hand() -> None:
    """P(a) = p(a _) + p(_ a) + p(a a) = .6 .3 + .4 .7 + .6 .7; P() = .4 .3; nothing else fits."""
    log_p = torch.tensor([[[0.4, 0.6], [0.3, 0.7]]]).log()
    sizes = torch.tensor([2])
    for text, p in (([[1]], 0.18 + 0.28 + 0.42), ([[BLANK]], 0.12)):
        assert log_likelihood(log_p, torch.tensor(text), sizes).exp().item() == pytest.approx(p)
    empty = torch.zeros(1, 0, dtype=torch.long)
    assert log_likelihood(log_p, empty, sizes).exp().item() == pytest.approx(0.12)
    assert log_likelihood(log_p, torch.tensor([[1, 1]]), sizes).item() == -torch.inf  # it needs a blank between


def test_values_and_gradients_are_those_of_torch() -> None:
    torch.manual_seed(1)
    z = torch.randn(4, 11, 7, dtype=torch.float64, requires_grad=True)
    targets = torch.tensor([[3, 3, 5, 1], [2, 6, BLANK, BLANK], [BLANK] * 4, [4, 5, 5, BLANK]])
    sizes, counts = torch.tensor([11, 3, 6, 8]), torch.tensor([4, 2, 0, 3])
    library = torch.nn.functional.ctc_loss(
        z.log_softmax(-1).transpose(0, 1), targets, sizes, counts, blank=BLANK, reduction="none"
    )
    (theirs,) = torch.autograd.grad(library.sum(), z)
    own = forwards(z.log_softmax(-1), targets, sizes, counts)
    (ours,) = torch.autograd.grad(-own.sum(), z)
    assert torch.allclose(-own, library, atol=1e-10)
    assert torch.allclose(ours, theirs, atol=1e-10)
    assert torch.allclose(log_likelihood(z.log_softmax(-1), targets, sizes), own, atol=1e-10)
    assert (ours[1, 3:] == 0).all()  # padding


def test_steps_that_a_text_needs() -> None:
    targets = torch.tensor([[3, 3, 5], [3, 5, BLANK], [BLANK] * 3, [4, 4, 4]])
    assert needed(targets).tolist() == [4, 2, 0, 5]
    log_p = torch.zeros(4, 4, 6).log_softmax(-1)
    possible = log_likelihood(log_p, targets, torch.tensor([4] * 4)).isfinite()
    assert possible.tolist() == (needed(targets) <= 4).tolist()


def test_the_best_path() -> None:
    assert joined([0, 2, 2, 0, 2, 3, 3, 0]) == [2, 2, 3]
    assert joined([]) == [] == joined([0, 0])
    p = torch.eye(4)[torch.tensor([[1, 1, 0, 1, 2, 3], [2, 0, 0, 3, 1, 1]])] + 0.1
    assert best_path(p.log(), torch.tensor([6, 3])) == [[1, 1, 2, 3], [2]]
