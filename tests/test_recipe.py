"""Recipes: shorthands, overrides, completion, and saving that reads back the same."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from foresay import parts, recipe
from foresay.encode.recurrent import Recurrent
from foresay.errors import UserError
from foresay.recipe import complete, override, read
from foresay.yaml12 import parse

SAMPLE = """
task: language-model
data: {train: "builtin:python-reference"}          # valid and test: files, or split off by seed
tokens: {kind: subwords, size: 2000}
embedding: {kind: lookup, size: 256, dropout: 0.1}
encoder: {kind: recurrent, cell: lstm, layers: 2, size: 256, bidirectional: false, dropout: 0.1}
output: {kind: softmax, tied: true}
train: {steps: 2000, batch: 32, chunk: 64, optimizer: adamw, lr: 0.002, clip: 1.0, save_every: 200, eval_every: 200}
seed: 1
"""
SMALL = {"task": "ngram", "data": {"train": "my.txt"}}


def refused(call, *args) -> str:
    with pytest.raises(UserError) as caught:
        call(*args)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_the_sample_recipe_completes_and_comes_back():
    first = complete(read(parse(SAMPLE, "sample")))
    told = first.as_dict()
    assert told["encoder"]["cell"] == {"kind": "lstm", "forget_bias": 1.0}
    output = {"kind": "softmax", "tied": True, "bias": True, "bound": None, "begin": "zero"}
    assert told["encoder"]["layers"] == 2 and told["output"] == output
    train = told["train"]
    assert train["steps"] == 2000 and train["optimizer"]["lr"] == 0.002 and train["optimizer"]["kind"] == "adamw"
    lengths = {"rows": 32, "chunk": 64, "half": 0.0, "jitter": 0}
    assert train["batches"] == {"kind": "streams", **lengths, "reset": False, "forget": 0.0, "workers": 0}
    assert train["clip"] == {"kind": "norm", "limit": 1.0, "first": None, "fall": 0}
    assert train["save"]["every"] == train["evaluate"]["every"] == 200
    assert complete(parse(first.as_yaml(), "saved")).as_dict() == told


@pytest.mark.parametrize("name", recipe.built_in())
def test_every_built_in_recipe_comes_back(name, tmp_path):
    told = complete(read(name)).as_dict()
    assert told["version"] == recipe.VERSION
    saved = tmp_path / "recipe.yaml"
    saved.write_text(complete(read(name)).as_yaml(), "utf-8")
    assert read(saved) == told
    assert complete(read(saved)).as_dict() == told


@pytest.mark.parametrize("name", recipe.built_in())
def test_every_built_in_recipe_says_what_it_is(name):
    assert 10 < len(recipe.built_in()[name]) < 120
    assert recipe.is_recipe(name)


OWN = [setting.name for setting in parts.settings_of(parts.find("task", "ngram"))]


def test_every_default_is_filled_in():
    told = complete(SMALL).as_dict()
    assert list(told) == ["version", "task", *OWN, "data", "tokens", "train", "seed", "deterministic"]
    assert told["tokens"]["kind"] == "subwords" and told["seed"] == 1 and told["deterministic"] is False
    for kind in ("data", "tokens", "train"):
        settings = parts.settings_of(parts.find(kind, told[kind]["kind"]))
        assert list(told[kind]) == ["kind", *(setting.name for setting in settings)]
    bare = complete({"task": "language-model", "data": {"train": "x"}}).as_dict()
    assert [bare[name]["kind"] for name in ("embedding", "encoder", "output")] == ["lookup", "recurrent", "softmax"]


def test_python_objects_save_as_a_recipe():
    made = SMALL | {"task": "language-model", "encoder": Recurrent(cell="gru", size=6), "tokens": "characters"}
    told = complete(read(made)).as_dict()
    cell = {"kind": "gru"}
    assert told["encoder"] == {
        "kind": "recurrent",
        "cell": cell,
        "size": 6,
        "layers": 1,
        "bidirectional": False,
        "dropout": 0.0,
    } | {name: told["encoder"][name] for name in ("cells", "between", "initial")}
    assert complete(parse(complete(read(made)).as_yaml(), "saved")).as_dict() == told


def test_reading_leaves_the_given_dict_alone():
    given = SMALL | {"train": {"lr": 0.1, "optimizer": {"kind": "sgd"}}}
    assert read(given)["train"] == {"optimizer": {"kind": "sgd", "lr": 0.1}}
    override(given, ["data.train=other.txt", "train.optimizer.momentum=0.5"])
    assert given == SMALL | {"train": {"lr": 0.1, "optimizer": {"kind": "sgd"}}}


@pytest.mark.parametrize("short", recipe.SHORTHANDS)
def test_every_shorthand_means_its_long_form(short):
    cosine, average = {"kind": "cosine", "warmup": 3, "floor": 0.0}, {"kind": "ema", "decay": 0.5}
    given = {"train.lr": 0.5, "train.schedule": cosine, "train.average": average, "train.tensorboard": True}
    given |= {"train.graph": False, "train.parallel": "fsdp", "data.blank": "keep", "data.broken": "drop"}
    given |= {"data.format": "csv", "data.column": "x", "data.encoding": "latin-1", "data.errors": "replace"}
    given |= {"data.columns": ["en", "de"], "data.reverse": True, "data.scheme": "bio", "data.rewrite": "bioes"}
    given |= {"data.several": True, "data.separator": ";", "data.between": "&&", "data.without": ["-"]}
    given |= {"train.best": "f1", "data.colour": "grey", "data.size": [8, 6]}
    given |= {"data.seconds": 0.5, "data.trim": 30.0, "data.law": "linear"}
    given |= {"data.by": "place", "data.grid": [2, 3]}
    value = given.get(short, "drop" if short == "data.duplicates" else 7)
    section, key = short.split(".")
    kinds = {"data.columns": "pairs", "data.reverse": "pairs", "data.scheme": "tags", "data.rewrite": "tags"}
    kinds |= dict.fromkeys(["data.colour", "data.size"], "images")
    kinds |= dict.fromkeys([f"data.{one}" for one in ("rate", "seconds", "law", "trim", "label")], "sounds")
    kinds |= dict.fromkeys(["data.window", "data.hop", "data.bands"], "speech")
    kinds |= {"data.by": "series", "data.grid": "series", "data.beat": "music", "data.step": "music"}
    kinds |= dict.fromkeys(["data.several", "data.separator", "data.between", "data.without"], "labels")
    small = SMALL | ({"data": {"kind": kinds[short], "train": "my.tsv"}} if short in kinds else {})
    from_section = complete(read(small | {section: small.get(section, {}) | {key: value}})).as_dict()
    word = f"{short}={json.dumps(value)}"
    from_word = complete(override(read(small), [word])[0]).as_dict()
    node = from_section
    for step in recipe.SHORTHANDS[short].split("."):
        node = node[step]
    assert from_section == from_word != complete(small).as_dict()
    assert node == value


def test_shorthand_reaches_below_itself():
    raw, _ = override(read("lstm"), ["train.schedule.warmup=9", "train.clip=0.25"])
    assert raw["train"]["optimizer"]["schedule"]["warmup"] == 9
    assert raw["train"]["clip"] == {"kind": "norm", "limit": 0.25}


def test_shorthand_beside_its_long_form_is_refused():
    both = SMALL | {"train": {"lr": 0.1, "optimizer": {"lr": 0.2}}}
    assert refused(read, both) == "train.lr and train.optimizer.lr are the same setting; give one of them"


def test_clip_can_be_switched_off():
    assert complete(override(read("lstm"), ["train.clip=null"])[0]).train.clip is None


@pytest.mark.parametrize("word", ["encoder=window", "encoder.kind=window"])
def test_a_changed_kind_drops_the_old_settings_and_says_so(word):
    raw, notes = override(read("lstm"), [word, "encoder.span=3"])
    assert raw["encoder"] == {"kind": "window", "span": 3}
    assert notes == ["encoder is now window: dropped the recipe's cell, layers, size, dropout"]


def test_a_group_has_no_kind():
    raw = SMALL | {"train": {"evaluate": {"every": 5}}}
    message = "train.evaluate.kind is no setting of evaluate; allowed: every, tokens, patience, best"
    assert refused(lambda: complete(override(raw, ["train.evaluate=often"])[0])) == message


def test_the_same_kind_drops_nothing():
    raw, notes = override(read("lstm"), ["encoder=recurrent", "encoder.kind=recurrent"])
    assert raw == read("lstm") and notes == []


@pytest.mark.parametrize(
    ("given", "same", "other"),
    [
        ({"train": {"lr": 0.5}}, "train.optimizer=adamw", "train.optimizer=sgd"),
        ({"tokens": {"size": 300}}, "tokens=subwords", "tokens=characters"),
        ({"encoder": {"layers": 2}}, "encoder.kind=recurrent", "encoder=window"),
        ({"encoder": {"cell": {"forget_bias": 0.5}}}, "encoder.cell=lstm", "encoder.cell=gru"),
    ],
)
def test_a_part_that_names_no_kind_has_the_default_one(given, same, other):
    """So the default's settings are dropped too, and kept when the default is given by name."""
    raw = SMALL | {"task": "language-model"} | given
    kept, notes = override(raw, [same])
    assert complete(kept).as_dict() == complete(read(raw)).as_dict() and notes == []
    changed, notes = override(raw, [other])
    bare, _ = override(SMALL | {"task": "language-model"}, [other])
    assert complete(changed).as_dict() == complete(bare).as_dict() and len(notes) == 1


