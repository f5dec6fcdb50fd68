"""`foresay.train`: from a text or a recipe to a finished folder, the same again from what it saved."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
import torch
import yaml
from safetensors.torch import save_file

import foresay
from foresay import checks, start
from foresay import recipe as recipes
from foresay.errors import UserError
from foresay.train.progress import Watch
from foresay.train.report import write_curve
from foresay.train.resume import run_to_resume
from tests.commands import Commands
from tests.train.made import Notes
from tests.train.stopping import train_to

PLANNED = {"train.steps": 4, "train.evaluate.every": 2, "train.evaluate.tokens": 700, "train.save.every": 2}


def train(source: object = None, settings: object = (), out: object = "run", watch: Watch | None = None, **given):
    return start.train(source, settings, out=out, device="cpu", watch=watch or Watch(), **given)  # pyright: ignore[reportArgumentType]


def model(folder: str | Path) -> bytes:
    return Path(folder, "model.safetensors").read_bytes()


@pytest.fixture
def planned(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """A plan of four steps whatever the time; gives the seconds that were asked for."""
    asked: list[float] = []
    monkeypatch.setattr(start, "plan", lambda make, seconds: (make(), asked.append(seconds), dict(PLANNED))[2])
    return asked


@pytest.fixture(autouse=True)
def _no_curve(monkeypatch: pytest.MonkeyPatch) -> None:
    """A picture takes half the time of so small a run."""
    monkeypatch.setattr(start, "write_curve", lambda _: None)


def test_a_run_folder_has_all_its_files(tiny: dict, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(start, "write_curve", write_curve)
    run = train(tiny)
    names = {path.name for path in Path("run").iterdir()}
    assert names == {
        *("recipe.yaml", "tokenizer.json", "text.json", "config.json", "model.safetensors", "README.md"),
        *("metrics.jsonl", "results.json", "curve.png", "checkpoints", ".lock"),
    }
    results = json.loads(Path("run/results.json").read_text())
    assert results["steps"] == 24 and results["tokens"] == 24 * 64 and results["skipped"] == 0
    assert results["parameters"] == sum(p.numel() for p in run.model.parameters())
    assert results["vocabulary"] == len(run.tokens) and results["device"] == "cpu" and results["peak_bytes"] > 0
    assert results["tokens_per_second"] == pytest.approx(results["tokens"] / results["seconds"])
    assert run.folder == Path("run") and not run.model.training


def test_training_the_saved_recipe_again_gives_the_same_bytes(tiny: dict) -> None:
    train(tiny, ["encoder.cell=gru"])
    saved = yaml.safe_load(Path("run/recipe.yaml").read_text())
    assert saved == recipes.complete(recipes.read("run/recipe.yaml")).as_dict()  # every setting is in it
    torch.manual_seed(99)  # what happened before does not matter
    train("run/recipe.yaml", out="again")
    assert model("again") == model("run")
    assert Path("again/recipe.yaml").read_bytes() == Path("run/recipe.yaml").read_bytes()


def test_another_seed_gives_another_model(tiny: dict) -> None:
    for seed in (1, 2):
        train(tiny, [f"seed={seed}", "train.steps=3"], out=f"run-{seed}")
    assert model("run-1") != model("run-2")


def test_settings_as_a_dict_are_those_of_the_command_line(tiny: dict, corpus: Path) -> None:
    train(tiny, ["train.steps=3", "encoder.cell=gru", "train.lr=0.5"], out="words")
    given = {"train.steps": 3, "encoder.cell": "gru", "train.lr": 0.5, "data.train": corpus}
    train(tiny, given, out="dict")
    assert model("words") == model("dict")
    for settings in ({"encoder.size": "512"}, {"data.train": "a: b"}, {"data.train": "1e3"}):
        (value,) = settings.values()
        with pytest.raises(UserError, match=f"'{value}'"):  # text stays text: it is not read as YAML
            train(tiny, settings, out="never")


def test_a_text_alone_is_enough(corpus: Path, planned: list[float]) -> None:
    notes = Notes()
    settings = ["encoder.size=16", "embedding.size=8"]
    train(corpus, settings, minutes=2.0, watch=notes)
    assert planned[0] == pytest.approx(120.0, abs=30.0) and planned[0] < 120.0  # what is left
    recipe = recipes.read("run/recipe.yaml")
    assert recipe["tokens"]["kind"] == "characters" and recipe["encoder"]["size"] == 16
    evaluate = {"every": 2, "tokens": 700, "patience": 0, "best": "loss"}
    assert recipe["train"]["steps"] == 4 and recipe["train"]["evaluate"] == evaluate
    assert recipe["train"]["save"]["every"] == 2
    assert recipe["train"]["optimizer"]["schedule"]["warmup"] == 0  # an eighth of the steps at most
    told = [note for note in notes.notes if note.startswith("chosen: ")]
    assert [note.split()[1] for note in told] == ["characters:", "32"]  # the encoder was said, not chosen
    assert any(note.startswith("planned: 4 steps for the ") for note in notes.notes)
    train("run/recipe.yaml", out="again")  # no clock is needed to repeat it
    assert model("again") == model("run")


def test_without_minutes_a_text_gets_the_default(corpus: Path, planned: list[float]) -> None:
    notes = Notes()
    train(corpus, ["encoder.size=16"], watch=notes)
    assert 60.0 * start.DEFAULT_MINUTES - 30 < planned[0] < 60.0 * start.DEFAULT_MINUTES
    assert any("10 minutes of training; --minutes M sets another" in note for note in notes.notes)
    train(corpus, ["encoder.size=16", "train.steps=2"], out="steps")
    assert len(planned) == 1 and recipes.read("steps/recipe.yaml")["train"]["steps"] == 2


def test_minutes_fit_a_recipe_too_but_what_was_said_holds(tiny: dict, planned: list[float]) -> None:
    train(tiny, ["train.eval_every=3", "train.save.keep=1"], minutes=1.0)
    saved = recipes.read("run/recipe.yaml")["train"]
    assert (saved["steps"], saved["evaluate"]["every"], saved["evaluate"]["tokens"]) == (4, 3, 700)
    assert saved["save"] == {"every": 2, "keep": 1, "tensorboard": False}
    with pytest.raises(UserError, match=r"train.steps and minutes=1; allowed: one of them"):
        train(tiny, ["train.steps=9"], minutes=1.0, out="never")


@pytest.mark.parametrize("minutes", [0, -1.0, float("nan"), float("inf")])
def test_minutes_that_cannot_be(minutes: float, tiny: dict) -> None:
    with pytest.raises(UserError, match="allowed: a number > 0"):
        train(tiny, minutes=minutes)


def test_measuring_the_time_does_not_change_the_model(tiny: dict, planned: list[float]) -> None:
    train(tiny, minutes=1.0, out="timed")
    train("timed/recipe.yaml", out="untimed")
    assert model("timed") == model("untimed")


def test_a_run_without_validation_keeps_its_last_weights(tiny: dict) -> None:
    run = train(tiny | {"data": tiny["data"] | {"share": 0.0}}, ["train.steps=7"])
    assert json.loads(Path("run/results.json").read_text())["valid"] is None
    assert not Path("run/checkpoints/best").exists()
    assert "No validation text was held out." in Path("run/README.md").read_text()
    with pytest.raises(UserError, match="the run has no valid text"):
        run.evaluate()


def test_a_model_that_counts(tiny: dict) -> None:
    recipe = {"task": "ngram", "data": tiny["data"], "tokens": "characters"}
    run = train(recipe)
    results = json.loads(Path("run/results.json").read_text())
    assert "steps" not in results and results["parameters"] == run.model.size() == len(run.model.table.grams) - 1
    (line,) = [json.loads(line) for line in Path("run/metrics.jsonl").read_text().splitlines()]
    assert line["valid_loss"] == results["valid"]["loss"] == run.evaluate().loss
    write_curve(Path("run"))
    assert not Path("run/curve.png").exists() and "curve.png" not in Path("run/README.md").read_text()
    train(recipe, out="again")
    assert model("again") == model("run")


def test_resume_needs_no_source(tiny: dict) -> None:
    train(tiny, out="alone")
    train_to(13, tiny, Path("cut"))
    notes = Notes()
    train(out="cut", resume=True, watch=notes)
    assert "resumed at step 10" in notes.notes and model("cut") == model("alone")


def test_resume_before_the_first_checkpoint_begins_again(tiny: dict) -> None:
    train(tiny, out="alone")
    train_to(3, tiny, Path("cut"))
    train(out="cut", resume=True)
    assert model("cut") == model("alone")
    steps = [json.loads(line)["step"] for line in Path("cut/metrics.jsonl").read_text().splitlines()]
    assert steps == sorted(steps)


def test_resume_with_the_same_source_is_allowed(tiny: dict, corpus: Path) -> None:
    Path("tiny.yaml").write_text(yaml.safe_dump(tiny))
    train_to(6, tiny, Path("run"))
    train("tiny.yaml", resume=True)
    train_to(6, tiny, Path("again"))
    train(corpus, resume=True, out="again")
    assert model("again") == model("run")


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (["seed=2"], "seed=2, but the run in run has 1"),
        (["train.lr=0.5"], "train.optimizer.lr=0.5, but the run in run has 0.01"),
        (["train.clip=null"], "train.clip.kind=None, but the run in run has 'norm'"),
        (["encoder.cell=gru"], "encoder.cell.kind='gru', but the run in run has 'lstm'"),
        (["encoder.sise=3"], "did you mean 'size'"),
    ],
)
def test_what_contradicts_the_run_is_refused(settings: list[str], message: str, tiny: dict) -> None:
    train_to(6, tiny, Path("run"))
    for source in (None, tiny):
        with pytest.raises(UserError, match=message):
            train(source, settings, resume=True)
    assert not Path("run/model.safetensors").exists()


def test_another_text_beside_resume_is_refused(tiny: dict, tmp_path: Path) -> None:
    train_to(6, tiny, Path("run"))
    Path("other.txt").write_text("another text\n" * 400)
    with pytest.raises(UserError, match=r"data.train='other.txt', but the run in run has '.*small.txt'"):
        train("other.txt", resume=True)


def test_resume_without_a_run(tiny: dict) -> None:
    with pytest.raises(UserError, match="resume without a run; say which one: foresay train --resume RUN"):
        start.train(tiny, resume=True)
    with pytest.raises(UserError, match="nothing to train; give a recipe or a text file"):
        train(out="nowhere", resume=True)
    assert not Path("nowhere").exists()


def test_a_run_is_resumed_by_its_name_alone(tiny: dict, call: Commands) -> None:
    train(tiny, out="alone")
    for name in ("word", "python", "flag"):
        train_to(13, tiny, Path(name))
    assert "resumed at step 10" in call("train", "--resume", "word", "--device", "cpu").error
    start.train(resume=Path("python"), device="cpu", watch=Watch())
    start.train("flag", resume=True, device="cpu", watch=Watch())
    assert model("word") == model("python") == model("flag") == model("alone")
    assert "word is finished; nothing to resume" in call("train", "--resume", "word", "seed=1").error
    assert "seed=2, but the run in word has 1" in call.refused("train", "--resume", "word", "seed=2")


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("lstm", "no such folder"),
        ("nowhere", "no such folder"),
        ("texts", "it has no recipe.yaml"),
        ("a.txt", "no such"),
    ],
)
def test_what_is_no_run_cannot_be_resumed(name: str, why: str, call: Commands) -> None:
    Path("texts").mkdir()
    Path("texts/a.txt").write_text("mine")
    Path("a.txt").write_text("mine")
    line = call.refused("train", "--resume", name)
    assert line.startswith(f"{name} is no run: {why}") and "--out RUN beside --resume to begin one" in line
    with pytest.raises(UserError, match=f"{name} is no run: {why}"):
        start.train(resume=name)
    assert sorted(path.name for path in Path().iterdir()) == ["a.txt", "texts"]


def test_two_runs_to_resume_are_one_too_many(tiny: dict) -> None:
    with pytest.raises(UserError, match="resume='a' and out='b' are two runs; give one of them"):
        start.train(resume="a", out="b")
    train_to(6, tiny, Path("run"))
    start.train(resume="run", out="run", device="cpu", watch=Watch())
    assert Path("run/model.safetensors").exists()


def test_a_run_and_another_out_are_two_runs(tiny: dict, call: Commands) -> None:
    train_to(6, tiny, Path("run"))
    line = call.refused("train", "--resume", "run", "--out", "other")
    assert line == "resume='run' and out='other' are two runs; give one of them"
    assert not Path("other").exists()
    assert call("train", "--resume", "run", "--out", "./run", "--device", "cpu").code == 0
    assert Path("run/model.safetensors").exists()


@pytest.mark.parametrize("words", [["run", "my.txt"], ["my.txt", "run"], ["run", "my.txt", "--out", "run"]])
def test_texts_beside_a_run_to_resume_are_refused(words: list[str], tiny: dict, call: Commands) -> None:
    train_to(6, tiny, Path("run"))
    Path("my.txt").write_text("mine\n" * 400)
    line = call.refused("train", "--resume", *words)
    assert line.startswith("my.txt cannot be given beside --resume run: a run has its own texts")
    assert not Path("run/model.safetensors").exists()


def test_a_folder_of_texts_is_no_run_for_a_recipe_in_it(tiny: dict) -> None:
    Path("texts").mkdir()
    Path("texts/recipe.yaml").write_text(yaml.safe_dump(tiny))
    assert run_to_resume("texts", "new", True) == ("texts", Path("new"))


@pytest.mark.parametrize("moved", [False, True], ids=["stays", "moves"])
def test_a_relative_text_is_found_from_any_folder(
    moved: bool, tiny: dict, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tmp_path / "project"
    (home / "texts").mkdir(parents=True)
    text = Path(tiny["data"]["train"]).read_text("utf-8")
    (home / "texts" / "my.txt").write_text(text, "utf-8")
    train(tiny, out=tmp_path / "alone")
    monkeypatch.chdir(home)
    train_to(13, tiny | {"data": {"train": "texts/my.txt"}}, Path("runs/cut"))
    assert recipes.read("runs/cut/recipe.yaml")["data"]["train"] == "texts/my.txt"  # as given: it can be shared
    assert json.loads(Path("runs/cut/config.json").read_text())["base"] == "../.."
    if moved:
        home = home.rename(tmp_path / "elsewhere")
    (tmp_path / "other" / "texts").mkdir(parents=True)
    (tmp_path / "other" / "texts" / "my.txt").write_text("another text\n" * 99)
    monkeypatch.chdir(tmp_path / "other")
    monkeypatch.setenv("FORESAY_CACHE", str(tmp_path / "cache"))
    start.train(home / "texts" / "my.txt", resume=home / "runs" / "cut", device="cpu", watch=Watch())
    assert model(home / "runs" / "cut") == model(tmp_path / "alone")
    config = json.loads((home / "runs" / "cut" / "config.json").read_text())
    assert config["base"] == "../.." and "model.safetensors" in config["sha256"]
    monkeypatch.setenv("FORESAY_CACHE", str(tmp_path / "other-cache"))
    assert foresay.load(home / "runs" / "cut").evaluate(limit=100).tokens >= 100  # its own text, prepared again


def test_vectors_it_began_with_are_found_from_any_folder(
    tiny: dict, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    symbols = len(train(tiny, ["train.steps=1"], out="first").tokens)
    save_file({"vectors": torch.randn(symbols, 8)}, "vectors.safetensors")
    recipe = tiny | {"embedding": {"kind": "lookup", "size": 8, "pretrained": "vectors.safetensors"}}
    train(recipe, out="alone")
    train_to(3, recipe, Path("cut"))
    Path("other").mkdir()
    monkeypatch.chdir("other")
    start.train(resume="../cut", device="cpu", watch=Watch())
    assert model("../cut") == model("../alone")


def test_vectors_of_words_are_matched_told_and_kept(
    tiny: dict, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Killed and resumed from another folder, then loaded without the file."""
    vectors = foresay.WordVectors(["cat", "dog", "zebra"], torch.randn(3, 8).numpy())
    vectors.save("vectors.vec")
    embedding = {"kind": "lookup", "size": 8, "pretrained": "vectors.vec", "frozen": True}
    recipe = tiny | {"tokens": {"kind": "words", "size": 40}, "embedding": embedding}
    notes = Notes()
    run = train(recipe, out="alone", watch=notes)
    assert any(
        f"2 of {len(run.tokens)} symbols begin with their vectors of vectors.vec" in note for note in notes.notes
    )
    row = run.tokens.pieces(range(len(run.tokens))).index("dog")
    assert run.model.embedding.table[row].tolist() == vectors["dog"].tolist()  # pyright: ignore
    train_to(3, recipe, Path("cut"))
    Path("other").mkdir()
    monkeypatch.chdir("other")
    start.train(resume="../cut", device="cpu", watch=Watch())
    assert model("../cut") == model("../alone")
    Path("../vectors.vec").unlink()
    assert foresay.load("../cut").score("the cat") == foresay.load("../alone").score("the cat")


