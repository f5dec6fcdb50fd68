"""What a masked language model hides: shares and evenness by counting, whole words by a loop."""

from __future__ import annotations

import math

import pytest
import torch
from torch import Tensor

from foresay.models.masking import Masking, gathered, hide, others, word_begins
from foresay.text.tokens import MASK, PAD, SPECIALS, STOP

V = 23


def symbols(rows: int, steps: int, seed: int = 2) -> Tensor:
    return torch.randint(len(SPECIALS), V, (rows, steps), generator=torch.Generator().manual_seed(seed))


def about(count: float, of: float, share: float) -> bool:
    """Within five deviations of a binomial: one in two million by chance."""
    return abs(count - of * share) < 5 * math.sqrt(of * share * (1 - share))


@pytest.mark.parametrize(("share", "masked", "replaced"), [(0.15, 0.8, 0.1), (0.4, 0.5, 0.5), (0.15, 1.0, 0.0)])
def test_shares_by_counting(share, masked, replaced):
    torch.manual_seed(3)
    targets = symbols(200, 1000)
    read, hidden = hide(targets, None, None, Masking(share, masked, replaced), V, None)
    many = int(hidden.sum())
    assert about(many, targets.numel(), share)
    assert torch.equal(read[~hidden], targets[~hidden])
    assert about(int((read[hidden] == MASK).sum()), many, masked) if masked < 1 else bool((read[hidden] == MASK).all())
    changed = hidden & (read != MASK) & (read != targets)
    assert about(int(changed.sum()), many, replaced) if replaced else not changed.any()
    assert not changed.any() or int(read[changed].min()) >= len(SPECIALS)


def test_another_symbol_is_any_other_evenly():
    torch.manual_seed(4)
    for own in (STOP, len(SPECIALS), 9, V - 1):
        drawn = others(torch.full((40_000,), own), V)
        counts = torch.bincount(drawn, minlength=V)
        assert counts[: len(SPECIALS)].sum() == 0 and counts[own] == 0
        many = 18 if own == STOP else 17  # 18 symbols are no marks
        assert all(about(int(n), 40_000, 1 / many) for symbol, n in enumerate(counts[5:], 5) if symbol != own)


def test_padding_is_never_hidden_and_something_always_is():
    torch.manual_seed(5)
    mask = torch.arange(6) < torch.tensor([[2], [0], [6]])
    targets = symbols(3, 6).where(mask, PAD)
    for _ in range(200):
        read, hidden = hide(targets, mask, None, Masking(0.01), V, None)
        assert hidden.any() and not hidden[~mask].any() and torch.equal(read[~mask], targets[~mask])


def test_whole_words_are_hidden_together():
    """Symbols 5 to 9 open words, 10 to 22 go on; a document's beginning opens one too."""
    torch.manual_seed(6)
    edges = torch.zeros(V, 2, dtype=torch.long)
    edges[5:, 1] = edges[10:, 0] = 1
    targets, starts = symbols(300, 400), torch.zeros(300, 400, dtype=torch.bool)
    starts[:, 200] = True
    begins = word_begins(targets, edges, starts)
    assert begins[0, 0] == 0 and (begins[:, 200] == 200).all() and (begins <= torch.arange(400)).all()
    by_hand = 0
    for step in range(200):
        by_hand = step if targets[7, step] < 10 else by_hand
        assert begins[7, step] == by_hand
    _, hidden = hide(targets, None, starts, Masking(0.15, whole_words=True), V, edges)
    assert torch.equal(hidden, hidden.gather(1, begins))
    words = begins == torch.arange(400)
    assert about(int((hidden & words).sum()), int(words.sum()), 0.15)


def test_what_is_hidden_is_asked_for_once():
    torch.manual_seed(7)
    for rows, steps in ((16, 64), (2, 3), (1, 1)):
        _, hidden = hide(symbols(rows, steps), None, None, Masking(), V, None)
        places, asked = gathered(hidden, Masking())
        assert sorted(places[asked].tolist()) == hidden.flatten().nonzero().flatten().tolist()
        assert len(places) <= max(hidden.numel() // 4, 10)
