"""A classifier from a table to answers: train, load, predict, measure, and what is refused."""

from __future__ import annotations

import json
import random
import sys
from pathlib import Path
from typing import Any

import pytest

from foresay import cli, start
from foresay.errors import UserError
from foresay.loading import load
from foresay.run import Run
from foresay.study.moved import moved_by
from foresay.train.progress import Watch

TRAIN = {"batches": {"kind": "labels", "tokens": 200}, "optimizer": {"kind": "adamw", "lr": 0.02}}
TINY = {
    "task": "classifier",
    "tokens": "blanks",
    "embedding": {"kind": "lookup", "size": 8},
    "encoder": {"kind": "recurrent", "size": 8, "bidirectional": True},
    "train": TRAIN | {"steps": 40, "evaluate": {"every": 20}, "save": {"every": 20}},
}


def wrote(name: str, count: int, seed: int, label: Any = lambda words: "good" if "fine" in words else "bad") -> str:
    """Texts of four words and a mark on the next line; those with `fine` are good."""
    draw = random.Random(seed)
    rows = [draw.choices(["it", "was", "very", "dull", "fine", "film"], k=4) for _ in range(count)]
    Path(name).write_text("text,label\n" + "".join(f'"{" ".join(row)}\n!",{label(row)}\n' for row in rows), "utf-8")
    return name


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("classifier")
    data = {
        "kind": "labels",
        "train": wrote(str(folder / "t.csv"), 300, 1),
        "test": wrote(str(folder / "s.csv"), 50, 2),
    }
    start.train(TINY | {"data": data}, out=folder / "run", device="cpu", watch=Watch())
    return folder / "run"


def run_of(folder: Path) -> Any:
    return load(folder, "cpu")


def test_it_learns_and_answers(trained: Path) -> None:
    run = run_of(trained)
    texts = ["it was fine !", "it was dull !", "fine " * 30]
    answers = run.predict(texts)
    assert [label for label, _ in answers] == ["good", "bad", "good"]
    for _, p in answers:
        assert list(p) == ["bad", "good"] and sum(p.values()) == pytest.approx(1.0)
    alone = [run.predict(text)[0][1]["good"] for text in texts]
    assert alone == pytest.approx([p["good"] for _, p in answers], abs=1e-6)
    assert run.predict([]) == []
    with pytest.raises(UserError, match=r"^text 2 of 2 has no tokens \(' '\); give some words$"):
        run.predict(["it", " "])
    with pytest.raises(UserError, match=r"^texts=5; allowed: text, or a list of texts$"):
        run.predict(5)


def test_the_card_is_of_the_model_that_is_kept() -> None:
    """Calibration comes last: what was measured before it is no longer true."""
    chance = random.Random(5)
    table = wrote(
        "noisy.csv", 200, 4, lambda words: "good" if chance.random() < (0.8 if "fine" in words else 0.2) else "bad"
    )
    run = start.train(TINY | {"data": {"kind": "labels", "train": table}}, out="noisy", device="cpu", watch=Watch())
    kept = json.loads(Path("noisy/results.json").read_text())["valid"]
    assert (
        kept["temperature"] == pytest.approx(float(run.model.get_buffer("temperature"))) and kept["temperature"] != 1.0
    )
    assert kept["loss"] == pytest.approx(run_of(Path("noisy")).evaluate().loss)


def test_it_is_measured(trained: Path) -> None:
    run = run_of(trained)
    found = run.evaluate(split="test")
    answers = [label for label, _ in run.predict([text for _, text in rows(trained.parent / "s.csv")])]
    truths = [label for label, _ in rows(trained.parent / "s.csv")]
    right = sum(one == other for one, other in zip(truths, answers, strict=True)) / 50
    assert found.accuracy == right > 0.9 and found.texts == 50
    assert run.evaluate(wrote("other.csv", 20, 3)).texts == 20
    results = json.loads((trained / "results.json").read_text())
    assert results["valid"]["accuracy"] == run.evaluate().accuracy
    assert "| accuracy |" in (trained / "README.md").read_text("utf-8")


def rows(path: Path) -> list[tuple[str, str]]:
    from foresay.data.label_files import LabelText
    from foresay.data.source import Reading, Source

    text = LabelText("x", Source("x", path, read=Reading(format="csv")))
    return [(labels[0], content) for _, content, labels in text]


def test_on_the_command_line(
    trained: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def call(*words: str) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["foresay", *words])
        with pytest.raises(SystemExit) as ended:
            cli.main()
        return int(ended.value.code or 0), *capsys.readouterr()

    code, out, _ = call("eval", str(trained), "--split", "test", "--picture", "confusion.png")
    assert code == 0 and out.startswith("accuracy  ") and "label  precision  recall" in out
    assert Path("confusion.png").read_bytes()[:4] == b"\x89PNG"
    _, out, _ = call("eval", str(trained), "--json")
    found = json.loads(out)
    assert sum(map(sum, found["confusion"])) == found["texts"] == sum(one["texts"] for one in found["labels"].values())
    code, out, said = call("eval", str(trained), "--data", wrote("new.csv", 9, 4, lambda words: "so-so"))
    assert (code, out) == (2, "") and "new.csv: line 2 has the label 'so-so', which the train text has not" in said
    assert call("eval", str(trained), "--picture", "x.pdf")[0] == 2
    answers = [("it was dull !", "bad"), ("it was fine !", "good")]
    Path("lines.txt").write_text("".join(f"{text}\n\n" for text, _ in answers))
    assert call("predict", str(trained), "lines.txt")[:2] == (0, "bad\n\ngood\n\n")  # line by line as the file
    _, out, _ = call("predict", str(trained), "it was fine !", "--json")
    (label, shares), told = run_of(trained).predict("it was fine !")[0], json.loads(out)
    assert told == {"label": label, "probabilities": pytest.approx(shares)}
    code, out, said = call("predict", str(trained), "fine", "--blanks")
    assert (code, out) == (2, "") and "--blanks is for runs that tag words" in said
    code, _, said = call("score", str(trained), "a text")
    assert code == 2 and "is of task classifier, which knows no probability of a text; use foresay predict" in said


