"""Sequence to sequence: probabilities, gradients, alignments, copying, coverage, smoothing, sampling, search."""

from __future__ import annotations

import math
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor

from foresay import parts
from foresay.data.batch import Batch
from foresay.decode.beam import Beam
from foresay.decode.exhaustive import Exhaustive
from foresay.decode.generate import generate
from foresay.decode.given import Given
from foresay.decode.sample import Greedy, Sample
from foresay.decode.search import Limits
from foresay.errors import UserError
from foresay.models.seq2seq.task import Seq2Seq, looked_twice
from foresay.text.tokens import PAD, START, STOP

V = 11
WRITERS: list[dict[str, Any]] = [
    {"kind": "recurrent", "form": "last", "size": 6},
    {"kind": "recurrent", "form": "context", "size": 6, "cell": "gru"},
    {"kind": "recurrent", "scorer": "additive", "size": 6},
    {"kind": "recurrent", "scorer": "dot", "size": 8},
    {"kind": "recurrent", "scorer": "bilinear", "size": 6},
    {"kind": "recurrent", "size": 6, "copy": True},
    {"kind": "transformer", "size": 8, "heads": 2, "layers": 2},
]
every = pytest.mark.parametrize("writer", WRITERS, ids=lambda one: "-".join(map(str, one.values())))
SOURCE = torch.tensor([[5, 6, 7, 8, STOP], [9, 6, STOP, PAD, PAD], [10, 10, 5, STOP, PAD]])
TARGET = torch.tensor([[7, 8, 9, STOP], [6, STOP, PAD, PAD], [5, 10, STOP, PAD]])
MASK = TARGET != PAD


def made(writer: dict[str, Any], **settings: Any) -> Seq2Seq:
    encoder = {"kind": "recurrent", "size": 8, "bidirectional": True}
    if writer["kind"] == "transformer":
        encoder = {"kind": "transformer", "size": 8, "heads": 2, "layers": 1, "causal": False}
    torch.manual_seed(1)
    model = parts.make(
        "task", {"kind": "seq2seq", "embedding": {"size": 5}, "encoder": encoder, "writer": writer, **settings}
    )
    model.build(V)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(0.3 * torch.randn_like(parameter))
    return model.double().eval()


def number(value: Tensor) -> float:
    return float(value.detach())


def batch() -> Batch:
    ids = torch.cat([torch.full((3, 1), START), TARGET[:, :-1]], 1).where(MASK, PAD)
    return Batch(ids=ids, targets=TARGET, mask=MASK, source=SOURCE, source_mask=SOURCE != PAD)


@every
def test_score_is_the_sum_of_the_steps(writer):
    model = made(writer)
    scored, _ = model.score(TARGET, MASK, SOURCE)
    log_probs, state = model.step(TARGET[:, :0], model.begin(3, SOURCE, capacity=4))
    total = torch.zeros(3, dtype=torch.float64)
    for step in range(4):
        torch.testing.assert_close(log_probs.exp().sum(1), torch.ones(3, dtype=torch.float64))
        total += log_probs.gather(1, TARGET[:, step, None])[:, 0] * MASK[:, step]
        with torch.no_grad():
            log_probs, state = model.step(TARGET[:, step, None], state)
    torch.testing.assert_close(scored.sum(1), total)
    torch.testing.assert_close(model.measure(batch())[0], scored)
    assert number(model.loss(batch())[0]) == pytest.approx(-number(scored.sum()) / int(MASK.sum()))


@every
def test_a_row_alone_is_the_row_in_a_batch(writer):
    model = made(writer)
    scored, _ = model.score(TARGET, MASK, SOURCE)
    for row in range(3):
        source, target = (t[row][t[row] != PAD][None] for t in (SOURCE, TARGET))
        torch.testing.assert_close(model.score(target, None, source)[0], scored[row : row + 1, : target.shape[1]])


@every
def test_the_source_matters_and_learns(writer):
    model = made(writer)
    other = model.score(TARGET, MASK, SOURCE.where(SOURCE != 6, 9))[0]
    changed = (other - model.score(TARGET, MASK, SOURCE)[0]).abs().sum(1) > 1e-6
    assert changed.tolist() == [True, True, False]
    vectors = model.embedding(Batch(ids=SOURCE)).detach().requires_grad_()
    model.embedding.forward = lambda given, own=model.embedding.forward: vectors if given.ids is SOURCE else own(given)
    model.loss(batch())[0].backward()
    assert (vectors.grad.abs().sum(2) > 0).equal(SOURCE != PAD)


@every
def test_beam_wide_enough_is_exhaustive(writer):
    model, limits = made(writer), Limits(3)
    given = Given(model, SOURCE)
    found = Beam(width=400, best=3, until="length").find(given, [[]] * 3, limits)
    wanted = Exhaustive(best=3).find(given, [[]] * 3, limits)
    for one, other in zip(found, wanted, strict=True):
        assert [a.ids for a in one] == [b.ids for b in other]
        assert [a.score for a in one] == pytest.approx([b.score for b in other])
    for row, one in enumerate(found):
        best = one[0]
        ids = torch.tensor([[*best.ids, *([STOP] if best.finished else [])]])
        assert number(model.score(ids, None, SOURCE[row : row + 1])[0].sum()) == pytest.approx(best.log_prob)


