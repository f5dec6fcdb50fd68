"""What every registered task keeps (contract 5): a text scored whole, in pieces or word by word is worth the same.

A task with an encoder is tested with every causal one; one that writes from a source with every writer, with each kind
of encoder and those that see both sides, and with one source for all rows. Neural ones run in float64, where equal is
to 1e-10; one that answers in float32 (counts) is held to 2e-6.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from safetensors.torch import load, save
from torch import Tensor

from foresay import parts
from foresay.data.batch import Batch
from foresay.data.shards import Shards
from foresay.decode.generate import generate
from foresay.decode.sample import Greedy
from foresay.encode.encoder import flatten_state
from foresay.errors import UserError
from foresay.models.task import Task
from foresay.text.tokens import PAD, SPECIALS, START, STOP
from tests.contracts.settings import described, label
from tests.data.made import shards_of

B, T, V = 3, 7, 13


def variants() -> list[dict[str, Any]]:
    """Every task that is a sequence model; with an encoder, each causal one that is registered."""
    found = []
    for name in parts.names("task"):
        if not parts.find("task", name).sequence:  # no P of a text: word vectors
            continue
        settings = {setting.name for setting in parts.settings_of(parts.find("task", name))}
        if "encoder" not in settings:
            found.append({"kind": name})
            continue
        if "writer" in settings:
            seeing = [one for one in described("encoder") if not parts.make("encoder", one).causal]
            kinds = {one["kind"]: one for one in reversed(described("encoder"))}
            found += [{"kind": name, "encoder": one, "embedding": {"size": 5}} for one in [*seeing, *kinds.values()]]
            both = {"kind": "recurrent", "size": 14, "bidirectional": True}
            found += [
                {"kind": name, "encoder": both, "writer": one, "embedding": {"size": 5}} for one in described("writer")
            ]
            continue
        causal = [encoder for encoder in described("encoder") if parts.make("encoder", encoder).causal]
        found += [{"kind": name, "encoder": encoder, "embedding": {"size": 5}} for encoder in causal]
    return found


def name_of(recipe: dict[str, Any]) -> str:
    return "-".join([recipe["kind"], *(label(recipe[side]) for side in ("encoder", "writer") if side in recipe)])


every = pytest.mark.parametrize("recipe", variants(), ids=name_of)


@pytest.fixture(scope="module")
def shards(tmp_path_factory: pytest.TempPathFactory) -> Shards:
    documents = [np.random.default_rng(n).integers(len(SPECIALS), V, 20 + n).tolist() for n in range(5)]
    return shards_of(tmp_path_factory.mktemp("shards") / "train", documents, vocabulary=V)


@pytest.fixture
def model(recipe: dict[str, Any], shards: Shards) -> Task:
    return build(recipe, shards)


def build(recipe: dict[str, Any], shards: Shards) -> Task:
    torch.manual_seed(1)
    made: Any = parts.make("task", recipe)
    made.build(V)
    with torch.no_grad():
        for parameter in made.parameters():  # nothing at zero, where a mistake would not show
            parameter.add_(0.3 * torch.randn_like(parameter))
    if hasattr(made, "fit"):
        made.fit(shards)
    return with_source(made.double().eval())


def with_source(model: Any) -> Any:
    """A model that writes from a source gets the same one for every row."""
    if not model.conditional:
        return model
    own, begin = torch.tensor([[7, 5, 9, 5, STOP]]), model.begin
    model.begin = lambda rows, condition=None, capacity=None: begin(
        rows, own.to(model.device).expand(rows, -1), capacity
    )
    for name, inner in (("loss", model.loss), ("measure", model.measure)):

        def call(batch: Batch, state: Any = None, inner: Any = inner) -> Any:
            assert batch.ids is not None
            return inner(replace(batch, source=own.expand(len(batch.ids), -1)), state)

        setattr(model, name, call)
    return model


def text(rows: int = B, steps: int = T) -> Tensor:
    torch.manual_seed(2)
    return torch.randint(len(SPECIALS), V, (rows, steps))


def ragged(*lengths: int) -> tuple[Tensor, Tensor]:
    mask = torch.arange(T) < torch.tensor(lengths)[:, None]
    return text(len(lengths)).where(mask, PAD), mask


def same(one: Tensor, other: Tensor) -> None:
    tolerance = 1e-10 if one.dtype == torch.float64 else 2e-6
    torch.testing.assert_close(one, other, rtol=tolerance, atol=tolerance)


@every
def test_whole_equals_pieces_equals_steps(model):
    ids = text()
    whole, _ = model.score(ids)
    assert whole.shape == (B, T) and (whole < 0).all()
    for sizes in ([3, 4], [1, 5, 1], [1] * T):
        found, state = [], model.begin(B)
        for piece in ids.split(sizes, 1):
            log_probs, state = model.score(piece, state=state)
            found.append(log_probs)
        same(torch.cat(found, 1), whole)
    log_probs, state = model.step(ids[:, :0], model.begin(B, capacity=T))
    for step in range(T):
        same(log_probs.gather(1, ids[:, step, None])[:, 0], whole[:, step])
        log_probs, state = model.step(ids[:, step, None], state)


@every
def test_step_prefills(model):
    """Many at once give the state and the distribution that one at a time do."""
    ids = text()
    at_once, state = model.step(ids, model.begin(B))
    single, other = model.begin(B), None
    for step in range(T):
        other, single = model.step(ids[:, step, None], single)
    same(at_once, other)
    same(model.score(ids.flip(1), state=state)[0], model.score(ids.flip(1), state=single)[0])


@every
def test_step_gives_a_distribution(model):
    log_probs, state = model.step(text(), model.begin(B))
    assert log_probs.shape == (B, V)
    same(log_probs.exp().sum(1), torch.ones(B, dtype=log_probs.dtype))
    assert all(len(tensor) == B for tensor in flatten_state(state).values())


@every
@pytest.mark.parametrize("rows", [1, 3])
def test_empty_step_is_what_follows_start(model, rows):
    log_probs, _ = model.step(torch.zeros(rows, 0, dtype=torch.long), model.begin(rows))
    assert log_probs.shape == (rows, V)
    every_symbol = torch.arange(V)[:, None]
    same(log_probs[0], model.score(every_symbol)[0][:, 0])
    same(log_probs, log_probs[:1].expand(rows, V))
    masked, _ = model.step(
        torch.zeros(rows, 0, dtype=torch.long), model.begin(rows), torch.zeros(rows, 0, dtype=torch.bool)
    )
    same(masked, log_probs)


@every
def test_empty_score(model):
    found, state = model.score(text()[:, :0])
    assert found.shape == (B, 0)
    same(model.score(text(), state=state)[0], model.score(text())[0])


@every
def test_ragged_rows_equal_single_rows(model):
    lengths = (7, 3, 0, 5)
    ids, mask = ragged(*lengths)
    scored, state = model.score(ids, mask)
    stepped, after = model.step(ids, model.begin(len(lengths)), mask)
    assert (scored[~mask] == 0).all()
    more = text(len(lengths), 4).flip(1)
    further, _ = model.score(more, state=state)
    for row, length in enumerate(lengths):
        alone, its_state = model.score(ids[row : row + 1, :length])
        same(scored[row : row + 1, :length], alone)
        same(stepped[row : row + 1], model.step(ids[row : row + 1, :length], model.begin(1))[0])
        same(further[row : row + 1], model.score(more[row : row + 1], state=its_state)[0])
    same(model.score(more, state=after)[0], further)


@every
def test_padding_may_hold_anything(model):
    ids, mask = ragged(7, 3, 1)
    same(model.score(ids.where(mask, V - 1), mask)[0], model.score(ids, mask)[0])


@every
def test_batch_order_does_not_matter(model):
    ids, mask = ragged(4, 7, 2)
    order = torch.tensor([2, 0, 1])
    same(model.score(ids[order], mask[order])[0], model.score(ids, mask)[0][order])


@every
def test_reorder_branches(model):
    """Rows repeated and dropped go on like rows of their own, and apart from each other."""
    ids, mask = ragged(7, 3, 5)
    rows = torch.tensor([1, 1, 0, 1])
    _, state = model.step(ids, model.begin(3), mask)
    state = model.reorder(state, rows)
    found = []
    more = text(4, 3).flip(0)
    for step in range(3):
        log_probs, state = model.step(more[:, step, None], state)
        found.append(log_probs)
    for branch, row in enumerate(rows.tolist()):
        _, alone = model.step(ids[row, mask[row]][None], model.begin(1))
        for step in range(3):
            log_probs, alone = model.step(more[branch : branch + 1, step, None], alone)
            same(found[step][branch : branch + 1], log_probs)


@every
def test_measure_equals_score(model):
    """A batch as training gives it, <start> before each row, measured whole and in two chunks."""
    targets, mask = ragged(7, 3, 5)
    ids = torch.cat([torch.full((B, 1), START), targets[:, :-1]], 1)
    scored, _ = model.score(targets, mask)
    same(model.measure(Batch(ids=ids, targets=targets, mask=mask))[0], scored)
    first, state = model.measure(Batch(ids=ids[:, :3], targets=targets[:, :3], mask=mask[:, :3]))
    second = Batch(ids=ids[:, 3:], targets=targets[:, 3:], mask=mask[:, 3:], fresh=False)
    same(torch.cat([first, model.measure(second, state)[0]], 1), scored)


@every
def test_a_fresh_batch_drops_the_state(model):
    targets = text()
    batch = Batch(ids=torch.cat([torch.full((B, 1), START), targets[:, :-1]], 1), targets=targets)
    found, state = model.measure(batch)
    same(model.measure(batch, state)[0], found)


@every
def test_saved_tensors_give_equal_scores(model):
    kept = load(save({name: tensor.contiguous() for name, tensor in model.tensors().items()}))
    other = parts.make("task", parts.describe(model))
    torch.manual_seed(9)
    other.build(V)
    with_source(other.double().eval()).restore(kept)
    assert torch.equal(other.score(text())[0], model.score(text())[0])
    assert other.size() == model.size() > 0
    assert other.tensors().keys() == model.tensors().keys()


@every
def test_another_recipes_tensors_are_refused(model):
    kept, before = model.tensors(), model.score(text())[0]
    name = next(iter(kept))
    without = {key: tensor for key, tensor in kept.items() if key != name}
    wider = kept | {name: torch.zeros(*kept[name].shape[:-1], kept[name].shape[-1] + 1)}
    for strange, word in ((without, name), (wider, name), (kept | {"nonsense": torch.zeros(1)}, "nonsense")):
        with pytest.raises(UserError, match=f"^my.file is of another recipe: {word} differs"):
            model.restore(strange, "my.file")
    assert torch.equal(model.score(text())[0], before)


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
@every
def test_gpu_equals_cpu(model):
    """float32 within 1e-3 (cuDNN multiplies in TF32): scores, the next distribution, what is written greedily."""
    model.float()
    ids, mask = ragged(7, 3, 0)
    scored, state = model.score(ids, mask)
    after, _ = model.step(ids, state)
    written = generate(model, [[5, 6], []], Greedy(), length=5)
    model.cuda()
    found, state = model.score(ids.cuda(), mask.cuda())
    torch.testing.assert_close(found.cpu(), scored, rtol=1e-3, atol=1e-3)
    torch.testing.assert_close(model.step(ids.cuda(), state)[0].cpu(), after, rtol=1e-3, atol=1e-3)
    assert generate(model, [[5, 6], []], Greedy(), length=5) == written


@every
def test_every_parameter_learns(model):
    if not list(model.parameters()):
        pytest.skip("a model by counts")
    targets, mask = ragged(7, 3, 5)
    ids = torch.cat([torch.full((B, 1), START), targets[:, :-1]], 1)
    loss, _ = model.train().loss(Batch(ids=ids, targets=targets, mask=mask))
    loss.backward()
    silent = [n for n, p in model.named_parameters() if p.grad is None or not p.grad.abs().sum() > 0]
    assert not silent
