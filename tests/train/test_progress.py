"""What is shown while training, and metrics.jsonl."""

from __future__ import annotations

import io
import json
import math
from pathlib import Path

import pytest

from foresay.train import progress
from foresay.train.evaluate import Measured
from foresay.train.progress import BarWatch, Metrics, PlainWatch, Watch, watch_for, without_nan

MEASURED = Measured(1.5, 10, 20, 2.25, 2.0, (1.4, 1.6))
FIGURES = "valid loss 1.5000, perplexity 4.48, 2.250 bits/character, 2.000 bits/byte"


def test_a_log_gets_a_line_every_ten_seconds(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    now = [100.0]
    monkeypatch.setattr(progress.time, "monotonic", lambda: now[0])
    watch = PlainWatch()
    for step in range(1, 31):
        now[0] += 1.0
        watch.step(step, 30, 2.0 + step, 12345.6)
    watch.evaluated(30, MEASURED)
    with watch.stage("preparing text") as tell:
        tell(0.1)
        now[0] += 10.0
        tell(0.254)
    watch.close()
    captured = capsys.readouterr()
    assert captured.out == ""  # standard output stays clean
    assert captured.err.splitlines() == [
        "step 10 of 30: loss 12.0000, 12,346 tokens/s",
        "step 20 of 30: loss 22.0000, 12,346 tokens/s",
        "step 30 of 30: loss 32.0000, 12,346 tokens/s",
        f"step 30: {FIGURES}",
        "preparing text: 25 %, 29 s left",
    ]


def test_figures_as_text() -> None:
    assert MEASURED.spelt() == FIGURES


def test_brief_leaves_out_evaluations(capsys: pytest.CaptureFixture[str]) -> None:
    PlainWatch(brief=True).evaluated(3, MEASURED)
    assert capsys.readouterr().err == ""


def test_a_terminal_gets_a_bar(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "160")
    watch = BarWatch()
    watch.note("[a folder]: 5 parameters")  # no markup: shown as it is
    with watch.stage("preparing text") as tell:
        tell(0.5)
    watch.evaluated(4, MEASURED)
    watch.step(5, 10, 1.25, 1000.0)
    assert watch.bar.tasks[-1].completed == 5 and watch.bar.tasks[-1].total == 10
    assert watch.bar.tasks[-1].fields["figures"] == (
        "loss 1.250 · 1,000 tokens/s · valid loss 1.5000, perplexity 4.48, 2.250 bits/character, 2.000 bits/byte"
    )
    watch.close()
    captured = capsys.readouterr()
    assert captured.out == "" and "[a folder]: 5 parameters" in captured.err and FIGURES in captured.err


def test_which_watch_is_for_what() -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    assert isinstance(watch_for(Terminal()), BarWatch) and isinstance(watch_for(io.StringIO()), PlainWatch)


def test_the_silent_one_says_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    watch = Watch()
    watch.note("a")
    watch.step(1, 2, 3.0, 4.0)
    watch.evaluated(1, MEASURED)
    with watch.stage("b") as tell:
        tell(0.5)
    watch.close()
    assert capsys.readouterr() == ("", "")


def test_metrics_are_written_read_and_cut(tmp_path: Path) -> None:
    metrics = Metrics(tmp_path / "metrics.jsonl")
    assert metrics.read() == []
    metrics.cut(3)
    assert not metrics.path.exists()
    for step in (1, 2, 3):
        metrics.write({"step": step, "loss": 1.0 / step})
    metrics.write({"step": 2, "valid_loss": 1.5})
    metrics.cut(2)
    assert metrics.read() == [{"step": 1, "loss": 1.0}, {"step": 2, "loss": 0.5}, {"step": 2, "valid_loss": 1.5}]
    assert len(metrics.path.read_text().splitlines()) == 3


@pytest.mark.parametrize("tail", [b'{"step": 2, "lo', b"\xff\xfe", b"7\n", b"\n\n"])
def test_a_line_cut_short_is_left_out(tail: bytes, tmp_path: Path) -> None:
    metrics = Metrics(tmp_path / "metrics.jsonl")
    metrics.write({"step": 1})
    with metrics.path.open("ab") as file:
        file.write(tail)
    assert metrics.read() == [{"step": 1}]
    metrics.cut(5)
    metrics.write({"step": 2})
    assert metrics.path.read_text() == '{"step": 1}\n{"step": 2}\n'


def test_a_full_disk_does_not_cut_what_is_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    metrics = Metrics(tmp_path / "metrics.jsonl")
    metrics.write({"step": 1})
    metrics.write({"step": 2})
    monkeypatch.setattr("os.fsync", lambda _: (_ for _ in ()).throw(OSError(28, "No space left on device")))
    with pytest.raises(OSError, match="No space"):
        metrics.cut(1)
    assert [line["step"] for line in metrics.read()] == [1, 2]


def test_what_is_no_number_is_null(tmp_path: Path) -> None:
    metrics = Metrics(tmp_path / "metrics.jsonl")
    metrics.write({"loss": math.nan, "norm": math.inf, "interval": [1.0, -math.inf], "of": {"x": math.nan, "n": 3}})
    strict = json.loads(metrics.path.read_text(), parse_constant=lambda name: pytest.fail(f"{name} is no JSON"))
    assert strict == {"loss": None, "norm": None, "interval": [1.0, None], "of": {"x": None, "n": 3}}
    assert without_nan("text") == "text"
