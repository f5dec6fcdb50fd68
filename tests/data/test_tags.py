"""Files of columns: what is read, and every mistake with its line; what is prepared; batches."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from foresay import parts
from foresay.data.batches import Batches
from foresay.data.prepare import Prepared, prepare
from foresay.data.tag_prepare import word_ids
from foresay.data.tag_set import TagSet, open_tags
from foresay.data.tag_shards import TagShards
from foresay.errors import UserError
from foresay.text.tokens import PAD, UNK

TEXT = "Anna\tB-person\nlives\tO\nin\tO\nNew\tB-place\nYork\tI-place\n\nShe\tO\nsleeps\tO\n"


def ready(text: str | bytes, tokens: Any = "blanks", name: str = "a.conll", **settings: Any) -> Prepared:
    Path(name).write_bytes(text.encode() if isinstance(text, str) else text)
    settings = {"share": 0.0, **settings}
    corpus = parts.make("data", {"kind": "tags", "train": name, **settings})
    return prepare(corpus, parts.make("tokens", tokens), 1)


def read_back(prepared: Prepared, part: str = "train") -> list[list[tuple[str, str]]]:
    shards = getattr(prepared, part)
    assert isinstance(shards, TagShards) and prepared.tags is not None
    sentences = [shards.sentence(number) for number in range(shards.documents)]
    return [
        list(zip(prepared.tokens.pieces(words), [prepared.tags.names[tag] for tag in tags], strict=True))
        for words, tags in sentences
    ]


EXPECTED = [
    [("Anna", "B-person"), ("lives", "O"), ("in", "O"), ("New", "B-place"), ("York", "I-place")],
    [("She", "O"), ("sleeps", "O")],
]


@pytest.mark.parametrize(
    "text",
    [
        TEXT,
        TEXT.replace("\t", " "),
        TEXT.replace("\n", "\r\n"),
        TEXT.replace("O\n", "O\r\n", 2),  # mixed
        "\ufeff\n\n" + TEXT.replace("\n\n", "\n \t\n\n") + "\n\n",
        "-DOCSTART- O\n\n" + TEXT,
        TEXT.rstrip("\n"),
    ],
    ids=["tabs", "blanks", "crlf", "mixed", "more blank lines", "docstart", "no end"],
)
def test_words_and_tags(text):
    prepared = ready(text)
    assert read_back(prepared) == EXPECTED
    assert prepared.tags == TagSet(("O", "B-person", "I-person", "B-place", "I-place"), "bio")
    assert prepared.train.ends.tolist() == [6, 9] and prepared.train.sizes.tolist() == [5, 2]  # pyright: ignore
    assert open_tags(prepared.folder) == prepared.tags


def test_columns_conllu_and_packed():
    text = "# text = They're\n1-2\tThey're\t_\t_\n1\tThey\tthey\tPRON\n2\t're\tbe\tAUX\n2.1\tx\tx\tX\n\n"
    expected = [[("They", "PRON"), ("'re", "AUX")]]
    assert read_back(ready(gzip.compress(text.encode()), name="a.conllu.gz")) == expected
    four = "They PRP B-NP O\n're VBP B-VP O\n"
    assert read_back(ready(four, read={"columns": [1, 2]})) == [[("They", "PRP"), ("'re", "VBP")]]
    assert read_back(ready(four, read={"columns": [1, -1]})) == [[("They", "O"), ("'re", "O")]]


def test_rewritten_in_another_scheme():
    text = "a I-x\nb I-x\nc B-x\n\nd I-y\n"  # the first scheme of CoNLL: I- begins, B- divides
    prepared = ready(text, read={"rewrite": "bioes"})
    assert read_back(prepared) == [[("a", "B-x"), ("b", "E-x"), ("c", "S-x")], [("d", "S-y")]]
    assert prepared.tags == TagSet.of(["B-x", "B-y"], "bioes") and len(prepared.tags) == 9
    assert read_back(ready(text, read={"scheme": "none"}))[0][0] == ("a", "I-x")


@pytest.mark.parametrize(
    ("text", "settings", "error"),
    [
        ("a O\nb\n", {}, "line 2 has 1 column, line 1 has 2; every line of a word needs as many"),
        ("a O\n\nb O x\n", {}, "line 3 has 3 columns, line 1 has 2"),
        ("a\tO\nb\t\n", {}, "line 2 has an empty tag"),
        ("a\tO\n\tO\n", {}, "line 2 has an empty word"),
        ("a O\rb O\rc O\n", {}, "line 1 has a carriage return within"),
        ("a O x\n", {}, "has 3 columns at line 1; say which are the word's and the tag's: data.columns="),
        ("a O\n", {"read": {"columns": [1, 3]}}, r"data.columns=\[1, 3\], but a.conll has 2 columns at line 1"),
        ("a O\n", {"read": {"columns": [2, -1]}}, "allowed: two different ones of 1 to 2"),
        ("a O\n", {"read": {"columns": [0, 1]}}, "allowed: two, the word's and its tag's"),
        ("a O\nb I-x\n", {}, "line 2 has I-x after O, and a span begins with B- of its type.*data.rewrite=bio"),
        ("\na I-x\n", {}, "line 2 has I-x after the beginning of a sentence"),
        ("a B-x\nb I-y\n", {}, "line 2 has I-y after B-x"),
        ("a S-x\nb B-x\n", {}, "line 2 has B-x before the end of a sentence, and a span begins with B- and ends with"),
        ("a B-x\nb I-x\nc S-x\n", {}, "line 2 has I-x before S-x"),
        ("a O\nb Z\n", {"tags": ["O", "N"]}, "line 2 has the tag Z, which is not among data.tags: N, O"),
        ("a N\n", {"read": {"rewrite": "bio"}}, "data.rewrite=bio, but the tags of a.conll write no spans: N"),
        ("a N\n", {"read": {"scheme": "bio"}}, "data.scheme=bio, but there are tags that write no spans: N"),
        ("a N\n", {"read": {"scheme": "none", "rewrite": "bio"}}, "leave one of them out"),
        ("\n\n", {}, "a.conll has no words"),
        (b"a O\n\xff O\n", {}, "line 2 is not UTF-8: byte 0xFF"),
        ("a N\n", {"share": 0.5}, "gives no (train|valid) sentences"),
        ("a N\n", {"valid": "gone.conll"}, "data.valid='gone.conll' is no file"),
        ("a N\n", {"train": "ptb"}, "ptb has no tags; allowed: wnut17, ud-english-ewt"),
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


def test_tokens_must_keep_words_whole():
    with pytest.raises(UserError, match=r"a.conll: line 3: the tokens cut the word 'New-York' into pieces.*tokens=bla"):
        ready("Anna O\n\nNew-York O\n", tokens="words")
    made = ready("我 O\n们 O\n", tokens="characters")
    assert read_back(made) == [[("我", "O"), ("们", "O")]]


def test_words_that_no_text_gives_are_unknown():
    tokens = parts.make("tokens", "blanks")
    tokens.learn(["a b"])
    (found,) = word_ids(tokens, [["a", "<stop>", "x<pad>", "b c", "zzz", "b"]])
    a, b = tokens.encode("a b").tolist()
    assert found is not None and found.tolist() == [a, UNK, UNK, UNK, UNK, b]


def test_a_share_is_held_out_by_the_seed():
    text = "".join(f"w{n} N\n\n" for n in range(200))
    prepared = ready(text, share=0.2)
    train, valid = ([pairs[0][0] for pairs in read_back(prepared, part)] for part in ("train", "valid"))
    assert len(train) + len(valid) == 200 and 20 < len(valid) < 60
    assert set(valid) == {"<unk>"}  # learnt from train alone
    assert ready(text, share=0.2).folder == prepared.folder


def test_batches():
    draw = np.random.default_rng(1)
    sizes = draw.integers(1, 20, 60)
    text = "\n".join("".join(f"w{draw.integers(9)} {'NV'[n % 2]}\n" for n in range(size)) for size in sizes)
    shards = ready(text).train
    assert isinstance(shards, TagShards)
    batches: Batches = parts.make("batches", {"kind": "tags", "tokens": 64, "longest": 15})
    order: Any = batches.open(shards, 3)
    assert order.left_out == (sizes > 15).sum() > 0
    seen = []
    for step in range(order.per_epoch):
        batch = order.batch(step)
        assert batch.ids.shape == batch.targets.shape and batch.ids.numel() <= 64
        mask = batch.mask if batch.mask is not None else batch.ids == batch.ids
        assert (batch.ids[~mask] == PAD).all()
        seen += [tuple(row[kept].tolist()) for row, kept in zip(batch.ids, mask, strict=True)]
        for row, kept in zip(batch.targets, mask, strict=True):
            assert row[kept].tolist() == [n % 2 for n in range(int(kept.sum()))]  # N and V in turn
    every = [tuple(shards.sentence(n)[0].tolist()) for n in range(60)]
    assert sorted(seen) == sorted(row for row in every if len(row) <= 15)
    measured = [b.ids[n] if b.mask is None else b.ids[n][b.mask[n]] for b in batches.evaluation(shards) for n in range(len(b.ids))]  # fmt: skip  # noqa: E501
    assert [tuple(row.tolist()) for row in measured] == every
    with pytest.raises(UserError, match="longest=1 leaves none of 1 sentences; the shortest has 2 words"):
        parts.make("batches", {"kind": "tags", "longest": 1}).open(ready("a N\nb N\n").train, 1)


def test_damage_is_told():
    prepared = ready(TEXT)
    (prepared.folder / "train" / "lines.bin").write_bytes(b"")
    with pytest.raises(UserError, match="is damaged: words and tags differ"):
        TagShards(prepared.folder / "train")
    for text in ("{}", "[", '{"tags": [], "scheme": "bio"}', '{"tags": ["O"], "scheme": "x"}'):
        (prepared.folder / "tags.json").write_text(text)
        with pytest.raises(UserError, match=r"tags.json is damaged"):
            open_tags(prepared.folder)
