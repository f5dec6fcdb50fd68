"""What every registered task keeps that gives labels to texts, with every encoder and every pool that fit.

In float64; equal is to 1e-10.
"""

from __future__ import annotations

from typing import Any

import pytest
import torch
from safetensors.torch import load, save
from torch import Tensor

from foresay import parts
from foresay.data.batch import Batch
from foresay.data.label_shards import LabelSet
from foresay.errors import UserError
from foresay.models.labelling import Labelling
from foresay.text.tokens import PAD, SPECIALS
from tests.contracts.settings import described, label

B, T, V, C = 4, 7, 13, 3
BOTH = {"kind": "recurrent", "size": 14, "bidirectional": True}


def variants() -> list[dict[str, Any]]:
    """Every classifier; with every encoder, with none, with every pool, over outputs too."""
    found = []
    for name in parts.names("task"):
        task: Any = parts.find("task", name)
        if task.reads != "labels":
            continue
        if "encoder" not in {setting.name for setting in parts.settings_of(task)}:
            found.append({"kind": name})
            continue
        small = {"kind": name, "embedding": {"size": 5}}
        found += [small | {"encoder": encoder, "pool": "max"} for encoder in described("encoder")]
        # of a bidirectional encoder the last step has read one word backwards: nothing recurs there
        ways = {"last": {"kind": "recurrent", "size": 14}}
        found += [small | {"encoder": ways.get(pool["kind"], BOTH), "pool": pool} for pool in described("pool")]
        found += [small | {"encoder": None, "pool": pool} for pool in ("mean", "max")]
        found += [
            small | {"encoder": ways.get(pool, BOTH), "pool": {"kind": pool, "over": "outputs"}}
            for pool in ("max", "mean", "last")
        ]
    return found


def name_of(recipe: dict[str, Any]) -> str:
    return "-".join(label(one) if isinstance(one, dict) else str(one) for one in recipe.values()).replace(" ", "")


every = pytest.mark.parametrize("recipe", variants(), ids=name_of)
several = pytest.mark.parametrize("several", [False, True], ids=["one", "several"])


def build(recipe: dict[str, Any], several: bool = False) -> Labelling:
    torch.manual_seed(1)
    made: Any = parts.make("task", recipe)
    made.learn_labels(LabelSet(("a", "b", "c"), several, (5, 3, 1)))
    made.build(V)
    with torch.no_grad():
        for parameter in made.parameters():  # nothing at zero, where a mistake would not show
            parameter.add_(0.3 * torch.randn_like(parameter))
    return made.double().eval()


def batch(several: bool = False) -> Batch:
    torch.manual_seed(2)
    mask = torch.arange(T) < torch.tensor([7, 3, 1, 5])[:, None]
    ids = torch.randint(len(SPECIALS), V, (B, T)).where(mask, PAD)
    labels = torch.randint(0, 2, (B, C)).float() if several else torch.tensor([0, 2, 1, 2])
    return Batch(ids=ids, mask=mask, labels=labels)


def same(one: Tensor, other: Tensor) -> None:
    torch.testing.assert_close(one, other, rtol=1e-10, atol=1e-10)


@every
@several
def test_padding_order_and_company_change_nothing(recipe, several):
    model, given = build(recipe, several), batch(several)
    assert given.ids is not None and given.mask is not None
    p = model.log_probs(given).exp()
    assert p.shape == (B, C) and (p > 0).all() and (p < 1).all()
    if not several:
        same(p.sum(1), torch.ones(B, dtype=torch.float64))
    same(model.log_probs(Batch(ids=given.ids.where(given.mask, V - 1), mask=given.mask)).exp(), p)
    order = torch.tensor([2, 0, 3, 1])
    same(model.log_probs(Batch(ids=given.ids[order], mask=given.mask[order])).exp(), p[order])
    for row, length in enumerate(given.mask.sum(1).tolist()):
        same(model.log_probs(Batch(ids=given.ids[row : row + 1, :length])).exp(), p[row : row + 1])


@every
@several
def test_loss_is_the_mean_of_what_is_measured(recipe, several):
    model, given = build(recipe, several), batch(several)
    nats, p = model.nats(given)
    same(p, model.log_probs(given).exp())
    same(model.loss(given)[0], nats.mean())
    assert given.labels is not None
    if several:
        truth = given.labels.double()
        same(nats, -(truth * p.log() + (1 - truth) * (1 - p).log()).sum(1))
    else:
        same(nats, -p[torch.arange(B), given.labels].log())


@every
def test_every_parameter_learns(recipe):
    model = build(recipe).train()
    model.loss(batch())[0].backward()
    silent = [n for n, p in model.named_parameters() if p.grad is None or not p.grad.abs().sum() > 0]
    assert not silent


@every
def test_saved_tensors_give_equal_answers(recipe):
    model = build(recipe)
    kept = load(save({name: tensor.contiguous() for name, tensor in model.tensors().items()}))
    other = build(parts.describe(model))
    with torch.no_grad():
        for parameter in other.parameters():
            parameter.zero_()
    other.restore(kept)
    assert torch.equal(other.log_probs(batch()), model.log_probs(batch()))
    with pytest.raises(UserError, match="is of another recipe"):
        other.restore(kept | {"nonsense": torch.zeros(1)})


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
@every
def test_gpu_equals_cpu(recipe):
    model = build(recipe).float()
    expected = model.log_probs(batch())
    torch.testing.assert_close(model.cuda().log_probs(batch().to("cuda")).cpu(), expected, rtol=1e-3, atol=1e-3)
