"""One text, three tiny models: the table, the file, the picture, and what cannot be compared."""

from __future__ import annotations

import json
import random
import shutil
from pathlib import Path
from typing import Any

import pytest
import yaml
from matplotlib.image import imread
from rich.console import Console

import foresay
from foresay.errors import UserError
from foresay.study.compare import compare, table
from foresay.train.progress import Watch
from tests.striped import LEVELS, striped
from tests.tides import TIDES, risen

TRAIN = {"steps": 4, "batches": {"kind": "streams", "rows": 4, "chunk": 16}, "evaluate": {"every": 2, "tokens": 500}}
RECIPES: dict[str, dict[str, Any]] = {
    "gru": {"task": "language-model", "embedding": {"size": 6}, "encoder": {"cell": "gru", "size": 8}, "train": TRAIN},
    "feed": {
        "task": "language-model",
        "embedding": {"size": 6},
        "encoder": {"kind": "window", "size": 8},
        "train": TRAIN,
    },
    "counts": {"task": "ngram"},
}


class Notes(Watch):
    def __init__(self):
        self.notes: list[str] = []

    def note(self, text: str) -> None:
        self.notes.append(text)


def write(folder: Path, data: Path | str, **tokens: str) -> list[str]:
    """The recipes as files in a folder; `tokens` names another tokeniser for some."""
    for name, recipe in RECIPES.items():
        whole = recipe | {"data": {"train": str(data)}, "tokens": tokens.get(name, "characters")}
        (folder / f"{name}.yaml").write_text(yaml.safe_dump(whole), "utf-8")
    return [str(folder / f"{name}.yaml") for name in RECIPES]


@pytest.fixture(scope="module")
def compared(tmp_path_factory: pytest.TempPathFactory, corpus: Path) -> tuple[Path, list[dict[str, Any]], Notes]:
    folder, watch = tmp_path_factory.mktemp("compared"), Notes()
    files = write(folder, "elsewhere.txt")
    rows = compare(files, ["seed=3"], data=str(corpus), out=folder / "out", device="cpu", watch=watch)
    return folder / "out", rows, watch


def test_rows_are_sorted_and_whole(compared):
    _, rows, _ = compared
    assert {row["model"] for row in rows} == set(RECIPES)
    bits = [row["bits_per_byte"] for row in rows]
    assert bits == sorted(bits) and bits[0] < bits[-1]
    assert rows[0]["model"] == "counts"  # four steps teach a network less than counting all
    for row in rows:
        assert row["parameters"] > 0 and row["seconds"] > 0 and row["tokens_per_second"] > 0 and row["peak_bytes"] > 0
        assert row["perplexity_interval"][0] <= row["perplexity"] <= row["perplexity_interval"][1]


def test_every_model_has_the_same_text_tokens_and_settings(compared):
    folder, _, _ = compared
    runs = [foresay.load(folder / name).recipe.as_dict() for name in RECIPES]
    for key in ("data", "tokens", "seed"):
        assert runs[0][key] == runs[1][key] == runs[2][key]
    assert runs[0]["seed"] == 3


def test_rows_are_what_each_run_measured(compared):
    folder, rows, _ = compared
    assert json.loads((folder / "compare.json").read_text("utf-8")) == rows
    for row in rows:
        kept = json.loads((folder / row["model"] / "results.json").read_text("utf-8"))
        assert kept["valid"]["bits_per_byte"] == row["bits_per_byte"] and kept["parameters"] == row["parameters"]


def test_the_picture_opens(compared):
    folder, _, _ = compared
    pixels = imread(folder / "compare.png")
    assert pixels.shape[0] > 100 and pixels.shape[1] > 100
    colours = {tuple(pixel) for pixel in pixels[::2, ::2, :3].reshape(-1, 3).round(2).tolist()}
    assert len(colours) > 5  # three curves, text, paper


def test_the_table_shows_every_figure(compared):
    _, rows, _ = compared
    console = Console(width=150, record=True, file=open("table.txt", "w"))  # noqa: PTH123, SIM115
    console.print(table(rows))
    console.file.close()
    head, *lines = [line for line in console.export_text().splitlines() if line.strip()]
    assert head.split()[:2] == ["model", "parameters"] and len(lines) == 3
    for row, line in zip(rows, lines, strict=True):
        assert line.startswith(row["model"])
        for figure in (f"{row['parameters']:,}", f"{row['bits_per_byte']:.3f}", f"{row['perplexity']:.2f}"):
            assert figure in line.split()


