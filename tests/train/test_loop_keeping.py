"""What the loop keeps: the best, the newest, all at a signal; and what it goes on from."""

from __future__ import annotations

import json
import math
import os
import signal
from collections.abc import Sequence
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file

from foresay import start
from foresay.errors import UserError
from foresay.train import loop as loops
from foresay.train.checkpoint import load_checkpoint, numbered
from foresay.train.evaluate import Measured
from foresay.train.progress import Watch
from foresay.train.signals import Interrupted
from tests.train.made import Notes, batches, equal, make_trainer, weights


def test_resumed_with_a_loss_scale_and_accumulation(tiny: dict, tmp_path: Path, no_onednn: None) -> None:
    words = ("encoder.cell=elman", "train.precision=float16", "train.accumulate=2", "train.steps=12")
    alone = make_trainer(tiny, tmp_path, *words)
    alone.scaler = torch.amp.GradScaler("cpu", init_scale=2.0**24)  # so large that some steps are skipped until it fits
    alone.run()
    assert 0 < alone.counters.skipped < 10 and alone.scaler.get_scale() < 2.0**24
    again = make_trainer(tiny, tmp_path, *words)
    assert again.resume() and again.counters.step == 10 and again.counters.skipped == alone.counters.skipped
    again.run()
    assert equal(weights(again), weights(alone)) and again.scaler.get_scale() == alone.scaler.get_scale()


def scripted(monkeypatch: pytest.MonkeyPatch, losses: Sequence[float]) -> None:
    """Validation losses as given, one after the other."""
    coming = iter(losses)
    monkeypatch.setattr(
        loops, "measure_on", lambda *_, **__: Measured((loss := next(coming)), 9, 9, 1.0, 1.0, (loss, loss))
    )


