"""The masked language model: its scores, against a plain loop; that no answer is seen."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor

from foresay import parts, start
from foresay.data.batch import Batch
from foresay.errors import UserError
from foresay.models import masked_lm
from foresay.models.masked_lm import MaskedLanguageModel
from foresay.models.masking import hide
from foresay.text.tokens import MASK, SPECIALS
from foresay.train.progress import Watch
from tests.train.stopping import train_to

V = 23
ENCODERS: dict[str, dict[str, Any]] = {
    "transformer": {"kind": "transformer", "causal": False, "size": 8, "heads": 2, "layers": 2},
    "recurrent": {"kind": "recurrent", "bidirectional": True, "size": 8},
}
every = pytest.mark.parametrize("kind", ENCODERS)


def build(kind: str = "transformer", **masking: Any) -> MaskedLanguageModel:
    torch.manual_seed(1)
    model = parts.make(
        "task", {"kind": "masked-lm", "encoder": ENCODERS[kind], "embedding": {"size": 5}, "masking": masking}
    )
    model.build(V)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(0.3 * torch.randn_like(parameter))
    return model.double().eval()


def symbols(rows: int, steps: int, seed: int = 2) -> Tensor:
    return torch.randint(len(SPECIALS), V, (rows, steps), generator=torch.Generator().manual_seed(seed))


@every
def test_loss_is_the_mean_over_what_is_hidden(kind):
    model, targets = build(kind, share=0.3), symbols(3, 9)
    torch.manual_seed(8)
    loss, state = model.loss(Batch(targets=targets))
    torch.manual_seed(8)
    read, hidden = hide(targets, None, None, model.masking, V, None)
    log_probs = model.output.log_probs(model.encoder(model.embedding(Batch(ids=read)))[0])
    expected = -log_probs.gather(2, targets[..., None])[..., 0][hidden].mean()
    torch.testing.assert_close(loss, expected, rtol=1e-10, atol=1e-10)
    assert state == {}


@every
def test_pseudo_log_likelihood_is_a_loop_over_hidden_places(kind, monkeypatch):
    model, ids = build(kind), symbols(2, 7)
    expected = torch.zeros(2, 7, dtype=torch.float64)
    for row in range(2):
        for place in range(7):
            read = ids[row : row + 1].clone()
            read[0, place] = MASK
            y = model.encoder(model.embedding(Batch(ids=read)))[0][0, place]
            expected[row, place] = model.output.log_probs(y)[ids[row, place]]
    torch.testing.assert_close(model.score(ids)[0], expected, rtol=1e-10, atol=1e-10)
    monkeypatch.setattr(masked_lm, "AT_ONCE", 21)  # three at a time, and two over
    torch.testing.assert_close(model.score(ids)[0], expected, rtol=1e-10, atol=1e-10)


@every
def test_measure_hides_every_kth(kind):
    """Share 0.3: every third, each a third of the symbols at a time."""
    model, targets = build(kind, share=0.3), symbols(2, 8)
    found = model.measure(Batch(targets=targets))[0]
    for turn in range(3):
        hidden = torch.arange(8) % 3 == turn
        y = model.encoder(model.embedding(Batch(ids=targets.masked_fill(hidden, MASK))))[0]
        own = model.output.log_probs(y).gather(2, targets[..., None])[..., 0]
        torch.testing.assert_close(found[:, hidden], own[:, hidden], rtol=1e-10, atol=1e-10)


@every
def test_the_answer_is_never_seen(kind):
    """log P at a hidden place pulls at the vectors of all other symbols of its row, and not at its own."""
    model = build(kind)
    ids = torch.tensor([[5, 6, 7, 8, 9]])
    for place in range(5):
        (grad,) = torch.autograd.grad(model.score(ids)[0][0, place], model.embedding.table)
        moved = set(grad.abs().sum(1).nonzero().flatten().tolist())
        assert moved == {5, 6, 7, 8, 9, MASK} - {5 + place}


@every
def test_packed_documents_are_independent(kind):
    """In training, with the same symbols hidden: another document's words change nothing."""
    model, targets = build(kind, share=0.4), symbols(1, 10)
    starts = torch.zeros(1, 10, dtype=torch.bool)
    starts[0, [0, 6]] = True
    read = targets.masked_fill(torch.arange(10) % 3 == 1, MASK)
    x = model.embedding(Batch(ids=read)).detach().requires_grad_()
    y = model.encoder(x, starts=starts)[0]
    (grad,) = torch.autograd.grad(y[0, 7].square().sum(), x)
    assert (grad[0, :6] == 0).all() and (grad[0, 6:] != 0).any(1).all()
    torch.manual_seed(9)
    together = model.loss(Batch(targets=targets, starts=starts))[0]
    torch.manual_seed(9)
    apart = model.loss(Batch(targets=targets))[0]
    assert together != apart


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"encoder": "transformer"}, "predicts from both sides; set encoder.causal=false"),
        ({"encoder": "recurrent"}, "encoder.bidirectional=true for a recurrent one"),
        ({"encoder": {"kind": "shrunk", "by": 2}}, "both sides; set encoder.encoder.causal=false for a transformer"),
        ({"encoder": {"kind": "stack", "layers": ["recurrent", "shrunk"]}}, "sees only what came before"),
        ({"masking": {"masked": 0.8, "replaced": 0.3}}, "sum to more than 1; lower one of them"),
        ({"masking": {"share": 0.0}}, "masking.share=0.0; allowed: a number > 0 and < 1"),
    ],
)
def test_refusals(settings, message):
    with pytest.raises(UserError, match=message):
        parts.make("task", {"kind": "masked-lm", **settings})