def test_how_far_each_is_behind_the_best(compared):
    """The whole validation text is measured at a time here, so the difference is that of the figures."""
    folder, rows, _ = compared
    best, *others = rows
    assert best["behind_best_by"] is None and best["behind_best_interval"] is None
    for row in others:
        by, (low, high) = row["behind_best_by"], row["behind_best_interval"]
        assert low < by < high
    lines = [line for line in (folder / "compare.json").read_text("utf-8").splitlines() if "behind_best_by" in line]
    assert len(lines) == 3


def test_the_difference_is_that_of_the_figures(tmp_path, corpus):
    files = write(tmp_path, corpus)
    best, *others = compare(files, ["train.evaluate.tokens=100000"], out=tmp_path / "out", device="cpu", watch=Watch())
    for row in others:
        assert row["behind_best_by"] == pytest.approx(row["bits_per_byte"] - best["bits_per_byte"], abs=1e-5)
        wide = row["behind_best_interval"][1] - row["behind_best_interval"][0]
        assert 0 < wide < 0.5
    console = Console(width=120)
    with console.capture() as said:
        console.print(table([best, *others]))
    shown = said.get()
    assert "behind the best by" in shown
    for row in others:
        low, high = row["behind_best_interval"]
        assert f"{row['behind_best_by']:.3f} ({low:.3f} – {high:.3f})" in shown


def test_what_happens_is_told(compared):
    _, _, watch = compared
    told = "\n".join(watch.notes)
    assert all(f"{name} ({place} of 3)" in told for place, name in enumerate(RECIPES, 1))


def test_dropped_settings_are_told(tmp_path, corpus):
    files, watch = write(tmp_path, corpus), Notes()
    compare(files[:1], ["encoder=window", "train.steps=1"], out=tmp_path / "out", watch=watch)
    assert "gru: encoder is now window: dropped the recipe's cell, size" in watch.notes


def test_other_tokens_are_told(tmp_path, corpus):
    watch = Notes()
    rows = compare(write(tmp_path, corpus, feed="bytes")[1:], ["train.steps=1"], out=tmp_path / "out", watch=watch)
    assert [row["behind_best_by"] for row in rows] == [None, None]  # no token of one is one of the other
    assert any(note.startswith("feed and counts have different tokens") for note in watch.notes)


def refused(*args: Any, **given: Any) -> str:
    with pytest.raises(UserError) as caught:
        compare(*args, **given, watch=Watch())
    return str(caught.value)


def test_what_cannot_be_compared(tmp_path, corpus):
    files = write(tmp_path, corpus)
    assert refused([]).startswith("no recipe to compare; give some of ")
    assert "is given twice" in refused([files[0], files[0]])
    (tmp_path / "other").mkdir()
    shutil.copy(files[0], tmp_path / "other")
    assert "two have one name" in refused([files[0], str(tmp_path / "other" / "gru.yaml")])
    write(tmp_path / "other", "other.txt")
    message = refused([files[2], str(tmp_path / "other" / "gru.yaml")])
    assert message == "counts and gru are trained on different data; give one text for all: --data TEXT"
    assert refused(["lstm", "lsmt"]).endswith("did you mean 'lstm'?")
    assert not (tmp_path / "runs").exists()


def test_a_mistake_is_told_before_anything_is_trained(tmp_path, corpus):
    files = write(tmp_path, corpus)
    assert refused(files, ["seed=x"], out=tmp_path / "out") == (
        "seed='x'; allowed: an integer >= 0 and < 9223372036854775808"
    )
    assert not (tmp_path / "out").exists()


def test_nothing_is_written_over(tmp_path, corpus):
    files = write(tmp_path, corpus)
    assert refused(files, out=tmp_path) == f"{tmp_path} exists; allowed: a new folder: give another --out"
    assert refused(files, out=files[0]) == f"{files[0]} exists; allowed: a new folder: give another --out"


def test_without_validation_there_is_nothing_to_compare(tmp_path, corpus):
    assert "holds out nothing to compare on" in refused(
        write(tmp_path, corpus)[2:], ["data.share=0"], out=tmp_path / "out"
    )


