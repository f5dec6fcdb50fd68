"""Built-in texts and known sets."""

import pytest

from foresay.data.builtin import builtin_source, known_set, known_sets, list_data
from foresay.data.corpus import Corpus
from foresay.data.scan import scan
from foresay.errors import UserError


def test_the_python_reference_is_text():
    source = builtin_source("builtin:python-reference")
    facts = scan(source)
    assert facts.problem is None and facts.bytes > 300_000
    assert source.content is not None and source.content.startswith(b"assert\n======\n\nThe ")
    assert builtin_source("builtin:python-reference") == source


def test_every_name_is_listed(tmp_path, monkeypatch):
    monkeypatch.delenv("FORESAY_DATA", raising=False)
    pairs = ["dates", "phonemes", "headings", "brackets", "signatures", "questions"]
    rows = [
        "languages",
        "negation",
        "entailment",
        "chunks",
        "proteins",
        "answers",
        "digits",
        "shapes",
        "tones",
        "numbers",
    ]
    rows += ["sunspots", "balls", "seasons", "chords"]
    rows.insert(rows.index("numbers"), "melodies")
    made = ["builtin:python-reference", "builtin:melody-texts", *(f"builtin:{name}" for name in [*pairs, *rows])]
    assert [one["name"] for one in list_data()] == [*made, *(known.name for known in known_sets())]
    assert {one["state"] for one in list_data()[len(made) :]} == {"not there"}
    monkeypatch.setenv("FORESAY_DATA", str(tmp_path))
    (tmp_path / "text8").mkdir()
    (tmp_path / "text8" / "text8.xz").touch()
    (text8,) = (one for one in list_data() if one["name"] == "text8")
    assert text8["state"] == "there" and text8["place"] == f"{tmp_path}/text8"
    assert known_set("text8") == [tmp_path / "text8" / "text8.xz"]


def test_an_unknown_name_gets_the_nearest():
    with pytest.raises(UserError, match=r"did you mean 'builtin:python-reference'\?"):
        Corpus("builtin:python-referense").find()
    with pytest.raises(UserError, match=r"data.train='wikitext2' is no file.*did you mean 'wikitext-2'\?"):
        Corpus("wikitext2").find()


def test_a_known_set_brings_its_own_parts(tmp_path, monkeypatch):
    monkeypatch.delenv("FORESAY_DATA", raising=False)
    with pytest.raises(UserError, match="FORESAY_DATA is not set"):
        known_set("ptb")
    monkeypatch.setenv("FORESAY_DATA", str(tmp_path / "data"))
    folder = tmp_path / "data" / "ptb"
    folder.mkdir(parents=True)
    (folder / "ptb.train.txt").write_text("train")
    with pytest.raises(UserError, match=r"ptb\.valid\.txt is missing; get it from"):
        Corpus("ptb").find()
    (folder / "ptb.valid.txt").write_text("valid")
    (folder / "ptb.test.txt").write_text("test")
    found = Corpus("ptb").find()
    assert {name: one.sources[0][0].path for name, one in found.items()} == {
        name: folder / f"ptb.{name}.txt" for name in ("train", "valid", "test")
    }
    (tmp_path / "mine.txt").write_text("my own")
    assert Corpus("ptb", valid=str(tmp_path / "mine.txt")).find()["valid"].bytes == 6


def test_a_copy_under_other_names_is_found_too(tmp_path, monkeypatch):
    monkeypatch.setenv("FORESAY_DATA", str(tmp_path / "data"))
    folder = tmp_path / "data" / "wikitext-2"
    folder.mkdir(parents=True)
    for name in ("train", "valid", "test"):
        (folder / f"{name}.txt").write_text(name)
    assert known_set("wikitext-2") == [folder / f"{name}.txt" for name in ("train", "valid", "test")]
    for name in ("train", "valid", "test"):
        (folder / f"{name}.txt").rename(folder / f"wiki.{name}.tokens")
    assert Corpus("wikitext-2").find()["valid"].sources[0][0].path == folder / "wiki.valid.tokens"
