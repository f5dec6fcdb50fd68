"""The benches run: the speed bench's two sides do the same work, and what is timed is what is trained."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

from bench import dilated, elmo, figure, lstm_lm, memory, onnx, prepare, serve, spread, step_gpu, tagger
from foresay.loading import load
from foresay.models.tagger import Tagger
from foresay.serve.engine import Engine


def test_both_sides_of_the_lstm_bench_do_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lstm_lm, "VOCABULARY", 50)
    monkeypatch.setitem(lstm_lm.SIZES, "small", (8, 2, 3, 5))
    ours, peer = lstm_lm.sides("small", tmp_path)
    for _ in range(4):  # the state is carried, the weights move
        assert ours() == pytest.approx(peer(), rel=1e-5)


def test_both_sides_of_the_dilated_bench_do_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dilated, "DOUBLING", [1, 2, 4])
    trainer = dilated.trainer(8, 2, 12, 2, tmp_path)
    plain = dilated.Plain(8, 2)
    plain.take(trainer.model)
    ours, peer = dilated.OurLoop(trainer), dilated.PlainLoop(plain, trainer.order)
    for _ in range(4):
        assert ours() == pytest.approx(peer(), rel=1e-4)
    found = dilated.writing(1, 2, 12)
    assert found["same"] == 1.0 and found["sees"] == 8


def test_both_sides_of_the_onnx_bench_do_the_same(tmp_path: Path) -> None:
    pytest.importorskip("onnxruntime")
    found = onnx.sides(onnx.made({"kind": "recurrent", "cell": "mingru"}, 16), tmp_path, 5)
    assert found.keys() == {"step", "score"}
    for ours, peer in found.values():
        assert ours() == pytest.approx(peer(), abs=1e-4)
    assert found["step"][0]() == pytest.approx(found["score"][0]()[:, -1], abs=1e-4)


def test_both_sides_of_the_step_bench_train(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(step_gpu, "READS", 1)
    trainer = step_gpu.trainer_for("zaremba-medium", tmp_path, "cpu", "embedding.size=8", "encoder.size=8")
    ours, peer = step_gpu.OurLoop(trainer), step_gpu.PlainLoop(trainer.order, "float32", "cpu", size=8)
    for loop in (ours, peer):
        loop()
        loop()
    assert ours.step == peer.step == 2
    assert trainer.counters.tokens == 3 * 20 * 35  # one batch of each shape came first


def test_both_sides_of_the_tagger_bench_do_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without dropout, the peer packed: the same losses while the weights move, and the same tags."""
    monkeypatch.setattr(tagger, "CHUNK", 4)
    monkeypatch.setattr(tagger, "WORDS_ALONE", ["embedding={kind: lookup, size: 6}", "unknown=0.0", "dropout=0.0"])
    rows = [f"{word}\t{tag}\n" for word, tag in zip("abcdefgh", "XYXYZZXY", strict=True)]
    text = "".join("".join(rows[n % 5 : n % 5 + n % 3 + 2]) + "\n" for n in range(60))
    for name in ("train", "valid", "test"):
        (tmp_path / f"{name}.tsv").write_text(text, "utf-8")
    data = [f"data.{name}={tmp_path / name}.tsv" for name in ("train", "valid", "test")]
    small = ["tokens.min_count=1", "encoder.size=8", "train.batches.tokens=48", "train.optimizer.lr=0.05"]
    trainer = tagger.trainer_for(tmp_path, 8, *data, *small)
    assert isinstance(trainer.model, Tagger)
    plain = tagger.Plain(trainer.model, packed=True)
    ours, peer = tagger.OurLoop(trainer), tagger.PlainLoop(plain, trainer)
    for _ in range(2):
        ours()
        peer()
    assert len(ours.losses) == 9 and ours.losses == pytest.approx(peer.losses, rel=1e-4)
    trainer.model.eval(), plain.eval()
    batches = tagger.test_batches(trainer)
    assert any(batch.mask is not None for batch in batches)
    assert all(tagger.Ours(trainer.model).tags(batch) == plain.tags(batch) for batch in batches)
    sizes = {id(batch): (batch.ids != 0).sum(1).tolist() for batch in batches if batch.ids is not None}
    zeros = sum(int((batch.targets == 0)[batch.ids != 0].sum()) for batch in batches)
    always = tagger.accuracy(lambda batch: [[0] * size for size in sizes[id(batch)]], batches)
    assert always == zeros / sum(map(sum, sizes.values())) > 0
    assert set(tagger.pieces(plain.train(), batches, 1)) == {"embedding", "lstm", "crf"}


