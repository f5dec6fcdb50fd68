"""The learning-rate finder: the sweep, the smoothing and the suggestion by hand; the picture; what is refused."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest

import foresay
from foresay.errors import UserError
from foresay.study import rate
from foresay.study.rate import NEIGHBOURS, Found, draw, find_rate, rising, smooth, suggest, sweep
from foresay.train.progress import Watch
from tests.commands import Commands
from tests.train.made import make_trainer

PNG = b"\x89PNG\r\n\x1a\n"


def test_rates_rise_by_equal_factors() -> None:
    rates = rising(141)
    assert rates[0] == 1e-5 and rates[-1] == pytest.approx(100.0) and len(rates) == 141
    assert rates[20] / rates[0] == pytest.approx(10.0) and rates[40] == pytest.approx(1e-3)
    with pytest.raises(UserError, match="steps=3; allowed: 10 or more"):
        rising(3)


def test_each_step_is_made_at_its_rate_on_the_batches_of_training(tiny: dict, tmp_path: Path) -> None:
    words = (
        "train.optimizer=sgd",
        "train.clip=null",
        "train.schedule={kind: linear, warmup: 9}",
        "encoder.dropout=0.0",
    )
    trainer, other = (make_trainer(tiny, tmp_path, *words) for _ in range(2))
    seen: list[float] = []
    whole = trainer.optimizer.step
    trainer.optimizer.step = lambda: (seen.append(trainer.optimizer.param_groups[0]["lr"]), whole())[1]  # pyright: ignore
    told: list[float] = []
    losses = sweep(trainer, [0.1, 0.2, 0.4, 0.8], told.append)
    assert seen == [0.1, 0.2, 0.4, 0.8] and told == [0.25, 0.5, 0.75, 1.0]
    other.rate = lambda step: 0.1 * 2**step
    assert losses == [other.train_step([other.order.batch(step)])[0] for step in range(4)]
    assert not list(tmp_path.iterdir())  # nothing is written


@pytest.mark.parametrize("bad", [math.nan, math.inf])
def test_the_sweep_ends_where_the_loss_diverges(bad: float, tiny: dict, tmp_path: Path) -> None:
    trainer = make_trainer(tiny, tmp_path)
    coming = iter([(4.0, 1.0), (3.0, 1.0), (bad, 1.0)])
    trainer.train_step = lambda _: next(coming)  # pyright: ignore[reportAttributeAccessIssue]
    assert sweep(trainer, rising(20), lambda _: None) == [4.0, 3.0]
    climbing = iter([(4.0, 1.0)] * 5 + [(9.0, 1.0)] * 9)
    trainer.train_step = lambda _: next(climbing)  # pyright: ignore[reportAttributeAccessIssue]
    assert len(sweep(trainer, rising(20), lambda _: None)) == 7  # (4 * 4 + 9) / 5 is 1.25 times 4: the next is above


def test_smoothing_by_hand() -> None:
    losses = np.random.default_rng(0).normal(size=30)
    kernel = np.array([1, 2, 3, 4, 5, 6, 5, 4, 3, 2, 1.0])
    assert len(kernel) == 2 * NEIGHBOURS + 1
    known = np.convolve(np.ones(30), kernel, "same")  # how much of the kernel lies inside
    assert smooth(losses.tolist()) == pytest.approx((np.convolve(losses, kernel, "same") / known).tolist())
    assert smooth([2.0] * 15) == pytest.approx([2.0] * 15)


def curve(fall: float) -> Found:
    """A loss that falls from 1e-4 to 1e-3, is level to 1e-1 and climbs from there on as it fell."""
    rates = rising(141)
    return suggest(rates, [4.0 - fall * max(0.0, min(1.0, 2.0 - abs(math.log10(r) + 2))) for r in rates[:121]])


def test_the_middle_of_the_valley() -> None:
    found = curve(2.0)
    left, right = found.valley  # half-way down at 1e-3.5; up by a tenth at 1e-0.9
    assert math.log10(left) == pytest.approx(-3.5, abs=0.06) and math.log10(right) == pytest.approx(-0.9, abs=0.12)
    assert found.rate == pytest.approx(math.sqrt(left * right), rel=0.05) and found.clear
    assert found.rate == float(f"{found.rate:.1e}")  # two digits
    assert len(found.rates) == len(found.losses) == len(found.smoothed) == 121


def test_what_is_not_clear_is_said() -> None:
    assert not curve(0.1).clear  # a fall of a fortieth
    rates = rising(141)
    assert not suggest(rates, [4.0 - math.log10(r / 1e-5) / 3 for r in rates]).clear  # it never climbs
    with pytest.raises(UserError, match="was no number, after 4 steps at the lowest rates"):
        suggest([1.0] * 4, [4.0] * 4)


def test_the_picture_marks_the_suggestion(tmp_path: Path) -> None:
    from matplotlib.image import imread

    draw(tmp_path / "a.png", curve(2.0), "$x_{ 唐诗")
    picture = imread(tmp_path / "a.png")[:, :, :3]
    marked = (abs(picture - np.array([0xD1, 0x49, 0x5B]) / 255).max(2) < 0.02).sum(0)  # red, for each column
    assert 0.4 < int(marked.argmax()) / picture.shape[1] < 0.6  # 1e-2.2 of 1e-5 to 1e1, and a margin


def test_it_finds_a_rate_that_trains(tiny: dict, call: Commands, monkeypatch: pytest.MonkeyPatch) -> None:
    """Trained at the rate it suggests the tiny model gets further than at a tenth and at thirty times of it."""
    monkeypatch.setattr(rate, "STEPS", 60)
    found = find_rate(tiny, out="a.png", device="cpu", watch=Watch())
    assert foresay.find_rate is find_rate and found.clear and found.picture == "a.png"
    assert Path("a.png").read_bytes().startswith(PNG) and [path.name for path in Path().iterdir()] == ["a.png"]
    assert json.loads(json.dumps(found.as_dict()))["rate"] == found.rate
    losses = {}
    for factor in (0.1, 1.0, 30.0):
        trainer = make_trainer(tiny, Path("t"), f"train.lr={factor * found.rate}", "encoder.dropout=0.0")
        losses[factor] = sum([trainer.train_step([trainer.order.batch(step)])[0] for step in range(30)][-10:]) / 10
    assert losses[1.0] < losses[0.1] and losses[1.0] < losses[30.0]


def test_the_command(call: Commands, tiny: dict, monkeypatch: pytest.MonkeyPatch) -> None:
    Path("small.yaml").write_text(json.dumps(tiny))
    monkeypatch.setattr(rate, "STEPS", 12)
    called = call("rate", "small.yaml", "seed=3", "--device", "cpu")
    assert called.code == 0 and Path("runs/small-rate.png").exists()
    suggested, picture, use = called.out.splitlines()
    number = suggested.split()[1].rstrip(",")
    assert "the middle of the valley from" in suggested and picture.endswith("runs/small-rate.png")
    assert use.endswith(f"foresay train small.yaml seed=3 train.lr={number} --device cpu")
    found = json.loads(call("rate", "small.yaml", "--json", "--out", "b.png", "--device", "cpu").out)
    assert found["picture"] == "b.png" and len(found["rates"]) == len(found["losses"]) == len(found["smoothed"]) <= 12


def test_the_command_it_prints_is_the_one_that_was_measured(
    call: Commands, corpus: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rate, "STEPS", 12)
    words = ("encoder.size=8", "train.batch=2", "train.lr=0.5", "train.optimizer.lr=0.5", "--encoding", "utf-8")
    called = call("rate", corpus, *words, "--minutes", "1.5", "--device", "cpu")
    number = called.out.split()[1].rstrip(",")
    kept = f"encoder.size=8 train.batch=2 train.lr={number} --minutes 1.5 --encoding utf-8 --device cpu"
    assert called.out.splitlines()[-1].endswith(f"foresay train {corpus} {kept}")
    bare = call("rate", corpus, "encoder.size=8", "train.batch=2", "--device", "cpu")
    assert "chosen: characters" in bare.error and "minutes of training" not in bare.error
    assert "minutes=0.0; allowed: a number > 0" in call.refused("rate", corpus, "--minutes", "0")


def test_where_no_picture_can_be_is_refused_at_once(call: Commands, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rate, "prepare", lambda *_, **__: pytest.fail("it began"))
    Path("plots.png").mkdir()
    Path("a.txt").write_text("mine")
    line = call.refused("rate", "lstm", "--out", "plots.png")
    assert line == "out='plots.png' is a folder; allowed: a file in it: plots.png/rate.png"
    line = call.refused("rate", "lstm", "--out", "a.txt/new/b.png")
    assert line == "out='a.txt/new/b.png', but a.txt is no folder; give another --out"
    Path("runs").write_text("mine")
    assert "out='runs/lstm-rate.png', but runs is no folder" in call.refused("rate", "lstm")
    assert "out='.' is a folder" in call.refused("rate", "lstm", "--out", ".")
    assert sorted(path.name for path in Path().iterdir()) == ["a.txt", "plots.png", "runs"]


def test_a_picture_is_written_over_when_asked_only(call: Commands, tiny: dict, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rate, "STEPS", 12)
    Path("small.yaml").write_text(json.dumps(tiny))
    Path("b.png").write_text("mine")
    words = ("rate", "small.yaml", "--out", "b.png", "--device", "cpu")
    line = call.refused(*words)
    assert line == "b.png exists; allowed: a new place: give another --out, or --force to write over it"
    assert Path("b.png").read_text() == "mine"
    assert call(*words, "--force").code == 0 and Path("b.png").read_bytes().startswith(PNG)


def test_what_has_no_rate_is_refused(call: Commands, corpus: Path) -> None:
    line = call.refused("rate", "ngram", f"data.train={corpus}")
    finder = "the finder is for models that are trained in steps: give such a one"
    assert line == f"task=ngram counts and has no learning rate; {finder}"
    line = call.refused("rate", "skipgram", corpus, "lr=0.05")
    assert line == (f"task=word-vectors learns in epochs, at a rate of its own, lr=0.05; {finder}, or set lr yourself")
    assert "out='my.txt'; allowed: a name that ends with .png" in call.refused("rate", "lstm", "--out", "my.txt")
    assert "encoder.sise is no setting" in call.refused("rate", "lstm", "encoder.sise=3")
    assert not list(Path().iterdir())
