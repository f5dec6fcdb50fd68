"""The claim `truncated`: its rule, where the gradient ends, chunks of a whole, and a whole run of the smallest size."""

from __future__ import annotations

import pytest
import torch

from foresay.study import recall
from foresay.study.claims import runner, truncated
from foresay.study.claims.claim import Figure
from foresay.study.claims.truncated import CHUNKS, LAG, Size, answer, judge, read_by_chunks
from foresay.train.progress import Watch


def figure(low: float, high: float) -> Figure:
    return Figure("", (low + high) / 2, low, high)


@pytest.mark.parametrize(
    ("short", "whole", "faster", "verdict"),
    [
        ((10, 15), (96, 100), (1.1, 1.2), "holds"),
        ((10, 25), (96, 100), (1.1, 1.2), "not decided at this size"),
        ((10, 15), (90, 100), (1.1, 1.2), "not decided at this size"),
        ((23, 35), (96, 100), (1.1, 1.2), "does not hold"),
        ((10, 15), (96, 100), (0.5, 0.6), "does not hold"),
        ((10, 15), (96, 100), (0.9, 1.2), "not decided at this size"),
    ],
)
def test_the_rule(short, whole, faster, verdict):
    recalled = dict.fromkeys(CHUNKS, figure(10, 12)) | {8: figure(*short), 9: figure(*whole)}
    assert judge(recalled, figure(*faster)) == verdict


@pytest.mark.parametrize("chunk", CHUNKS)
def test_scores_are_those_of_the_whole_and_the_gradient_ends_at_the_chunk(chunk):
    model = recall.build("lstm", 300, 1)
    x = recall.draw(3, LAG, torch.Generator().manual_seed(1))[0].requires_grad_()
    scores = answer(model, x, chunk)
    torch.testing.assert_close(scores, model(x))
    (grad,) = torch.autograd.grad(scores.sum(), x)
    reached = (grad != 0).any(2).any(0)
    assert reached.tolist() == [step >= LAG + 1 - chunk for step in range(LAG + 1)]


def test_chunks_carry_the_state(monkeypatch):
    """With a rate of nothing, the states after chunks are those of the whole sequence."""
    model = recall.build("lstm", 300, 1)
    x = recall.draw(3, 11, torch.Generator().manual_seed(1))[0]
    seen, whole = [], type(model.encoder).forward

    def forward(self, x, mask=None, state=None, **more):
        seen.append(whole(self, x, mask, state, **more))
        return seen[-1]

    monkeypatch.setattr(type(model.encoder), "forward", forward)
    targets = x[:, :, : recall.SYMBOLS].argmax(2)
    read_by_chunks(model, torch.optim.SGD(model.parameters(), lr=0.0), x, targets, 5)
    assert [y.shape[1] for y, _ in seen] == [5, 5, 2]
    torch.testing.assert_close(seen[-1][1]["0"]["c"], whole(model.encoder, x)[1]["0"]["c"])


def test_a_whole_run(monkeypatch, tmp_path):
    monkeypatch.setattr(truncated, "QUICK", Size(2, rows=4, tested=16, parameters=200))
    monkeypatch.setattr(truncated, "TURNS", 2)
    found = runner.run_claim("truncated", quick=True, out=tmp_path, watch=Watch())
    assert len(found["details"]["runs"]) == 15 and len(found["figures"]) == 9
    assert (tmp_path / "truncated.png").stat().st_size > 10_000
