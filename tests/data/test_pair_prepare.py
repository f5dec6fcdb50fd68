"""Preparing pairs: whose text a vocabulary is learnt from, what is made anew, what is refused before writing."""

from __future__ import annotations

from pathlib import Path

import pytest

from foresay import parts
from foresay.data.pair_prepare import PreparingPairs, coverage
from foresay.data.pair_shards import PairShards
from foresay.data.pairs import Pairs
from foresay.data.prepare import prepare
from foresay.errors import UserError
from foresay.text.tokens import UNK


def wrote(name: str, rows: list[tuple[str, str]]) -> str:
    Path(name).write_text("".join(f"{a}\t{b}\n" for a, b in rows), "utf-8")
    return name


def learnt(tokens) -> set[str]:
    return set(tokens.pieces(range(5, len(tokens))))


def prepared(corpus: Pairs, kind: str = "characters", **rest):
    return prepare(corpus, parts.make("tokens", kind), 1, cache=Path("cache"), **rest)


def test_a_vocabulary_is_learnt_from_train_alone() -> None:
    train, valid = wrote("t.tsv", [("ab", "x"), ("b", "xy")]), wrote("v.tsv", [("aq", "z")])
    both = prepared(Pairs(train, valid=valid))
    assert learnt(both.tokens) == set("abxy") and both.source_tokens is None
    assert isinstance(both.valid, PairShards) and both.valid.source.slice(0, 2).tolist()[1] == UNK
    each = prepared(Pairs(train, valid=valid, source_tokens=parts.make("tokens", "characters")))
    assert each.source_tokens is not None
    assert learnt(each.tokens) == set("xy") and learnt(each.source_tokens) == set("ab")


def test_the_caller_s_tokeniser_is_left_alone() -> None:
    tokens = parts.make("tokens", "characters")
    prepare(Pairs(wrote("t.tsv", [("a", "x")]), share=0.0), tokens, 1, cache=Path("cache"))
    assert len(tokens) == 5


def test_a_sample_is_spread_evenly() -> None:
    """Ten pairs of 4 characters; a tokeniser that wants 20 gets every second one."""
    rows = [(f"{n}a", f"{n}b") for n in range(10)]
    corpus, tokens = Pairs(wrote("t.tsv", rows), share=0.0), parts.make("tokens", "characters")
    make = PreparingPairs(corpus, tokens, 1)
    tokens.sample = 20
    assert list(make.sample(tokens)) == [text for n in range(0, 10, 2) for text in rows[n]]
    assert list(make.sample(tokens, slice(1, 2))) == [rows[n][1] for n in range(0, 10, 2)]
    tokens.sample = None
    assert list(make.sample(tokens, slice(0, 1))) == [source for source, _ in rows]


def test_what_changes_the_folder() -> None:
    rows = [(letter * 3, letter) for letter in "abcdefghijklmnopqrst"]
    first = prepared(Pairs(wrote("t.tsv", rows), share=0.3)).folder
    assert prepared(Pairs(wrote("copy.tsv", rows), share=0.3)).folder == first  # the pairs count, not the file's name
    others = [
        prepared(Pairs("t.tsv", share=0.4)).folder,
        prepared(Pairs("t.tsv", share=0.0)).folder,
        prepared(Pairs("t.tsv", share=0.3, source_tokens=parts.make("tokens", "characters"))).folder,
        prepared(Pairs("t.tsv", share=0.3), "bytes").folder,
        prepared(Pairs(wrote("t.tsv", [*rows[:-1], ("t", "T")]), share=0.3)).folder,
    ]
    assert len({first, *others}) == 6


def test_progress_ends_at_one() -> None:
    told: list[tuple[str, float]] = []
    corpus = Pairs(wrote("t.tsv", [("a", "x")] * 9), share=0.0)
    prepared(corpus, on_progress=lambda stage, fraction: told.append((stage, fraction)))
    assert told[-1] == ("encode train", 1.0) and ("learn", 1.0) in told
    assert [fraction for stage, fraction in told if stage == "learn"] == pytest.approx([n / 9 for n in range(1, 10)])


@pytest.mark.parametrize(
    ("rows", "share", "words"),
    [
        ([("a", "x"), ("b", "")], 0.0, "line 2 has an empty target"),
        ([], 0.0, "t.tsv is empty; give lines with a source and a target"),
        ([("a", "x")], 1e-9, "gives no valid pairs; give more pairs, data.valid, or another data.share"),
    ],
)
def test_what_is_refused_leaves_nothing(rows: list[tuple[str, str]], share: float, words: str) -> None:
    with pytest.raises(UserError, match=words):
        prepared(Pairs(wrote("t.tsv", rows), share=share))
    assert not Path("cache").exists() or not [one for one in Path("cache").iterdir() if len(one.name) == 40]


def test_a_text_that_gives_no_tokens_names_its_line() -> None:
    """Once the emoji is stripped, nothing is left; what is held out is of train."""
    tokens = parts.make("tokens", {"kind": "words", "normalise": {"emoji": "strip"}})
    train = wrote("t.tsv", [("a", "x"), ("b", "\U0001f600")])
    with pytest.raises(UserError, match=r"^t.tsv: line 2 has a target without tokens; mend it, or take another"):
        prepare(Pairs(train, share=0.0), tokens, 1, cache=Path("cache"))
    with pytest.raises(UserError, match=r"^t.tsv: line 2 has a target without tokens"):
        prepare(Pairs(train, share=0.5), tokens, 1, cache=Path("cache"))
    other = Pairs(wrote("a.tsv", [("a", "x")]), valid=wrote("v.tsv", [("\U0001f600", "x")]))
    with pytest.raises(UserError, match=r"^v.tsv: line 1 has a source without tokens"):
        prepare(other, tokens, 1, cache=Path("cache"))


def test_coverage_counts_every_token_once_and_unknown_ones_never() -> None:
    known = [True] * 6 + [False]
    assert coverage([5, 6, 6, 5], known) == 0.5 and coverage([UNK, 5], known) == 0.5 and coverage([], known) == 0.0