@pytest.mark.parametrize("words", [["train.lr=0.5", "train.optimizer=sgd"], ["train.optimizer=sgd", "train.lr=0.5"]])
def test_the_order_of_words_does_not_matter(words):
    raw, notes = override(read("lstm"), words)
    assert raw["train"]["optimizer"] == {"kind": "sgd", "lr": 0.5}
    assert notes == ["train.optimizer is now sgd: dropped the recipe's lr, schedule"]
    assert override(SMALL, ["seed=3", "seed=4"])[0]["seed"] == 4


def test_a_changed_task_drops_the_settings_of_the_old_one():
    raw, notes = override(read("lstm"), ["task=ngram", "order=4"])
    assert notes == ["task is now ngram: dropped the recipe's embedding, encoder, output"]
    assert complete(raw).task.order == 4


def test_pictures_bring_along_what_they_need():
    words = ["data.kind=images", "data.train=x.npy"]
    raw, notes = override(read("lstm"), words)
    assert raw["data"] == {"kind": "images", "train": "x.npy"} and raw["tokens"] == {"kind": "levels"}
    assert raw["train"]["batches"] == {"kind": "images"} and "tokens is now levels: dropped the recipe's size" in notes
    own, _ = override(read("lstm"), [*words, "tokens.number=4", "train.batches.rows=3"])
    assert own["tokens"] == {"kind": "levels", "number": 4} and own["train"]["batches"] == {"kind": "images", "rows": 3}
    said, _ = override(read("lstm"), [*words, "tokens=bytes", "train.batches=buckets"])
    assert said["tokens"]["kind"] == "bytes" and said["train"]["batches"]["kind"] == "buckets"
    sounds, _ = override(read("lstm"), ["data=sounds", "data.train=x.wav"])
    assert sounds["tokens"]["kind"] == "levels" and sounds["train"]["batches"]["kind"] == "streams"
    labels, _ = override(read("languages"), words)
    assert labels["tokens"]["kind"] == "levels" and labels["train"]["batches"]["kind"] == "labels"


