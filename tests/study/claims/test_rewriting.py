"""What the claims on attention share: BLEU as sacrebleu has it, training that teaches, writing, no chance left."""

from __future__ import annotations

import random

import pytest
import sacrebleu
import torch

from foresay.study.claims.rewriting import batch_of, bleu, build, ended, learn, write
from foresay.text.tokens import SPECIALS, START, STOP

FIRST = len(SPECIALS)


def texts(seed: int) -> tuple[list[list[int]], list[list[int]]]:
    draw = random.Random(seed)
    references = [[draw.randrange(9) for _ in range(draw.randint(4, 12))] for _ in range(20)]
    written = [[one if draw.random() < 0.8 else 0 for one in row][: draw.randint(3, 12)] for row in references]
    return written, references


@pytest.mark.parametrize("seed", [1, 2, 3])
@pytest.mark.parametrize("longer", [0, 3])
def test_bleu_is_that_of_sacrebleu(seed, longer):
    """With texts that are shorter than their references, and longer."""
    written, references = texts(seed)
    written = [[*row, *[8] * longer] for row in written]
    lines = [[" ".join(f"w{one}" for one in row) for row in side] for side in (written, references)]
    theirs = sacrebleu.BLEU(smooth_method="none", tokenize="none").corpus_score(lines[0], [lines[1]])
    assert bleu(written, references) == pytest.approx(theirs.score, rel=1e-9) and 5 < theirs.score < 95


def test_bleu_at_its_ends():
    assert bleu([[1, 2, 3, 4]], [[1, 2, 3, 4]]) == 100 and bleu([[1, 2, 3, 5]], [[1, 2, 3, 4]]) == 0
    assert bleu([[]], [[1, 2, 3, 4]]) == 0


def test_a_batch_is_fed_what_it_should_write():
    source, targets = torch.tensor([[7, STOP]]), torch.tensor([[8, 9, STOP]])
    batch = batch_of(source, targets)
    assert batch.ids is not None and batch.ids.tolist() == [[START, 8, 9]]
    assert batch.targets is targets and batch.source is source and batch.mask is None


def test_it_learns_and_writes_what_it_learnt():
    """One symbol twice; the same seed gives the same network, and the chance of others is left alone."""
    chance = torch.Generator().manual_seed(1)

    def some():
        one = FIRST + torch.randint(3, (16, 1), generator=chance)
        return ended(one), ended(one.repeat(1, 2))

    torch.manual_seed(5)
    before = torch.random.get_rng_state()
    model, same = (build({"form": "attention"}, FIRST + 3, 2) for _ in range(2))
    assert torch.equal(before, torch.random.get_rng_state())
    assert all(map(torch.equal, model.state_dict().values(), same.state_dict().values()))
    learn(model, some, 40)
    sources = ended(FIRST + torch.arange(3)[:, None])
    assert write(model, sources, 6) == [[FIRST + n] * 2 for n in range(3)]
