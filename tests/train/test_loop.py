"""The training loop, value by value: what a step does, what is carried, skipped and written down."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from torch import Tensor

from foresay.data.batch import Batch
from foresay.encode.encoder import detach
from foresay.errors import UserError
from foresay.train.loop import Trainer
from foresay.train.optimise import optimizer_tensors
from foresay.train.step import MOST_SKIPPED
from tests.train.made import Notes, batches, equal, make_trainer, weights

PLAIN = ("train.optimizer=sgd", "train.lr=1.0", "train.clip=null", "encoder.dropout=0.0")
STILL = (*PLAIN, "train.lr=1e-12")  # too small to change a weight


def applied(trainer: Trainer) -> dict[str, Tensor]:
    """The gradients of the next step, as the optimiser gets them."""
    found: dict[str, Tensor] = {}
    whole = trainer.optimizer.step

    def step() -> None:
        found.update({name: p.grad.clone() for name, p in trainer.model.named_parameters() if p.grad is not None})
        whole()

    trainer.optimizer.step = step  # pyright: ignore[reportAttributeAccessIssue]
    return found


def test_two_half_batches_are_one_whole(tiny: dict, tmp_path: Path) -> None:
    packed = {"kind": "packed", "rows": 4, "length": 12}
    whole = make_trainer(tiny | {"train": tiny["train"] | {"batches": packed}}, tmp_path, *PLAIN)
    halves = make_trainer(
        tiny | {"train": tiny["train"] | {"batches": packed | {"rows": 2}}}, tmp_path, *PLAIN, "train.accumulate=2"
    )
    for step in range(3):
        one, norm = whole.train_step(batches(whole, step, 1))
        other, length = halves.train_step(batches(halves, 2 * step, 2))
        assert (other, length) == pytest.approx((one, norm), rel=1e-5)
    for name, tensor in weights(whole).items():
        torch.testing.assert_close(weights(halves)[name], tensor, rtol=1e-4, atol=1e-6)
    assert whole.counters.tokens == halves.counters.tokens == 3 * 48


def test_unequal_halves_weigh_by_their_tokens(tiny: dict, tmp_path: Path) -> None:
    ids = torch.randint(5, 20, (2, 6))
    mask = torch.tensor([[True] * 6, [True, True] + [False] * 4])
    parts = [Batch(ids=ids[i : i + 1], targets=ids[i : i + 1].flip(1), mask=mask[i : i + 1]) for i in (0, 1)]
    both = Batch(ids=ids, targets=ids.flip(1), mask=mask)
    apart, together = (make_trainer(tiny, tmp_path, *PLAIN) for _ in range(2))
    assert apart.train_step(parts) == pytest.approx(together.train_step([both]), rel=1e-5)
    for name, tensor in weights(together).items():
        torch.testing.assert_close(weights(apart)[name], tensor, rtol=1e-4, atol=1e-6)


def test_the_state_is_carried_for_ever(tiny: dict, tmp_path: Path) -> None:
    trainer = make_trainer(tiny, tmp_path, *STILL)
    before, chunks = weights(trainer), batches(trainer, 0, 4)
    for chunk in chunks:
        trainer.train_step([chunk])
    assert all(torch.allclose(tensor, before[name], rtol=0, atol=1e-11) for name, tensor in weights(trainer).items())
    ids = torch.cat([chunk.ids for chunk in chunks], 1)  # pyright: ignore[reportArgumentType,reportCallIssue]
    _, state = trainer.model.encoder(trainer.model.embedding(Batch(ids=ids)))
    assert trainer.carried is not None and trainer.carried["position"].tolist() == [64] * 4
    for layer in ("0", "1"):
        for name in ("h", "c"):
            torch.testing.assert_close(trainer.carried[layer][name], state[layer][name].detach())
            assert not trainer.carried[layer][name].requires_grad


def test_the_gradient_stays_inside_the_chunk(tiny: dict, tmp_path: Path) -> None:
    trainer = make_trainer(tiny, tmp_path, *STILL)
    first, second = batches(trainer, 0, 2)
    trainer.train_step([first])
    found = applied(trainer)
    trainer.train_step([second])

    def by_hand(cut: bool) -> dict[str, Tensor]:
        _, state = trainer.model.loss(first)
        trainer.model.loss(second, detach(state) if cut else state)[0].backward()
        gradients = {name: p.grad for name, p in trainer.model.named_parameters()}
        trainer.optimizer.zero_grad()
        return gradients

    inside, through = by_hand(cut=True), by_hand(cut=False)
    assert found.keys() == inside.keys()
    for name, gradient in found.items():
        torch.testing.assert_close(gradient, inside[name], rtol=1e-4, atol=1e-7)
    recurrent = [name for name in found if name.startswith("encoder.forwards.0")]
    assert all(not torch.allclose(found[name], through[name], rtol=1e-3, atol=1e-7) for name in recurrent)


def test_a_step_moves_by_the_rate_and_the_clipped_gradient(tiny: dict, tmp_path: Path) -> None:
    words = ("train.optimizer=sgd", "train.lr=0.5", "train.clip={kind: norm, limit: 0.01, first: 0.03, fall: 2}")
    trainer = make_trainer(tiny, tmp_path, *words, "train.schedule={kind: linear, warmup: 2}")
    for rate, limit in ((0.25, 0.03), (0.5, 0.02), (0.5, 0.01)):
        before = weights(trainer)
        _, norm = trainer.train_step(batches(trainer, trainer.counters.step, 1))
        assert norm > 0.03  # as it was before clipping
        moved = torch.cat([(tensor - before[name]).flatten() for name, tensor in weights(trainer).items()])
        assert float(moved.norm()) == pytest.approx(rate * limit, rel=1e-3)


@pytest.mark.parametrize("precision", ["bfloat16", "float16"])
def test_mixed_precision_learns(precision: str, tiny: dict, tmp_path: Path, no_onednn: None) -> None:
    exact = make_trainer(tiny, tmp_path, "encoder.cell=elman")
    mixed = make_trainer(tiny, tmp_path, "encoder.cell=elman", f"train.precision={precision}")
    losses = [mixed.train_step(batches(mixed, step, 1))[0] for step in range(24)]
    first = exact.train_step(batches(exact, 0, 1))[0]
    assert losses[0] == pytest.approx(first, rel=1e-2) and losses[0] != first
    assert sum(losses[-4:]) / 4 < first - 0.2 and mixed.counters.skipped == 0
    assert all(tensor.dtype == torch.float32 for tensor in weights(mixed).values())


@pytest.mark.parametrize("bad", [math.nan, math.inf])
@pytest.mark.parametrize("where", ["loss", "gradient"])
def test_what_is_no_number_is_never_applied(bad: float, where: str, tiny: dict, tmp_path: Path) -> None:
    notes = Notes()
    trainer = make_trainer(tiny, tmp_path, watch=notes)
    for step in range(2):
        trainer.train_step(batches(trainer, step, 1))
    before = weights(trainer) | {f"optimizer.{n}": t.clone() for n, t in optimizer_tensors(trainer.optimizer).items()}
    undo = spoil(trainer, where, bad)
    loss, norm = trainer.train_step(batches(trainer, 2, 1))
    undo()
    assert math.isfinite(loss) == (where == "gradient") and math.isfinite(norm) == (where == "loss")
    after = weights(trainer) | {f"optimizer.{n}": t for n, t in optimizer_tensors(trainer.optimizer).items()}
    assert equal(after, before)
    assert trainer.carried is None
    counters = trainer.counters
    assert (counters.step, counters.skipped, counters.skipped_in_a_row) == (3, 1, 1)
    assert len(notes.notes) == 1 and notes.notes[0].startswith("step 3: loss ") and notes.notes[0].endswith("skipped")
    trainer.train_step(batches(trainer, 3, 1))
    assert (counters.skipped, counters.skipped_in_a_row) == (1, 0) and not equal(weights(trainer), before)


def spoil(trainer: Trainer, where: str, bad: float) -> Callable[[], None]:
    """Makes the loss or one gradient no number until what is returned is called."""
    if where == "gradient":
        bias = trainer.model.output.bias
        return bias.register_hook(lambda gradient: gradient.clone().index_fill_(0, torch.tensor(3), bad)).remove
    whole = trainer.model.loss

    def loss(batch: Batch, state: object) -> tuple[Tensor, object]:
        value, state = whole(batch, state)  # pyright: ignore[reportArgumentType]
        return value + bad, state  # its gradient is as it was

    trainer.model.loss = loss  # pyright: ignore[reportAttributeAccessIssue]
    return lambda: setattr(trainer.model, "loss", whole)


def test_too_many_skipped_in_a_row_end_the_run(tiny: dict, tmp_path: Path) -> None:
    trainer = make_trainer(tiny, tmp_path, "train.steps=60")
    whole, bad = trainer.model.loss, {*range(5, 5 + MOST_SKIPPED - 1), *range(30, 50)}

    def loss(batch: Batch, state: object) -> tuple[Tensor, object]:
        value, state = whole(batch, state)  # pyright: ignore[reportArgumentType]
        return value * (math.nan if trainer.counters.step in bad else 1.0), state

    trainer.model.loss = loss  # pyright: ignore[reportAttributeAccessIssue]
    with pytest.raises(UserError, match=r"at step 50, the last of 20 in a row; both must be finite: start a new run"):
        trainer.run()
    lines = [json.loads(line) for line in (tmp_path / "metrics.jsonl").read_text().splitlines()]
    skipped = {line["step"]: line["skipped"] for line in lines if "skipped" in line}
    assert skipped[5] == 0 and skipped[24] == skipped[25] == skipped[30] == 19 and skipped[49] == 38
    assert [line["loss"] for line in lines if line["step"] in (41, 42)] == [None, None]


def test_metrics_say_what_happened(tiny: dict, tmp_path: Path) -> None:
    trainer = make_trainer(tiny, tmp_path, "train.schedule={kind: linear}")
    trainer.run()
    lines = [json.loads(line) for line in (tmp_path / "metrics.jsonl").read_text().splitlines()]
    trained = [line for line in lines if "loss" in line]
    assert [line["step"] for line in trained] == list(range(1, 25))
    assert [line["tokens"] for line in trained] == [64 * step for step in range(1, 25)]
    assert [line["lr"] for line in trained] == pytest.approx([0.01 * (1 - step / 24) for step in range(24)])
    assert all(line["skipped"] == 0 and line["norm"] > 0 for line in trained)
    seconds = [line["seconds"] for line in trained]
    assert seconds == sorted(seconds) and seconds[0] > 0
    assert trained[0]["loss"] == pytest.approx(math.log(len(trainer.prepared.tokens)), abs=0.3)  # it knows nothing yet
    measured = [line for line in lines if "valid_loss" in line]
    assert [line["step"] for line in measured] == [8, 16, 24]
    assert measured[-1]["valid_perplexity"] == pytest.approx(math.exp(measured[-1]["valid_loss"]))


def test_a_long_run_writes_the_mean_of_several_steps(tiny: dict, tmp_path: Path) -> None:
    trainer = make_trainer(tiny, tmp_path, "train.steps=600")  # a line every 3 steps
    for step, loss in enumerate([1.0, 2.0, 6.0, 4.0, math.nan, 5.0, math.nan, math.nan, math.nan], 1):
        trainer.counters.step = step
        trainer._report(loss, 1.0)
    lines = [json.loads(line) for line in (tmp_path / "metrics.jsonl").read_text().splitlines()]
    assert [(line["step"], line["loss"]) for line in lines] == [(3, 3.0), (6, 4.5), (9, None)]