@pytest.mark.parametrize(
    "inner", [{"kind": "transformer", "causal": False}, {"kind": "recurrent", "bidirectional": True}]
)
def test_a_shrunk_encoder_that_sees_both_sides_fits(inner):
    shrunk = {"kind": "shrunk", "encoder": inner}
    for encoder in (shrunk, {"kind": "stack", "layers": ["recurrent", shrunk]}):
        assert parts.make("task", {"kind": "masked-lm", "encoder": encoder}).encoder.sees_both_sides


def test_default_encoder_is_completed():
    made = parts.make("task", {"kind": "masked-lm", "encoder": {"size": 12, "heads": 3}})
    told = parts.describe(made)["encoder"]
    assert (told["kind"], told["size"], told["causal"]) == ("transformer", 12, False)


def test_whole_words_without_symbols_are_refused():
    model = build(whole_words=True)
    with pytest.raises(UserError, match=r"needs the symbols of the vocabulary; set model\.symbols before build"):
        model.train().loss(Batch(targets=symbols(2, 4)))
    other = build(whole_words=True)
    other.restore(model.tensors())
    assert other.loss(Batch(targets=symbols(2, 4)))[0] > 0


def recipe(corpus: Path, **more: Any) -> dict[str, Any]:
    train = {"steps": 12, "batches": {"kind": "packed", "rows": 4, "length": 24}, "save": {"every": 5}}
    return {
        "task": "masked-lm",
        "data": {"train": str(corpus), "unit": "line"},
        "tokens": "characters",
        "embedding": {"size": 8},
        "encoder": ENCODERS["transformer"] | {"dropout": 0.1},
        "train": train | {"evaluate": {"every": 6, "tokens": 500}},
    } | more


def test_stopped_and_resumed_gives_the_same_bytes(corpus: Path, tmp_path: Path):
    given = recipe(corpus, masking={"whole_words": True})
    start.train(given, out="alone", device="cpu", watch=Watch())
    train_to(7, given, tmp_path / "stopped")
    run = start.train(resume=tmp_path / "stopped", device="cpu", watch=Watch())
    assert Path("alone/model.safetensors").read_bytes() == (tmp_path / "stopped/model.safetensors").read_bytes()
    assert run.model.edges.any() and run.model.edges.shape == (len(run.tokens), 2)
