"""Phrases learnt from a stream: against a plain implementation of word2phrase, and what a small vocabulary does."""

import random
from collections import Counter
from itertools import pairwise

import pytest

from foresay.text import word_learning
from foresay.text.blanks import Blanks
from foresay.text.normalise import Normalise
from foresay.text.phrases import Phrases
from foresay.text.tokens import UNK
from foresay.text.vocabulary import Counts
from foresay.text.word_learning import fit
from foresay.text.words import Words

WORDS = "new york times the post of san francisco is in a big city".split()  # noqa: SIM905


def text(seed=5, lines=400):
    draw = random.Random(seed)
    made = []
    for _ in range(lines):
        words = draw.choices(WORDS, k=draw.randint(1, 9))
        place = draw.randint(0, len(words))
        words[place:place] = draw.choice(["new york", "new york times", "san francisco", "big"]).split()
        made.append(" ".join(words))
    return "\n".join(made) + "\n"


def word2phrase(lines: list[list[str]], min_count: int, threshold: float) -> list[list[str]]:
    """One pass of Mikolov's tool, word by word."""
    words = Counter(word for line in lines for word in line)
    pairs = Counter(pair for line in lines for pair in pairwise(line))
    total = sum(words.values())
    joined = []
    for line in lines:
        found, i = [], 0
        while i < len(line):
            pair = tuple(line[i : i + 2])
            score = 0.0
            if len(pair) == 2:
                score = (pairs[pair] - min_count) / words[pair[0]] / words[pair[1]] * total
            found.append("_".join(pair) if score > threshold else line[i])
            i += 2 if score > threshold else 1
        joined.append(found)
    return joined


@pytest.mark.parametrize("passes", [1, 2, 3])
@pytest.mark.parametrize(("min_count", "threshold"), [(5, 2.0), (0, 1.2), (20, 1.1)])
def test_the_phrases_are_word2phrases(passes, min_count, threshold):
    given = text()
    expected = [line.split() for line in given.splitlines()]
    for _ in range(passes):
        expected = word2phrase(expected, min_count, threshold)
    tokens = Words(phrases=Phrases(threshold=threshold, min_count=min_count, passes=passes))
    cut = given.index("\n", 5000) + 1
    tokens.learn([given[:cut], given[cut:]])
    units = [word for line in expected for word in line]
    assert any("_" in unit for unit in units)
    assert tokens.pieces(tokens.encode(given)) == units
    counts = Counter(units)
    assert tokens.words[5:] == sorted(counts, key=lambda word: (-counts[word], word))
    assert tokens.decode(tokens.encode(given)) == " ".join(given.split())


def test_lines_given_one_by_one_or_once_only_are_the_same():
    settings = {"phrases": Phrases(threshold=1.2, min_count=2, passes=2), "normalise": Normalise(lowercase=True)}
    whole, lines, once = (Words(**settings) for _ in range(3))
    given = text().upper()
    whole.learn([given])
    lines.learn(given.splitlines())
    once.learn(iter([given]))
    assert whole.words == lines.words == once.words and any("_" in word for word in whole.words)
    assert whole.passes == lines.passes == once.passes


def test_no_phrase_crosses_a_newline():
    tokens = Words(phrases=Phrases(threshold=0.1, min_count=0))
    tokens.learn(["a b\n" * 10])
    assert tokens.pieces(tokens.encode("a b\na\nb")) == ["a_b", "<unk>", "<unk>"]


def test_what_the_vocabulary_has_no_room_for_gives_its_count_back():
    """b_c 3 times and a_d twice: with room for two words, a 9 + 2 and d 4 + 2."""
    counts = Counts()
    counts.add({"a": 9, "b_c": 3, "b": 1, "d": 4, "a_d": 2})
    words, passes = fit([[("b", "c"), ("a", "d")]], counts, room=2, min_count=1)
    assert words == ["a", "d"] and passes == [[]]
    assert [counts.seen[word] for word in "abcd"] == [11, 4, 3, 6]


def test_a_part_of_a_longer_phrase_is_kept_and_is_words_where_it_stands_alone():
    tokens = Words(phrases=Phrases(threshold=1.0, min_count=1, passes=2))
    tokens.learn(["new york times\n" * 9 + "big\nnew\nyork\n" * 9])
    assert tokens.words[5:] == ["big", "new", "new_york_times", "york"]
    assert tokens.passes == [[("new", "york")], [("new_york", "times")]]
    assert tokens.pieces(tokens.encode("new york times new york")) == ["new_york_times", "new", "york"]
    assert tokens.stages("new york big")[-2].pieces == ["new", "york", "big"]
    assert tokens.decode(tokens.encode("new york times new york")) == "new york times new york"


def test_a_word_that_looks_like_a_phrase_stays_a_word():
    tokens = Blanks(phrases=Phrases(threshold=0.5, min_count=0))
    tokens.learn(["a b\na_b\nx y\n" * 5])
    assert tokens.pieces(tokens.encode("a b a_b x y")) == ["a", "b", "a_b", "x_y"]
    assert tokens.decode(tokens.encode("a b a_b x y")) == "a b a_b x y"


def test_unknown_words_are_shown_and_not_joined():
    tokens = Words(phrases=Phrases(threshold=1.0, min_count=1))
    tokens.learn(["new york is big\nnew york\n" * 5])
    stages = {stage.name: stage.pieces for stage in tokens.stages("i like\nnew york new")}
    assert stages["split"] == ["i", "like", "new", "york", "new"]
    assert stages["phrases"] == ["i", "like", "new_york", "new"]
    assert tokens.encode("i new york").tolist() == [UNK, tokens.words.index("new_york")]


class Read:
    """Texts, and how often they were gone through."""

    def __init__(self, texts):
        self.texts, self.times = texts, 0

    def __iter__(self):
        self.times += 1
        yield from self.texts


def test_no_further_pass_is_made_when_one_joins_nothing():
    texts = Read(["new york is\nbig\n" * 9])
    tokens = Words(phrases=Phrases(threshold=1.0, min_count=1, passes=50))
    tokens.learn(texts)
    assert tokens.passes == [[("new", "york")], [("new_york", "is")]]
    assert texts.times == 5  # words, pairs twice, pairs in vain, what is left


def test_chunks_are_split_after_so_many_characters_too(monkeypatch):
    made = []

    class Noted(Counts):
        def add(self, counts):
            made.append(dict(counts))
            super().add(counts)

    monkeypatch.setattr(word_learning, "Counts", Noted)
    monkeypatch.setattr(word_learning, "_CHARACTERS", 10)
    words, _ = word_learning.learn_words(["aaaa bbbb", "aaaa", "c"], str.split, None, 9, 1)
    assert words == ["aaaa", "bbbb", "c"] and made == [{"aaaa": 2, "bbbb": 1}, {"c": 1}]
