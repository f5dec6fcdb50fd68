"""The classifier: averaged embeddings and max_t Y_t by hand, one batch learnt by heart, what is refused."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from foresay import parts
from foresay.data.batch import Batch
from foresay.data.label_shards import LabelSet
from foresay.errors import UserError
from foresay.models.classifier import Classifier

MASK = torch.tensor([[True, True, True], [True, True, False]])
IDS = torch.tensor([[5, 6, 6], [7, 5, 0]])


def build(several: bool = False, **settings: Any) -> Classifier:
    torch.manual_seed(1)
    model = Classifier(**({"embedding": {"kind": "lookup", "size": 2}, "encoder": None, "pool": "mean"} | settings))
    model.learn_labels(LabelSet(("a", "b", "c"), several, (1, 1, 1)))
    model.build(8)
    return model.eval()


def test_averaged_embeddings_by_hand():
    model = build()
    table, (w, b) = model.embedding.weight(), (model.classes.weight, model.classes.bias)
    assert table is not None
    means = torch.stack([(table[5] + 2 * table[6]) / 3, (table[7] + table[5]) / 2])
    torch.testing.assert_close(model.scores(Batch(ids=IDS, mask=MASK)), means @ w.T + b)
    turned = model.scores(Batch(ids=IDS[:, [1, 2, 0]][:1]))
    torch.testing.assert_close(turned, (means @ w.T + b)[:1])  # order counts for nothing


@pytest.mark.parametrize("several", [False, True])
def test_max_over_time_of_the_outputs(several):
    """P is in proportion to max_t Y_t of each label; where there are several it is max_t Y_t."""
    model = build(several, pool={"kind": "max", "over": "outputs"})
    table = model.embedding.weight()
    assert table is not None
    z = table[IDS] @ model.classes.weight.T + model.classes.bias
    steps = (z.sigmoid() if several else z.softmax(2)).masked_fill(~MASK[..., None], 0.0)
    best = steps.amax(1)
    expected = best if several else best / best.sum(1, keepdim=True)
    torch.testing.assert_close(model.log_probs(Batch(ids=IDS, mask=MASK)).exp(), expected)


@pytest.mark.parametrize("over", ["features", "outputs"])
def test_learns_a_batch_by_heart(over):
    """The label is the first word's: an average cannot tell, a recurrent encoder with max over time can."""
    ids = torch.tensor([[5, 6, 7], [6, 5, 7], [7, 5, 6], [5, 7, 6], [6, 7, 5], [7, 6, 5]])
    batch = Batch(ids=ids, labels=ids[:, 0] - 5)
    losses = {}
    for encoder in ({"kind": "recurrent", "size": 16, "bidirectional": True}, None):
        pool = {"kind": "max" if encoder else "mean", "over": over}
        model = build(encoder=encoder, pool=pool, embedding={"kind": "lookup", "size": 8}).train()
        adam = torch.optim.Adam(model.parameters(), 0.03)
        for _ in range(60):
            adam.zero_grad()
            loss = model.loss(batch)[0]
            loss.backward()
            adam.step()
        losses[encoder is None] = loss.item()
    assert losses[False] < 0.2 and losses[True] == pytest.approx(torch.tensor(3.0).log().item(), abs=0.05)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (
            {"pool": "ends"},
            "pool=ends takes the last step of one direction .* set encoder=recurrent encoder.bidirectional=true, or",
        ),
        (
            {"pool": "ends", "encoder": {"kind": "transformer", "size": 8, "heads": 2, "causal": False}},
            "pool=ends takes the last step of one direction",
        ),
        ({"pool": "ends", "encoder": {"kind": "convolution", "kernels": [[1, 4]]}}, "pool=ends takes the last step"),
        ({"pool": "ends", "encoder": None}, "pool=ends takes"),
        ({"pool": "ends", "beside": "lookup"}, "pool=ends takes halves of the encoder's vectors, and beside joins"),
        (
            {"pool": {"kind": "attention", "over": "outputs"}},
            "over is no setting of pool attention; allowed: size",
        ),
        ({"weights": "even"}, "weights='even'; allowed: one of balanced or a mapping of text to a number or null"),
    ],
)
def test_what_does_not_fit(settings, message):
    encoder = {"encoder": {"kind": "recurrent", "size": 4}}
    with pytest.raises(UserError, match=message):
        parts.make("task", {"kind": "classifier", **(encoder | settings)})


def test_the_last_step_of_both_directions_is_told_of():
    encoder = {"kind": "recurrent", "size": 8, "bidirectional": True}
    assert "pool=ends takes each where it has read all" in build(pool="last", encoder=encoder).notes[0]
    assert not build(pool="last", encoder=encoder | {"bidirectional": False}).notes
    (beside,) = build(pool="last", encoder=encoder, beside={"kind": "lookup", "size": 2}).notes
    assert "pool=max, mean or attention reads every step" in beside and "ends" not in beside  # which is refused there
    (outputs,) = build(pool={"kind": "last", "over": "outputs"}, encoder=encoder).notes
    assert outputs.endswith("pool=ends, over features, takes each where it has read all")
    assert not build(pool="ends", encoder=encoder).notes