def test_vectors_of_a_model_with_a_part_of_ones_own(tiny: dict) -> None:
    """The model is tried before the text is prepared, when nobody knows the symbols yet."""
    Path("mine.py").write_text("from foresay.encode.cells.lstm import LSTM\n\nclass Mine(LSTM):\n    pass\n")
    foresay.WordVectors(["cat", "dog"], torch.randn(2, 8).numpy()).save("vectors.txt")
    embedding = {"kind": "lookup", "size": 8, "pretrained": "vectors.txt"}
    recipe = tiny | {"tokens": {"kind": "words", "size": 40}, "embedding": embedding}
    train(recipe, ["train.steps=1", "encoder.cell=mine.py:Mine"])


def test_resume_writes_a_lost_model_again(tiny: dict) -> None:
    train(tiny)
    before = model("run")
    for damage in (lambda path: path.unlink(), lambda path: path.write_bytes(b"damaged")):
        damage(Path("run/model.safetensors"))
        with pytest.raises(UserError, match=r"model.safetensors is (missing|damaged)"):
            foresay.load("run")
        train(resume=True)
        assert model("run") == before


def test_a_finished_run_is_not_trained_over(tiny: dict) -> None:
    train(tiny)
    with pytest.raises(
        UserError,
        match="run exists; allowed: a new folder: give another --out, or go on with a run: foresay train --resume run",
    ):
        train(tiny)