def test_both_sides_of_the_serve_bench_do_the_same(trained: Path) -> None:
    run = load(trained, "cpu")
    engine = Engine({"run": run})
    found = serve.figure(run, 3, 5, 1, lambda asked: serve.together(engine, run, asked))
    engine.close()
    assert found["same"] == 1.0 and found["tokens"] == 15 and found["ratio"] > 0
    assert serve.over_http(run, 4, 1)["same"] == 1.0
    prompts = [how["prompt"] for how in serve.requests(32, 5)]
    assert len(set(prompts)) == 32 and {len(one.split()) for one in prompts} == set(range(4, 13))


def test_turns_are_fair() -> None:
    calls: list[str] = []
    figure.in_turn(lambda: calls.append("ours"), lambda: calls.append("peer"), rounds=2, calls=1)
    assert calls == ["ours", "peer", "peer", "ours"]


@pytest.fixture
def few_words(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "WORDS", 20_000)


@pytest.mark.usefixtures("few_words")
def test_the_generated_text_is_text() -> None:
    file = io.StringIO()
    memory.write_text(file, 100_000)
    text = file.getvalue()
    assert len(text) >= 100_000 and text.endswith(".\n") and len(set(text.split())) > 1000


@pytest.mark.usefixtures("few_words")
def test_both_sides_of_the_prepare_bench_do_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(prepare, "SIZE", 1000)
    with (tmp_path / "text.txt").open("w") as file:
        memory.write_text(file, 50_000)
    figures = prepare.speed(tmp_path / "text.txt", tmp_path)
    assert all(figure["same_ids"] and figure["ratio"] > 0 for figure in figures.values())


def test_phrases_that_are_part_of_another_are_left_out() -> None:
    given = ["a b c", "b c", "c", "bc", "d a", "a b c", "a c"]
    assert elmo.longest_phrases(given) == ["a b c", "a c", "d a", "bc"]


def test_the_interval_of_a_mean_over_seeds() -> None:
    """By hand: deviation 1, three values, t = 4.303 for two degrees of freedom."""
    mean, half = elmo.mean_and_interval([1.0, 2.0, 3.0])
    assert mean == 2.0 and half == pytest.approx(4.303 / 3**0.5)


def test_the_bench_of_processes_counts_what_was_trained(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lines = [
        f'{{"step": {n}, "tokens": {100 * n}, "seconds": {n + (5 if n < 3 else 0)}, "loss": {9 - n}}}' for n in range(9)
    ]
    (tmp_path / "metrics.jsonl").write_text("\n".join([*lines, '{"step": 8, "valid_loss": 1.0}']), "utf-8")
    assert spread.speed(tmp_path) == (pytest.approx(600 / (8 - 7)), 1)  # from step 2, whose clock stood at 7
    found = {1: {1: (10.0, 2.0), 2: (15.0, 2.0)}, 2: {1: (18.0, 2.0001)}}
    monkeypatch.setattr(spread, "train", lambda _words, processes, threads, *_: found[processes][threads])
    figures = spread.measure(["lstm"], 4, 2)
    assert [one["ratio"] for one in figures.values()] == [1.8, 1.2]
    found[2][1] = (18.0, 2.1)
    with pytest.raises(SystemExit, match="the losses differ"):
        spread.measure(["lstm"], 4, 1)
