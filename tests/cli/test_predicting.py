"""`predict` and what `eval` shows of labels and tags: rows of the tables, columns of files, refusals."""

from __future__ import annotations

import json
import shutil
import sys
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from foresay import start
from foresay.cli.app import app
from foresay.cli.predicting import show_labelled, show_tagged
from foresay.errors import UserError
from foresay.loading import load
from foresay.train.classified import judged
from foresay.train.progress import Watch
from foresay.train.tagged import figures


@pytest.fixture(scope="module")
def bag(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A bag of words that tells a from b."""
    folder = tmp_path_factory.mktemp("bag")
    (folder / "t.tsv").write_text("text\tlabel\n" + "a\tA\nb\tB\n" * 20)
    data = {"kind": "labels", "train": str(folder / "t.tsv")}
    recipe = {"task": "bag-of-words", "tokens": "blanks", "data": data, "train": {"batches": "labels"}}
    start.train(recipe, out=folder / "run", device="cpu", watch=Watch())
    return folder / "run"


def test_a_column_of_a_table(bag, call):
    Path("new.csv").write_text("id,said\n1,b b\n2,a\n")
    assert call("predict", bag, "new.csv", "--column", "said").out == "B\nA\n"
    lines = call("predict", bag, "-", "--column", "t", "--format", "jsonl", "--json", given=b'{"t": "a"}\n').out
    told = json.loads(lines)
    assert told["label"] == "A" and sum(told["probabilities"].values()) == pytest.approx(1)
    Path("bad.csv").write_text("id,said\n1,\n")
    assert call.refused("predict", bag, "bad.csv", "--column", "said") == (
        "there is nothing to predict in bad.csv; give texts with words"
    )
    assert call.refused("predict", bag, "a", "--format", "csv").startswith("--format csv without --column")
    assert call.refused("predict", bag, "new.csv", *["--column", "said"] * 3).endswith(
        "or two of a run that labels pairs of texts"
    )
    assert "no text of training had '|||' between two; allowed: one" in call.refused(
        "predict", bag, "new.csv", *["--column", "said"] * 2
    )


def test_files_in_another_encoding(tmp_path_factory, call):
    """What is advised can be done: of tables, of lines, packed or not, and of pipes."""
    folder = tmp_path_factory.mktemp("accents")
    (folder / "t.tsv").write_text("text\tlabel\n" + "é\tA\nb\tB\n" * 20, "utf-8")
    data = {"kind": "labels", "train": str(folder / "t.tsv")}
    recipe = {"task": "bag-of-words", "tokens": "blanks", "data": data, "train": {"batches": "labels"}}
    run = start.train(recipe, out=folder / "run", device="cpu", watch=Watch()).folder
    Path("new.csv").write_text("id,said\n1,é\n2,b\n", "latin-1")
    advice = "is not UTF-8: byte 0xE9; say its encoding: --encoding latin-1"
    assert call.refused("predict", run, "new.csv", "--column", "said") == f"new.csv: line 2 {advice}"
    latin = ("--encoding", "latin-1")
    assert call("predict", run, "new.csv", "--column", "said", *latin).out == "A\nB\n"
    Path("new.txt").write_text("é\nb\n", "latin-1")
    assert call.refused("predict", run, "new.txt") == f"new.txt line 1 {advice}"
    assert call("predict", run, "new.txt", *latin).out == "A\nB\n"
    Path("new.jsonl").write_text('{"said": "é"}\n', "utf-16")
    assert call("predict", run, "new.jsonl", "--column", "said", "--encoding", "utf-16").out == "A\n"
    piped = "é\n\nb".encode("utf-16")
    assert call("predict", run, "-", "--encoding", "utf-16", given=piped).out == "A\n\nB\n"
    assert call("predict", run, "-", "--column", "said", "--format", "csv", *latin, given=b"said\n\xe9\n").out == "A\n"
    said = call.refused("predict", run, "new.txt", "--encoding", "ascii")
    assert said == "new.txt is not ascii: byte 0xE9 at offset 0; say its encoding (--encoding latin-1, or another)"
    assert call.refused("predict", run, "-", "--encoding", "ascii", given=b"\xe9") == (
        "standard input is not ascii; say its encoding: --encoding NAME"
    )
    assert call.refused("predict", run, "é", "--encoding", "utf9").startswith("encoding='utf9' is no encoding; allowed")
    Path("held.csv").write_text("text,label\né,A\n", "latin-1")
    assert call.refused("eval", run, "--data", "held.csv") == f"held.csv: line 2 {advice}"
    assert "accuracy     100.00 %" in call("eval", run, "--data", "held.csv", *latin).out


def test_other_columns_of_another_table(bag, call):
    Path("new.csv").write_text("id,said,kind\n1,a,A\n2,b,B\n3,b,A\n")
    columns = ("--column", "said", "--column", "kind")
    assert "accuracy     66.67 %" in call("eval", bag, "--data", "new.csv", *columns).out
    assert call.refused("eval", bag, "--data", "new.csv") == (
        "new.csv: line 1 names the columns 'id', 'said', 'kind', and not text (or one of any name) and label; name its "
        "own, the label's last: --column NAME --column NAME"
    )
    Path("bare.csv").write_text("a,A\nb,B\n")
    assert "texts        2" in call("eval", bag, "--data", "bare.csv", "--column", "1", "--column", "2").out
    assert call.refused("eval", bag, "--data", "new.csv", "--column", "said") == (
        "--column said; allowed: two, the text's and the label's, or three, of two texts and the label"
    )
    assert "and not said and sort; name its own" in call.refused(
        "eval", bag, "--data", "new.csv", "--column", "said", "--column", "sort"
    )
    assert call.refused("eval", bag, "--column", "a").startswith("--column a without --data; a run's own text is read")


def test_other_columns_of_tags(hmm, call):
    Path("new.conll").write_text("1 a x B-x\n2 b x O\n\n")
    assert call.refused("eval", hmm, "--data", "new.conll") == (
        "new.conll has 4 columns at line 1; say which are the word's and the tag's: --column 1 --column 2; -1 is the "
        "last"
    )
    assert "accuracy            100.00 %" in call("eval", hmm, "--data", "new.conll", "--column", 2, "--column", -1).out
    assert call.refused("eval", hmm, "--data", "new.conll", "--column", "w", "--column", "t") == (
        "columns w, t; allowed: numbers from 1, the word's and the tag's"
    )


def test_another_table_needs_the_columns_of_training(bag, call):
    """`eval` takes no settings, so none is suggested."""
    Path("bad.csv").write_text("text,lable\na,A\n")
    assert call.refused("eval", bag, "--data", "bad.csv") == (
        "bad.csv: line 1 names the columns 'text', 'lable', and not text (or one of any name) and label; name its own, "
        "the label's last: --column NAME --column NAME"
    )
    Path("bad.jsonl").write_text('{"text": "a", "lable": "A"}\n')
    assert call.refused("eval", bag, "--data", "bad.jsonl") == (
        'bad.jsonl: line 1 has no text and label; allowed: {"text": "...", "label": "..."}, or name others: '
        "--column one --column other"
    )
    Path("several.jsonl").write_text('{"text": "a", "label": ["A", "B"]}\n')
    assert call.refused("eval", bag, "--data", "several.jsonl") == (
        "several.jsonl: line 1 has a list of labels; the run gives each text one"
    )
    Path("new.txt").write_text("a\n")
    assert call.refused("eval", bag, "--data", "new.txt").endswith("; the name of the file says which it is")


def test_two_columns_of_a_table(tmp_path, call):
    """The second text alone tells: a before the bar is nothing, after it A."""
    rows = [("a", "a", "A"), ("b", "a", "A"), ("a", "b", "B"), ("b", "b", "B")]
    Path("pairs.jsonl").write_text("".join(json.dumps(dict(zip("pqy", row, strict=True))) + "\n" for row in rows * 15))
    data = {"kind": "labels", "train": "pairs.jsonl", "columns": ["p", "q", "y"]}
    train = {"batches": "labels", "steps": 40, "optimizer": {"kind": "adamw", "lr": 0.03}}
    recipe = {"task": "classifier", "tokens": "blanks", "data": data, "embedding": {"kind": "lookup", "size": 8}}
    recipe |= {"encoder": {"kind": "recurrent", "size": 8}, "pool": "last", "train": train}
    run: Any = start.train(recipe, out="run", device="cpu", watch=Watch())
    assert run.evaluate().accuracy == 1
    Path("bad.csv").write_text("p,q,z\na,b,B\n")
    assert call.refused("eval", "run", "--data", "bad.csv").endswith(
        "and not p and q and y; name its own, the label's last: --column NAME --column NAME --column NAME"
    )
    Path("new.csv").write_text("q,p\nb,a\na,b\n")
    assert call("predict", "run", "new.csv", "--column", "p", "--column", "q").out == "B\nA\n"
    assert call("predict", "run", "a ||| b").out == "B\n"
    told = (
        "is one text, and the run labels pairs; put ||| between two, blanks around it, or name both columns of a table"
    )
    assert call.refused("predict", "run", "a|||b") == f"'a|||b' {told}"
    assert call.refused("predict", "run", "new.csv", "--column", "p") == f"new.csv line 2 {told}"
    with pytest.raises(UserError, match=r"^text 2 of 2 is one text"):
        run.predict(["a ||| b", "a b"])


def test_a_language_model_predicts_no_labels(trained, call):
    assert "predicts no tags, labels or texts; allowed: a run of task tagger" in call.refused("predict", trained, "a")


def test_figures_of_labels(capsys):
    found = judged(("bad", "good"), np.array([0, 0, 1, 1]), np.array([0, 1, 1, 1]), 0.5)
    show_labelled(found, None, as_json=False)
    out = capsys.readouterr().out
    assert "accuracy     75.00 %" in out and "loss         0.5000 nats per text" in out
    assert "divided by" not in out and "before" not in out  # nothing was calibrated
    show_labelled(replace(found, temperature=1.25, raw_calibration_error=0.5), None, as_json=False)
    assert "before 50.00 % (scores divided by 1.250)\n" in capsys.readouterr().out
    assert "\nbad       100.00   50.00   66.67       2\n" in out  # one of two found, and nothing else called bad
    assert "\ngood       66.67  100.00   80.00       2\n" in out


def test_figures_of_tags(capsys):
    found = figures([["N", "V"], ["N"]], [["N", "N"], ["N"]], [np.zeros(2), np.ones(1)], loss=0.25, of=3, spans=False)
    show_tagged(found, as_json=False)
    out = capsys.readouterr().out
    assert "accuracy            66.67 %" in out and "of unknown words  100.00 %" in out and "span" not in out
    assert "\nN        66.67  100.00   80.00        2\n" in out and "\nV         0.00    0.00    0.00        1\n" in out


@pytest.fixture(scope="module")
def hmm(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Tags of spans by counts: a begins one of type x, b is outside."""
    folder = tmp_path_factory.mktemp("hmm")
    (folder / "t.conll").write_text("a B-x\nb O\n\nb O\nb O\n\n" * 20)
    data = {"kind": "tags", "train": str(folder / "t.conll")}
    recipe = {"task": "hmm", "tokens": "blanks", "data": data, "train": {"batches": "tags"}}
    start.train(recipe, out=folder / "run", device="cpu", watch=Watch())
    return folder / "run"


def test_files_that_hold_no_lines_of_text_are_refused(bag, hmm, call):
    for name in ("new.csv", "new.tsv.gz", "new.jsonl", "new.ndjson"):
        Path(name).write_text("a\nb\n")
        said = call.refused("predict", bag, "a", name)  # before the first answer
        assert said.startswith(f"{name} is a table by its name (.") and "name the column that holds the texts" in said
    for name in ("new.json", "new.parquet"):
        Path(name).write_text("{}")
        assert call.refused("predict", bag, name).startswith(f"{name} holds no lines of text by its name (.")
    for name in ("new.conll", "new.conllu", "new.fasta", "new.3line.gz"):
        Path(name).write_text("a B-x\n")
        said = call.refused("predict", hmm, name)
        assert said.startswith(f"{name} holds words with their tags by its name (.")
        assert f"; foresay eval {hmm} --data {name} measures on them; to predict, give the words alone, one" in said
        assert "foresay eval" not in call.refused("predict", bag, name)
    assert call.refused("predict", hmm, "gone.conll").startswith("gone.conll is no file")


def test_blank_lines_keep_their_places(bag, hmm, call):
    Path("new.txt").write_text("\na\n\nb\n \n")
    assert call("predict", bag, "new.txt").out == "\nA\n\nB\n\n"
    told = [json.loads(line) for line in call("predict", bag, "new.txt", "--json").out.splitlines()]
    assert [one and one["label"] for one in told] == [None, "A", None, "B", None]
    assert call("predict", hmm, "new.txt").out == "\na\tB-x\n\n\nb\tO\n\n\n"
    Path("blank.txt").write_text("\n \n")
    for given in (["blank.txt"], ["-"]):
        name = given[0].replace("-", "standard input")
        assert call.refused("predict", bag, *given) == f"there is nothing to predict in {name}; give texts with words"


def test_empty_cells_keep_their_places(bag, hmm, call):
    Path("new.csv").write_text("id,said\n1,\n2,b\n3, \n4,a\n")
    Path("new.tsv").write_text("id\tsaid\n1\t\n2\tb\n3\t \n4\ta\n")
    Path("new.jsonl").write_text('{"said": ""}\n{"said": "b"}\n{"said": null}\n{"said": "a"}\n')
    for name in ("new.csv", "new.tsv", "new.jsonl"):
        assert call("predict", bag, name, "--column", "said").out == "\nB\n\nA\n"
        told = [json.loads(line) for line in call("predict", bag, name, "--column", "said", "--json").out.splitlines()]
        assert [one and one["label"] for one in told] == [None, "B", None, "A"]
        assert call("predict", hmm, name, "--column", "said").out == "\nb\tO\n\n\na\tB-x\n\n"


def test_spans_are_given_where_tags_write_them(hmm, call):
    told = [json.loads(call("predict", hmm, text, "--json").out)["spans"] for text in ("b b", "a b")]
    assert told == [[], [{"type": "x", "begin": 0, "end": 1, "text": "a"}]]


def test_a_bad_line_is_told_with_its_place(hmm, bag, call, monkeypatch):
    """Past the first block of lines; what comes before it is answered."""
    from foresay.cli import lines

    monkeypatch.setattr(lines, "BLOCK", 2)
    monkeypatch.setattr("foresay.models.hmm.HMM.encoder", SimpleNamespace(longest=2), raising=False)
    Path("new.txt").write_text("a\n\nb\na\na b a\nb\n")
    found = call("predict", hmm, "new.txt")
    assert (found.code, found.out) == (2, "a\tB-x\n\n\nb\tO\n\na\tB-x\n\n")
    assert found.error == "foresay: new.txt line 5 has 3 words; the model has positions for 2: divide it\n"
    assert call.refused("predict", hmm, "a b b").startswith("'a b b' has 3 words; the model has")


@pytest.mark.parametrize(
    ("name", "content", "words", "error"),
    [
        ("new.txt", b"a\nb\n\xffb\na\n", [], "line 3 is not UTF-8: byte 0xFF"),
        (
            "new.txt",
            b"a\r\nb\r\na\ra\ra\r\n",
            [],
            "line 3 has a carriage return within; end every line with a line feed",
        ),
        ("new.txt", b"a\nb\na\0\n", [], "line 3 holds a zero byte in its text; mend or delete it"),
        (
            "new.jsonl",
            b'{"t": "a"}\n{"t": "b"}\n{"t": "a\\u0000"}\n',
            ["--column", "t", "--format", "jsonl"],
            "line 3 holds a zero byte in its text",
        ),
        ("new.jsonl", b'{"t": "a"}\n{"t": "b"}\n{b\n', ["--column", "t", "--format", "jsonl"], "line 3 is no JSON"),
        ("new.csv", b"t\na\nb\nb,b\n", ["--column", "t", "--format", "csv"], "line 4 has 2 fields"),
        ("new.csv", b't\na\nb\n"b\n', ["--column", "t", "--format", "csv"], "line 4 is no CSV"),
        ("new.tsv", b"t\na\nb\nb\xff\n", ["--column", "t", "--format", "tsv"], "line 4 is not UTF-8: byte 0xFF"),
    ],
)
def test_what_stands_before_a_line_that_cannot_be_read_is_answered(bag, hmm, call, name, content, words, error):
    Path(name).write_bytes(content)
    for given in (name, "-"):
        found = call("predict", bag, given, *words, given=content)
        assert (found.code, found.out) == (2, "A\nB\n") and error in found.error
        assert call("predict", hmm, given, *words, given=content).out == "a\tB-x\n\nb\tO\n\n"


def test_texts_that_are_not_read_to_their_end_are_told_once(bag, call, tmp_path, monkeypatch):
    from foresay.cli import lines

    monkeypatch.setattr(lines, "BLOCK", 2)
    run = tmp_path / "run"
    shutil.copytree(bag, run)
    recipe = (run / "recipe.yaml").read_text()
    assert "longest: 512" in recipe
    (run / "recipe.yaml").write_text(recipe.replace("longest: 512", "longest: 2"))
    Path("new.txt").write_text("a\na a b\nb b\n\nb b b a\n")
    found = call("predict", run, "new.txt")
    told = "more than 2 tokens; the rest is not read (train.batches.longest)\n"
    assert (found.out, found.error) == ("A\nA\nB\n\nB\n", f"predict: 2 of 4 texts have {told}")
    assert call("predict", bag, "new.txt").error == ""
    Path("new.tsv").write_text("text\tlabel\na a b\tA\nb\tB\n")
    assert call("eval", run, "--data", "new.tsv").error == f"new.tsv: 1 of 2 texts has {told}"
    assert call("eval", bag, "--data", "new.tsv").error == ""


def test_texts_of_a_pipe_are_taken_together(bag, call, monkeypatch):
    from foresay.loading import load

    many, kind = [], type(load(bag, "cpu"))
    own = kind.predict
    monkeypatch.setattr(kind, "predict", lambda run, texts: many.append(len(texts)) or own(run, texts))
    assert call("predict", bag, "-", given=b"a\nb\n" * 300).out == "A\nB\n" * 300
    assert many == [256, 256, 88]
    rows = b'{"t": "a"}\n' * 300
    assert call("predict", bag, "-", "--column", "t", "--format", "jsonl", given=rows).out == "A\n" * 300
    assert many[3:] == [256, 44]


def test_a_line_of_a_pipe_is_answered_before_the_next_is_read(bag, monkeypatch):
    """How many answers stood when more was asked for: all of what had come, blank lines too."""
    told: list[str] = []
    stood: list[int] = []
    coming = [b"a\n", b"b\n\n", b"\n", b"a\nb\n"]

    def read1(_size: int) -> bytes:
        stood.append(len(told))
        return coming.pop(0) if coming else b""

    monkeypatch.setattr("foresay.cli.predicting.show", told.append)
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=SimpleNamespace(read1=read1)))
    app(["predict", str(bag), "-"], standalone_mode=False)
    assert told == ["A", "B", "", "", "A", "B"] and stood == [0, 1, 3, 4, 6]


