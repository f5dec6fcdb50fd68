"""Files, folders, patterns and lists of them: which sources, in which order."""

import pytest

from foresay.data.corpus import Corpus
from foresay.errors import UserError


@pytest.fixture
def tree(tmp_path):
    for name in ("b.txt", "a.txt", "c.md", "sub/d.txt", "sub/deep/e.txt"):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"text of {name}")
    return tmp_path


def names(tree, *where):
    found = Corpus([f"{tree}/{place}" for place in where] if len(where) > 1 else f"{tree}/{where[0]}").find()
    return [str(source.path.relative_to(tree)) for source, _ in found["train"].sources]


def test_patterns(tree):
    assert names(tree, "*.txt") == ["a.txt", "b.txt"]
    assert names(tree, "**/*.txt") == ["a.txt", "b.txt", "sub/d.txt", "sub/deep/e.txt"]
    assert names(tree, "[bc].*") == ["b.txt", "c.md"]
    with pytest.raises(UserError, match=r"data\.train='.*\*\.rst' matches no file; check the pattern"):
        names(tree, "*.rst")


def test_lists_keep_their_order(tree):
    assert names(tree, "c.md", "a.txt", "sub") == ["c.md", "a.txt", "sub/d.txt", "sub/deep/e.txt"]
    with pytest.raises(UserError, match="nowhere' is no file"):
        names(tree, "c.md", "nowhere")


def test_a_file_named_like_a_pattern_is_that_file(tree):
    (tree / "[a].txt").write_text("odd name")
    assert names(tree, "[a].txt") == ["[a].txt"]


def test_a_file_in_a_list_must_be_text(tree):
    (tree / "bad").write_bytes(b"\0")
    with pytest.raises(UserError, match="bad is binary"):
        names(tree, "a.txt", "bad")
    assert "bad" not in names(tree, "*")


def test_data_sets_with_splits_in_lists_and_as_parts(tree, monkeypatch):
    datasets = pytest.importorskip("datasets")
    sets = {name: datasets.Dataset.from_dict({"text": [f"{name} text"] * 3}) for name in ("train", "validation")}
    datasets.DatasetDict(sets).save_to_disk(tree / "both")
    both, plain = str(tree / "both"), str(tree / "a.txt")
    named = Corpus([both, plain]).named()
    assert named == {"train": [tree / "both" / "train", plain], "valid": [tree / "both" / "validation"], "test": []}
    assert Corpus(plain, valid=both).named()["valid"] == [tree / "both" / "validation"]
    with pytest.raises(UserError, match=r"data.test='.*both' has no test text; name one of its splits"):
        Corpus(plain, test=both).named()
    monkeypatch.setenv("FORESAY_DATA", str(tree / "known"))
    folder = tree / "known" / "ptb"
    folder.mkdir(parents=True)
    for name in ("train", "valid", "test"):
        (folder / f"ptb.{name}.txt").write_text(name)
    assert Corpus([plain, "ptb"]).named()["test"] == [folder / "ptb.test.txt"]
    assert Corpus(plain, valid="ptb").named()["valid"] == [folder / "ptb.valid.txt"]


def test_nothing_is_no_place():
    with pytest.raises(UserError, match=r"data.train='' is no file, folder or known text"):
        Corpus("").find()
    with pytest.raises(UserError, match=r"'hub:' names no data set; allowed: hub:NAME"):
        Corpus("hub:").find()
