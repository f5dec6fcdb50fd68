"""A user's mistakes: each gets one line (given, allowed, remedy), exit code 2, and nothing half-written."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml

from foresay.data import reading
from tests.commands import Commands
from tests.train.made import make_trainer
from tests.train.stopping import train_to


@pytest.fixture
def recipe(tiny: dict, tmp_path: Path) -> Path:
    path = tmp_path / "tiny.yaml"
    path.write_text(yaml.safe_dump(tiny), "utf-8")
    return path


def refused(call: Commands, *words: object) -> str:
    """The one line of `foresay train ... --out run`, after which there is no run."""
    line = call.refused("train", *words, "--out", "run", "--device", "cpu")
    assert not Path("run").exists()
    return line


TEXTS = [
    (None, r"text.txt' is no file, folder or known text; known: builtin:python-reference"),
    (b"", r"text.txt is empty; give a file with text"),
    (b"\xef\xbb\xbf", r"text.txt is empty"),
    (b"a", r"text.txt' is too small to hold out a share of 0.1; give data.valid, or more text, or data.share=0"),
    (b"PK\x03\x04\x00\x00", r"text.txt is binary: a zero byte at offset 4; give text in UTF-8"),
    (b"text\n" * 300_000 + b"\x00", r"text.txt is binary: a zero byte at offset 1500000"),
    (b"caf\xe9 au lait\n", r"text.txt is not UTF-8: byte 0xE9 at offset 3; say its encoding"),
    ("naïve".encode("utf-16"), r"text.txt is UTF-16, not UTF-8: say so with --encoding"),
]


@pytest.mark.parametrize(("content", "message"), TEXTS)
def test_texts_that_are_none(content: bytes | None, message: str, call: Commands, recipe: Path) -> None:
    path = Path("text.txt")
    if content is not None:
        path.write_bytes(content)
    for words in ((path, "train.steps=2"), (recipe, "train.steps=2", f"data.train={path}")):
        line = refused(call, *words)
        assert re.search(message, line), line


@pytest.mark.parametrize("words", [["tokens=words"], ["data.unit=line"]])
def test_a_text_that_gives_no_tokens(words: list[str], call: Commands, recipe: Path) -> None:
    Path("text.txt").write_text(" \n" * 50)
    line = refused(call, recipe, "data.train=text.txt", *words)
    assert line == "the train text gives no tokens; give more text or another tokeniser"


def test_a_folder_without_text(call: Commands, recipe: Path) -> None:
    Path("empty").mkdir()
    assert "'empty' holds no text files" in refused(call, recipe, "data.train=empty")
    Path("empty/a.bin").write_bytes(b"\x00")
    assert "1 left out, the first because empty/a.bin is binary" in refused(call, recipe, "data.train=empty")


@pytest.fixture(scope="session")
def long_line(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """50 MB without a newline."""
    path = tmp_path_factory.mktemp("long") / "line.txt"
    path.write_bytes(b"the small dog sees the house, " * (50_000_000 // 30))
    return path


@pytest.mark.parametrize("words", [["tokens=words", "data.unit=line"], ["tokens=subwords"]])
def test_a_line_of_50_MB_is_refused_where_it_must_be_held_whole(
    words: list[str], call: Commands, recipe: Path, long_line: Path
) -> None:
    line = refused(call, recipe, f"data.train={long_line}", *words)
    assert f"line.txt: line 1 has 49999980 bytes; allowed: {reading.LONGEST_LINE}; break it into lines, or use" in line


@pytest.mark.parametrize(("kind", "tokens"), [("characters", 45e6), ("words", 45e6 / 30 * 7)])
def test_a_line_of_50_MB_is_fine_as_characters_and_words(
    kind: str, tokens: float, call: Commands, recipe: Path, long_line: Path
) -> None:
    words = ("train", recipe, f"data.train={long_line}", f"tokens={kind}", "train.steps=2", "--out", "run")
    assert call(*words, "--device", "cpu").code == 0
    assert json.loads(Path("run/results.json").read_text())["train_tokens"] == pytest.approx(tokens, rel=0.01)


SETTINGS = [
    ("encoder.kind=recurent", "encoder='recurent' is no encoder; allowed: ", "did you mean 'recurrent'?"),
    ("encoder.cell=lstn", "encoder.cell='lstn' is no cell; allowed: ", "did you mean 'lstm'?"),
    ("task=langauge-model", "task='langauge-model' is no task; allowed: ", "did you mean 'language-model'?"),
    ("tokens=word", "tokens='word' is no tokens; allowed: ", "did you mean 'words'?"),
    ("encoder.sise=64", "encoder.sise is no setting of encoder recurrent; allowed: ", "did you mean 'size'?"),
    ("encodr.size=64", "encodr is no setting of a language-model recipe; allowed: ", "did you mean 'encoder'?"),
    ("train.step=9", "train.step is no setting of train loop; allowed: ", "did you mean 'steps'?"),
    ("train.evaluate.evry=9", "train.evaluate.evry is no setting", "did you mean 'every'?"),
    ("encoder.size=large", "encoder.size='large'; allowed: an integer > 0", ""),
    ("encoder.size='64'", "encoder.size='64'; allowed: an integer > 0", ""),
    ("encoder.size=2.5", "encoder.size=2.5; allowed: an integer > 0", ""),
    ("encoder.size=true", "encoder.size=True; allowed: an integer > 0", ""),
    ("encoder.size=-64", "encoder.size=-64; allowed: an integer > 0", ""),
    ("encoder.layers=0", "encoder.layers=0; allowed: an integer > 0", ""),
    ("train.steps=-1", "train.steps=-1; allowed: an integer > 0", ""),
    ("train.lr=0", "lr=0; allowed: a number > 0", ""),
    ("train.lr=.nan", "lr=nan; allowed: a number > 0", ""),
    ("encoder.dropout=1.0", "encoder.dropout=1.0; allowed: a number >= 0 and < 1", ""),
    ("train.precision=float8", "train.precision='float8'; allowed: one of float32, bfloat16, float16", ""),
    ("train.precision=float16", "train.precision=float16 needs a GPU", "float32"),
    (
        "train.compute.compile=true",
        "train.compute.compile=true with encoder=recurrent; it compiles the blocks",
        "leave",
    ),
    ("train.clip={first: 9.0}", "first=9.0, fall=0; allowed: both", ""),
    ("seed=-1", "seed=-1; allowed: an integer >= 0", ""),
    (
        "encoder.bidirectional=true",
        "encoder sees what comes after and would see the answer",
        "encoder.bidirectional=false",
    ),
    (
        "encoder.initial={state: condition, condition: 3}",
        "initial.state=condition computes the first state from a vector for each row, and a text has none",
        "set encoder.initial.state to zero or learnt, or",
    ),
    (
        "encoder={kind: stack, layers: [{kind: recurrent, size: 8, initial: {state: condition, condition: 3}}]}",
        "initial.state=condition computes",
        "zero or learnt",
    ),
    ("encoder={kind: transformer, size: 8}", "train.batches=streams carries the state for ever", "packed"),
    (
        "encoder={kind: transformer, size: 8, attention: {window: 9}, positions: learnt}",
        "positions=learnt ends at 1024",
        "sinusoidal",
    ),
    ("encoder={kind: transformer, size: 9, heads: 2}", "heads=2 does not divide size=9", ""),
    ("data.holdout=random", "data.holdout='random'; allowed: one of tail, seed", ""),
    ("encoder.size", "'encoder.size' is no setting; allowed: key=value", ""),
]


@pytest.mark.parametrize(("word", "given", "remedy"), SETTINGS)
def test_settings_that_cannot_be(word: str, given: str, remedy: str, call: Commands, recipe: Path) -> None:
    line = refused(call, recipe, word)
    assert given in line and remedy in line, line


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "none.yaml does not exist; give a .yaml file or one of answers, ar, awd-lstm"),
        (b"", "none.yaml holds no recipe"),
        (b"task: [1, 2", "none.yaml is no YAML in line"),
        (b"task: ngram\ntask: ngram\n", "'task' is given twice"),
        (b"- a\n- b\n", "none.yaml holds no recipe"),
        (b"caf\xe9: 1\n", "none.yaml cannot be read as a recipe"),
        (b"task: ngram\n", "data.train is missing"),
        (b"version: 99\ntask: ngram\n", "version=99 of the recipe; this Foresay reads 1"),
    ],
)
def test_recipes_that_are_none(content: bytes | None, message: str, call: Commands) -> None:
    if content is not None:
        Path("none.yaml").write_bytes(content)
    assert message in refused(call, "none.yaml")


def test_a_misspelt_recipe(call: Commands) -> None:
    line = refused(call, "transfromer")
    assert "'transfromer' is no text and no recipe" in line and line.endswith("did you mean 'transformer'?")


def test_nothing_to_train(call: Commands) -> None:
    assert "nothing to train; give a recipe or a text file" in refused(call)
    assert "nothing to train" in refused(call, "encoder.size=3")


def test_a_folder_that_exists(call: Commands, recipe: Path) -> None:
    Path("run").mkdir()
    Path("run/mine.txt").write_text("mine")
    line = call.refused("train", recipe, "--out", "run")
    assert line == "run exists; allowed: a new folder: give another --out"
    assert "run is no run but holds mine.txt" in call.refused("train", recipe, "--out", "run", "--resume")
    assert [path.read_text() for path in Path("run").iterdir()] == ["mine"]


def test_a_cache_that_cannot_be_written(call: Commands, recipe: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORESAY_CACHE", "/proc/no/cache")
    line = refused(call, recipe)
    assert line.startswith("the cache /proc/no/cache cannot be written") and "FORESAY_CACHE" in line


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 3])


def flip(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 0x10
    path.write_bytes(data)


def swap(path: Path) -> None:
    """A well-formed file of the same name from elsewhere."""
    contents = {
        "recipe.yaml": "task: ngram\ndata: {train: a.txt}\n",
        "tokenizer.json": '{"version": "1.0", "model": {"type": "WordLevel", "vocab": {}, "unk_token": "x"}}',
        "text.json": '{"name": "left-pad"}',
        "config.json": '{"model_type": "gpt2", "n_layer": 12}',
        "model.safetensors": "PK a zip",
    }
    path.write_text(contents[path.name])


FILES = ("recipe.yaml", "tokenizer.json", "text.json", "config.json", "model.safetensors")


@pytest.mark.parametrize("damage", [Path.unlink, cut, flip, swap], ids=["missing", "truncated", "flipped", "foreign"])
@pytest.mark.parametrize("name", FILES)
def test_a_run_with_a_damaged_file(name: str, damage: Callable, call: Commands, trained: Path, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(trained, tmp_path / "run"))
    damage(folder / name)
    if (name, damage) == ("recipe.yaml", flip):
        text = (trained / name).read_text().replace("kind: lstm", "kind: lsvm")  # one flipped bit that matters
        (folder / name).write_text(text)
    line = call.refused("score", folder, "the cat")
    # A hash in the config that is flipped looks as if its file was: the line names both.
    assert str(folder / name) in line or (damage is flip and name == "config.json" and name in line), line


def test_a_checkpoint_of_another_recipe(call: Commands, tiny: dict, tmp_path: Path) -> None:
    train_to(6, tiny, tmp_path / "run")
    other = make_trainer(tiny, tmp_path / "other", "encoder.size=16")
    other.counters.step = 9
    other.save()
    shutil.copytree(other.checkpoints / "00000009", tmp_path / "run" / "checkpoints" / "00000009")
    called = call("train", "--out", "run", "--resume", "--device", "cpu")
    line = called.error.splitlines()[-1]
    assert (
        called.code == 2
        and "foresay: run/checkpoints/00000009 is of another recipe: " in line
        and "use the run's own recipe.yaml" in line
    )


def test_a_loss_that_is_no_number(call: Commands, recipe: Path) -> None:
    words = ("train.optimizer=sgd", "train.lr=1e38", "train.clip=null", "train.steps=60")
    called = call("train", recipe, *words, "--out", "run", "--device", "cpu")
    assert called.code == 2 and called.error.count("skipped") == 1  # told once
    last = called.error.splitlines()[-1]
    assert last.startswith("foresay: loss=") and "the last of 20 in a row; both must be finite" in last
    assert "start a new run with a lower train.lr or train.clip" in last


@pytest.mark.parametrize("device", ["tpu9", "cuda:77"])
def test_a_device_that_is_not_there(device: str, call: Commands, recipe: Path) -> None:
    line = call.refused("train", recipe, "--out", "run", "--device", device)
    assert f"device='{device}' cannot be used" in line and "allowed: cpu" in line and not Path("run").exists()