def test_word_vectors_are_refused_before_anything_is_trained(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="skipgram learns word vectors, which know no probability of a text"):
        compare(["lstm", "skipgram"], out=tmp_path / "out", watch=Watch())
    with pytest.raises(UserError, match="lstm and languages are trained on different data"):
        compare(["lstm", "languages"], out=tmp_path / "out", watch=Watch())
    assert not list(tmp_path.iterdir())


TAGS = {"batches": {"kind": "tags", "tokens": 60}}


def test_other_data_is_read_as_the_recipes_say(tmp_path):
    """What a recipe says of its rows stays; its valid and test go with its train."""
    (tmp_path / "t.conll").write_text("ann\tx\tI-P\nruns\tx\tO\n\n" * 30)
    data = {"kind": "tags", "train": "elsewhere", "valid": "v", "test": "t", "rewrite": "bioes", "columns": [1, 3]}
    files = []
    for name, given in (("one", data), ("two", data), ("other", data | {"rewrite": None})):
        files.append(str(tmp_path / f"{name}.yaml"))
        Path(files[-1]).write_text(
            yaml.safe_dump({"task": "hmm", "data": given, "tokens": "blanks", "train": TAGS}), "utf-8"
        )
    rows = compare(files[:2], data=str(tmp_path / "t.conll"), out=tmp_path / "out", device="cpu", watch=Watch())
    assert [row["f1"] for row in rows] == [1.0, 1.0]
    assert "S-P" in json.loads((tmp_path / "out" / "one" / "tags.json").read_text())["tags"]
    assert refused(files[1:], data=str(tmp_path / "t.conll")) == (
        "two has data.rewrite=bioes and other null; allowed: one for all: set data.rewrite"
    )
    (tmp_path / "t.conll").write_text("ann\tI-P\n")
    assert "has 2 columns at line 1" in refused(files[:2], data=str(tmp_path / "t.conll"), out=tmp_path / "new")
    assert not (tmp_path / "new").exists()


def rows_of(
    kind: str, folder: Path, counted: dict[str, Any], learnt: dict[str, Any], data: str
) -> list[dict[str, Any]]:
    """Two models compared, one by counts and one that learns for 30 steps; `data` in place of what the recipes name."""
    train = {"steps": 30, "batches": {"kind": kind, "tokens": 60}, "evaluate": {"every": 10}}
    for name, recipe in (("counted", counted), ("learnt", learnt)):
        whole = recipe | {"data": {"kind": kind, "train": "elsewhere"}, "tokens": "blanks", "train": train}
        (folder / f"{name}.yaml").write_text(yaml.safe_dump(whole), "utf-8")
    files = [str(folder / f"{name}.yaml") for name in ("learnt", "counted")]
    rows = compare(files, data=data, out=folder / "out", device="cpu", watch=Watch())
    assert imread(folder / "out" / "compare.png").std() > 0
    return rows


SMALL = {"embedding": {"size": 4}, "encoder": {"kind": "recurrent", "size": 4}}


@pytest.mark.parametrize("spans", [False, True])
def test_taggers_are_ranked_by_what_they_get_right(tmp_path, spans):
    words = {"ann": "B-P", "bob": "B-P", "runs": "O", "rome": "B-L"}
    rows = [
        f"{word}\t{tag if spans else tag[-1]}" for word, tag in random.Random(1).choices(list(words.items()), k=300)
    ]
    (tmp_path / "t.conll").write_text("\n".join(row + "\n" * (n % 3 == 2) for n, row in enumerate(rows)) + "\n")
    found = rows_of("tags", tmp_path, {"task": "hmm"}, {"task": "tagger", **SMALL}, str(tmp_path / "t.conll"))
    by = "f1" if spans else "accuracy"
    assert [row["model"] for row in found] == ["counted", "learnt"] and found[0][by] == 1.0 > found[1][by]
    for row in found:
        valid = json.loads((tmp_path / "out" / row["model"] / "results.json").read_text())["valid"]
        assert row[by] == (valid["spans"]["f1"] if spans else valid["accuracy"])
        assert row[f"{by}_interval"][0] <= row[by] <= row[f"{by}_interval"][1]
    low, high = found[1]["behind_best_interval"]
    assert low < found[1]["behind_best_by"] < high
    assert found[1]["behind_best_by"] == pytest.approx(found[0][by] - found[1][by])
    console = Console(width=200)
    with console.capture() as said:
        console.print(table(found))
    head, first, _ = said.get().splitlines()
    assert ("span F1" in head) == spans and "perplexity" not in head and "100.00 %" in first