@every
def test_searched_and_sampled_alike_in_any_batch(writer):
    model = made(writer)
    together = Beam(width=3).find(Given(model, SOURCE), [[]] * 3, Limits(5))
    texts = generate(Given(model, SOURCE), [[]] * 3, Sample(), length=5)
    greedy = generate(Given(model, SOURCE), [[]] * 3, Greedy(), length=5)
    for row in range(3):
        alone = Given(model, SOURCE).alone(row)
        assert Beam(width=3).find(alone, [[]], Limits(5))[0][0].ids == together[row][0].ids
        assert generate(alone, [[]], Greedy(), length=5)[0] == greedy[row]
    assert generate(Given(model, SOURCE[:1]), [[]], Sample(), length=5)[0] == texts[0]


def test_a_row_met_with_doubt_is_searched_again_with_its_own_source(monkeypatch):
    """Every choice is in doubt: each row is searched once more, alone."""
    import foresay.decode.beams as beams
    import foresay.decode.search as search

    model = made(WRITERS[2])
    found = Beam(width=3).find(Given(model, SOURCE), [[]] * 3, Limits(5))
    texts = generate(Given(model, SOURCE), [[]] * 3, Sample(), length=5)
    monkeypatch.setattr(beams, "MARGIN", 1e9)
    monkeypatch.setattr(search, "MARGIN", 1e9)
    again = Beam(width=3).find(Given(model, SOURCE), [[]] * 3, Limits(5))
    assert [one[0].ids for one in again] == [one[0].ids for one in found]
    assert generate(Given(model, SOURCE), [[]] * 3, Sample(), length=5) == texts


@pytest.mark.parametrize("writer", WRITERS[2:], ids=lambda one: "-".join(map(str, one.values())))
def test_alignment(writer):
    model = made(writer)
    found = model.align(SOURCE, TARGET)
    assert found.shape == (3, 4, 5)
    torch.testing.assert_close(found.sum(2), MASK.double())
    assert (found.masked_select((SOURCE == PAD)[:, None].expand(3, 4, 5)) == 0).all()
    for row in range(3):
        source, target = (t[row][t[row] != PAD][None] for t in (SOURCE, TARGET))
        alone = model.align(source, target)
        torch.testing.assert_close(found[row : row + 1, : target.shape[1], : source.shape[1]], alone)
    whole = model.looks(SOURCE, TARGET)
    torch.testing.assert_close(whole[-1].mean(1).masked_fill(~MASK[:, :, None], 0), found)


def test_no_alignment_without_attention():
    with pytest.raises(UserError, match="looks at no single place"):
        made(WRITERS[0]).align(SOURCE, TARGET)


def test_copying_is_the_mixture_by_its_definition():
    model = made(WRITERS[5])
    x = model.embedding(Batch(ids=batch().ids))
    wrote, _ = model.writer(x, model.writer.begin(model._read(SOURCE)), MASK)
    own, g = model.output.log_probs(wrote.features).exp(), wrote.gate.sigmoid()
    wanted = (g * own).detach()
    for b in range(3):
        for t in range(4):
            for place, symbol in enumerate(SOURCE[b].tolist()):
                wanted[b, t, symbol] += number((1 - g[b, t, 0]) * wrote.weights[b, t, place])
    torch.testing.assert_close(model._log_probs(wrote, SOURCE).exp(), wanted)
    torch.testing.assert_close(
        model._log_prob(wrote, TARGET, SOURCE).exp(), wanted.gather(2, TARGET[..., None])[..., 0]
    )


def test_copying_learns_without_nan():
    model = made(WRITERS[5], smoothing=0.1).train()
    model.loss(batch())[0].backward()
    assert all(bool(p.grad.isfinite().all()) for p in model.parameters())


def test_coverage_by_hand():
    """Two steps on one place: the second looks at 0.8 of what already has 0.6, and 0.2 of what has 0.4."""
    weights = torch.tensor([[[0.6, 0.4], [0.8, 0.2], [1.0, 0.0]]])
    torch.testing.assert_close(looked_twice(weights), torch.tensor([[0.0, 0.8, 1.0]]))


def gradient(model: Seq2Seq) -> Tensor:
    model.zero_grad()
    model.train().loss(batch())[0].backward()
    return torch.cat([p.grad.flatten() for p in model.parameters()])