def test_deterministic_is_for_the_run_only(tiny: dict) -> None:
    seen: list[bool] = []

    class Look(Watch):
        def step(self, *_: object) -> None:
            seen.append(torch.are_deterministic_algorithms_enabled())

    train(tiny, ["deterministic=true", "train.steps=2"], watch=Look())
    assert seen == [True, True] and not torch.are_deterministic_algorithms_enabled()


def test_a_cpu_that_dies_of_bfloat16_is_not_asked_to(tiny: dict, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checks, "has_bfloat16", lambda: False)
    with pytest.raises(UserError, match=r"train.precision=bfloat16 does not run on this CPU; use float32"):
        train(tiny, ["train.precision=bfloat16"])
    assert not Path("run").exists()


def test_what_a_person_should_know_is_said(tiny: dict) -> None:
    train(tiny, ["tokens={kind: characters, size: 12}"], out="few", watch=(few := Notes()))
    share = json.loads(Path("few/results.json").read_text())["valid"]["unknown"]
    assert share > 0.1 and any(f"{100 * share:.1f} % of the validation tokens are <unk>" in note for note in few.notes)
    train(tiny, watch=(quiet := Notes()))
    assert not [note for note in quiet.notes if note.startswith("warning")]


def test_the_watch_is_closed_whatever_happens(tiny: dict) -> None:
    closed: list[bool] = []

    class Close(Watch):
        def close(self) -> None:
            closed.append(True)

    train(tiny, ["train.steps=1"], watch=Close())
    with pytest.raises(UserError):
        train(tiny, ["train.steps=1"], watch=Close())
    assert closed == [True, True]


