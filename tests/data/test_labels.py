"""Which texts with labels are found, and what is held out."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from foresay import parts
from foresay.data import builtin
from foresay.data.entailment import entailment
from foresay.data.labels import LabelReading, Labels
from foresay.errors import UserError


def wrote(name: str, count: int = 200) -> str:
    Path(name).write_text("text\tlabel\n" + "".join(f"t{n}\t{n % 2}\n" for n in range(count)), "utf-8")
    return name


def test_a_share_is_held_out_by_the_seed() -> None:
    corpus = Labels(wrote("t.tsv"), share=0.3)
    found = corpus.find(1)
    train, valid = (list(corpus.rows(name, 1, found)) for name in ("train", "valid"))
    assert sorted(train + valid) == sorted(found["train"]) and 40 < len(valid) < 80
    assert valid != list(corpus.rows("valid", 2, found))
    assert not list(corpus.rows("test", 1, found))


def test_valid_and_test_of_their_own() -> None:
    corpus = Labels(wrote("t.tsv"), valid=wrote("v.tsv", 3), test=wrote("s.tsv", 2))
    found = corpus.find(1)
    assert [len(list(corpus.rows(name, 1, found))) for name in ("train", "valid", "test")] == [200, 3, 2]
    assert not corpus.holds_out(found)


def test_a_known_set_brings_all(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("FORESAY_DATA", str(tmp_path))
    (tmp_path / "sst2").mkdir()
    for name in ("train", "dev", "test"):
        (tmp_path / "sst2" / f"{name}.tsv").write_text(f"label\t{name}\n1\t{name} it\n0\tbad\n")
    found = Labels("sst2").find(1)
    assert {name: next(iter(one)) for name, one in found.items()} == {
        "train": (2, "train it", ("1",)),
        "valid": (2, "dev it", ("1",)),
        "test": (2, "test it", ("1",)),
    }


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"train": "none.csv"}, r"data.train='none.csv' is no file, folder or known text"),
        ({"train": "t.txt"}, "t.txt is no table, and labels need one: CSV, TSV or JSON lines"),
        ({"train": "t.tsv", "valid": "none"}, "data.valid='none' is no file"),
        (
            {"train": "ptb"},
            "ptb has no labels; allowed: builtin:languages, builtin:negation, builtin:entailment, sst2, or",
        ),
        ({"train": "builtin:dates"}, "builtin:dates has no labels; allowed: builtin:languages"),
        ({"train": "t.tsv", "read": {"columns": ["a"]}}, r"data.columns=\['a'\]; allowed: two, the text's and the"),
        ({"train": "t.tsv", "read": {"columns": [1, 2, 3, 4]}}, "or three, of two texts and the label"),
        ({"train": "t.tsv", "read": {"between": "a b"}}, "data.between='a b'; allowed: what stands between two texts"),
        ({"train": "t.tsv", "read": {"separator": ""}}, "data.separator=''; allowed: what stands between two"),
        ({"train": "t.tsv", "read": {"encoding": "utf-99"}}, "utf-99"),
    ],
)
def test_what_cannot_be_found(settings: dict[str, Any], message: str) -> None:
    wrote("t.tsv")
    Path("t.txt").write_text("a\n")
    with pytest.raises(UserError, match=message):
        parts.make("data", {"kind": "labels", **settings}).find(1)


def test_made_pairs_are_joined() -> None:
    found = Labels("builtin:entailment").find(1)
    premise, hypothesis, label = entailment(1)["test"][0]
    assert next(iter(found["test"])) == (1, f"{premise} ||| {hypothesis}", (label,))


@pytest.mark.parametrize(
    ("name", "what"),
    [
        ("sst2", "labels, not a text; use it with data.kind=labels and task=classifier"),
        ("builtin:languages", "labels, not a text; use it with data.kind=labels"),
        ("builtin:chunks", "words with tags, not a text; use it with data.kind=tags and task=tagger"),
    ],
)
def test_labels_are_no_text(name: str, what: str) -> None:
    with pytest.raises(UserError, match=f"{name} holds {what}"):
        builtin.builtin_source(name) if name.startswith("builtin:") else builtin.known_set(name)


def test_rows_of_made_sets_are_left_out_by_label_too() -> None:
    read = parts.make("data", {"kind": "labels", "train": "builtin:entailment", "read": {"without": ["neutral"]}})
    assert {label for _, _, (label,) in read.find(1)["test"]} == {"entails", "contradicts"}


def test_blanks_around_a_label_do_not_hide_it_from_without() -> None:
    Path("t.tsv").write_text("text\tlabel\na\t- \nb\tgood\n")
    made = parts.make("data", {"kind": "labels", "train": "t.tsv", "read": {"without": ["-"]}})
    assert [labels for _, _, labels in made.find(1)["train"]] == [("good",)]


@pytest.mark.parametrize(
    ("read", "said"),
    [
        ({"columns": ["text", "text"]}, r"data.columns=\['text', 'text'\] names one twice"),
        ({"without": ["-"], "several": True}, r"data.without=\['-'\] with data.several=true"),
    ],
)
def test_settings_that_do_not_go_together(read: dict[str, Any], said: str) -> None:
    with pytest.raises(UserError, match=said):
        parts.make("data", {"kind": "labels", "train": "t.tsv", "read": read})


def test_which_texts_are_two():
    assert Labels("builtin:entailment").two and Labels("a.csv", read=LabelReading(columns=["p", "q", "y"])).two
    assert not Labels("builtin:languages").two and not Labels("a.csv", read=LabelReading(columns=["p", "y"])).two
