"""The claim `dictionary`: its rule, growth and cover by hand, its texts, and whole runs with and without data."""

from __future__ import annotations

import lzma
import random
import sys
from collections import Counter

import numpy as np
import pytest

from foresay.study.claims import dictionary, dictionary_text, runner
from foresay.study.claims.claim import Figure
from foresay.study.claims.dictionary import (
    CHARACTERS,
    COVERED,
    DRAWN,
    REFERENCE,
    WORDS,
    Counted,
    Size,
    count,
    draw,
    growth,
    judge,
    needed,
    ratios,
)
from foresay.study.claims.dictionary_text import WIKI_EN, WIKI_ZH, by_character, drawn, numbered, reference, units
from foresay.train.progress import Watch


@pytest.mark.parametrize(
    ("low", "high", "whole", "verdict"),
    [
        (3.1, 9, True, "holds"),
        (3.1, 9, False, "holds"),
        (2.9, 9, True, "not decided at this size"),
        (0.5, 2.9, True, "does not hold"),
        (0.5, 2.9, False, "not decided at this size"),
    ],
)
def test_the_rule(low, high, whole, verdict):
    assert judge(Figure("", (low + high) / 2, low, high), whole) == verdict


def test_growth_by_hand_and_by_sets():
    ids = np.array([0, 1, 0, 2, 1, 3])
    assert growth(ids, [1, 2, 3, 4, 6]) == [1, 2, 2, 3, 4]
    chance = np.random.default_rng(1).zipf(1.5, 500)
    assert growth(chance, [7, 100, 500]) == [len(set(chance[:n].tolist())) for n in (7, 100, 500)]


def test_cover_by_hand_and_by_counting():
    """6, 3 and 1 of ten tokens: one type makes 60 %, two 90 %."""
    ids = np.array([5] * 6 + [2] * 3 + [9])
    assert needed(ids, [0.1, 0.6, 0.61, 0.9, 0.95, 1.0]) == [1, 1, 2, 2, 3, 3]
    chance = np.random.default_rng(2).zipf(1.4, 3000)
    ranked = [many for _, many in Counter(chance.tolist()).most_common()]
    for share, found in zip((0.5, 0.9, 0.99), needed(chance, (0.5, 0.9, 0.99)), strict=True):
        assert sum(ranked[:found]) >= share * 3000 > sum(ranked[: found - 1])


def test_pieces_are_equally_long_and_follow_each_other(monkeypatch):
    monkeypatch.setattr(dictionary, "FIRST", 2)
    one = count("any", np.array([0, 0, 0, 0, 1, 2, 3, 4, 5]), Size(2, 100))
    assert one.types == {2: [1, 2], 4: [1, 4]} and one.needed[COVERED] == [1, 4] and one.tokens == 9
    assert count("any", np.arange(9), Size(2, 3)).types == {3: [3, 3]}


def test_ratios_are_taken_piece_by_piece():
    words = Counted("w", 9, {5: [1, 1], 9: [8, 12]}, {COVERED: [6, 20]})
    characters = Counted("c", 9, {5: [1, 1], 9: [4, 3]}, {COVERED: [3, 5]})
    cover, every = ratios(words, characters)
    assert cover.value == pytest.approx(8**0.5) and every.value == pytest.approx(8**0.5)


def test_what_counts_as_a_unit():
    assert units(WIKI_ZH, "中国2024年，abc 艺术。") == ["中", "国", "年", "艺", "术"]
    assert units(WIKI_EN, "the Dog's 3 dogs") == ["the", "dog", "s", "dogs"]
    assert units(dictionary_text.WIKITEXT, "The <unk> , dog @-@ 3") == ["the", "<unk>", "dog"]
    assert numbered("abca").tolist() == [0, 1, 2, 0]


def test_counts_of_words_become_counts_of_characters():
    assert by_character(["中国 10 ns", "中 5 f", "国国 1 n", "B超 3 n"]) == {"中": 15, "国": 12, "超": 3}


def test_drawn_characters_are_as_frequent_as_the_dictionary_has_them(monkeypatch):
    """By a tiny one: 中 stands in it 15 times, 国 12."""
    monkeypatch.setattr(dictionary_text, "_dictionary", lambda: ["中国 10 ns", "中 5 f", "国国 1 n"])
    found = drawn(1, 20_000)
    counts = Counter(found)
    assert counts["中"] / 20_000 == pytest.approx(15 / 27, abs=0.015) and set(counts) == {"中", "国"}
    assert found == drawn(1, 20_000) != drawn(2, 20_000)


def test_the_reference_has_each_paragraph_once(monkeypatch):
    monkeypatch.setattr(dictionary_text, "python_reference", lambda: b"A dog x2\n\nA dog x2\n\nand_more")
    assert reference() == ["a", "dog", "x", "and", "more"]


@pytest.fixture
def wikipedia(tmp_path, monkeypatch):
    """Ten characters, and words of which nearly all are different."""
    chance, folder = random.Random(1), tmp_path / "data"
    for name, text in (
        (WIKI_ZH, "".join(chance.choices("的一是不了在人有我他", k=9000))),
        (WIKI_EN, " ".join("".join(chance.choices("abcdefghij", k=6)) for _ in range(9000))),
    ):
        (folder / name).parent.mkdir(parents=True)
        (folder / name).write_bytes(lzma.compress(text.encode(), preset=0))
    monkeypatch.setenv("FORESAY_DATA", str(folder))


def test_a_whole_run(tmp_path, wikipedia):
    found = runner.run_claim("dictionary", quick=True, out=tmp_path, watch=Watch())
    assert found["verdict"] == "holds" and not found["note"]
    assert [one["text"] for one in found["details"]["counted"]] == [CHARACTERS, WORDS]
    assert found["details"]["counted"][0]["types"][3000] == [10, 10, 10]
    assert (tmp_path / "dictionary.png").stat().st_size > 10_000


def test_without_data_what_is_built_in_may_not_refute(tmp_path, monkeypatch):
    pytest.importorskip("jieba")
    monkeypatch.delenv("FORESAY_DATA", raising=False)
    found = runner.run_claim("dictionary", quick=True, out=tmp_path, watch=Watch())
    assert found["verdict"] == "not decided at this size" and "set FORESAY_DATA" in found["note"]
    assert [one["text"] for one in found["details"]["counted"]] == [DRAWN, REFERENCE]
    found = runner.run_claim("dictionary", out=tmp_path, watch=Watch())
    assert found["verdict"] == "no data" and WIKI_ZH in found["note"] and WIKI_EN in found["note"]


def test_without_data_and_without_jieba_it_says_what_to_fetch(tmp_path, monkeypatch):
    monkeypatch.delenv("FORESAY_DATA", raising=False)
    monkeypatch.setitem(sys.modules, "jieba", None)
    found = runner.run_claim("dictionary", quick=True, out=tmp_path, watch=Watch())
    assert found["verdict"] == "no data" and "jieba" in found["note"] and WIKI_ZH in found["note"]


def test_a_picture_has_every_text():
    ids = np.random.default_rng(3).zipf(1.3, 6000)
    first, second = draw([count(name, ids, Size(2, 3000)) for name in (CHARACTERS, WORDS)]).axes
    assert len(first.containers) == len(second.containers) == 2 and first.get_yscale() == "log"