@pytest.mark.parametrize(
    ("source", "name"),
    [
        (None, "run"),
        ({}, "run"),
        ("lstm", "lstm"),
        ("a/b.tar.txt", "b.tar"),
        ("builtin:python-reference", "python-reference"),
        ("..", "run"),
        ("a/dump.jsonl.gz", "dump"),
        (["b.txt", "c.txt"], "b"),
        ("texts/*.md", "run"),
        ("hub:user/set:config@train", "set-config-train"),
    ],
)
def test_a_run_is_named_after_its_source(source: object, name: str) -> None:
    assert start.name_of(source) == name


def test_tokens_for_a_text(corpus: Path, tmp_path: Path) -> None:
    (tmp_path / "zh.txt").write_text("床前明月光，疑是地上霜。\n" * 99, "utf-8")
    assert start.tokens_for(str(corpus)) == {"kind": "characters"}
    assert start.tokens_for(str(tmp_path / "zh.txt")) == {"kind": "characters"}


def test_bfloat16_is_refused_where_the_cpu_cannot(tiny, tmp_path, monkeypatch):
    """Some CPUs announce bfloat16 and die of it: the run is refused instead."""
    half = tiny | {"train": tiny["train"] | {"precision": "bfloat16"}}
    monkeypatch.setattr(checks, "has_bfloat16", lambda: False)
    with pytest.raises(UserError, match="precision=bfloat16 does not run on this CPU; use float32"):
        start.train(half, out=tmp_path / "run", device="cpu", watch=Watch())
    assert not (tmp_path / "run").exists()


