"""Each hint on both sides of its threshold; a good vocabulary has none; every remedy is a setting that is taken."""

from __future__ import annotations

from typing import Any

import pytest

from foresay import recipe as recipes
from foresay.study.vocabulary.facts import Facts
from foresay.study.vocabulary.hints import Hint, find_hints
from tests.study.vocabulary.made import CHARACTERS, DATA, SUBWORDS, WORDS, good

BYTES = {"alphabet": 256, "one_byte": 0.2, "symbols": 2000, "rare": 900, "rare_learnt": 700}  # 1739 were learnt
CHINESE = {"tokens": CHARACTERS, "chinese": 0.9}


def only(facts: Facts) -> Hint:
    (hint,) = find_hints(facts)
    return hint


def test_a_good_vocabulary_gives_no_hint():
    assert find_hints(good()) == []
    assert find_hints(good(tokens=SUBWORDS, **BYTES)) == []
    assert find_hints(good(**CHINESE)) == []
    assert (
        find_hints(good(tokens={"kind": "bytes"}, symbols=261, rare=180, rare_learnt=0, alphabet=256, one_byte=1.0))
        == []
    )


def test_unknown_tokens():
    full = {"symbols": 10000, "rare": 3000, "rare_learnt": 3000}
    assert find_hints(good(valid={"unknown": 0.005}, **full)) == []
    hint = only(good(valid={"unknown": 0.0051}, **full))
    assert hint.about == "0.51 % of the validation tokens are unknown"
    assert hint.remedies == ("tokens.size=20000", "tokens=subwords")
    assert str(hint) == "0.51 % of the validation tokens are unknown; try tokens.size=20000, or tokens=subwords"
    by_count = only(good(tokens=WORDS | {"min_count": 5}, train={"unknown": 0.01}, valid={"unknown": 0.012}))
    assert by_count.remedies == ("tokens.min_count=2", "tokens=subwords")
    assert only(good(valid={"unknown": 0.0051})).remedies == ("tokens=subwords",)  # every word of train is in it


def test_unknown_tokens_that_the_text_itself_has():
    """A text with <unk> in it, as PTB: a vocabulary that is not full has left out nothing."""
    assert find_hints(good(train={"unknown": 0.05}, valid={"unknown": 0.055})) == []
    assert only(good(train={"unknown": 0.05}, valid={"unknown": 0.056})).remedies == ("tokens=subwords",)


@pytest.mark.parametrize(("tokens", "hints"), [(999, 0), (1000, 1)])
def test_a_short_validation_text_proves_nothing(tokens: int, hints: int):
    assert len(find_hints(good(valid={"unknown": 0.01, "tokens": tokens, "bytes": 5 * tokens}))) == hints


def test_symbols_hardly_ever_seen():
    assert find_hints(good(rare_learnt=2500)) == []
    hint = only(good(rare_learnt=2501, train={"rare": 0.034}))
    assert hint.about.endswith("train has 50 % of them fewer than 5 times, together 3.4 % of its tokens")
    assert hint.remedies == ("tokens.min_count=5", "tokens.size=2500")
    assert find_hints(good(rare_learnt=4000, train={"tokens": 999, "bytes": 4995})) == []


def test_rare_and_unknown_symbols_have_one_remedy():
    """A smaller vocabulary would leave out still more."""
    unknown, rare = find_hints(good(rare_learnt=2501, valid={"unknown": 0.01}))
    assert unknown.remedies == rare.remedies == ("tokens=subwords",) and "hardly ever seen" in rare.about


def test_the_bytes_of_subwords_may_be_unseen():
    few = BYTES | {"rare": 1125, "rare_learnt": 869}
    assert find_hints(good(tokens=SUBWORDS, **few)) == []  # of 1739
    assert only(good(tokens=SUBWORDS, **few | {"rare_learnt": 870})).remedies == ("tokens.size=1100",)
    assert only(good(tokens=SUBWORDS, **few | {"symbols": 264, "rare_learnt": 2})).remedies == ("tokens.size=262",)


def test_chinese_characters_with_a_long_tail():
    assert find_hints(good(**CHINESE, rare_learnt=1000)) == []
    hint = only(good(**CHINESE, rare_learnt=1001, train={"rare": 0.0004}))
    assert hint.about.startswith("Chinese characters with a long tail: train has 20 % of them fewer than 5 times")
    assert hint.about.endswith("together 0.04 % of its tokens") and hint.remedies[0] == "tokens.min_count=5"
    assert find_hints(good(tokens=CHARACTERS, chinese=0.3, rare_learnt=1001)) == []
    assert find_hints(good(tokens=WORDS, chinese=0.9, rare_learnt=1001)) == []


