"""Which tags there are, in which scheme, what every part is held to, and what is held out."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from foresay.data.tag_set import TagSet
from foresay.data.tags import Tags
from foresay.errors import UserError
from tests.data.tagged import TEXT, read_back, ready


def test_rewritten_in_another_scheme():
    text = "a I-x\nb I-x\nc B-x\n\nd I-y\n"  # the first scheme of CoNLL: I- begins, B- divides
    prepared = ready(text, read={"rewrite": "bioes"})
    assert read_back(prepared) == [[("a", "B-x"), ("b", "E-x"), ("c", "S-x")], [("d", "S-y")]]
    assert prepared.tags == TagSet.of(["B-x", "B-y"], "bioes") and len(prepared.tags) == 9
    assert read_back(ready(text, read={"scheme": "none"}))[0][0] == ("a", "I-x")


def test_what_is_mended_is_told():
    Path("valid.conll").write_text("b O\n\nc I-y\nd I-x\n")
    text = "z B-x\n\na O\nb I-x\nc I-x\nd B-y\n\ne I-y\n"
    notes = ready(text, valid="valid.conll", read={"rewrite": "bioes"}).notes
    assert notes == (
        "data.train: 2 tags that broke BIO were mended (data.rewrite=bioes), the first at line 4: I-x",
        "data.valid: 2 tags that broke BIO were mended (data.rewrite=bioes), the first at line 3: I-y",
    )
    alone = ready("a B-x\nb O\n\nc S-x\n", read={"rewrite": "bio"})
    assert alone.notes == (
        "data.train: 1 tag that broke BIOES was mended (data.rewrite=bio), the first at line 1: B-x",
    )
    assert ready(TEXT, read={"rewrite": "bioes"}).notes == ()  # turned into another scheme, nothing mended


@pytest.mark.parametrize(
    ("text", "settings", "error"),
    [
        ("a O\n", {"read": {"columns": [0, 1]}}, "allowed: two, the word's and its tag's"),
        ("a O\nb I-x\n", {}, "line 2 has I-x after O, and a span begins with B- of its type.*data.rewrite=bio"),
        ("\na I-x\n", {}, "line 2 has I-x after the beginning of a sentence"),
        ("a B-x\nb I-y\n", {}, "line 2 has I-y after B-x"),
        ("a S-x\nb B-x\n", {}, "line 2 has B-x before the end of a sentence, and a span begins with B- and ends with"),
        ("a B-x\nb I-x\nc S-x\n", {}, "line 2 has I-x before S-x"),
        ("a O\nb Z\n", {"tags": ["O", "N"]}, "line 2 has the tag Z, which is not among data.tags: N, O"),
        ("a N\n", {"read": {"rewrite": "bio"}}, "write no spans: N; set data.rewrite=null train.best=accuracy, or use"),
        (
            "a O\n",
            {"read": {"rewrite": "bio"}},
            "a.conll has only the tag O; give sentences with spans, such as B-place",
        ),
        (
            TEXT + "x 0\n",
            {"read": {"rewrite": "bio"}},
            "a.conll: line 9 has the tag 0, which writes no span .*; mend it",
        ),
        (
            TEXT + "x B_place\n",
            {"read": {"rewrite": "bio"}},
            "line 9 has the tag B_place, which writes no span as others",
        ),
        (
            TEXT + "x I-\n",
            {"read": {"scheme": "bio"}},
            "line 9 has the tag I-, which .*: B-person, B-place, I-place, O",
        ),
        ("a O\nb U-x\n", {"read": {"rewrite": "bio"}}, "line 2 has the tag U-x of BILOU; .*: write E- for L- and S-"),
        ("a N\n", {"read": {"scheme": "bio"}}, "data.scheme=bio, but there are tags that write no spans: N"),
        ("a N\n", {"read": {"scheme": "none", "rewrite": "bio"}}, "leave one of them out"),
        ("a N\n", {"share": 0.5}, "gives no (train|valid) sentences"),
        ("a N\n", {"valid": "gone.conll"}, "data.valid='gone.conll' is no file"),
        (
            "a N\n",
            {"train": "ptb"},
            "ptb has no tags; allowed: builtin:chunks, builtin:proteins, builtin:answers, wnut17",
        ),
    ],
)
def test_a_mistake_is_told_with_its_line(text, settings, error, tmp_path):
    with pytest.raises(UserError, match=error) as raised:
        ready(text, **settings)
    assert "\n" not in str(raised.value)


def test_valid_is_held_to_the_tags_of_train():
    Path("valid.conll").write_text("a O\n\nb B-z\n")
    with pytest.raises(UserError, match=r"valid.conll: line 3 has the tag B-z, which is not among the tags of data.tr"):
        ready(TEXT, valid="valid.conll")
    Path("valid.conll").write_text("a O\nb I-person\n")
    with pytest.raises(UserError, match=r"valid.conll: line 2 has I-person after O"):
        ready(TEXT, valid="valid.conll")
    assert read_back(ready(TEXT, valid="valid.conll", read={"rewrite": "bio"}), "valid") == [
        [("<unk>", "O"), ("<unk>", "B-person")]
    ]


def test_tags_that_are_almost_spans_are_told():
    assert ready(TEXT + "x B_place\n").notes == (
        "warning: the tags are not read as spans, as B_place writes none; mend it, or set data.scheme=none where they "
        "are no spans",
    )
    assert ready(TEXT + "x B_place\n", read={"scheme": "none"}).notes == ready("a N\n").notes == ()
    Path("valid.conll").write_text("a O\nb L-place\n")
    with pytest.raises(UserError, match=r"valid.conll: line 2 has the tag L-place of BILOU; allowed: BIO and BIOES"):
        ready(TEXT, valid="valid.conll", read={"rewrite": "bioes"})


@pytest.mark.parametrize("tag", ["qqperson", "*?place", "L-animal", "l-place", "b-place", "B_place"])
def test_rewriting_reads_tags_of_spans_alone(tag):
    Path("valid.conll").write_text(f"a O\nb {tag}\n")
    with pytest.raises(UserError, match=rf"valid.conll: line 2 has the tag {re.escape(tag)}, which is not among"):
        ready(TEXT, valid="valid.conll", read={"rewrite": "bioes"})


def test_more_types_of_spans_than_neighbours_are_noted_of():
    text = "".join(f"a B-{n}\nb I-{n}\n\n" for n in range(200))
    assert len(ready(text).tags or ()) == 401
    with pytest.raises(UserError, match=r"a.conll: line 602 has I-7 after B-8, and a span begins with B- of its type"):
        ready(text + "a B-8\nb I-7\n")


def test_a_share_is_held_out_by_the_seed():
    text = "".join(f"w{n} N\n\n" for n in range(200))
    prepared = ready(text, share=0.2)
    train, valid = ([pairs[0][0] for pairs in read_back(prepared, part)] for part in ("train", "valid"))
    assert len(train) + len(valid) == 200 and 20 < len(valid) < 60
    assert set(valid) == {"<unk>"}  # learnt from train alone
    assert ready(text, share=0.2).folder == prepared.folder


def test_a_folder_of_the_name_does_not_hide_a_known_set(tmp_path, monkeypatch):
    """As where somebody works in the folder that holds the data."""
    folder = tmp_path / "ud-english-ewt"
    folder.mkdir()
    for name in ("train", "dev", "test"):
        (folder / f"{name}.tsv").write_text("dogs\tNOUN\tNNS\nbark\tVERB\tVBP\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("FORESAY_DATA", str(tmp_path))
    found = Tags("ud-english-ewt", test="ud-english-ewt").find(1)
    assert [list(one.words) for one in found["test"]] == [["dogs", "bark"]]