def test_the_trial_of_bfloat16_runs_elsewhere(monkeypatch):
    checks.has_bfloat16.cache_clear()
    monkeypatch.setattr(sys, "executable", "false")  # a trial that dies
    assert checks.has_bfloat16() is False
    checks.has_bfloat16.cache_clear()


def test_a_list_of_texts_trains_and_resumes(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("id,body\n" + "".join(f"{i},some words here {i}\n" for i in range(80)))
    (tmp_path / "b.txt").write_text("plain text at the end\n" * 20)
    texts = ["a.csv", "b.txt"]
    words = ["data.column=body", "train.steps=2", "encoder.size=8"]
    run = start.train(texts, words, out="run", device="cpu", watch=Watch())
    assert run.recipe.data.train == texts and run.recipe.data.read.column == "body"
    assert run.evaluate("b.txt").tokens > 0
    again = start.train(texts, words, out="run", resume=True, device="cpu", watch=Watch())
    assert again.folder == run.folder
    with pytest.raises(UserError, match=r"data.train=\['a.csv'\], but the run in run has \['a.csv', 'b.txt'\]"):
        start.train(["a.csv"], words, out="run", resume=True, device="cpu", watch=Watch())
    with pytest.raises(UserError, match="no text is given; give a file"):
        start.train([], out="other", device="cpu", watch=Watch())


@pytest.mark.parametrize(("part", "line"), [("valid", 2), ("test", 3)])
def test_targets_too_long_for_the_writers_positions_are_found_before_training(part: str, line: int) -> None:
    pairs = {"train": ["a\tx"] * 5, "valid": ["a\tx"] * 5, "test": ["a\tx"] * 5}
    pairs[part][line - 1] = "a\txxxxx"
    for name, lines in pairs.items():
        Path(f"{name}.tsv").write_text("\n".join(lines) + "\n")
    given = {
        "task": "seq2seq",
        "data": {"kind": "pairs", **{name: f"{name}.tsv" for name in pairs}},
        "tokens": "characters",
        "encoder": {"size": 8},
        "writer": {"kind": "transformer", "size": 8, "positions": {"kind": "learnt", "longest": 5}},
        "train": {"steps": 2, "batches": {"kind": "pairs", "longest": 5}},
    }
    said = rf"data.{part}: line {line} has a target of 6 tokens, <stop> among them; writer.positions=learnt ends at 5"
    with pytest.raises(UserError, match=said):
        train(given)
    assert not Path("run").exists()


def test_a_run_that_learnt_nothing_says_so(tiny: dict, tmp_path: Path) -> None:
    watch = Notes()
    settings = ["train.steps=2", "output=sampled", "output.number=3", "output.power=1000"]
    start.train(tiny, settings, out=tmp_path / "r", device="cpu", watch=watch)
    assert sum(note.startswith("warning: nothing was learnt") for note in watch.notes) == 1
