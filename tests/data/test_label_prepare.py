"""Preparing texts with labels: whose words and labels are learnt, what is made anew, what is refused before writing."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from foresay import parts
from foresay.data.label_batches import LabelBatches
from foresay.data.label_shards import LabelSet, LabelShards
from foresay.data.labels import LabelReading, Labels
from foresay.data.prepare import Prepared, prepare
from foresay.data.split import Choice
from foresay.errors import UserError
from foresay.text.tokens import STOP, UNK
from foresay.text.word_bytes import numbered


def wrote(name: str, rows: list[tuple[str, str]]) -> str:
    Path(name).write_text("text\tlabel\n" + "".join(f"{a}\t{b}\n" for a, b in rows), "utf-8")
    return name


def prepared(corpus: Labels, kind: Any = "blanks", **rest: Any) -> Prepared:
    return prepare(corpus, parts.make("tokens", kind), 1, cache=Path("cache"), **rest)


ROWS = [("a b", "no"), ("c", "yes"), ("b", "yes")]


def test_words_and_labels_are_of_train() -> None:
    found = prepared(Labels(wrote("t.tsv", ROWS), valid=wrote("v.tsv", [("a q", "yes")])))
    train, valid = found.train, found.valid
    assert isinstance(train, LabelShards) and isinstance(valid, LabelShards)
    assert train.labels == valid.labels == LabelSet(("no", "yes"), False, (1, 2))
    assert set(found.tokens.pieces(range(5, len(found.tokens)))) == {"a", "b", "c"}
    a, b, c = (found.tokens.encode(word).item() for word in "abc")
    assert train.slice(0, 99).tolist() == [a, b, STOP, c, STOP, b, STOP] and train.numbers.tolist() == [0, 1, 1]
    assert valid.slice(0, 99).tolist() == [a, UNK, STOP] and valid.numbers.tolist() == [1]


def test_unknown_words_keep_their_letters() -> None:
    """In batches, where `ids` has <unk>: each word once, cut texts too; not where tokens are pieces of words."""
    rows = [("b", "no"), ("qx a zy. qx a", "yes"), ("a b", "no"), ("<unk> Zy.", "yes")]
    lower = {"kind": "blanks", "normalise": {"lowercase": True}}
    corpus = Labels(wrote("t.tsv", ROWS), valid=wrote("v.tsv", rows))
    found = prepared(corpus, lower)
    assert isinstance(found.valid, LabelShards)
    (batch,) = LabelBatches(tokens=99, longest=4).evaluation(found.valid)
    v, a, b = len(found.tokens), *(found.tokens.encode(word).item() for word in "ab")
    assert batch.ids.tolist() == [[b, 0, 0, 0], [UNK, a, UNK, UNK], [a, b, 0, 0], [UNK, UNK, 0, 0]]
    assert batch.spelt.tolist() == [[b, 0, 0, 0], [v, a, v + 1, v], [a, b, 0, 0], [UNK, v + 1, 0, 0]]
    assert batch.characters.tolist() == numbered(["qx", "zy."], 100)[:, : batch.characters.shape[1]].tolist()
    (known,) = LabelBatches(tokens=99).evaluation(found.train)
    assert known.spelt is None and known.characters is None
    pieces = prepared(corpus, "characters").valid
    assert isinstance(pieces, LabelShards) and not pieces.strange.words


def test_it_is_what_prepare_gives_and_is_made_once() -> None:
    corpus = Labels(wrote("t.tsv", ROWS), share=0.0)
    first = prepare(corpus, parts.make("tokens", "blanks"), 1, cache=Path("cache"))
    assert prepared(Labels(wrote("copy.tsv", ROWS), share=0.0)).folder == first.folder
    others = [
        prepared(Labels("t.tsv", share=0.0), "characters").folder,
        prepared(Labels("t.tsv", share=0.0, read=LabelReading(several=True))).folder,
        prepared(Labels(wrote("u.tsv", [*ROWS[:2], ("b", "no")]), share=0.0)).folder,
        prepared(Labels("t.tsv", share=0.5)).folder,
    ]
    assert len({first.folder, *others}) == 5


def test_a_trained_model_s_words_and_labels_hold() -> None:
    tokens = prepared(Labels(wrote("t.tsv", ROWS), share=0.0)).tokens
    corpus = Labels(wrote("n.tsv", [("a z", "yes")]), share=0.0)
    corpus.known = LabelSet(("no", "yes"), False, (1, 2))
    found = prepare(corpus, tokens, 1, cache=Path("cache"), learnt=True)
    assert isinstance(found.train, LabelShards)
    assert found.train.numbers.tolist() == [1] and found.train.slice(0, 9).tolist()[1] == UNK and not found.notes


def test_a_label_that_is_held_out_whole_is_told_of() -> None:
    held = int(Choice(1, 0, 0.1, held=True).chosen(0, 40).argmax())
    rows = [(f"w{n}", "rare" if n == held else str(n % 2)) for n in range(40)]
    found = prepared(Labels(wrote("t.tsv", rows)))
    assert found.notes == ("held out: every text with the label 'rare'; it cannot be learnt",)
    rows = [(f"w{n}", str(100 + n)) for n in range(300)]
    held = [str(100 + n) for n in Choice(1, 0, 0.1, held=True).chosen(0, 300).nonzero()[0].tolist()]
    (note,) = prepared(Labels(wrote("t.tsv", rows))).notes
    first = ", ".join(map(repr, held[:12]))
    assert (
        note == f"held out: every text of {len(held)} labels, which cannot be learnt: {first}, ..." and len(held) > 12
    )


def test_a_header_that_is_read_as_a_text_is_told_of() -> None:
    rows, how = [(f"w{n}", str(n % 2)) for n in range(40)], LabelReading(columns=[1, 2])
    notes = prepared(Labels(wrote("t.tsv", rows), share=0.0, read=how)).notes
    assert len(notes) == 1 and "only line 1 of t.tsv has the label 'label': a header is read as a text" in notes[0]
    assert not prepared(Labels(wrote("u.tsv", [*rows, ("w", "label")]), share=0.0, read=how)).notes
    assert not prepared(Labels("t.tsv", share=0.0)).notes


@pytest.mark.parametrize(
    ("train", "valid", "message"),
    [
        (
            ROWS,
            [("a", "no"), ("b", "yse")],
            "v.tsv: line 3 has the label 'yse', which the train text has not; allowed: no, yes; did you mean 'yes'",
        ),
        (
            [("a", "x"), ("b", "x")],
            [("a", "x")],
            "t.tsv has only the label 'x', from line 2 on; give texts of at least",
        ),
        ([], [("a", "x")], "t.tsv is empty; give lines with a text and its label"),
        (ROWS, [("a", "no"), ("\u00a0\u2003x", " ")], "v.tsv: line 3 has an empty label"),
    ],
)
def test_mistakes_are_found_before_anything_is_written(train: Any, valid: Any, message: str) -> None:
    with pytest.raises(UserError) as caught:
        prepared(Labels(wrote("t.tsv", train), valid=wrote("v.tsv", valid)))
    assert str(caught.value).startswith(message) and not Path("cache").exists()


def test_a_text_of_which_no_token_is_left() -> None:
    """Once the emoji is stripped, nothing is."""
    tokens = parts.make("tokens", {"kind": "words", "normalise": {"emoji": "strip"}})
    with pytest.raises(
        UserError, match=r"^t\.tsv: line 3 has a text without tokens; mend it, or take another tokeniser"
    ):
        prepare(Labels(wrote("t.tsv", [("a", "0"), ("\U0001f600", "1")]), share=0.0), tokens, 1, cache=Path("c"))


def test_of_few_texts_one_is_held_out() -> None:
    found = prepared(Labels(wrote("t.tsv", [("a", "0"), ("b", "1"), ("c", "0")]), share=1e-9))
    assert found.valid is not None and (found.train.documents, found.valid.documents) == (2, 1)
