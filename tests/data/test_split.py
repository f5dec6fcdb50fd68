"""Train and valid: disjoint, complete, cut at good places."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from foresay.data.corpus import Corpus, Found
from foresay.data.prepare import prepare
from foresay.data.reading import lines
from foresay.data.scan import scan
from foresay.data.source import Source
from foresay.data.split import Choice, split, uniform
from foresay.errors import UserError
from foresay.text.characters import Characters

TEXTS = st.lists(st.text(st.sampled_from("ab中é \n\n"), min_size=1, max_size=30), min_size=1, max_size=4)


def found(texts):
    sources = [Source(str(i), content=text.encode()) for i, text in enumerate(texts)]
    return {"train": Found([(source, scan(source)) for source in sources])}


def cut(texts, seed=1, held_block=8, **settings):
    return split(Corpus("made", **settings), found(texts), seed, held_block)


def content(stretches):
    return [stretch.source.content[stretch.start : stretch.stop].decode() for stretch in stretches]


@given(texts=TEXTS, share=st.sampled_from([0.05, 0.3, 0.6]), holdout=st.sampled_from(["tail", "seed"]))
def test_documents_are_disjoint_and_complete(texts, share, holdout):
    try:
        parts = cut(texts, share=share, holdout=holdout)
    except UserError as error:
        assert "too small to hold out" in str(error)
        return
    pieces = sorted(
        (int(stretch.source.name), stretch.start, stretch.stop) for part in parts.values() for stretch in part
    )
    for number, text in enumerate(texts):
        spans = [(start, stop) for name, start, stop in pieces if name == number]
        assert spans[0][0] == 0 and spans[-1][1] == len(text.encode())
        assert all(left[1] == right[0] for left, right in pairwise(spans))
    content(parts["train"]), content(parts["valid"])  # each decodes: no character is cut
    assert parts["train"] and parts["valid"]


@given(texts=TEXTS, share=st.sampled_from([0.05, 0.3, 0.6]), holdout=st.sampled_from(["tail", "seed"]))
def test_lines_are_disjoint_and_complete(texts, share, holdout):
    try:
        parts = cut(texts, share=share, holdout=holdout, unit="line")
    except UserError:
        assume(False)
    both = [line for part in parts.values() for block in lines(part, 5) for line in block.texts]
    assert sorted(both) == sorted(line for text in texts for line in text.split("\n") if line.strip())


@pytest.mark.parametrize(
    ("text", "train"),
    [
        ("one\ntwo\nthree\nfour\nfive six\n", "one\ntwo\nthree\n"),  # boundary 14 of 28
        ("0123 56789 1234 6789 1234567", "0123 56789 "),  # no newline: at a blank
        ("中" * 9, "中" * 4),  # neither: between two characters
        ("t\n" + "x" * 30, "t\n" + "x" * 14),  # a newline far before is not taken
    ],
)
def test_where_the_tail_is_cut(text, train):
    parts = cut([text], share=0.5)
    assert content(parts["train"]) == [train]
    assert content(parts["valid"]) == [text[len(train) :]]


def test_the_tail_of_many_files():
    parts = cut(["a" * 60 + "\n", "b\nb\n", "c" * 30], share=0.33)
    assert content(parts["train"]) == ["a" * 60 + "\n", "b\n"]
    assert content(parts["valid"]) == ["b\n", "c" * 30]


def test_a_byte_order_mark_is_left_out():
    parts = cut(["\ufeffone\ntwo\nthree\nfour\n"], share=0.3)
    assert "".join(content(parts["train"]) + content(parts["valid"])) == "one\ntwo\nthree\nfour\n"


def test_one_line_cannot_be_split():
    with pytest.raises(UserError, match=r"too small to hold out a share of 0.1; give data.valid"):
        cut(["only one line"], unit="line")


def test_nothing_is_held_out_when_valid_is_given_or_the_share_is_zero():
    assert set(cut(["one\ntwo\n"], share=0.0)) == {"train"}
    both = found(["one\n"]) | {"valid": found(["two\n"])["train"]}
    parts = split(Corpus("made", valid="other"), both, 1)
    assert content(parts["train"]) == ["one\n"] and content(parts["valid"]) == ["two\n"]


def test_a_seed_holds_out_about_its_share_of_blocks():
    text = "".join(f"line {i}\n" for i in range(2000))
    one, same, other = (cut([text], seed, 64, holdout="seed", share=0.2) for seed in (1, 1, 2))
    held = sum(len(piece) for piece in content(one["valid"]))
    assert 0.1 < held / len(text) < 0.3
    assert one == same and one != other
    assert all(piece.endswith("\n") for piece in content(one["train"] + one["valid"]))


def test_choices_do_not_depend_on_where_they_are_asked():
    choice = Choice(3, 0, 0.25, True)
    whole = choice.chosen(0, 4000)
    assert np.array_equal(whole[1000:1500], choice.chosen(1000, 500))
    assert 0.2 < whole.mean() < 0.3
    assert np.array_equal(whole, ~Choice(3, 0, 0.25, False).chosen(0, 4000))
    assert not np.array_equal(whole, Choice(3, 1, 0.25, True).chosen(0, 4000))


def test_a_small_table_still_gives_one_row(tmp_path):
    (tmp_path / "a.csv").write_text("text\none\ntwo\nthree\nfour\n")
    (tmp_path / "b.txt").write_text("plain text\n" * 50)
    for where in ("a.csv", ""):
        for seed in range(8):
            corpus = Corpus(str(tmp_path / where), holdout="seed", share=0.1)
            found = prepare(corpus, Characters(), seed, cache=tmp_path.parent / "cache")
            assert found.valid.documents >= 1 and found.train.documents >= 1
            assert found.valid.documents + found.train.documents == (4 if where else 5)


def test_files_and_rows_are_drawn_apart():
    assert not np.array_equal(uniform(1, 0, 0, 20), uniform(1, 1, 0, 20))


def test_a_share_that_cannot_be_is_told(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_text('"short"\n' * 50 + f'"{"long " * 2000}"\n')
    found = prepare(Corpus(str(path)), Characters(), 1, cache=tmp_path / "c")
    (note,) = (note for note in found.notes if note.startswith("held out"))
    assert note.startswith("held out: 97.6 % of the text, not 10 %: its documents are few or of very different length")
