"""Words that join a vocabulary though its text has them not."""

from __future__ import annotations

from pathlib import Path

import pytest

from foresay.data.corpus import Corpus
from foresay.data.prepare import prepare
from foresay.errors import UserError
from foresay.text.blanks import Blanks
from foresay.text.tokens import SPECIALS, UNK
from foresay.text.words import Words

TEXT = ["the boat sails and the boat lands"]


def learnt(place: Path, size: int = 100) -> Blanks:
    tokens = Blanks(size=size, also=str(place))
    tokens.learn(TEXT)
    return tokens


def test_given_words_come_after_those_of_the_text_each_once(tmp_path):
    (tmp_path / "given").write_text("plane\nboat\n\nplane\ntrain 0.1 0.2\n<stop>\n")
    tokens = learnt(tmp_path / "given")
    assert tokens.words[len(SPECIALS) :] == ["boat", "the", "and", "lands", "sails", "plane", "train"]
    assert tokens.encode("the plane lands sideways").tolist() == [6, 10, 8, UNK]


def test_the_head_of_a_file_of_vectors_is_no_word(tmp_path):
    (tmp_path / "given").write_text("2 3\nplane 1 2 3\n7 4 5 6\n")
    assert learnt(tmp_path / "given").words[-2:] == ["plane", "7"]
    (tmp_path / "given").write_text("2\n3 0.5\n")
    assert learnt(tmp_path / "given").words[-2:] == ["2", "3"]


def test_size_is_of_the_words_of_the_text(tmp_path):
    (tmp_path / "given").write_text("plane\nand\n")
    assert learnt(tmp_path / "given", size=len(SPECIALS) + 2).words[len(SPECIALS) :] == ["boat", "the", "plane", "and"]


def test_a_folder_with_a_tokeniser_gives_its_words(tmp_path):
    other = Words()
    other.learn(["a plane, and more"])
    other.save(tmp_path)
    assert learnt(tmp_path).words[-4:] == [",", "a", "more", "plane"]


def test_what_was_learnt_is_loaded_without_the_file(tmp_path):
    (tmp_path / "given").write_text("plane\n")
    tokens = learnt(tmp_path / "given")
    tokens.save(tmp_path / "saved")
    (tmp_path / "given").unlink()
    again = Blanks(also=str(tmp_path / "given"))
    again.load(tmp_path / "saved")
    assert again.words == tokens.words
    assert again.told(learnt=True)["kind"] == "blanks"


def test_other_words_give_another_prepared_text_and_none_the_same_as_before(tmp_path, monkeypatch):
    monkeypatch.setenv("FORESAY_CACHE", str(tmp_path / "cache"))
    text = tmp_path / "text.txt"
    text.write_text("the boat sails\n" * 50)
    names = [prepare(Corpus(train=str(text)), Blanks(), 0).folder.name]
    for given in ("plane\n", "train\n", "plane\n"):
        (tmp_path / "given").write_text(given)
        names.append(prepare(Corpus(train=str(text)), Blanks(also=str(tmp_path / "given")), 0).folder.name)
    assert len(set(names)) == 3 and names[1] == names[3]
    assert "also" not in Blanks().told(learnt=False)


@pytest.mark.parametrize(
    ("content", "said"),
    [(None, "is no file"), (b"\xff\xfe\x00", "cannot be read"), (b"ok\n" + b"x" * 1001, "line 2: a word of 1,001")],
)
def test_what_holds_no_words_is_refused(tmp_path, content, said):
    if content is not None:
        (tmp_path / "given").write_bytes(content)
    with pytest.raises(UserError, match=said):
        learnt(tmp_path / "given")
