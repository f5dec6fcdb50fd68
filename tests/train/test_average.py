"""Averages of weights: against torch's own, by hand, and through the loop that measures and keeps them."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest
import torch
from torch import Tensor, nn
from torch.optim.swa_utils import AveragedModel, get_ema_avg_fn

from foresay import start
from foresay.errors import UserError
from foresay.loading import load
from foresay.train.average import Average, Averages, Ema, NtAsgd, Swa
from foresay.train.checkpoint import load_checkpoint
from foresay.train.evaluate import evaluate
from foresay.train.progress import Watch
from tests.train.made import Notes, batches, equal, make_trainer, weights
from tests.train.stopping import train_to


class Net(nn.Module):
    """Two names of one table, a frozen weight and a buffer."""

    def __init__(self) -> None:
        super().__init__()
        self.table = nn.Parameter(torch.zeros(5, 3))
        self.tied = self.table
        self.frozen = nn.Parameter(torch.ones(2), requires_grad=False)
        self.bias = nn.Parameter(torch.zeros(4))
        self.register_buffer("seen", torch.zeros(()))

    def move(self, seed: int) -> dict[str, Tensor]:
        """New weights, as if a step had been made; what they are."""
        generator = torch.Generator().manual_seed(seed)
        with torch.no_grad():
            self.table.copy_(torch.randn(5, 3, generator=generator))
            self.bias.copy_(torch.randn(4, generator=generator))
            self.seen.add_(1)
        return {"table": self.table.detach().clone(), "bias": self.bias.detach().clone()}


def averaged(average: Average, steps: int) -> tuple[Net, Averages, list[dict[str, Tensor]]]:
    net = Net()
    averages = Averages(average, net)
    made = []
    for step in range(1, steps + 1):
        made.append(net.move(step))
        averages.stepped(step, steps)
    return net, averages, made


def by_shares(made: list[dict[str, Tensor]], shares: list[float]) -> dict[str, Tensor]:
    """sum_i c_i w_i with c_i = s_i prod_{j > i} (1 - s_j), in float64."""
    total = {name: torch.zeros_like(tensor, dtype=torch.float64) for name, tensor in made[0].items()}
    for i, after in enumerate(made):
        share = shares[i] * math.prod(1 - s for s in shares[i + 1 :])
        for name, tensor in after.items():
            total[name] += share * tensor.double()
    return total


def assert_close(found: dict[str, Tensor], expected: dict[str, Tensor]) -> None:
    assert found.keys() == expected.keys()
    for name, tensor in expected.items():
        torch.testing.assert_close(found[name].double(), tensor.double(), rtol=1e-5, atol=1e-6)


def test_swa_is_torchs_mean_of_the_same_weights() -> None:
    net, averages, _ = averaged(Swa(begin=0.5, every=3), 20)
    theirs = AveragedModel(net)
    for step in (13, 16, 19):  # 3, 6 and 9 after the tenth
        net.move(step)
        theirs.update_parameters(net)
    assert averages.count == 3
    assert_close(averages.tensors, {"table": theirs.module.table, "bias": theirs.module.bias})


def test_the_mean_by_hand() -> None:
    _, averages, made = averaged(Swa(begin=0.0, every=1), 4)
    mean = {name: sum(weights[name] for weights in made) / 4 for name in ("table", "bias")}
    assert_close(averages.tensors, mean)  # pyright: ignore[reportArgumentType]


def test_the_first_ema_shares_by_hand() -> None:
    assert [Ema().share(n) for n in range(4)] == pytest.approx([1.0, 0.9, 9 / 11, 9 / 12])
    assert Ema(0.999).share(8990) > 0.001 and Ema(0.999).share(8991) == pytest.approx(0.001)
    assert Ema(0.5).share(9) == 0.5
    _, averages, made = averaged(Ema(0.9), 30)
    assert_close(averages.tensors, by_shares(made, [max(0.1, 9 / (n + 9)) for n in range(30)]))


def test_ema_is_torchs_once_it_is_warm() -> None:
    net, averages, _ = averaged(Ema(0.5), 9)
    theirs = AveragedModel(net, avg_fn=get_ema_avg_fn(0.5))
    with torch.no_grad():
        theirs.module.table.copy_(averages.tensors["table"])
        theirs.module.bias.copy_(averages.tensors["bias"])
    theirs.n_averaged.fill_(9)
    for step in range(10, 25):
        net.move(step)
        averages.stepped(step, 25)
        theirs.update_parameters(net)
    assert_close(averages.tensors, {"table": theirs.module.table, "bias": theirs.module.bias})


@pytest.mark.parametrize(
    ("losses", "begins"),
    [
        ([5.0, 4.0, 3.0, 2.0, 1.0, 0.5], None),
        ([5.0, 4.0, 3.0, 3.5, 3.4, 3.3], 5),  # 3.3 is worse than 3.0, the best that is more than two old
        ([1.0, 9.0, 9.0, 9.0], 3),  # not before there are three to look back on
        ([3.0, 2.0, 2.5, 1.9, 1.95, 1.8, 1.95], 6),
        ([math.inf, math.inf, math.inf, 3.0, 2.0], None),
    ],
)
def test_when_nt_asgd_begins(losses: list[float], begins: int | None) -> None:
    net = Net()
    averages = Averages(NtAsgd(patience=2), net)
    begun = None
    for number, loss in enumerate(losses):
        made = net.move(number)
        averages.stepped(number, 99)
        averages.evaluated(loss)
        if averages.count and begun is None:
            begun = number
            assert averages.count == 1 and torch.equal(averages.tensors["table"], made["table"])
    assert begun == begins
    if begun is not None:
        assert averages.count == len(losses) - begun and averages.losses == losses[: begun + 1]


def test_in_place_of_the_weights_and_back() -> None:
    net, averages, made = averaged(Swa(begin=0.0, every=1), 3)
    place = net.table.data_ptr()
    assert averages.tensors.keys() == {"table", "bias"}  # a tied one once, the frozen one and the buffer not
    with pytest.raises(KeyboardInterrupt), averages.in_place():
        assert torch.equal(net.table, averages.tensors["table"]) and torch.equal(net.tied, net.table)
        assert net.seen == 3 and torch.equal(net.frozen, torch.ones(2))
        raise KeyboardInterrupt
    assert torch.equal(net.table, made[-1]["table"]) and torch.equal(net.bias, made[-1]["bias"])
    assert net.table.data_ptr() == place and net.tied is net.table
    empty = Averages(NtAsgd(), net)
    with empty.in_place():
        assert torch.equal(net.table, made[-1]["table"])  # nothing is averaged yet


def test_restored_it_goes_on_alike() -> None:
    for average in (Ema(0.9), NtAsgd(patience=1)):
        net, ours, _ = averaged(average, 3)
        for loss in (1.0, 2.0, 3.0):
            ours.evaluated(loss)
        again = Averages(average, net)
        again.restore({name: t.clone() for name, t in ours.tensors.items()}, json.loads(json.dumps(ours.state())))
        net.move(9)
        for averages in (ours, again):
            averages.stepped(4, 9)
        assert equal(ours.tensors, again.tensors) and ours.count == again.count > 0
    with pytest.raises(ValueError, match="of other weights"):
        again.restore({"other": torch.ones(1)}, {"count": 1, "losses": []})


AVERAGE = {"kind": "ema", "decay": 0.9}


def with_average(tiny: dict, average: object = AVERAGE) -> dict:
    optimizer = tiny["train"]["optimizer"] | {"average": average}
    return (
        tiny
        | {"output": {"kind": "softmax", "tied": True}, "embedding": {"kind": "lookup", "size": 12}}
        | {"train": tiny["train"] | {"optimizer": optimizer}}
    )


def test_training_goes_on_with_the_weights_themselves(tiny: dict, tmp_path: Path) -> None:
    plain = make_trainer(with_average(tiny, None), tmp_path / "a")
    plain.run()
    other = make_trainer(with_average(tiny), tmp_path / "b")
    other.run()
    assert plain.averages is None and equal(weights(plain), weights(other))
    assert other.averages is not None and other.averages.count == 24
    assert "averages" not in load_checkpoint(tmp_path / "a" / "checkpoints" / "00000020")[0]


def test_the_averages_are_what_is_measured_and_kept(tiny: dict, tmp_path: Path) -> None:
    trainer = make_trainer(with_average(tiny), tmp_path, "train.steps=16")
    shares: list[float] = []
    taken: list[dict[str, Tensor]] = []
    for step in range(16):
        trainer.train_step(batches(trainer, step, 1))
        taken.append(weights(trainer))
        shares.append(max(0.1, 9 / (step + 9)))
    trainer.evaluate()
    expected = by_shares(taken, shares)
    saved, state = load_checkpoint(tmp_path / "checkpoints" / "best")
    assert_close(saved["model"], expected)
    raw = weights(trainer)
    assert equal(raw, taken[-1])
    assert trainer.prepared.valid is not None
    trainer.model.restore({name: tensor.float() for name, tensor in expected.items()})
    by_hand = evaluate(trainer.model, trainer.loop.batches, trainer.prepared.valid, limit=2000).loss
    assert trainer.counters.best == [state["valid"]["loss"]] * 2 and state["valid"]["loss"] == pytest.approx(
        by_hand, rel=1e-5
    )


def test_without_validation_the_averages_are_the_finished_model(tiny: dict, tmp_path: Path) -> None:
    recipe = with_average(tiny) | {"data": tiny["data"] | {"share": 0.0}}
    run = start.train(recipe, ["train.steps=6"], out=tmp_path / "run", device="cpu", watch=Watch())
    trainer = make_trainer(recipe, tmp_path / "other", "train.steps=6")
    trainer.run()
    assert trainer.averages is not None and equal(run.model.tensors(), trainer.averages.tensors)
    assert not equal(run.model.tensors(), weights(trainer))


def notes_of(recipe: dict, folder: Path, *words: str) -> list[str]:
    notes = Notes()
    make_trainer(recipe, folder, *words, watch=notes).run()
    return [note for note in notes.notes if "averaged" in note]


def test_when_swa_has_too_few_steps_it_is_said_before_the_first(tiny: dict, tmp_path: Path) -> None:
    notes = Notes()
    trainer = make_trainer(with_average(tiny, "swa"), tmp_path, "train.steps=20", watch=notes)
    trainer._run = lambda: notes.note("runs")
    trainer.run()
    why = "swa is due first after step 25 of 20 (begin=0.75, every=10); lower train.average.every or"
    assert notes.notes[0].startswith(f"warning: nothing will be averaged: {why}") and notes.notes[1:] == ["runs"]
    words = ("train.steps=20", "train.average.every=6")  # after step 21
    assert len(notes_of(with_average(tiny, "swa"), tmp_path / "a", *words)) == 1
    words = ("train.steps=20", "train.average.every=5")
    assert not notes_of(with_average(tiny, "swa"), tmp_path / "b", *words)


@pytest.mark.parametrize("steps", [1, 7, 20, 39, 40, 41])
@pytest.mark.parametrize("swa", [Swa(), Swa(begin=0.3, every=3), Swa(begin=0.0, every=40)])
def test_swa_knows_whether_it_takes_any(swa: Swa, steps: int) -> None:
    assert bool(swa.never(steps)) == (averaged(swa, steps)[1].count == 0)


@pytest.mark.parametrize(
    ("average", "words", "why"),
    [
        ("nt-asgd", ["data.share=0.0"], "waits for validation to stop improving, and there is no validation text"),
        ("nt-asgd", ["train.eval_every=6"], "nt-asgd can begin at evaluation 7, and there were 4; lower train.eval"),
        ("nt-asgd", ["train.eval_every=3", "train.lr=1e-5"], "which it did not (patience=5)"),
        (
            "swa",
            ["train.eval_every=1", "train.patience=2", "train.lr=9.0", "train.average.every=6"],
            "the run stopped at",
        ),
    ],
)
def test_what_was_never_averaged_is_told_at_the_end(
    average: str, words: list[str], why: str, tiny: dict, tmp_path: Path
) -> None:
    (told,) = notes_of(with_average(tiny, average), tmp_path, *words)
    assert told.startswith("warning: nothing was averaged, so the weights themselves are kept: ") and why in told


def test_what_was_averaged_is_not_told(tiny: dict, tmp_path: Path) -> None:
    assert not notes_of(with_average(tiny), tmp_path / "a", "train.steps=4")
    words = ("train.average.patience=1", "train.eval_every=1", "train.lr=9.0", "train.steps=12")
    assert not notes_of(with_average(tiny, "nt-asgd"), tmp_path / "b", *words)


def test_a_skipped_step_is_not_taken(tiny: dict, tmp_path: Path) -> None:
    trainer = make_trainer(with_average(tiny), tmp_path)
    whole = trainer.model.loss
    trainer.model.loss = lambda *given: (whole(*given)[0] * math.nan, whole(*given)[1])  # pyright: ignore
    trainer.train_step(batches(trainer, 0, 1))
    assert trainer.averages is not None and trainer.averages.count == 0
    trainer.model.loss = whole  # pyright: ignore[reportAttributeAccessIssue]
    trainer.train_step(batches(trainer, 1, 1))
    assert trainer.averages.count == 1


@pytest.mark.parametrize(
    "average", ["ema", {"kind": "swa", "begin": 0.4, "every": 2}, {"kind": "nt-asgd", "patience": 1}]
)
def test_killed_and_resumed_ends_with_the_same_bytes(
    average: object, tiny: dict, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(start, "write_curve", lambda _: None)
    recipe = with_average(tiny, average)
    recipe["train"] |= {
        "evaluate": {"every": 2, "tokens": 500},
        "optimizer": recipe["train"]["optimizer"] | {"lr": 1.5},
    }
    start.train(recipe, out=tmp_path / "alone", device="cpu", watch=Watch())
    train_to(18, recipe, tmp_path / "cut")
    tensors, state = load_checkpoint(tmp_path / "cut" / "checkpoints" / "00000015")
    assert state["averages"]["count"] > 0 and tensors["averages"].keys() == tensors["model"].keys()
    assert equal(load(tmp_path / "cut", "cpu").model.tensors(), tensors["averages"])
    start.train(resume=tmp_path / "cut", device="cpu", watch=Watch())
    for name in ("model.safetensors", "checkpoints/00000020/averages.safetensors"):
        assert (tmp_path / "cut" / name).read_bytes() == (tmp_path / "alone" / name).read_bytes()


def test_a_checkpoint_without_averages_is_of_another_recipe(tiny: dict, tmp_path: Path) -> None:
    tied = with_average(tiny, None)
    make_trainer(tied, tmp_path).save()
    with pytest.raises(UserError, match="is of another recipe: 'averages'"):
        make_trainer(with_average(tiny), tmp_path).resume()