def test_override_opens_a_part_given_by_name():
    raw, notes = override(read("lstm"), ["encoder.cell.forget_bias=0.5"])
    assert raw["encoder"]["cell"] == {"kind": "lstm", "forget_bias": 0.5} and notes == []
    raw, notes = override(raw, ["encoder.cell=gru"])
    assert raw["encoder"]["cell"] == {"kind": "gru"}
    assert notes == ["encoder.cell is now gru: dropped the recipe's forget_bias"]


def test_override_reaches_into_lists():
    layers = [{"kind": "recurrent", "size": 4}, "window"]
    raw = SMALL | {"task": "language-model", "encoder": {"kind": "stack", "layers": layers}}
    changed, _ = override(raw, ["encoder.layers.0.size=8", "encoder.layers.1.span=2"])
    assert changed["encoder"]["layers"] == [{"kind": "recurrent", "size": 8}, {"kind": "window", "span": 2}]
    assert layers == [{"kind": "recurrent", "size": 4}, "window"]
    assert override(raw, ["encoder.layers.1=recurrent"])[0]["encoder"]["layers"][1] == "recurrent"
    for word in ("encoder.layers.2.size=8", "encoder.layers.x=window"):
        assert refused(override, raw, [word]).endswith("does not exist; allowed: 0 to 1, as the list has 2")


def test_override_reaches_into_objects():
    raw = SMALL | {"task": "language-model", "encoder": Recurrent(cell="gru", size=6)}
    told = complete(override(raw, ["encoder.size=8"])[0]).as_dict()["encoder"]
    assert told["size"] == 8 and told["cell"] == {"kind": "gru"}


def test_override_makes_what_is_not_there():
    raw, _ = override(SMALL, ["train.evaluate.every=5", "seed=3", "deterministic=true"])
    assert raw["train"] == {"evaluate": {"every": 5}} and raw["seed"] == 3 and raw["deterministic"] is True


@pytest.mark.parametrize("word", ["encoder.size", "=5", "encoder..size=5", ".size=5", "5=5", "a-b=5", "encoder.=5", ""])
def test_words_that_are_no_settings(word):
    message = f"{word!r} is no setting; allowed: key=value, such as encoder.size=512"
    assert refused(override, SMALL, [word]) == message


def test_a_value_that_is_no_yaml_names_the_word():
    assert refused(override, SMALL, ["seed=[1"]).startswith("seed=[1 is no YAML in line 1")


def changed(word: str) -> str:
    return refused(lambda: complete(override(read("lstm"), [word])[0]))


