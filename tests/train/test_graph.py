"""The step as a CUDA graph: what is captured does what the plain step does; on a GPU, that replaying it does so too."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch

from foresay import recipe as recipes
from foresay.data.batch import Batch
from foresay.encode.encoder import flatten_state
from foresay.errors import UserError
from foresay.train.graph import Captured, Graphs
from foresay.train.loop import Trainer
from foresay.train.settings import Compute
from foresay.train.step import MOST_SKIPPED, WORTH, wants_graph
from tests.train.made import Notes, batches, equal, make_trainer, weights

SGD = ("train.optimizer=sgd", "train.lr=0.5")
needs_gpu = pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")


class Uncaptured(Graphs):
    """What would be captured is run instead, on any device."""

    def _capture(self, batches: Sequence[Batch], fresh: bool) -> Captured:
        static = [batch.to(self.device) for batch in batches]
        self.model.train()
        graph: Any = SimpleNamespace(replay=lambda: self._whole(static, fresh))
        return Captured(graph, static)


def uncaptured(recipe: dict, folder: Path, *words: str, watch: Notes | None = None, resume: bool = False) -> Trainer:
    trainer = make_trainer(recipe, folder, *words, watch=watch)
    if resume:
        assert trainer.resume()
    counters, clip = trainer.counters, trainer.loop.clip
    trainer.graph = True
    trainer.graphs = Uncaptured(
        trainer.model, trainer.optimizer, clip, trainer.backward, in_a_row=counters.skipped_in_a_row
    )
    return trainer


@pytest.mark.parametrize(
    "words",
    [
        SGD,
        (*SGD, "train.optimizer.momentum=0.5"),
        ("train.optimizer=adamw", "train.lr=0.0078125", "train.optimizer.weight_decay=0.1"),
        (*SGD, "train.clip={kind: parts, limit: 0.25}"),
        (*SGD, "train.clip={kind: value, limit: 0.015625}"),
        (*SGD, "train.clip={kind: norm, limit: 0.25, first: 0.5, fall: 4}"),
        (*SGD, "train.clip=null", "train.accumulate=2"),
        (*SGD, "train.batches.half=0.25", "train.batches.jitter=4"),
        (*SGD, "train.average=ema", "encoder.dropout=0.3"),
    ],
    ids=lambda words: words[-1].split(".", 1)[1],
)
def test_what_is_captured_is_the_plain_step(words: tuple[str, ...], tiny: dict, tmp_path: Path) -> None:
    """Numbers that float32 holds exactly, so that rates and limits on the device are those on the host."""
    plain = make_trainer(tiny, tmp_path / "a", *words)
    plain.run()
    ours = uncaptured(tiny, tmp_path / "b", *words)
    ours.run()
    assert equal(weights(plain), weights(ours)) and plain.counters.best == ours.counters.best
    assert plain.carried is not None and ours.carried is not None
    assert equal(flatten_state(plain.carried), flatten_state(ours.carried))
    if plain.averages is not None and ours.averages is not None:
        assert plain.averages.count == ours.averages.count == 24
        for name, tensor in plain.averages.tensors.items():
            torch.testing.assert_close(ours.averages.tensors[name], tensor, rtol=1e-5, atol=1e-6)
    for one, other in zip(told(plain), told(ours), strict=True):
        assert other == pytest.approx(one, rel=1e-6)


def test_a_shape_that_comes_seldom_is_not_captured(pairs: dict, tmp_path: Path) -> None:
    """60 steps are 2.5 epochs: of the shapes only those are captured that four or more batches of an epoch have."""
    notes = Notes()
    plain = make_trainer(pairs, tmp_path / "a", *SGD)
    plain.run()
    ours = uncaptured(pairs, tmp_path / "b", *SGD, watch=notes)
    ours.run()
    assert equal(weights(plain), weights(ours)) and told(plain) == told(ours) and notes.notes == []
    assert ours.graphs is not None and ours.epochs == 2.5
    drawn = [ours.order.batch(step) for step in range(ours.order.per_epoch)]
    often = {tuple(b.source.shape + b.ids.shape) for b in drawn if b.alike * ours.epochs >= WORTH}
    assert len(ours.graphs.captured) == len(often) > 0
    assert any(batch.alike * ours.epochs < WORTH for batch in drawn)


@pytest.fixture
def pairs(tmp_path: Path) -> dict[str, Any]:
    """Words to be written backwards, 3 to 12 letters."""
    draw = random.Random(2)
    words = ["".join(draw.choices("abcdefgh", k=draw.choice([3, 3, 3, 4, 5, 9, 12]))) for _ in range(300)]
    for name, part in {"train": words[40:], "valid": words[:40]}.items():
        (tmp_path / f"{name}.tsv").write_text("".join(f"{word}\t{word[::-1]}\n" for word in part), "utf-8")
    small = {"size": 16, "dropout": 0.2}
    return {
        "task": "seq2seq",
        "data": {"kind": "pairs"} | {name: str(tmp_path / f"{name}.tsv") for name in ("train", "valid")},
        "tokens": "characters",
        "embedding": {"kind": "lookup", "size": 12},
        "encoder": {"kind": "recurrent", "cell": "lstm", "bidirectional": True, **small},
        "writer": {"kind": "recurrent", "form": "attention", "cell": "lstm", **small},
        "output": {"kind": "softmax", "tied": True},
        "smoothing": 0.1,
        "train": {
            "steps": 60,
            "batches": {"kind": "pairs", "tokens": 100, "width": 3},
            "evaluate": {"every": 60},
            "save": {"every": 60},
        },
    }


def told(trainer: Trainer) -> list[dict[str, Any]]:
    """The lines of its steps, without the time they took."""
    lines = [line for line in trainer.metrics.read() if "loss" in line]
    return [{name: value for name, value in line.items() if name != "seconds"} for line in lines]


@pytest.mark.parametrize("where", ["loss", "gradient"])
def test_what_is_no_number_is_never_applied(where: str, tiny: dict, tmp_path: Path) -> None:
    notes = Notes()
    trainer = uncaptured(tiny, tmp_path, "train.optimizer=adamw", "train.average=ema", watch=notes)
    assert trainer.averages is not None
    for step in range(2):
        trainer.train_step(batches(trainer, step, 1))
    before = weights(trainer) | {f"averages.{n}": t.clone() for n, t in trainer.averages.tensors.items()}
    whole = trainer.model.loss
    if where == "gradient":
        hook = trainer.model.output.bias.register_hook(lambda gradient: gradient * math.nan)
    else:
        trainer.model.loss = lambda *given: (whole(*given)[0] + math.inf, whole(*given)[1])  # pyright: ignore
    loss, norm = trainer.train_step(batches(trainer, 2, 1))
    assert math.isfinite(loss) == (where == "gradient") and math.isfinite(norm) == (where == "loss")
    if where == "gradient":
        hook.remove()
    trainer.model.loss = whole  # pyright: ignore[reportAttributeAccessIssue]
    assert equal(weights(trainer) | {f"averages.{n}": t for n, t in trainer.averages.tensors.items()}, before)
    assert trainer.carried is not None and all((t == 0).all() for t in flatten_state(trainer.carried).values())
    assert notes.notes == []  # nobody has looked yet
    trainer.settle()
    counters = trainer.counters
    assert (counters.step, counters.skipped, counters.skipped_in_a_row, trainer.averages.count) == (3, 1, 1, 2)
    assert len(notes.notes) == 1 and notes.notes[0].startswith("step 3: 1 of the last steps skipped")
    trainer.train_step(batches(trainer, 3, 1))
    trainer.settle()
    assert (counters.skipped, counters.skipped_in_a_row, trainer.averages.count) == (1, 0, 3)
    assert not equal(weights(trainer), before) and counters.loss_steps == 4 - (where == "loss")


def test_too_many_skipped_in_a_row_end_the_run_also_after_a_resume(tiny: dict, tmp_path: Path) -> None:
    words = ("train.steps=60", "train.save_every=12", "train.eval_every=60")
    trainer = uncaptured(tiny, tmp_path, *words)
    whole = trainer.model.loss

    def spoilt(*given):
        value, state = whole(*given)
        return value * (math.nan if trainer.counters.step >= 5 else 1.0), state

    trainer.model.loss = spoilt  # pyright: ignore[reportAttributeAccessIssue]
    for step in range(12):
        trainer.train_step(batches(trainer, step, 1))
    trainer.save()
    again = uncaptured(tiny, tmp_path, *words, resume=True)
    assert again.counters.skipped == again.counters.skipped_in_a_row == 7
    whole, trainer = again.model.loss, again
    again.model.loss = spoilt  # pyright: ignore[reportAttributeAccessIssue]
    with pytest.raises(UserError, match=rf"at step 25, the last of {MOST_SKIPPED} in a row; both must be finite"):
        again.run()


def test_one_capture_for_each_shape(tiny: dict, tmp_path: Path) -> None:
    words = ("train.batches.half=0.25", "train.batches.jitter=4", "train.batches.chunk=16", "train.steps=40")
    trainer = uncaptured(tiny, tmp_path, *words)
    trainer.run()
    assert trainer.graphs is not None
    shapes = {(step == 0, trainer.order.batch(step).ids.shape) for step in range(40)}
    assert len(trainer.graphs.captured) == len(shapes) > 4


def test_a_state_that_changes_its_shape_is_refused(tiny: dict, tmp_path: Path) -> None:
    trainer = uncaptured(tiny, tmp_path)
    assert trainer.graphs is not None
    trainer.graphs._hold({"h": torch.zeros(2, 3)})
    with pytest.raises(RuntimeError, match="changes its shape"):
        trainer.graphs._hold({"h": torch.zeros(2, 4)})


@pytest.mark.parametrize("graph", ["auto", True])
def test_a_step_that_cannot_be_captured_runs_plain(graph: str | bool, tiny: dict, tmp_path: Path) -> None:
    plain = make_trainer(tiny, tmp_path / "a", *SGD)
    plain.run()
    notes = Notes()
    trainer = uncaptured(tiny, tmp_path / "b", *SGD, watch=notes)
    assert trainer.graphs is not None
    trainer.loop.compute = Compute(graph=graph)  # pyright: ignore[reportArgumentType]
    whole = trainer.graphs._capture

    def capture(batches, fresh):
        if not fresh:
            raise RuntimeError("called a synchronizing CUDA operation\nand more")
        return whole(batches, fresh)

    trainer.graphs._capture = capture
    if graph is True:
        with pytest.raises(
            UserError, match=r"train.graph=true, but the step cannot be captured: called a sync.*tion; "
        ):
            trainer.run()
        return
    trainer.run()
    assert notes.notes == ["the step runs without a CUDA graph: called a synchronizing CUDA operation"]
    assert trainer.graphs is None and equal(weights(trainer), weights(plain))
    assert told(trainer) == told(plain)


@pytest.mark.parametrize(
    ("words", "device", "wanted"),
    [
        ([], "cpu", False),
        ([], "cuda", True),
        (["train.precision=bfloat16"], "cuda", True),
        (["train.graph=false"], "cuda", False),
        (["train.graph=true"], "cuda", True),
        (["train.precision=float16"], "cuda", False),
        (["train.batches.forget=0.1"], "cuda", False),
        (["train.batches=buckets"], "cuda", True),
        (["train.batches=buckets", "train.accumulate=2"], "cuda", False),
    ],
)
def test_when_the_step_is_a_graph(words: list[str], device: str, wanted: bool, tiny: dict) -> None:
    loop = recipes.complete(recipes.override(recipes.read(tiny), words)[0]).train
    assert wants_graph(loop, torch.device(device)) is wanted


def test_a_graph_where_there_can_be_none_is_refused(tiny: dict, tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"train.graph=true on cpu with train.batches=streams .*; it needs a GPU"):
        make_trainer(tiny, tmp_path, "train.graph=true")


@pytest.mark.gpu
@needs_gpu
@pytest.mark.parametrize(
    "words",
    [
        SGD,
        (*SGD, "train.optimizer.momentum=0.5", "train.clip={kind: norm, limit: 0.25, first: 0.5, fall: 4}"),
        ("train.optimizer=adamw", "train.lr=0.0078125"),
        (*SGD, "train.batches.half=0.25", "train.batches.jitter=4", "train.average=ema"),
        (*SGD, "train.accumulate=2"),
        (*SGD, "encoder.cell={kind: dropped-weights, share: 0.5}", "regularise={dropout: 0.4, activation: 2.0}"),
    ],
    ids=lambda words: words[-1].split("=", 1)[0],
)
def test_replayed_it_is_the_plain_step(words: tuple[str, ...], tiny: dict, tmp_path: Path) -> None:
    """The same random numbers and kernels: dropout too; 1e-4 for products that may be cut differently."""
    plain = make_trainer(tiny, tmp_path / "a", *words, "train.graph=false", "encoder.dropout=0.3", device="cuda")
    plain.run()
    ours = make_trainer(tiny, tmp_path / "b", *words, "encoder.dropout=0.3", device="cuda")
    ours.run()
    assert plain.graphs is None and ours.graphs is not None and ours.graphs.pool is not None
    for name, tensor in weights(plain).items():
        torch.testing.assert_close(weights(ours)[name], tensor, rtol=1e-4, atol=1e-5)
    for one, other in zip(told(plain), told(ours), strict=True):
        assert other == pytest.approx(one, rel=1e-4)


ATTENTION = {"layers": 2, "heads": 2, "size": 16, "dropout": 0.2}
WRITERS = {
    "recurrent": {},
    "agreeing": {"agreement": 1.0},
    "copying": {"writer": {"kind": "recurrent", "form": "attention", "copy": True, "coverage": 1.0, "size": 16}},
    "last": {"writer": {"kind": "recurrent", "form": "last", "cell": "gru", "size": 16}},
    "transformer": {
        "encoder": {"kind": "transformer", "causal": False, **ATTENTION},
        "writer": {"kind": "transformer", **ATTENTION},
    },
}


@pytest.mark.gpu
@needs_gpu
@pytest.mark.parametrize("precision", ["float32", "bfloat16"])
@pytest.mark.parametrize("kind", WRITERS)
def test_replayed_steps_of_pairs_are_the_plain_ones(kind: str, precision: str, pairs: dict, tmp_path: Path) -> None:
    """Some shapes are captured, others come too seldom; 1e-3 for products that may be cut differently."""
    words = (*SGD, "train.lr=0.125", "train.graph=false", f"train.precision={precision}")
    plain = make_trainer(pairs | WRITERS[kind], tmp_path / "a", *words, device="cuda")
    plain.run()
    notes = Notes()
    words = (*words[:-2], f"train.precision={precision}")
    ours = make_trainer(pairs | WRITERS[kind], tmp_path / "b", *words, device="cuda", watch=notes)
    ours.run()
    assert notes.notes == [] and plain.graphs is None
    assert ours.graphs is not None and ours.graphs.pool is not None and len(ours.graphs.captured) > 0
    near = {"rtol": 1e-3, "atol": 1e-4} if precision == "float32" else {"rtol": 2e-2, "atol": 2e-3}
    for name, tensor in weights(plain).items():
        torch.testing.assert_close(weights(ours)[name], tensor, **near)


@pytest.mark.gpu
@needs_gpu
def test_killed_and_resumed_pairs_have_the_same_weights(pairs: dict, tmp_path: Path) -> None:
    whole = make_trainer(pairs, tmp_path / "a", device="cuda")
    whole.run()
    cut = make_trainer(pairs, tmp_path / "b", "train.save.every=15", device="cuda")
    for step in range(15):
        cut.train_step(batches(cut, step, 1))
    cut.save()
    again = make_trainer(pairs, tmp_path / "b", device="cuda")
    assert again.resume()
    again.run()
    assert equal(weights(whole), weights(again))


@pytest.mark.gpu
@needs_gpu
def test_no_step_waits_for_the_device(tiny: dict, tmp_path: Path) -> None:
    trainer = make_trainer(tiny, tmp_path, *SGD, "train.average=ema", device="cuda")
    for step in range(3):
        trainer.train_step(batches(trainer, step, 1))
    torch.cuda.set_sync_debug_mode("error")
    try:
        for step in range(3, 9):
            trainer.train_step(batches(trainer, step, 1))
    finally:
        torch.cuda.set_sync_debug_mode("default")
    trainer.settle()
    assert trainer.counters.loss_steps == 9


def test_a_rehearsal_is_not_counted(tiny: dict, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What a model counts as it trains is set back, also where the step turns out not to be capturable."""
    trainer = uncaptured(tiny, tmp_path, *SGD)
    trainer.model.register_buffer("steps", torch.tensor(5))
    steps: Any = trainer.model.steps

    def aside(_: Graphs, batches: list[Batch], fresh: bool) -> None:
        steps.add_(1)
        raise RuntimeError("waits for the device")

    monkeypatch.setattr(Graphs, "_step_aside", aside)
    assert trainer.graphs is not None
    with pytest.raises(RuntimeError):
        trainer.graphs._rehearse([], True)
    assert int(steps) == 5


@pytest.mark.gpu
@needs_gpu
def test_a_replayed_step_that_is_no_number_is_not_applied(tiny: dict, tmp_path: Path) -> None:
    trainer = make_trainer(tiny, tmp_path, "train.optimizer=adamw", device="cuda")
    for step in range(3):
        trainer.train_step(batches(trainer, step, 1))
    before = weights(trainer)
    assert trainer.carried is not None
    trainer.carried["0"]["h"].fill_(math.nan)  # in its place, so that the graph reads it
    trainer.train_step(batches(trainer, 3, 1))
    assert equal(weights(trainer), before)
    trainer.settle()
    assert trainer.counters.skipped == 1 and (trainer.carried["0"]["h"] == 0).all()
    trainer.train_step(batches(trainer, 4, 1))
    trainer.settle()
    assert trainer.counters.skipped_in_a_row == 0 and not equal(weights(trainer), before)
