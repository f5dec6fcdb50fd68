"""`foresay prepare` and texts from anywhere on the command line."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

import foresay
from foresay import recipe as recipes
from foresay.data.prepare import open_prepared
from foresay.train.progress import Watch
from tests.commands import Commands

TEXT = "".join(f"line {i} of the text, {i * 7}\n" for i in range(200))


@pytest.fixture
def text(tmp_path: Path) -> Path:
    path = tmp_path / "text.txt"
    path.write_text(TEXT)
    return path


def prepared(call: Commands, *words, given: bytes = b"") -> dict:
    called = call("prepare", *words, "--json", given=given)
    assert called.code == 0, called
    return json.loads(called.out)


def test_it_says_what_it_made(call: Commands, text: Path) -> None:
    called = call("prepare", text, "tokens=words")
    found = prepared(call, text, "tokens=words")
    train, valid = open_prepared(Path(found["folder"])).train, open_prepared(Path(found["folder"])).valid
    assert valid is not None
    assert called.code == 0 and called.out.splitlines() == [
        f"{found['folder']}: {found['symbols']} symbols (words)",
        f"  train  {len(train):,} tokens, 1 document, 0.00 MB, {train.bytes / len(train):.2f} bytes a token",
        f"  valid  {len(valid):,} tokens, 1 document, 0.00 MB, {valid.bytes / len(valid):.2f} bytes a token",
    ]


def test_every_way_to_give_a_text(call: Commands, text: Path, tmp_path: Path) -> None:
    folder = prepared(call, text, "tokens=bytes")["folder"]
    assert prepared(call, "-", "tokens=bytes", given=TEXT.encode())["folder"] == folder
    assert prepared(call, "-", "tokens=bytes", given=gzip.compress(TEXT.encode()))["folder"] == folder
    assert prepared(call, "lstm", "tokens=bytes", "data.train=-", given=TEXT.encode())["folder"] == folder
    assert prepared(call, f"{tmp_path}/*.txt", "tokens=bytes")["folder"] == folder
    assert prepared(call, "lstm", text, "tokens=bytes")["folder"] == folder
    latin = tmp_path / "latin.text"
    latin.write_bytes("é\n".encode("latin-1") * 200)
    assert "is not UTF-8: byte 0xE9 at offset 0" in call.refused("prepare", latin)
    assert prepared(call, latin, "tokens=bytes", "--encoding", "latin-1")["parts"]["train"]["characters"] == 360
    both = prepared(call, text, text, "tokens=bytes", "data.share=0.0")
    assert both["parts"]["train"]["documents"] == 2
    assert both["notes"] == [
        "data.train: 1 file with the text of another one: kept; data.duplicates=drop leaves them out"
    ]


def test_mistakes(call: Commands, text: Path, tmp_path: Path) -> None:
    assert "data.train='nowhere.txt' is no file, folder or known text" in call.refused("prepare", "nowhere.txt")
    assert "standard input is empty" in call.refused("prepare", "-")
    assert "encoding='utf9' is no encoding" in call.refused("prepare", text, "--encoding", "utf9")
    assert "data.colum is no setting" in call.refused("prepare", text, "data.colum=x")
    table = tmp_path / "a.csv"
    table.write_text("a,b\n1,two\n3\n")
    assert "a.csv has the columns a, b and none called text" in call.refused("prepare", table)
    assert "a.csv: line 3 has 1 field, the first line has 2" in call.refused("prepare", table, "data.column=b")


def test_training_on_them(call: Commands, text: Path, tmp_path: Path) -> None:
    small = ["tokens=bytes", "train.steps=1", "encoder.size=8", "embedding.size=8", "output.tied=false"]
    assert call("train", "lstm", text, text, *small, "--out", "a").code == 0
    assert recipes.read("a/recipe.yaml")["data"]["train"] == [str(text), str(text)]
    assert call("train", "-", *small, "--out", "b", given=TEXT.encode()).code == 0
    kept = Path(recipes.read("b/recipe.yaml")["data"]["train"])
    assert kept.read_text() == TEXT and kept.parent.name == "piped"
    odd = tmp_path / "a=b.txt"
    odd.write_text(TEXT)
    assert call("train", odd, *small, "--encoding", "utf-8", "--out", "c").code == 0
    assert call("eval", "c", "--data", text).code == 0


def test_texts_that_contradict_and_words_like_settings(call: Commands, text: Path, tmp_path: Path) -> None:
    for words in ([text], ["lstm", text]):
        line = call.refused("prepare", *words, "data.train=other.txt")
        assert line == f"{text} and data.train are two texts; give one of them"
    assert "data.train='data.csv' is no file" in call.refused("prepare", "data.csv")
    assert "'encoder.size' is no setting" in call.refused("prepare", text, "encoder.size")
    folder = tmp_path / "k=v"
    folder.mkdir()
    (folder / "a.txt").write_text(TEXT)
    assert prepared(call, f"{folder}/*.txt", "tokens=bytes")["parts"]["train"]["documents"] == 1


def test_other_commands_take_an_encoding_too(call: Commands, text: Path, tmp_path: Path) -> None:
    latin = tmp_path / "latin.text"
    latin.write_bytes("é wie nah\n".encode("latin-1") * 60)
    called = call("vocabulary", latin, text, "--encoding", "latin-1", "--json", "--out", "v.png")
    assert called.code == 0 and "latin.text, text.txt" in json.loads(called.out).values()
    small = ["tokens=bytes", "train.steps=1", "encoder.size=8", "embedding.size=8", "output.tied=false"]
    assert call("train", "lstm", text, *small, "--out", "a").code == 0
    assert "is not UTF-8" in call.refused("eval", "a", "--data", latin)
    assert call("eval", "a", "--data", latin, "--encoding", "latin-1").code == 0


def test_settings_in_python_as_for_train(text: Path) -> None:
    first = foresay.prepare(str(text), "tokens=words", watch=Watch()).folder
    assert foresay.prepare(str(text), {"tokens": "words"}, watch=Watch()).folder == first