def names(kind: str) -> str:
    return ", ".join(parts.names(kind))


@pytest.mark.parametrize(
    ("word", "message"),
    [
        ("encoder.size='256'", "encoder.size='256'; allowed: an integer > 0"),
        ("encoder.size=-1", "encoder.size=-1; allowed: an integer > 0"),
        ("encoder.dropout=1.0", "encoder.dropout=1.0; allowed: a number >= 0 and < 1"),
        ("encoder.cell=lsmt", f"encoder.cell='lsmt' is no cell; allowed: {names('cell')}; did you mean 'lstm'?"),
        ("output.tied=yes", "output.tied='yes'; allowed: true or false"),
        ("train.lr=fast", "train.optimizer.lr='fast'; allowed: a number > 0"),
        ("train.evaluate=5", "train.evaluate=5; allowed: settings such as {every: ...}"),
        ("train.precision=half", "train.precision='half'; allowed: one of float32, bfloat16, float16"),
        ("data.train=7", "data.train=7; allowed: text or a list, each text"),
        ("data=7", f"data=7; allowed: a name ({names('data')}) or {{kind: name, ...}}"),
        ("seed=1.5", "seed=1.5; allowed: an integer >= 0 and < 9223372036854775808"),
        ("seed=-1", "seed=-1; allowed: an integer >= 0 and < 9223372036854775808"),
        ("deterministic=1", "deterministic=1; allowed: true or false"),
        ("version=2", "version=2 of the recipe; this Foresay reads 1: install the one that wrote it"),
        ("task=ngrm", f"task='ngrm' is no task; allowed: {names('task')}; did you mean 'ngram'?"),
        ("task=5", f"task=5; allowed: {names('task')}"),
    ],
)
def test_mistakes_are_one_line(word, message):
    assert changed(word) == message


def test_an_unknown_key_names_the_nearest():
    last = "version, task, data, tokens, train, begin, seed, deterministic"
    top = f"embedding, encoder, output, regularise, condition, {last}"
    assert changed("encodr.size=5") == (
        f"encodr is no setting of a language-model recipe; allowed: {top}; did you mean 'encoder'?"
    )
    inner = "cell, size, layers, bidirectional, dropout, cells, between, initial"
    assert changed("encoder.sise=5") == (
        f"encoder.sise is no setting of encoder recurrent; allowed: {inner}; did you mean 'size'?"
    )


def test_data_and_task_are_needed():
    assert refused(complete, {"data": {"train": "x"}}) == f"task=None; allowed: {names('task')}"
    assert (
        refused(complete, {"task": "ngram"}) == "data.train is missing; data text needs it: text or a list, each text"
    )


def test_a_key_that_is_no_text():
    assert refused(complete, SMALL | {5: 1}).startswith(
        f"5 is no setting of a ngram recipe; allowed: {', '.join(OWN)}, version"
    )


def test_reading_what_is_no_recipe(tmp_path: Path):
    assert refused(read, "lsmt").endswith("or a .yaml file; did you mean 'lstm'?")
    assert refused(read, tmp_path / "none.yaml").startswith(f"{tmp_path / 'none.yaml'} does not exist; give a .yaml")
    (tmp_path / "list.yaml").write_text("- 1\n", "utf-8")
    assert "list.yaml holds no recipe; allowed: 'task: ...'" in refused(read, tmp_path / "list.yaml")
    (tmp_path / "latin.yaml").write_bytes(b"task: caf\xe9\n")
    assert "latin.yaml cannot be read as a recipe" in refused(read, tmp_path / "latin.yaml")
    (tmp_path / "folder.yaml").mkdir()
    assert "folder.yaml cannot be read as a recipe" in refused(read, tmp_path / "folder.yaml")


def test_what_names_a_recipe():
    assert [recipe.is_recipe(word) for word in ("lstm", "my.yaml", "my.yml", "my.txt", "lstmm")] == [True] * 3 + [
        False
    ] * 2


@pytest.mark.parametrize(
    ("kind", "word", "told"),
    [
        ("tags", "data.columns=[1, x]", "data.columns=[1, 'x']; allowed: a list, each an integer, or null"),
        ("labels", "data.several=5", "data.several=5; allowed: true or false"),
        ("text", "data.format=odd", "data.format='odd'; allowed: one of auto, text, jsonl, csv, tsv, fasta, parquet"),
        ("text", "train.lr=x", "train.optimizer.lr='x'; allowed: a number > 0"),
    ],
)
def test_how_files_are_read_is_named_as_it_is_given(kind, word, told):
    raw, _ = override({"task": "ngram", "data": {"kind": kind, "train": "a.txt"}}, [word])
    with pytest.raises(UserError) as caught:
        complete(raw)
    assert str(caught.value) == told
