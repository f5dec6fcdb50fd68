"""Watching a run: what is read, what is computed from it, what a frame says, in every state of a run."""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from types import SimpleNamespace

import pytest
from rich.console import Console

from foresay import start
from foresay.errors import UserError
from foresay.study import watch as study
from foresay.study.watch import Seen, frame
from foresay.train.progress import Metrics, Watch
from tests.commands import Commands
from tests.forks import Forks

WORKING = ExitStack()  # locks of runs that train


@pytest.fixture(autouse=True)
def _nobody_works() -> Iterator[None]:
    yield
    WORKING.close()


def lock(folder: Path) -> None:
    fcntl.flock(WORKING.enter_context((folder / ".lock").open("w")), fcntl.LOCK_EX | fcntl.LOCK_NB)


def begun(folder: Path, steps: int = 100) -> Metrics:
    """A run that trains, as its files show it."""
    folder.mkdir()
    lock(folder)
    (folder / "recipe.yaml").write_text(f"task: language-model\ntrain: {{kind: loop, steps: {steps}}}\n")
    return Metrics(folder / "metrics.jsonl")


def trained_line(step: int, loss: float | None) -> dict:
    return {"step": step, "loss": loss, "tokens": 64 * step, "seconds": 0.5 * step}


def text_of(seen: Seen) -> str:
    return frame(seen, seen.look(), 80).plain


def test_figures_by_hand(tmp_path: Path) -> None:
    metrics, seen = begun(tmp_path / "run"), Seen(tmp_path / "run")
    for step in range(1, 31):
        metrics.write(trained_line(step, 4.0 - step / 10))
        if step % 10 == 0:
            metrics.write({"step": step, "seconds": 0.5 * step, "valid_loss": 3.0 + (step - 20) ** 2 / 100})
    figures = seen.look()
    assert figures.as_dict() == {
        "run": str(tmp_path / "run"),
        "state": "training",
        "step": 30,
        "steps": 100,
        "loss": pytest.approx(1.0),
        "valid_loss": 4.0,
        "best_loss": 3.0,
        "best_step": 20,
        "tokens": 1920,
        "seconds": 15.0,
        "tokens_per_second": pytest.approx(128.0),
        "seconds_left": pytest.approx(35.0),
        "unit": "step",
    }
    told = text_of(seen)
    assert told.startswith(f"{tmp_path / 'run'}\ntraining, step 30 of 100 (30 %), 128 tokens/s, about 0:35 left\n")
    assert "training loss 1.0000; validation loss 4.0000, best 3.0000 at step 20" in told
    assert told.count("●") == 2 + 1 and told.count("★") == 1 + 1  # in the chart and under it


def test_only_what_is_new_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    metrics, seen = begun(tmp_path / "run"), Seen(tmp_path / "run")
    read: list[bytes] = []
    whole = json.loads
    monkeypatch.setattr(study.json, "loads", lambda text: (read.append(text), whole(text))[1])
    metrics.write(trained_line(1, 3.0))
    seen.look()
    with metrics.path.open("a") as file:
        file.write(json.dumps(trained_line(2, 2.0))[:-5])
        file.flush()
        assert seen.look().step == 1  # half a line is none
        file.write(json.dumps(trained_line(2, 2.0))[-5:] + "\n")
    read.clear()
    assert seen.look().step == 2 and [found for found in read if found] == [json.dumps(trained_line(2, 2.0)).encode()]
    metrics.cut(1)  # as a resumed run does: a new file
    assert seen.look().step == 1 and len(seen.lines) == 1