def test_a_picture_is_checked_before_the_work(bag, call, monkeypatch):
    Path("x.png").write_text("mine")
    said = call.refused("eval", bag, "--picture", "x.png")
    assert said == "x.png exists; allowed: a new place: give another --picture, or --force to write over it"
    assert Path("x.png").read_text() == "mine"
    assert call("eval", bag, "--picture", "x.png", "--force").code == 0
    assert Path("x.png").read_bytes()[:4] == b"\x89PNG"
    monkeypatch.setattr("foresay.study.confusion.MOST", 1)
    monkeypatch.setattr("foresay.measuring.measure_on", None)  # nothing is measured
    assert call.refused("eval", bag, "--picture", "y.png").startswith("there are 2 labels; a picture has room for 1")
    assert call.refused("eval", "gone", "--picture", "x.pdf") == "--picture x.pdf; allowed: a name that ends in .png"


def test_tags_of_another_set(hmm, call):
    Path("other.conll").write_text("a B-x\nb B-animal\n")
    assert call.refused("eval", hmm, "--data", "other.conll") == (
        "other.conll: line 2 has the tag B-animal, which the run does not know: the file is of another set; the run's "
        "tags: B-x, I-x, O; give a file that has these, or train on this one"
    )
    Path("broken.conll").write_text("b O\na I-x\n")
    assert call.refused("eval", hmm, "--data", "broken.conll").endswith("begins with B- of its type; mend it")


def test_shares_of_tags(hmm, bag, call):
    run: Any = load(hmm)
    (own,), found = run.posteriors("a b"), call("predict", hmm, "a b", "--shares")
    at = own.names.index("B-x")
    first = found.out.splitlines()[0].split("\t")
    assert first[:2] == ["a", "B-x"] and found.out.count("\n") == 3
    assert f"B-x {own.filtered[0, at]:.2f}" in first[2] and f"B-x {own.smoothed[0, at]:.2f}" in first[3]
    told = json.loads(call("predict", hmm, "a b", "--shares", "--json").out)
    assert told["tags"] == ["B-x", "O"] and told["filtered"] == own.as_dict()["filtered"]
    assert told["smoothed"][1]["O"] == pytest.approx(told["probabilities"][1])
    said = call.refused("predict", bag, "a", "--shares")
    assert said.startswith("--shares is for runs that tag words; ") and said.endswith(
        "whole texts: their shares: --json"
    )
    Path("new.txt").write_text("a\n\nb\n")
    assert call("predict", hmm, "new.txt", "--shares", "--json").out.splitlines()[1] == "null"
