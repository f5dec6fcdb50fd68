"""The benches run: the speed bench's two sides do the same work, and what is timed is what is trained."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

from bench import figure, lstm_lm, memory, prepare, step_gpu


def test_both_sides_of_the_lstm_bench_do_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lstm_lm, "VOCABULARY", 50)
    monkeypatch.setitem(lstm_lm.SIZES, "small", (8, 2, 3, 5))
    ours, peer = lstm_lm.sides("small", tmp_path)
    for _ in range(4):  # the state is carried, the weights move
        assert ours() == pytest.approx(peer(), rel=1e-5)


def test_both_sides_of_the_step_bench_train(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(step_gpu, "READS", 1)
    trainer = step_gpu.trainer_for("zaremba-medium", tmp_path, "cpu", "embedding.size=8", "encoder.size=8")
    ours, peer = step_gpu.OurLoop(trainer), step_gpu.PlainLoop(trainer.order, "float32", "cpu", size=8)
    for loop in (ours, peer):
        loop()
        loop()
    assert ours.step == peer.step == 2
    assert trainer.counters.tokens == 3 * 20 * 35  # one batch of each shape came first


def test_turns_are_fair() -> None:
    calls: list[str] = []
    figure.in_turn(lambda: calls.append("ours"), lambda: calls.append("peer"), rounds=2, calls=1)
    assert calls == ["ours", "peer", "peer", "ours"]


def test_the_generated_text_is_text() -> None:
    file = io.StringIO()
    memory.write_text(file, 100_000)
    text = file.getvalue()
    assert len(text) >= 100_000 and text.endswith(".\n") and len(set(text.split())) > 1000


def test_both_sides_of_the_prepare_bench_do_the_same(tmp_path: Path) -> None:
    with (tmp_path / "text.txt").open("w") as file:
        memory.write_text(file, 50_000)
    figures = prepare.speed(tmp_path / "text.txt", tmp_path)
    assert all(figure["same_ids"] and figure["ratio"] > 0 for figure in figures.values())