def test_several_labels_and_no_neural_model(tmp_path: Path, monkeypatch, capsys) -> None:
    """A bag of words that may be both: each label by itself."""
    rows = ["a b\tx|y", "a\tx", "b\ty", "c\t"] * 20
    Path("t.tsv").write_text("text\tlabel\n" + "\n".join(rows) + "\n")
    data = {"kind": "labels", "train": "t.tsv", "several": True}
    recipe = {"task": "bag-of-words", "tokens": "blanks", "data": data, "train": {"batches": "labels"}}
    start.train(recipe, out=tmp_path / "run", device="cpu", watch=Watch())
    run = run_of(tmp_path / "run")
    assert [labels for labels, _ in run.predict(["b a", "a", "b", "c c"])] == [("x", "y"), ("x",), ("y",), ()]
    assert run.evaluate().accuracy == 1.0
    monkeypatch.setattr(sys, "argv", ["foresay", "predict", str(tmp_path / "run"), "b a", "c c"])
    with pytest.raises(SystemExit):
        cli.main()
    assert capsys.readouterr().out == "x\ty\n\n"


def test_a_run_without_its_labels_is_refused(trained: Path, tmp_path: Path) -> None:
    import shutil

    copy = shutil.copytree(trained, tmp_path / "copy")
    (copy / "labels.json").unlink()
    with pytest.raises(UserError, match=r"labels\.json is missing; copy it back"):
        load(copy)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            {"data": {"train": "t.csv"}},
            "task=classifier gives labels to texts, and data.kind=text; allowed: data.kind=labels",
        ),
        ({"train": {"steps": 1}}, "train.batches=streams with data.kind=labels; allowed: train.batches=labels"),
        (
            {"task": "language-model", "encoder": "recurrent"},
            "task=language-model reads one text, and data.kind=labels; allowed: data.kind=text",
        ),
    ],
)
def test_parts_that_do_not_meet(change: dict[str, Any], message: str) -> None:
    recipe = TINY | {"data": {"kind": "labels", "train": wrote("t.csv", 9, 1)}} | change
    with pytest.raises(UserError, match=message):
        start.train(recipe, out="run", device="cpu", watch=Watch())
    assert not Path("run").exists()


def test_letters_of_unknown_words_are_read() -> None:
    """Words that end in -ly are good; asked of words never seen: from a file, by `predict` and by `look` alike."""
    draw = random.Random(4)
    stems = ["".join(draw.choices("abdeghiknorst", k=4)) for _ in range(120)]
    rows = [(f"it is {stem}{'ly' if n % 2 else 'um'}", "good" if n % 2 else "bad") for n, stem in enumerate(stems)]
    for name, own in (("t.tsv", rows[:80]), ("s.tsv", rows[80:])):
        Path(name).write_text("text\tlabel\n" + "".join(f"{a}\t{b}\n" for a, b in own), "utf-8")
    letters = {"kind": "characters", "size": 8, "letters": 8, "kernels": [[2, 12]], "highways": 0, "longest": 8}
    few = {"kind": "blanks", "min_count": 2}
    tiny = TINY | {"embedding": letters, "encoder": None, "pool": "max", "tokens": few}
    start.train(tiny | {"data": {"kind": "labels", "train": "t.tsv", "test": "s.tsv"}}, out="run", watch=Watch())
    run: Any = run_of(Path("run"))
    assert len(run.tokens) < 20, "nearly every word is unknown"
    assert run.evaluate(split="test").accuracy > 0.9
    texts, labels = zip(*rows[80:], strict=True)
    answers = run.predict(texts)
    right = [label == answer for (answer, _), label in zip(answers, labels, strict=True)]
    assert sum(right) / len(right) == run.evaluate(split="test").accuracy
    shares = moved_by(run, texts[1]).shares
    assert abs(shares[2]) > max(map(abs, shares[:2])), "the unknown word decides"


def test_a_long_text_is_cut_and_told_of() -> None:
    class Noted(Watch):
        said: list[str] = []  # noqa: RUF012 - of this test alone

        def note(self, text: str) -> None:
            self.said.append(text)

    Path("t.tsv").write_text("text\tlabel\n" + "a " * 10_000 + "\tx\nb\ty\na\tx\n")
    data = {"kind": "labels", "train": "t.tsv", "share": 0.0}
    run: Run = start.train(
        TINY | {"data": data, "train": TRAIN | {"steps": 2}}, out="run", device="cpu", watch=(watch := Noted())
    )
    assert "data.train: 1 of 3 texts have more than 512 tokens; the rest of them is not read" in " ".join(watch.said)
    assert run.model.reads == "labels"