def test_subwords_that_fall_apart():
    assert find_hints(good(tokens=SUBWORDS, **BYTES | {"one_byte": 0.5})) == []
    hint = only(good(tokens=SUBWORDS, **BYTES | {"one_byte": 0.51}))
    assert hint.about == "subwords fall apart: 51 % of the train tokens are single bytes"
    assert hint.remedies == ("tokens.size=8000", "tokens=characters")
    little = only(good(tokens=SUBWORDS, **BYTES | {"one_byte": 0.51, "symbols": 1999}))
    assert little.about.endswith("too little text to learn more")
    assert little.remedies == ("tokens=characters", "tokens=bytes")


def test_documents_that_are_too_short():
    lines = {"about": {"data": DATA | {"unit": "line"}}}
    assert find_hints(good(train={"documents": 33_333}, **lines)) == []  # 3.00003 tokens each
    hint = only(good(train={"documents": 33_334}, **lines))
    assert hint == Hint("documents of 3.0 tokens have no context to learn from", ("data.unit=document",))
    assert only(good(train={"documents": 50_000}, about={"data": None})).remedies == ("data.unit=document",)
    assert find_hints(good(train={"documents": 50_000})) == []  # files: the setting is not to blame
    assert find_hints(good(train={"tokens": 2, "bytes": 10}, **lines)) == []  # one document is not many


def test_one_document_alone():
    assert find_hints(good(train={"documents": 2}, about={"batches": "buckets"})) == []
    assert find_hints(good(about={"batches": "packed"})) == [] and find_hints(good(about={"batches": None})) == []
    assert only(good(about={"batches": "buckets"})).remedies == ("data.unit=line", "train.batches=streams")


@pytest.mark.parametrize(("size", "hints"), [(62_500, 0), (62_600, 1), (40_000, 0), (39_900, 1)])
def test_validation_text_in_other_bytes_per_token(size: int, hints: int):
    """Train has 5 bytes per token, valid 10,000 tokens: from 4 to 6.25 bytes is alike."""
    found = find_hints(good(valid={"bytes": size}))
    assert len(found) == hints
    if found:
        assert found[0].about.startswith(f"the validation text is unlike the train text: {size / 1e4:.2f} bytes")
        assert found[0].remedies == ("data.holdout=seed", "data.valid=FILE")


@pytest.mark.parametrize(
    ("once", "train", "valid", "unlike"),
    [
        (0.002, 0.0, 0.02, False),
        (0.002, 0.0, 0.021, True),
        (0.01, 0.0, 0.03, False),  # three times as many new words as there are words seen once
        (0.01, 0.0, 0.031, True),
        (0.01, 0.02, 0.09, False),
        (0.01, 0.02, 0.091, True),
    ],
)
def test_validation_text_with_other_words(once: float, train: float, valid: float, unlike: bool):
    found = find_hints(good(once=once, train={"unknown": train}, valid={"unknown": valid}))
    assert any("unlike" in hint.about for hint in found) == unlike


def test_a_validation_text_of_its_own_is_the_users_choice():
    for data in (DATA | {"valid": "v.txt"}, DATA | {"holdout": "seed"}):
        assert only(good(valid={"bytes": 90_000}, about={"data": data})).remedies == ("data.valid=FILE",)


SPOILT: list[dict[str, Any]] = [
    {"valid": {"unknown": 0.3}, "symbols": 10000},
    {"tokens": WORDS | {"min_count": 3}, "valid": {"unknown": 0.3}},
    {"rare_learnt": 4000},
    {"tokens": SUBWORDS, **BYTES, "one_byte": 0.9, "rare_learnt": 1700},
    {"tokens": SUBWORDS, **BYTES, "one_byte": 0.9, "symbols": 300},
    {**CHINESE, "rare_learnt": 2000},
    {"about": {"batches": "buckets"}},
    {"train": {"documents": 90_000}, "about": {"data": None}},
]


@pytest.mark.parametrize("spoilt", SPOILT)
def test_every_remedy_is_a_setting(spoilt: dict[str, Any]):
    facts = good(**spoilt)
    raw = recipes.read("lstm") | {"tokens": dict(facts.about.tokens)}
    remedies = [remedy for hint in find_hints(facts) for remedy in hint.remedies]
    assert remedies
    for remedy in remedies:  # a name or value that is not allowed is an error
        recipes.complete(recipes.override(raw, [remedy])[0])