def test_classifiers_are_ranked_by_what_they_get_right(tmp_path):
    draw = random.Random(1)
    texts = [(draw.choice(["good", "fine"]), "yes") if draw.random() < 0.5 else ("poor", "no") for _ in range(200)]
    (tmp_path / "l.tsv").write_text("text\tlabel\n" + "".join(f"{a} film\t{b}\n" for a, b in texts))
    bag, learnt = {"task": "bag-of-words"}, {"task": "classifier", **SMALL}
    found = rows_of("labels", tmp_path, bag, learnt, str(tmp_path / "l.tsv"))
    assert found[0]["accuracy"] >= found[1]["accuracy"] and all("macro_f1" in row for row in found)
    assert found[1]["behind_best_by"] == pytest.approx(found[0]["accuracy"] - found[1]["accuracy"])


def test_recipes_for_texts_read_the_pictures_of_another(tmp_path: Path) -> None:
    train = {"steps": 3, "batches": {"kind": "images", "rows": 8}}
    pixel = {
        "task": "language-model",
        "condition": 3,
        "data": {"kind": "images", "train": striped(tmp_path / "x.npy")},
        "tokens": LEVELS,
        "encoder": {"kind": "masked", "size": 4, "layers": 2, "first": 3},
        "train": train,
    }
    files = []
    for name, recipe in (RECIPES | {"pixel": pixel}).items():
        (tmp_path / f"{name}.yaml").write_text(yaml.safe_dump({"data": {"train": "no.txt"}} | recipe), "utf-8")
        files.append(str(tmp_path / f"{name}.yaml"))
    watch = Notes()
    rows = compare(files, ["train.steps=3"], out=tmp_path / "out", device="cpu", watch=watch)
    assert {row["model"] for row in rows} == {*RECIPES, "pixel"}
    measured = [row["bits_per_dimension"] for row in rows]
    assert measured == sorted(measured) and all(row["behind_best_by"] is not None for row in rows[1:])
    assert "pixel: told each one's label (condition), which the others are not" in watch.notes
    console = Console(width=200, record=True)
    console.print(table(rows))
    shown = console.export_text()
    assert "bits/dimension" in shown and "nats/image" in shown and "perplexity" not in shown


def test_series_take_the_encoders_of_language_models(tmp_path):
    """A recipe for series tells the data, the density and the batches; of others only the encoder is taken."""
    whole = TIDES | {"data": {"kind": "series", "train": str(risen(tmp_path / "in"))}}
    whole |= {"train": whole["train"] | {"steps": 6}}
    (tmp_path / "tides.yaml").write_text(yaml.safe_dump(whole), "utf-8")
    names = [*write(tmp_path, "elsewhere.txt")[:2], str(tmp_path / "tides.yaml")]
    rows = compare(names, out=tmp_path / "out", device="cpu", watch=Watch())
    assert {row["model"] for row in rows} == {"gru", "feed", "tides"}
    assert [row["nats_per_step"] for row in rows] == sorted(row["nats_per_step"] for row in rows)
    runs = {row["model"]: foresay.load(tmp_path / "out" / row["model"]) for row in rows}
    encoders = {name: run.recipe.as_dict()["encoder"] for name, run in runs.items()}
    assert encoders["gru"]["cell"] == {"kind": "gru"} and encoders["feed"]["kind"] == "window"
    assert all(run.recipe.task.output.mixtures == 2 and run.recipe.task.season == 6 for run in runs.values())
    for row in rows[1:]:  # every step of the validation part is in both
        assert row["behind_best_by"] == pytest.approx(row["nats_per_step"] - rows[0]["nats_per_step"], abs=1e-5)
    console = Console(width=180)
    with console.capture() as said:
        console.print(table(rows))
    head = said.get().splitlines()[0]
    assert all(name in head for name in ("nats/step", "CRPS", "MASE", "behind the best by"))
    with pytest.raises(UserError, match="counts has no encoder to read series with; allowed: language models such as"):
        compare([str(tmp_path / "tides.yaml"), str(tmp_path / "counts.yaml")], watch=Watch())