def test_coverage_is_in_the_gradient_and_not_in_the_loss():
    plain, covered = made(WRITERS[2]), made({**WRITERS[2], "coverage": 0.5})
    assert number(plain.loss(batch())[0]) == pytest.approx(number(covered.train().loss(batch())[0]))
    x = covered.embedding(Batch(ids=batch().ids))
    wrote, _ = covered.writer(x, covered.writer.begin(covered._read(SOURCE)), MASK)
    penalty = 0.5 * (looked_twice(wrote.weights) * MASK).sum() / MASK.sum()
    added = torch.autograd.grad(penalty, list(covered.parameters()), allow_unused=True, materialize_grads=True)
    torch.testing.assert_close(gradient(covered) - gradient(plain), torch.cat([one.flatten() for one in added]))


@pytest.mark.parametrize("writer", [WRITERS[2], WRITERS[5]], ids=["own", "copy"])
@pytest.mark.parametrize("output", ["softmax", "adaptive"])
def test_smoothing_has_the_gradient_of_torchs(writer, output):
    if writer.get("copy") and output == "adaptive":
        pytest.skip("one way for all")
    plain, smooth = made(writer, output=output), made(writer, output=output, smoothing=0.2)
    assert number(plain.loss(batch())[0]) == pytest.approx(number(smooth.train().loss(batch())[0]))
    x = smooth.embedding(Batch(ids=batch().ids))
    wrote, _ = smooth.writer(x, smooth.writer.begin(smooth._read(SOURCE)), MASK)
    log_probs = smooth._log_probs(wrote, SOURCE)  # logits, as their softmax is themselves
    loss = F.cross_entropy(log_probs[MASK], TARGET[MASK], label_smoothing=0.2)
    wanted = torch.autograd.grad(loss, list(smooth.parameters()), allow_unused=True, materialize_grads=True)
    torch.testing.assert_close(gradient(smooth), torch.cat([one.flatten() for one in wanted]))


@pytest.mark.parametrize("writer", [WRITERS[0], WRITERS[5], WRITERS[6]], ids=["last", "copy", "transformer"])
def test_sampled_steps_without_sampling_are_teacher_forcing(writer):
    model = made(writer)
    before = model.writer.begin(model._read(SOURCE))
    stepped = model._write_sampled(batch(), before, share=0.0)
    whole, _ = model._write(batch(), model.writer.begin(model._read(SOURCE)))
    torch.testing.assert_close(stepped.features[MASK], whole.features[MASK])


def test_sampling_feeds_what_the_model_draws(monkeypatch):
    """With share 1 and a draw that is always symbol 9, the model reads <start> 9 9 9."""
    model = made(WRITERS[2])
    monkeypatch.setattr(torch, "multinomial", lambda chances, _: torch.full((len(chances), 1), 9))
    found = model._write_sampled(batch(), model.writer.begin(model._read(SOURCE)), share=1.0)
    fed = torch.tensor([[START, 9, 9, 9]]).expand(3, 4)
    wanted, _ = model.writer(model.embedding(Batch(ids=fed)), model.writer.begin(model._read(SOURCE)), MASK)
    torch.testing.assert_close(found.features, wanted.features)


def test_the_share_of_sampling_rises_while_training_and_is_kept():
    model = made(WRITERS[2], sampling={"share": 0.5, "rise": 4}).train()
    assert [model._share() for _ in range(6)] == [0.125, 0.25, 0.375, 0.5, 0.5, 0.5]
    assert int(model.tensors()["steps"]) == 6
    assert made(WRITERS[2], sampling={"share": 0.5})._share() == 0.5
    torch.manual_seed(1)
    one = number(model.loss(batch())[0])
    torch.manual_seed(2)
    assert one != number(model.loss(batch())[0])
    model.eval()
    assert number(model.loss(batch())[0]) == number(model.loss(batch())[0])


def test_separate_vocabularies():
    model = parts.make(
        "task", {"kind": "seq2seq", "embedding": {"size": 5}, "encoder": {"kind": "recurrent", "size": 4}}
    )
    model.source_vocabulary = 50
    model.build(V)
    assert model.source_embedding.table.shape == (50, 5) and model.embedding.table.shape == (V, 5)
    assert model.known.shape == (50,)
    scored, _ = model.score(TARGET, MASK, SOURCE + 30)
    assert bool(scored.isfinite().all())
    copies = parts.make("task", {"kind": "seq2seq", "writer": {"kind": "recurrent", "copy": True}})
    copies.source_vocabulary = 50
    with pytest.raises(UserError, match=r"copies symbols, and data\.source_tokens gives the source others"):
        copies.build(V)


def test_a_source_is_needed():
    model = made(WRITERS[0])
    with pytest.raises(UserError, match=r"no condition was given; pass its ids as condition \(2, S\)"):
        model.begin(2)
    with pytest.raises(UserError, match=r"a condition \(3, 5\) was given"):
        model.score(TARGET[:2], None, SOURCE)


@every
def test_overfits_one_batch(writer):
    model = made(writer).float().train()
    optimizer = torch.optim.Adam(model.parameters(), lr=0.03)
    for _ in range(60):
        optimizer.zero_grad()
        loss = model.loss(batch())[0]
        loss.backward()
        optimizer.step()
    assert number(loss) < 0.1 * math.log(V)