def test_a_run_that_has_not_begun(tmp_path: Path) -> None:
    (tmp_path / "run").mkdir()
    with pytest.raises(UserError, match=r"run is no run: it holds neither recipe.yaml nor .lock; give the --out"):
        Seen(tmp_path / "run")
    with pytest.raises(UserError, match="none is no run: no such folder"):
        Seen(tmp_path / "none")
    lock(tmp_path / "run")  # the text is being prepared
    seen = Seen(tmp_path / "run")
    assert seen.look().state == "preparing" and "its first step has not ended yet" in text_of(seen)
    assert "⠒" not in text_of(seen)
    WORKING.close()
    assert seen.look().state == "stopped" and "stopped before it began" in text_of(seen)


def test_a_run_that_nobody_works_on_has_stopped(tmp_path: Path) -> None:
    folder = tmp_path / "my run"
    metrics, seen = begun(folder), Seen(folder)
    assert "preparing" in text_of(seen)
    metrics.write(trained_line(30, 1.0))
    assert "about 0:35 left" in text_of(seen)
    WORKING.close()  # as the system does for a process that is killed
    figures = seen.look()
    assert (figures.state, figures.step, figures.seconds_left) == ("stopped", 30, None)
    assert text_of(seen).splitlines()[1] == f"stopped at step 30; foresay train --resume '{folder}' goes on"
    lock(folder)  # resumed; and looking did not keep the lock
    assert seen.look().state == "training"
    WORKING.close()
    (folder / ".lock").unlink()
    assert seen.look().state == "stopped"
    (folder / ".lock").mkdir()  # cannot be known
    assert seen.look().state == "training"


def test_a_killed_training_is_seen_to_have_stopped(tiny: dict, tmp_path: Path, forks: Forks) -> None:
    (tmp_path / "tiny.yaml").write_text(json.dumps(tiny | {"train": tiny["train"] | {"steps": 100_000}}))
    words = ["foresay", "train", tmp_path / "tiny.yaml", "--out", tmp_path / "run", "--device", "cpu"]
    process = forks.start(words)
    until = time.monotonic() + 60
    metrics = tmp_path / "run" / "metrics.jsonl"
    while not (metrics.exists() and b"tokens" in metrics.read_bytes()) and time.monotonic() < until:
        time.sleep(0.01)
    seen = Seen(tmp_path / "run")
    state = seen.look().state
    process.signal(signal.SIGKILL)
    process.finish()
    assert state == "training"
    assert f"stopped at step {seen.look().step:,}; foresay train --resume {tmp_path / 'run'} goes on" in text_of(seen)


def test_a_run_without_validation_and_with_a_loss_that_is_no_number(tmp_path: Path) -> None:
    metrics = begun(tmp_path / "run")
    for step, loss in ((1, 3.0), (2, None)):
        metrics.write(trained_line(step, loss))
    seen = Seen(tmp_path / "run")
    told = text_of(seen)
    assert seen.look().loss is None and seen.look().best_loss is None and "★" not in told
    metrics.write(trained_line(3, 2.5))
    assert "training loss 2.5000; no validation yet" in text_of(seen)


def test_a_run_that_stands_still_is_told(tmp_path: Path) -> None:
    begun(tmp_path / "run").write(trained_line(1, 3.0))
    os.utime(tmp_path / "run" / "metrics.jsonl", (time.time() - 600, time.time() - 600))
    assert "nothing new for 10:0" in text_of(Seen(tmp_path / "run"))


def test_a_finished_run(trained: Path) -> None:
    seen = Seen(trained)
    figures, results = seen.look(), json.loads((trained / "results.json").read_text())
    assert (figures.state, figures.step, figures.steps, figures.seconds_left) == ("finished", 24, 24, None)
    assert figures.best_loss == results["valid"]["loss"] and figures.tokens == results["tokens"]
    assert "finished, step 24 of 24 (100 %)" in text_of(seen) and "left" not in text_of(seen)


def test_a_model_that_counts(tiny: dict, tmp_path: Path) -> None:
    recipe = {"task": "ngram", "data": tiny["data"], "tokens": "characters"}
    start.train(recipe, out=tmp_path / "run", device="cpu", watch=Watch())
    told = text_of(Seen(tmp_path / "run"))
    assert "finished, counted " in told and "validation loss" in told and "⠒" not in told


