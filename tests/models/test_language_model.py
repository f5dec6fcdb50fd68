"""The causal language model: values worked out apart, ties, refusals, and that it learns."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
import torch

from foresay import parts, recipe
from foresay.data.batch import Batch
from foresay.data.label_shards import LabelSet
from foresay.encode.recurrent import Recurrent
from foresay.errors import UserError
from foresay.models.language_model import LanguageModel
from foresay.text.tokens import START, STOP

V = 13
LSTM = {"kind": "recurrent", "size": 7}
ENCODERS: dict[str, dict[str, Any]] = {
    "lstm": LSTM,
    "window": {"kind": "window", "span": 3, "size": 7},
    "transformer": {"kind": "transformer", "size": 8, "layers": 2, "heads": 2},
    "dilated": {"kind": "dilated", "size": 7, "dilations": [1, 2, 1]},
    "masked": {"kind": "masked", "size": 7, "layers": 2, "columns": 3},
}


def build(encoder: Any = LSTM, output: Any = "softmax", embedding: Any = None) -> LanguageModel:
    torch.manual_seed(1)
    model = LanguageModel(embedding or {"kind": "lookup", "size": 5}, encoder, output)
    model.build(V)
    return model.double().eval()


def text(rows: int = 3, steps: int = 6) -> torch.Tensor:
    torch.manual_seed(2)
    return torch.randint(5, V, (rows, steps))


def batch_of(targets: torch.Tensor, **fields: Any) -> Batch:
    ids = torch.cat([torch.full((len(targets), 1), START), targets[:, :-1]], 1)
    return Batch(ids=ids, targets=targets, **fields)


def test_probabilities_against_numpy():
    """One-hot input, a window of one: P(w | u) = softmax(W tanh(A[:, u] + a) + b)[w]."""
    model = build({"kind": "window", "span": 1, "size": 4}, embedding="onehot")
    dense = model.encoder.dense[0]
    inner, bias, outer, outer_bias = (
        tensor.detach().numpy() for tensor in (dense.weight, dense.bias, model.output.weight, model.output.bias)
    )
    logits = np.tanh(inner.T + bias) @ outer.T + outer_bias
    table = np.log(np.exp(logits) / np.exp(logits).sum(1, keepdims=True))  # row u: log P(. | u)
    found, _ = model.score(torch.tensor([[5, 9, 9, STOP]]))
    expected = [table[START, 5], table[5, 9], table[9, 9], table[9, STOP]]
    assert found[0].tolist() == pytest.approx(expected, abs=1e-12)
    after, _ = model.step(torch.tensor([[5, 9]]), model.begin(1))
    assert after[0].tolist() == pytest.approx(table[9].tolist(), abs=1e-12)


def test_a_model_that_knows_nothing_has_perplexity_v():
    model = build()
    with torch.no_grad():
        model.output.weight.zero_()
    log_probs, _ = model.score(text())
    assert math.exp(-log_probs.mean().item()) == pytest.approx(V, rel=1e-12)
    assert model.loss(batch_of(text()))[0].item() == pytest.approx(math.log(V), rel=1e-12)


@pytest.mark.parametrize("encoder", ENCODERS)
def test_loss_is_the_mean_of_what_is_measured(encoder):
    model = build(ENCODERS[encoder])
    mask = torch.arange(6) < torch.tensor([[6], [2], [0]])
    batch = batch_of(text(), mask=mask)
    measured = model.measure(batch)[0]
    assert model.loss(batch)[0].item() == pytest.approx(-measured.sum().item() / 8, rel=1e-10)


@pytest.mark.parametrize("encoder", ENCODERS)
def test_packed_documents_are_worth_what_they_are_alone(encoder):
    """Two documents in one row: <start> a b c <stop> <start> d e <stop>."""
    model = build(ENCODERS[encoder])
    one, two = [5, 6, 7, STOP], [8, 9, STOP]
    ids = torch.tensor([[START, *one[:-1], START, *two[:-1]]])
    batch = Batch(ids=ids, targets=torch.tensor([one + two]), starts=ids == START)
    alone = [value for document in (one, two) for value in model.score(torch.tensor([document]))[0][0].tolist()]
    assert model.measure(batch)[0][0].tolist() == pytest.approx(alone, abs=1e-10)


def test_bidirectional_encoders_are_refused():
    both = {"kind": "recurrent", "size": 8, "bidirectional": True}
    for encoder in (both, {"kind": "stack", "layers": [LSTM, both]}, Recurrent(size=8, bidirectional=True)):
        with pytest.raises(
            UserError, match=r"encoder sees what comes after and would see the answer .* allowed: a causal"
        ):
            build(encoder)


def test_a_condition_is_refused_where_the_encoder_takes_none():
    with pytest.raises(UserError, match="takes no condition"):
        build().score(text(), condition=torch.zeros(3, 2))


def test_tied_weights_are_one():
    """V * 5 shared; LSTM 4 * 7 * (5 + 7 + 2); projection 7 * 5; bias V."""
    model = build(output={"kind": "softmax", "tied": True})
    assert model.output.weight is model.embedding.table
    assert model.size() == V * 5 + 4 * 7 * (5 + 7 + 2) + 7 * 5 + V
    assert "embedding.table" in model.tensors() and "output.weight" not in model.tensors()
    assert sum(tensor.numel() for tensor in model.tensors().values()) == model.size()
    own = build()
    assert own.size() == V * 5 + 4 * 7 * (5 + 7 + 2) + V * 7 + V


def test_tied_weights_stay_one():
    """After a step, after restoring, and after moving: what embeds is what predicts."""
    tied = {"kind": "softmax", "tied": True}
    model, other = build(output=tied).train(), build(output=tied)
    model.loss(batch_of(text()))[0].backward()
    before = model.embedding.table.detach().clone()
    torch.optim.SGD(model.parameters(), lr=0.5).step()
    assert not torch.equal(model.embedding.table, before)
    other.restore(model.tensors())
    for one in (model.eval(), other, other.to("cpu")):
        assert one.output.weight is one.embedding.table
    assert torch.equal(other.score(text())[0], model.score(text())[0])


def test_dropout_only_when_training():
    model = build({**LSTM, "dropout": 0.5})
    batch = batch_of(text())
    assert torch.equal(model.loss(batch)[0], model.loss(batch)[0])
    model.train()
    assert not torch.equal(model.loss(batch)[0], model.loss(batch)[0])


SHRUNK = ["embedding.size=32", "embedding.dropout=0", "encoder.size=32", "encoder.dropout=0"]


@pytest.mark.parametrize("name", ["mlp", "rnn", "lstm", "gru", "transformer", "wavenet"])
def test_overfits_one_batch(name):
    """Random symbols cannot be guessed, only remembered: the loss falls below a tenth within 120 steps of Adam."""
    small = [*SHRUNK, *(["encoder.heads=2", "encoder.layers=2"] if name == "transformer" else [])]
    model: Any = recipe.complete(recipe.override(recipe.read(name), small)[0]).task
    torch.manual_seed(1)
    model.build(V)
    batch = batch_of(text(2, 12))
    optimizer = torch.optim.Adam(model.parameters(), lr=0.02)
    losses = []
    for _ in range(120):
        loss, _ = model.loss(batch)
        losses.append(loss.item())
        if losses[-1] < 0.1 * losses[0]:
            break
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    assert 0.5 * math.log(V) < losses[0] < 2 * math.log(V)
    assert losses[-1] < 0.1 * losses[0]


def test_parts_may_be_objects():
    model = LanguageModel(encoder=Recurrent(cell="gru", size=6), embedding={"size": 3})
    assert parts.describe(model)["encoder"]["cell"] == {"kind": "gru"}
    assert parts.describe(model)["embedding"]["size"] == 3


def regularised(**settings: Any) -> LanguageModel:
    torch.manual_seed(1)
    model = LanguageModel({"kind": "lookup", "size": 5}, LSTM, "softmax", settings)
    model.build(V)
    return model.double().train()


def test_regularisation_changes_the_gradient_by_its_own_and_not_the_loss():
    """activation mean(y^2) + slowness mean((y_t - y_{t-1})^2), over the real positions."""
    mask = torch.arange(6) < torch.tensor([[6], [2], [0]])
    batch = batch_of(text(), mask=mask)
    plain, both = regularised(), regularised(activation=2.0, slowness=3.0)
    loss = plain.loss(batch)[0]
    y = plain.encoder(plain.embedding(batch), mask)[0]
    size = sum(y[row, step].square().sum() for row, step in [*((0, t) for t in range(6)), (1, 0), (1, 1)]) / (8 * 7)
    pairs = [(0, t) for t in range(1, 6)] + [(1, 1)]
    change = sum((y[row, step] - y[row, step - 1]).square().sum() for row, step in pairs) / (6 * 7)
    expected = torch.autograd.grad(loss + 2.0 * size + 3.0 * change, list(plain.parameters()))
    found = both.loss(batch)[0]
    assert torch.equal(found, loss)
    for one, other in zip(torch.autograd.grad(found, list(both.parameters())), expected, strict=True):
        torch.testing.assert_close(one, other)
    assert torch.equal(both.eval().loss(batch)[0], loss)


def test_without_a_mask_all_positions_are_real():
    whole = batch_of(text(), mask=torch.ones(3, 6, dtype=torch.bool))
    model = regularised(activation=1.0, slowness=1.0)
    gradients = [
        torch.autograd.grad(model.loss(batch)[0], list(model.parameters())) for batch in (whole, batch_of(text()))
    ]
    for one, other in zip(*gradients, strict=True):
        torch.testing.assert_close(one, other)


def test_the_output_is_dropped_out_for_the_loss_and_its_size_but_not_for_its_changes(monkeypatch):
    """One mask for all steps where it is locked; AR sees what is dropped out, TAR what is not."""
    given: dict[str, torch.Tensor] = {}
    model = regularised(dropout=0.5, locked=True, activation=1.0, slowness=1.0)
    whole = model._penalty

    def penalty(features, dropped, mask):
        given.update(features=features, dropped=dropped)
        return whole(features, dropped, mask)

    monkeypatch.setattr(model, "_penalty", penalty)
    monkeypatch.setattr(model.output, "loss", lambda features, *_: given.update(used=features) or features.sum())
    model.loss(batch_of(text()))
    lost = given["dropped"] == 0
    assert 0.2 < lost.double().mean() < 0.8 and torch.equal(lost, lost[:, :1].expand_as(lost))
    torch.testing.assert_close(given["dropped"][~lost], 2 * given["features"][~lost])
    assert given["used"] is given["dropped"]
    model.eval()
    monkeypatch.undo()
    assert torch.equal(model.loss(batch_of(text()))[0], model.loss(batch_of(text()))[0])


def test_trace_reads_the_start_mark_and_the_ids():
    """Row t of a state is what the encoder has after <start> and t ids; padding is zero."""
    model = build({"kind": "stack", "layers": [LSTM, {"kind": "recurrent", "cell": "gru", "size": 4, "layers": 2}]})
    ids, mask = text(2, 4), torch.arange(4) < torch.tensor([[4], [2]])
    found = model.trace(ids, mask)
    assert {"embedding", "encoder.0.0.f", "encoder.0.0.c", "encoder.1.1.z", "encoder.1.0.h"} <= set(found)
    whole = torch.cat([torch.full((2, 1), START), ids], 1)
    torch.testing.assert_close(found["embedding"], model.embedding(Batch(ids=whole)))
    for t in range(5):
        state = model.encoder(model.embedding(Batch(ids=whole[:1, : t + 1])))[1]
        torch.testing.assert_close(found["encoder.1.1.h"][0, t], state["1"]["1"]["h"][0])
        torch.testing.assert_close(found["encoder.0.0.c"][0, t], state["0"]["0"]["c"][0])
    assert (found["encoder.0.0.f"][1, 3:] == 0).all()


def for_labels(encoder: Any, names: tuple[str, ...] = ("a", "b", "c")) -> LanguageModel:
    """A model that writes for labels."""
    torch.manual_seed(1)
    model = LanguageModel({"kind": "lookup", "size": 5}, encoder, condition=4)  # pyright: ignore[reportArgumentType]
    model.learn_labels(LabelSet(names, False, (1,) * len(names)))
    model.build(V)
    return model.double().eval()


@torch.no_grad()
@pytest.mark.parametrize("encoder", ENCODERS.values(), ids=ENCODERS)
def test_for_a_label_all_ways_agree(encoder: Any) -> None:
    """Trained, scored at once or in two pieces, and step by step; another label, other numbers."""
    model, ids, given = for_labels(encoder), text(), torch.tensor([0, 2, 1])
    scored = model.score(ids, condition=given)[0]
    first, state = model.score(ids[:, :2], condition=given)
    assert torch.allclose(torch.cat([first, model.score(ids[:, 2:], state=state)[0]], 1), scored)
    before = torch.cat([torch.full((3, 1), START), ids[:, :-1]], 1)
    measured = model.measure(Batch(ids=before, targets=ids, given=given))[0]
    assert torch.allclose(measured, scored)
    assert float(model.loss(Batch(ids=before, targets=ids, given=given))[0]) == pytest.approx(-float(scored.mean()))
    each = given[:, None].expand(-1, 6)  # a label for each step, as texts that follow one another in a row have
    assert torch.allclose(model.measure(Batch(ids=before, targets=ids, given=each))[0], scored)
    state, found = model.begin(3, given), []
    log_probs, state = model.step(ids[:, :0], state)
    for column in range(6):
        found.append(log_probs.gather(1, ids[:, column : column + 1]))
        log_probs, state = model.step(ids[:, column : column + 1], state)
    assert torch.allclose(torch.cat(found, 1), scored)
    other = model.score(ids, condition=torch.tensor([1, 2, 0]))[0]
    assert torch.allclose(other[1], scored[1]) and ((other - scored).abs().amax(1)[[0, 2]] > 1e-3).all()
    turned = model.reorder(model.begin(3, given), torch.tensor([2, 0]))
    assert torch.allclose(model.step(ids[:2], turned)[0], model.step(ids[:2], model.begin(2, given[[2, 0]]))[0])


def test_a_label_by_hand() -> None:
    """Before an encoder that takes no condition, x_t = embedding(w) + U C_n."""
    model, ids = for_labels({"kind": "window", "span": 3, "size": 7}), text(1)
    assert not model.encoder.takes_condition
    x = model.embedding(Batch(ids=torch.cat([torch.full((1, 1), START), ids[:, :-1]], 1)))
    laid = model.laid.weight @ model.table.weight[2]
    features = model.encoder(x + laid)[0]
    expected = model.output.log_probs(features).gather(2, ids[..., None])[..., 0]
    assert torch.allclose(model.score(ids, condition=torch.tensor([2]))[0], expected)


def test_an_encoder_that_takes_a_condition_gets_it() -> None:
    model, ids = for_labels(ENCODERS["dilated"]), text(1)
    assert model.encoder.takes_condition and model.encoder.condition_width == 4 and not hasattr(model, "laid")
    x = model.embedding(Batch(ids=torch.cat([torch.full((1, 1), START), ids[:, :-1]], 1)))
    features = model.encoder(x, condition=model.table.weight[None, 1])[0]
    expected = model.output.log_probs(features).gather(2, ids[..., None])[..., 0]
    assert torch.allclose(model.score(ids, condition=torch.tensor([1]))[0], expected)


def test_labels_that_cannot_be_written_for() -> None:
    model, _ = for_labels(LSTM), build()
    with pytest.raises(UserError, match="this model writes for a label; give one: allowed: a, b, c"):
        model.score(text())
    with pytest.raises(UserError, match="condition=4 writes for one label of some, and the data have no labels, or"):
        for_labels(LSTM, names=("",))
    with pytest.raises(UserError, match="and a text has several labels; set condition=null"):
        model.learn_labels(LabelSet(("a", "b"), True, (1, 1)))


def test_every_label_learns() -> None:
    """Texts that differ by their label alone are told apart after a few steps."""
    model = for_labels(LSTM).train()
    ids = torch.tensor([[5, 6, 7], [8, 9, 10], [11, 12, 5]])
    batch = Batch(ids=torch.cat([torch.full((3, 1), START), ids[:, :-1]], 1), targets=ids, given=torch.arange(3))
    optimizer = torch.optim.Adam(model.parameters(), 0.05)
    for _ in range(60):
        optimizer.zero_grad()
        model.loss(batch)[0].backward()
        optimizer.step()
    own = model.eval().score(ids, condition=torch.arange(3))[0].sum(1)
    others = model.score(ids, condition=torch.tensor([1, 2, 0]))[0].sum(1)
    assert (own > -0.5).all() and (others < -3).all()
