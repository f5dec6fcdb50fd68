"""What every registered task keeps (contract 5): a text scored whole, in pieces or word by word is worth the same.

A task with an encoder is tested with every one that it takes: causal ones, or those that see both sides, which keep
`score` and `measure` alone; one that writes from a source with every writer, with each kind of encoder and those that
see both sides, and with one source for all rows. Neural ones run in float64, where equal is to 1e-10; one that answers
in float32 (counts) is held to 2e-6.
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
    """Every task that is a sequence model; with an encoder, each registered one that it takes."""
    found = []
    for name in parts.names("task"):
        task: Any = parts.find("task", name)
        if not task.sequence:  # no P of a text: word vectors; taggers have a contract of their own (test_taggers.py)
            continue
        settings = {setting.name for setting in parts.settings_of(task)}
        if "encoder" not in settings:
            found.append({"kind": name})
            continue
        if "writer" in settings:
            seeing = [one for one in described("encoder") if not parts.make("encoder", one).causal]
            kinds = {one["kind"]: one for one in reversed(described("encoder"))}
            small = {"writer": {"size": 7}, "embedding": {"size": 5}}
            found += [{"kind": name, "encoder": one, **small} for one in [*seeing, *kinds.values()]]
            both = {"kind": "recurrent", "size": 14, "bidirectional": True}
            found += [
                {"kind": name, "encoder": both, "writer": one, "embedding": {"size": 5}} for one in described("writer")
            ]
            continue
        fits = "causal" if task.one_way else "sees_both_sides"
        taken = [encoder for encoder in described("encoder") if getattr(parts.make("encoder", encoder), fits)]
        more = {} if task.one_way else {"masking": {"share": 0.5}}
        if task.one_way and not task.causal:  # an encoder each way: one of each kind, and a table for the words
            taken, more = list({one["kind"]: one for one in taken}.values()), {}
            found += [{"kind": name, "encoder": one, "embedding": {"kind": "lookup", "size": 5}} for one in taken]
            continue
        found += [{"kind": name, "encoder": encoder, "embedding": {"size": 5}, **more} for encoder in taken]
    return found


def name_of(recipe: dict[str, Any]) -> str:
    return "-".join([recipe["kind"], *(label(recipe[side]) for side in ("encoder", "writer") if side in recipe)])


EVERY = variants()
CAUSAL = [recipe for recipe in EVERY if parts.find("task", recipe["kind"]).causal]
every = pytest.mark.parametrize("recipe", EVERY, ids=name_of)
every_causal = pytest.mark.parametrize("recipe", CAUSAL, ids=name_of)
BOTH_SIDED = [one for one in EVERY if one not in CAUSAL]
every_both_sided = pytest.mark.parametrize("recipe", BOTH_SIDED, ids=name_of)
every_masked = pytest.mark.parametrize("recipe", [one for one in BOTH_SIDED if "masking" in one], ids=name_of)


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


@every_causal
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


@every_causal
def test_step_prefills(model):
    """Many at once give the state and the distribution that one at a time do."""
    ids = text()
    at_once, state = model.step(ids, model.begin(B))
    single, other = model.begin(B), None
    for step in range(T):
        other, single = model.step(ids[:, step, None], single)
    same(at_once, other)
    same(model.score(ids.flip(1), state=state)[0], model.score(ids.flip(1), state=single)[0])


@every_causal
def test_step_gives_a_distribution(model):
    log_probs, state = model.step(text(), model.begin(B))
    assert log_probs.shape == (B, V)
    same(log_probs.exp().sum(1), torch.ones(B, dtype=log_probs.dtype))
    assert all(len(tensor) == B for tensor in flatten_state(state).values())


@every_causal
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


@every_causal
def test_empty_score(model):
    found, state = model.score(text()[:, :0])
    assert found.shape == (B, 0)
    same(model.score(text(), state=state)[0], model.score(text())[0])


@every_causal
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


@every_causal
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


@every_causal
def test_measure_equals_score(model):
    """A batch as training gives it, <start> before each row, measured whole and in two chunks."""
    targets, mask = ragged(7, 3, 5)
    ids = torch.cat([torch.full((B, 1), START), targets[:, :-1]], 1)
    scored, _ = model.score(targets, mask)
    same(model.measure(Batch(ids=ids, targets=targets, mask=mask))[0], scored)
    first, state = model.measure(Batch(ids=ids[:, :3], targets=targets[:, :3], mask=mask[:, :3]))
    second = Batch(ids=ids[:, 3:], targets=targets[:, 3:], mask=mask[:, 3:], fresh=False)
    same(torch.cat([first, model.measure(second, state)[0]], 1), scored)


@every_causal
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
@every_causal
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


@every_both_sided
def test_both_sided_score_is_of_each_given_all_others(model):
    """Rows of any length as if alone; over all symbols at one place they sum to one; none of an empty row."""
    lengths = (7, 3, 0, 5)
    ids, mask = ragged(*lengths)
    scored, state = model.score(ids, mask)
    assert state == {} and (scored[~mask] == 0).all() and (scored[mask] < 0).all()
    for row, length in enumerate(lengths):
        same(scored[row : row + 1, :length], model.score(ids[row : row + 1, :length])[0])
    assert model.score(text()[:, :0])[0].shape == (B, 0)
    for place in (0, 3, T - 1):
        variants = text(1).repeat(V, 1)
        variants[:, place] = torch.arange(V)
        found = model.score(variants)[0][:, place]
        same(found.exp().sum(), torch.ones((), dtype=found.dtype))
        same(found, model.fill(text(1), torch.tensor([place]))[0])


@every_masked
def test_both_sided_measure_hides_all_in_turns(recipe, shards):
    """One at a time, it is the score; two at a time, the score of texts with two hidden. Documents apart."""
    targets, mask = ragged(7, 3, 5)
    alone = build(recipe | {"masking": {"share": 0.05}}, shards)
    same(alone.measure(Batch(targets=targets, mask=mask))[0], alone.score(targets, mask)[0])
    model = build(recipe, shards)
    halves = model.measure(Batch(targets=targets, mask=mask))[0]
    assert halves.shape == (B, T) and (halves[~mask] == 0).all()
    found = model.measure(Batch(targets=text(1, 6), starts=torch.tensor([[1, 0, 0, 0, 1, 0]]).bool()))[0]
    for part in (slice(0, 4), slice(4, 6)):
        same(found[:, part], model.measure(Batch(targets=text(1, 6)[:, part]))[0])


@every_both_sided
def test_both_sided_goes_on_from_nothing(model):
    for call in (
        lambda: model.begin(1),
        lambda: model.step(text(), {}),
        lambda: generate(model, [[5]], Greedy(), length=2),
    ):
        with pytest.raises(UserError, match="sees both sides and writes nothing from left to right; use score"):
            call()
    with pytest.raises(UserError, match="sees both sides and goes on from no state"):
        model.score(text(), state={"position": torch.zeros(B)})
    with pytest.raises(UserError, match="sees both sides and takes no condition"):
        model.score(text(), condition=torch.zeros(B, 3))


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
@every_both_sided
def test_both_sided_gpu_equals_cpu(model):
    """Scores and measures in float32 within 1e-3; a loss that is finite, and gradients with it."""
    model.float()
    ids, mask = ragged(7, 3, 0)
    batch = Batch(ids=torch.cat([torch.full((B, 1), START), ids[:, :-1]], 1), targets=ids, mask=mask)
    scored, measured = model.score(ids, mask)[0], model.measure(batch)[0]
    model.cuda()
    batch = batch.to("cuda")
    torch.testing.assert_close(model.score(ids.cuda(), mask.cuda())[0].cpu(), scored, rtol=1e-3, atol=1e-3)
    torch.testing.assert_close(model.measure(batch)[0].cpu(), measured, rtol=1e-3, atol=1e-3)
    loss, _ = model.train().loss(batch)
    loss.backward()
    assert loss.isfinite() and all(p.grad is None or p.grad.isfinite().all() for p in model.parameters())
