"""What every registered tagger keeps, with every encoder and both output layers: rows as if alone, saved, learning."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from safetensors.torch import load, save

from foresay import parts
from foresay.data.batch import Batch
from foresay.data.tag_set import TagSet
from foresay.errors import UserError
from foresay.models.tagging import Tagging
from foresay.text.tokens import SPECIALS
from tests.contracts.settings import described, label

B, T, V = 4, 7, 13
TAGS = TagSet.of(["B-x", "B-y"])
LENGTHS = [7, 3, 1, 5]


def variants() -> list[dict[str, Any]]:
    """Every tagger; with an encoder each kind of it and those that see both sides, with a CRF, and one without."""
    found = []
    for name in parts.names("task"):
        task: Any = parts.find("task", name)
        if not issubclass(task, Tagging):
            continue
        if all(setting.name != "encoder" for setting in parts.settings_of(task)):
            found.append({"kind": name})
            continue
        kinds = {one["kind"]: one for one in reversed(described("encoder"))}
        seeing = [one for one in described("encoder") if not parts.make("encoder", one).causal]
        encoders = [*kinds.values(), *(one for one in seeing if one not in kinds.values())]
        found += [{"kind": name, "encoder": encoder, "embedding": {"size": 5}} for encoder in encoders]
        found.append(found[-1] | {"output": "softmax"})
    return found


every = pytest.mark.parametrize("recipe", variants(), ids=label)


@pytest.fixture
def model(recipe: dict[str, Any]) -> Any:
    return build(recipe)


def build(recipe: dict[str, Any]) -> Any:
    torch.manual_seed(1)
    made = parts.make("task", recipe)
    made.tags = TAGS
    made.build(V)
    with torch.no_grad():
        for parameter in made.parameters():  # nothing at zero, where a mistake would not show
            parameter.add_(0.3 * torch.randn_like(parameter))
    return made.double().eval()


def batch() -> Batch:
    torch.manual_seed(2)
    mask = torch.arange(T) < torch.tensor(LENGTHS)[:, None]
    ids, tags = torch.randint(len(SPECIALS), V, (B, T)), torch.randint(0, len(TAGS), (B, T))
    return Batch(ids=ids.where(mask, 0), targets=tags.where(mask, 0), mask=mask)


@every
def test_rows_are_as_if_alone(model):
    whole = batch()
    assert whole.ids is not None and whole.targets is not None and whole.mask is not None
    measured, best = model.measure(whole)[0], model.best(whole)
    tags, log_probs = model.predict(whole)
    assert measured.shape == best.shape == (B, T) and (measured[~whole.mask] == 0).all()
    assert torch.equal(tags[whole.mask], best[whole.mask])
    torch.testing.assert_close(log_probs[whole.mask].exp().sum(-1), torch.ones(sum(LENGTHS), dtype=torch.float64))
    for row, length in enumerate(LENGTHS):
        alone = Batch(ids=whole.ids[row : row + 1, :length], targets=whole.targets[row : row + 1, :length])
        torch.testing.assert_close(measured[row : row + 1, :length], model.measure(alone)[0])
        torch.testing.assert_close(log_probs[row : row + 1, :length], model.predict(alone)[1])
        assert torch.equal(best[row : row + 1, :length], model.best(alone))


@every
def test_loss_is_minus_the_mean_of_what_is_measured(model):
    whole = batch()
    loss, state = model.loss(whole)
    torch.testing.assert_close(loss, -model.measure(whole)[0].sum() / sum(LENGTHS))
    assert state == {}


@every
def test_saved_tensors_give_equal_tags(model):
    kept = load(save({name: tensor.contiguous() for name, tensor in model.tensors().items()}))
    other = parts.make("task", parts.describe(model))
    other.tags = TAGS
    torch.manual_seed(9)
    other.build(V)
    other.double().eval().restore(kept)
    assert torch.equal(other.measure(batch())[0], model.measure(batch())[0])
    assert other.size() == model.size() > 0
    with pytest.raises(UserError, match="is of another recipe: nonsense differs"):
        model.restore(kept | {"nonsense": torch.zeros(1)})


@every
def test_every_parameter_learns(model):
    if hasattr(model, "fit"):
        pytest.skip("a model by counts")
    model.train().loss(batch())[0].backward()
    silent = [n for n, p in model.named_parameters() if p.grad is None or not p.grad.abs().sum() > 0]
    assert not silent