def test_word_vectors_count_epochs(corpus: Path, tmp_path: Path, call: Commands) -> None:
    recipe = {"task": "word-vectors", "size": 4, "epochs": 3, "data": {"train": str(corpus)}}
    recipe |= {"tokens": {"kind": "words", "min_count": 1}}
    start.train(recipe, out=tmp_path / "run", device="cpu", watch=Watch())
    figures, told = Seen(tmp_path / "run").look(), text_of(Seen(tmp_path / "run"))
    assert (figures.step, figures.steps, figures.unit, figures.best_step) == (3, 3, "epoch", 3)
    assert "finished, epoch 3 of 3 (100 %)" in told and "at epoch 3" in told and "loss over epochs" in told
    assert "step" not in told
    assert json.loads(call("watch", tmp_path / "run", "--json").out)["unit"] == "epoch"
    lock(tmp_path / "run")
    (tmp_path / "run" / "config.json").unlink()
    lines = (tmp_path / "run" / "metrics.jsonl").read_text().splitlines(keepends=True)
    (tmp_path / "run" / "metrics.jsonl").write_text(lines[0])
    assert "training, epoch 1 of 3 (33 %)" in text_of(Seen(tmp_path / "run"))
    (tmp_path / "run" / "metrics.jsonl").unlink()
    assert "preparing: its first epoch has not ended yet" in text_of(Seen(tmp_path / "run"))
    assert Seen(tmp_path / "run").look().unit == "epoch"


def test_the_command_gives_a_pipe_one_frame(call: Commands, trained: Path) -> None:
    once, piped = call("watch", trained, "--once"), call("watch", trained)
    assert once.code == piped.code == 0 and once.out == piped.out and "finished, step 24 of 24" in once.out
    assert "\x1b" not in piped.out
    figures = json.loads(call("watch", trained, "--json").out)
    assert figures == Seen(trained).look().as_dict()
    assert "none is no run" in call.refused("watch", "none")


def test_watching_ends_with_the_run(
    tmp_path: Path, trained: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    metrics = begun(tmp_path / "run", 24)
    metrics.write(trained_line(1, 3.0))
    looks: list[float] = []

    def sleep(seconds: float) -> None:
        looks.append(seconds)
        if len(looks) == 2:
            shutil.copytree(trained, tmp_path / "run", dirs_exist_ok=True)

    monkeypatch.setattr(study, "time", SimpleNamespace(sleep=sleep, time=time.time))
    study.watch(tmp_path / "run", Console(force_terminal=True, width=80, height=24))
    shown = capsys.readouterr().out
    assert looks == [study.SECONDS] * 2 and "finished" in shown and shown.index("training") < shown.index("finished")


def test_ctrl_c_ends_the_watching_only(forks: Forks, tmp_path: Path) -> None:
    begun(tmp_path / "run").write(trained_line(1, 3.0))
    process = forks.start(["foresay", "watch", tmp_path / "run"], hook=("tests.study.test_watch", "on_a_terminal"))
    process.wait_for("looked")
    process.signal(signal.SIGINT)
    code, _, error = process.finish()
    assert code == 130 and error == "foresay: stopped\n"


def on_a_terminal() -> None:
    """A hook: standard output is a terminal for rich, and each look is told of."""
    os.environ["FORCE_COLOR"] = "1"

    def sleep(seconds: float) -> None:
        os.write(2, b"looked\n")  # sys.stderr is the picture's now
        time.sleep(60)

    study.time = SimpleNamespace(sleep=sleep, time=time.time)  # pyright: ignore[reportAttributeAccessIssue]


def test_watching_needs_no_torch(trained: Path) -> None:
    code = "import sys; from foresay.study.watch import Seen; Seen(sys.argv[1]).look(); print('torch' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code, str(trained)], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"
