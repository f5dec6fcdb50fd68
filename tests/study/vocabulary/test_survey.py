"""`foresay.vocabulary` and its command: runs, prepared texts, recipes and text files; mistakes."""

from __future__ import annotations

import json
import shutil
from collections import Counter
from pathlib import Path

import pytest
import yaml

import foresay
from foresay import parts
from foresay import recipe as recipes
from foresay.data.prepare import prepare
from foresay.errors import UserError
from foresay.study.vocabulary import survey
from foresay.train.folder import read_config
from foresay.train.progress import Watch
from tests.commands import Commands


@pytest.fixture
def undrawn(monkeypatch: pytest.MonkeyPatch) -> None:
    """An empty file in place of the picture, which takes half a second to draw."""
    monkeypatch.setattr(survey, "draw", lambda facts, path: path.touch())


def test_a_text_file_in_words(corpus: Path):
    """Against plain Python: the first nine tenths of the lines are the train text."""
    found = foresay.vocabulary(corpus, ["tokens=words", "data.unit=line"], watch=Watch())
    size = round(0.9 * corpus.stat().st_size)
    train = corpus.read_text("utf-8")[:size].rsplit("\n", 1)[0]
    counts = Counter(train.replace(".", " .").split())
    facts = found.facts
    assert facts.texts["train"].tokens == counts.total() and facts.symbols == len(counts) + 5
    assert {s.symbol: s.count for s in facts.frequent} == dict(counts.most_common(10))
    assert facts.texts["train"].documents == len(train.split("\n"))
    assert facts.about.name == "small.txt" and found.hints == [] and found.picture == Path("vocabulary.png")
    assert found.picture.is_file()


@pytest.mark.usefixtures("undrawn")
def test_tokens_are_chosen_for_a_text(corpus: Path):
    assert foresay.vocabulary(str(corpus), watch=Watch()).facts.about.tokens["kind"] == "characters"


@pytest.mark.usefixtures("undrawn")
def test_a_recipe_with_settings(tiny: dict):
    watch = Watch()
    Path("small.yaml").write_text(yaml.safe_dump(tiny), "utf-8")
    for source in (tiny, "small.yaml"):
        facts = foresay.vocabulary(source, "tokens.min_count=9", out="v.svg", watch=watch).facts
        assert facts.about.tokens["min_count"] == 9 and facts.about.batches == "streams" and facts.rare == 0
    assert Path("v.svg").is_file() and not Path("vocabulary.png").exists()
    other = foresay.vocabulary(tiny | {"tokens": {"kind": "characters", "min_count": 2}}, "tokens=bytes", watch=watch)
    assert other.facts.symbols == 261


@pytest.mark.usefixtures("undrawn")
def test_a_run_and_its_prepared_text_are_the_same(trained: Path, tmp_path: Path):
    run = tmp_path / "run"
    shutil.copytree(trained, run)
    found = foresay.vocabulary(run, watch=Watch())
    assert found.picture == run / "vocabulary.png" and found.picture.is_file()
    recipe = recipes.complete(recipes.read(run / "recipe.yaml"))
    prepared = prepare(recipe.data, parts.anew(recipe.tokens), recipe.seed)
    assert prepared.folder.name == read_config(run)["data"]
    other = foresay.vocabulary(prepared.folder, watch=Watch())
    same = ("texts", "coverage", "frequent", "zipf", "symbols")
    assert all(getattr(found.facts, name) == getattr(other.facts, name) for name in same)
    assert other.facts.about.tokens == found.facts.about.tokens and other.facts.about.data is None
    assert other.picture == Path("vocabulary.png")


@pytest.mark.usefixtures("undrawn")
def test_another_vocabulary_for_the_text_of_a_run(trained: Path):
    found = foresay.vocabulary(trained / "recipe.yaml", ["tokens=words"], watch=Watch())
    assert found.facts.about.tokens["kind"] == "words" and found.picture == Path("vocabulary.png")
    assert not (trained / "vocabulary.png").exists()


@pytest.mark.usefixtures("undrawn")
def test_the_command_prints_the_report(call: Commands, corpus: Path):
    called = call("vocabulary", corpus, "tokens=words", "--top", 3)
    lines = [" ".join(line.split()) for line in called.out.splitlines()]
    assert called.code == 0 and lines[0] == "small.txt: 25 symbols (words)"
    at = lines.index("most frequent times of train rarest times")
    assert lines[at + 4 :] == [] and called.error.splitlines()[-1] == "the picture: vocabulary.png"


@pytest.mark.usefixtures("undrawn")
def test_the_command_writes_over_a_picture_when_asked_only(
    call: Commands, corpus: Path, trained: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(survey, "draw", lambda facts, path: path.write_text("drawn"))
    for words, picture in [([], Path("vocabulary.png")), (["--out", "v.svg"], Path("v.svg"))]:
        picture.write_text("mine")
        line = call.refused("vocabulary", corpus, *words)
        assert line == f"{picture} exists; allowed: a new place: give another --out, or --force to write over it"
        assert picture.read_text() == "mine"
        assert call("vocabulary", corpus, *words, "--force").code == 0 and picture.read_text() == "drawn"
    shutil.copytree(trained, tmp_path / "run")
    (tmp_path / "run" / "vocabulary.png").write_text("the run's last one")
    assert call("vocabulary", tmp_path / "run").code == 0
    assert (tmp_path / "run" / "vocabulary.png").read_text() == "drawn"


@pytest.mark.usefixtures("undrawn")
def test_the_command_for_programs(call: Commands, corpus: Path):
    settings = ["tokens=words", "tokens.size=10", "data.share=0.4"]
    found = json.loads(call("vocabulary", corpus, *settings, "--json", "--out", "w.png").out)
    again = foresay.vocabulary(corpus, settings, out="w.png", watch=Watch())
    assert found == json.loads(json.dumps(again.as_dict())) and found["picture"] == "w.png"
    assert found["hints"][0]["remedies"] == ["tokens.size=20", "tokens=subwords"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["nothing.txt"], "'nothing.txt' is no file"),
        (["SOURCE", "--out", "v.jpg"], "--out v.jpg; allowed: a picture that ends in .png, .svg, .pdf"),
        (["SOURCE", "--out", "none/v.png"], "none/v.png cannot be written"),
        (["SOURCE", "--top", "-1"], "top=-1; allowed: an integer >= 0"),
        (["SOURCE", "tokens.size=x", "tokens=words"], "tokens.size='x'; allowed: an integer > 0"),
        (["SOURCE", "tokens.size"], "'tokens.size' is no setting; allowed: key=value"),
    ],
)
def test_mistakes(words: list[str], message: str, call: Commands, corpus: Path, tmp_path: Path):
    assert message in call.refused("vocabulary", *(corpus if word == "SOURCE" else word for word in words))
    assert list(tmp_path.iterdir()) == []


def test_nothing_is_no_source():
    with pytest.raises(UserError, match="source=None; allowed: a run, a prepared text, a recipe, a text file, or a li"):
        foresay.vocabulary(None)  # pyright: ignore[reportArgumentType]


def test_what_is_finished_cannot_be_changed(call: Commands, tiny: dict, trained: Path):
    recipe = recipes.complete(tiny)
    for folder in (prepare(recipe.data, recipe.tokens, recipe.seed).folder, trained):
        line = call.refused("vocabulary", folder, "tokens=words")
        assert line.startswith(f"{folder} is finished: settings cannot change it; give its recipe.yaml")