def test_patience_stops_at_the_right_step_with_the_best_weights(
    tiny: dict, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scripted(monkeypatch, [3.0, 2.0, 2.5, 1.9, 1.9, 2.1, 2.0, 0.1])
    trainer = make_trainer(tiny, tmp_path / "run", "train.eval_every=2", "train.patience=3")
    trainer.run()
    assert (trainer.counters.step, trainer.counters.best_step, trainer.counters.best) == (14, 8, [1.9, 1.9])
    last = weights(trainer)
    best = trainer.take_best()
    assert best is not None and best["step"] == 8 and best["valid"]["loss"] == 1.9
    scripted(monkeypatch, [1.0])
    short = make_trainer(tiny, tmp_path / "short", "train.eval_every=100")
    for step in range(8):
        short.train_step(batches(short, step, 1))
    assert equal(weights(trainer), weights(short)) and not equal(weights(trainer), last)


def test_without_patience_a_run_goes_to_its_end(tiny: dict, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    scripted(monkeypatch, [1.0, *[2.0] * 23])
    trainer = make_trainer(tiny, tmp_path, "train.eval_every=1")
    trainer.run()
    assert (trainer.counters.step, trainer.counters.best_step, trainer.counters.stale) == (24, 1, 23)


def test_a_validation_loss_that_is_no_number_is_never_the_best_for_long(
    tiny: dict, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scripted(monkeypatch, [math.nan, 3.0, math.nan, 2.0, math.inf, math.nan])
    trainer = make_trainer(tiny, tmp_path, "train.eval_every=4")
    trainer.run()
    assert (trainer.counters.best, trainer.counters.best_step, trainer.counters.stale) == ([2.0, 2.0], 16, 2)


def test_the_newest_and_the_best_checkpoints_are_kept(tiny: dict, tmp_path: Path) -> None:
    for keep, names in ((1, ["00000020"]), (3, ["00000010", "00000015", "00000020"])):
        trainer = make_trainer(tiny, tmp_path / str(keep), f"train.save={{every: 5, keep: {keep}}}")
        trainer.run()
        assert [path.name for path in numbered(trainer.checkpoints)] == names
        assert load_checkpoint(trainer.checkpoints / "best")[1]["step"] == trainer.counters.best_step


def test_the_final_weights_are_the_best_ones(tiny: dict, tmp_path: Path) -> None:
    words = ["train.eval_every=1", "train.steps=12", "train.lr=0.3"]  # so fast that it is not always for the better
    start.train(tiny, words, out=tmp_path / "run", device="cpu", watch=Watch())
    lines = [json.loads(line) for line in (tmp_path / "run" / "metrics.jsonl").read_text().splitlines()]
    losses = {line["step"]: line["valid_loss"] for line in lines if "valid_loss" in line}
    best = min(losses, key=lambda step: losses[step])
    assert best < 12
    results = json.loads((tmp_path / "run" / "results.json").read_text())
    assert results["valid"]["loss"] == losses[best] and results["steps"] == 12
    short = start.train(tiny, [*words, f"train.steps={best}"], out=tmp_path / "short", device="cpu", watch=Watch())
    assert (tmp_path / "run" / "model.safetensors").read_bytes() == (short.folder / "model.safetensors").read_bytes()


def test_evaluation_does_not_change_training(tiny: dict, tmp_path: Path) -> None:
    for every in (1, 1000):
        make_trainer(tiny, tmp_path / str(every), f"train.eval_every={every}").run()
    for name in ("model", "optimizer", "carried", "random"):
        often, seldom = (tmp_path / e / "checkpoints" / "00000020" / f"{name}.safetensors" for e in ("1", "1000"))
        assert often.read_bytes() == seldom.read_bytes()


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_saves_at_once(number: int, code: int, tiny: dict, tmp_path: Path) -> None:
    trainer = make_trainer(tiny, tmp_path)
    before = signal.getsignal(number)
    whole = trainer.model.loss

    def loss(*given):
        if trainer.counters.step == 6:
            os.kill(os.getpid(), number)
        return whole(*given)

    trainer.model.loss = loss  # pyright: ignore[reportAttributeAccessIssue]
    with pytest.raises(Interrupted, match=r"at step 7; saved: foresay train --resume .* goes on") as stopped:
        trainer.run()
    assert stopped.value.code == code and signal.getsignal(number) is before
    assert [path.name for path in numbered(trainer.checkpoints)] == ["00000005", "00000007"]


@pytest.mark.parametrize("every", [5, 24], ids=["on the way", "after the last step"])
def test_a_damaged_best_is_replaced_by_a_later_one(every: int, tiny: dict, tmp_path: Path) -> None:
    words = (f"train.save_every={every}", "train.eval_every=8")
    make_trainer(tiny, tmp_path, *words).run()
    (tmp_path / "checkpoints" / "best" / "model.safetensors").write_bytes(b"damaged")
    trainer = make_trainer(tiny, tmp_path, *words, watch=(notes := Notes()))
    assert trainer.resume() and trainer.counters.step == 24 // every * every
    assert "best/model.safetensors is damaged" in notes.notes[0] and "the best from here on is kept" in notes.notes[0]
    trainer.run()
    found = trainer.take_best()
    assert found is not None and found["step"] == trainer.counters.best_step == 24


def test_a_checkpoint_of_another_recipe_is_refused(tiny: dict, tmp_path: Path) -> None:
    trainer = make_trainer(tiny, tmp_path)
    trainer.train_step(batches(trainer, 0, 1))
    trainer.save()
    with pytest.raises(UserError, match=r"00000001 is of another recipe: its optimizer is adamw; use the run's own"):
        make_trainer(tiny, tmp_path, "train.optimizer=sgd").resume()
    with pytest.raises(UserError, match=r"00000001 is of another recipe: .* differs"):
        make_trainer(tiny, tmp_path, "encoder.size=14").resume()
    assert make_trainer(tiny, tmp_path).resume()


def test_a_state_that_shares_its_memory_is_saved(tiny: dict, tmp_path: Path) -> None:
    trainer = make_trainer(tiny, tmp_path)
    queue = torch.arange(12.0).view(4, 3)
    trainer.carried = {"position": torch.zeros(4), "0": {"h": queue, "queue": {"last": queue, "old": queue[:, :1]}}}
    trainer.save()
    saved = load_file(trainer.checkpoints / "00000000" / "carried.safetensors")
    assert torch.equal(saved["0.queue.last"], queue) and torch.equal(saved["0.queue.old"], queue[:, :1])
    again = make_trainer(tiny, tmp_path)
    assert again.resume() and again.carried is not None and torch.equal(again.carried["0"]["h"], queue)


def test_a_skipped_step_has_no_state_to_carry_over_a_resume(tiny: dict, tmp_path: Path) -> None:
    trainer = make_trainer(tiny, tmp_path)
    trainer.save()
    again = make_trainer(tiny, tmp_path)
    assert again.resume() and again.carried is None
