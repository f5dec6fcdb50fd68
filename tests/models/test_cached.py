"""The cache against its formula, word by word, and the rules of a sequence model."""

from __future__ import annotations

import math
from typing import Any

import pytest
import torch

from foresay import parts
from foresay.data.batch import Batch
from foresay.decode.generate import generate
from foresay.decode.sample import Sample
from foresay.errors import UserError
from foresay.models.cached import Cached
from foresay.text.tokens import START

V, B, T = 11, 2, 9


def build(size: int = 4, flatness: float = 0.7, weight: float = 0.3, encoder: Any = None) -> Cached:
    torch.manual_seed(1)
    inner: Any = parts.make(
        "task",
        {"kind": "language-model", "embedding": {"size": 6}, "encoder": encoder or {"kind": "recurrent", "size": 7}},
    )
    inner.build(V)
    return Cached(inner.double().eval(), size, flatness, weight).eval()


def text(rows: int = B, steps: int = T) -> torch.Tensor:
    return torch.randint(5, 8, (rows, steps), generator=torch.Generator().manual_seed(2))


def by_hand(model: Cached, ids: list[int]) -> list[list[float]]:
    """P of every symbol at every step, by the formula."""
    inner = model.model
    with torch.no_grad():
        read = torch.tensor([[START, *ids]])
        h = inner.features(Batch(ids=read), None)[0][0]
        alone = inner.output.log_probs(h).exp()
    found = []
    for t in range(len(ids) + 1):
        before = range(max(t - model.places, 0), t)
        shares = [math.exp(model.flatness * float(h[t] @ h[i])) for i in before]
        row = []
        for w in range(V):
            own = float(alone[t, w])
            if shares:
                cached = sum(share for i, share in zip(before, shares, strict=True) if ids[i] == w) / sum(shares)
                own = (1 - model.weight) * own + model.weight * cached
            row.append(own)
        found.append(row)
    return found


@pytest.mark.parametrize("size", [1, 4, 50])
@torch.inference_mode()
def test_the_formula(size: int) -> None:
    model = build(size)
    ids = text()
    log_prob, after = model.score(ids)
    for row in range(B):
        expected = by_hand(model, ids[row].tolist())
        for t in range(T):
            assert log_prob[row, t].exp().item() == pytest.approx(expected[t][ids[row, t]], rel=1e-5)
        following, _ = model.step(ids[:, :0], after)
        assert following[row].exp().tolist() == pytest.approx(expected[T], rel=1e-5)
        assert following[row].exp().sum().item() == pytest.approx(1, abs=1e-6)


@torch.inference_mode()
def test_whole_pieces_and_steps() -> None:
    model, ids = build(), text()
    whole, _ = model.score(ids)
    for sizes in ([4, 5], [1] * T):
        found, state = [], model.begin(B)
        for piece in ids.split(sizes, 1):
            log_prob, state = model.score(piece, state=state)
            found.append(log_prob)
        torch.testing.assert_close(torch.cat(found, 1), whole)
    state = model.begin(B)
    for t in range(T):
        rows, state = model.step(ids[:, :0], state)
        torch.testing.assert_close(rows.gather(1, ids[:, t : t + 1])[:, 0], whole[:, t])
        _, state = model.step(ids[:, t : t + 1], state)


@torch.inference_mode()
def test_padding_branches_and_batches() -> None:
    model, ids = build(), text()
    mask = torch.arange(T) < torch.tensor([[5], [T]])
    found, after = model.score(torch.where(mask, ids, 0), mask)
    alone, own = model.score(ids[:1, :5])
    torch.testing.assert_close(found[:1, :5], alone)
    assert not found[0, 5:].any()
    more = text(1, 4)
    on = model.score(more, state=model.reorder(after, torch.tensor([0])))[0]
    torch.testing.assert_close(on, model.score(more, state=own)[0])
    begun = torch.full((B, 1), START)
    batch = Batch(ids=torch.cat([begun, ids[:, :-1]], 1), targets=ids, fresh=True)
    torch.testing.assert_close(model.measure(batch)[0], model.score(ids)[0])
    first, second = (
        Batch(ids=batch.ids[:, part], targets=ids[:, part], fresh=False) for part in (slice(0, 4), slice(4, T))
    )
    one, state = model.measure(first)
    torch.testing.assert_close(torch.cat([one, model.measure(second, state)[0]], 1), model.score(ids)[0])


@torch.inference_mode()
def test_no_weight_is_the_model_alone() -> None:
    ids = text()
    torch.testing.assert_close(build(weight=0.0).score(ids)[0], build().model.score(ids)[0])


def test_what_was_written_comes_again() -> None:
    """Flat, of one symbol alone and with all the weight, the cache repeats it."""
    model = build(size=1, flatness=0.0, weight=0.999)
    assert generate(model, [[6]], Sample(), length=8) == [[6] * 8]


def test_what_has_no_cache() -> None:
    tagger: Any = parts.make("task", "classifier")
    with pytest.raises(UserError, match="a cache is for language models of texts"):
        Cached(tagger)
    with pytest.raises(UserError, match="weight=1"):
        Cached(build().model, weight=1.5)
    batch = Batch(ids=text(), targets=text(), starts=torch.zeros(B, T, dtype=torch.bool))
    with pytest.raises(UserError, match="a cache reads one text a row, and rows are packed"):
        build().measure(batch)
