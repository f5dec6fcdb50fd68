"""WordVectors: a dictionary, its questions by hand, and everything it refuses."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable

import numpy as np
import pytest

import foresay
from foresay.errors import UserError
from foresay.vectors.checked import UnknownWord
from foresay.vectors.spelling import Spelling
from foresay.vectors.word_vectors import WordVectors

WORDS = ["king", "man", "woman", "queen", "apple", "Rome"]
MATRIX = [[2, 2, 0], [0, 3, 0], [0, -3, 0], [1, -1, 0.1], [0, 0, 5], [-1, 0, 0]]


@pytest.fixture
def vectors() -> WordVectors:
    return WordVectors(WORDS, MATRIX, counts=range(60, 0, -10))


def test_it_is_a_dictionary(vectors: WordVectors) -> None:
    assert len(vectors) == 6 and list(vectors) == vectors.words == WORDS and vectors.width == 3
    assert "king" in vectors and "kings" not in vectors and 3 not in vectors
    assert vectors["king"].tolist() == [2, 2, 0] and vectors["king"].dtype == np.float32
    assert vectors[["apple", "king", "apple"]].tolist() == [[0, 0, 5], [2, 2, 0], [0, 0, 5]]
    assert vectors[[]].shape == (0, 3)
    assert vectors.get("kings") is None and vectors.get("Rome").tolist() == [-1, 0, 0]
    assert (vectors.row("queen"), vectors.row("kings")) == (3, None)
    assert vectors.counts is not None and vectors.counts.tolist() == [60, 50, 40, 30, 20, 10]
    assert repr(vectors) == "WordVectors(6 words, width 3)"
    assert foresay.WordVectors is WordVectors


def test_it_is_a_mapping(vectors: WordVectors) -> None:
    assert list(vectors.keys()) == vectors.words == list(dict(vectors))
    assert all(np.array_equal(value, vectors[word]) for word, value in vectors.items()) and len(vectors.values()) == 6
    assert vectors == vectors and vectors != WordVectors(vectors.words, vectors.matrix)
    assert hash(vectors) != hash(None)


def test_the_matrix_cannot_be_changed_by_accident(vectors: WordVectors) -> None:
    with pytest.raises(ValueError, match="read-only"):
        vectors.matrix[0] = 0
    vectors["king"][0] = 9
    assert vectors["king"][0] == 2


def test_near(vectors: WordVectors) -> None:
    half = 0.5**0.5
    assert vectors.near("man", 2) == [("king", pytest.approx(half)), ("apple", 0.0)]  # Rome is as far, and comes later
    assert [word for word, _ in vectors.near("man")] == ["king", "apple", "Rome", "queen", "woman"]
    assert vectors.near("man")[-1][1] == -1.0
    assert vectors.near(np.array([0, 0, 9.0]), 1) == [("apple", 1.0)]
    both = vectors.near(["man", "king"], 1)
    assert both == [vectors.near("man", 1), vectors.near("king", 1)]
    assert vectors.near(np.array([[0, 0, 9], [0, 1, 0]]), 1) == [[("apple", 1.0)], [("man", 1.0)]]
    assert vectors.near([]) == []
    assert vectors.near([0, 0, 9], 1) == [("apple", 1.0)]
    assert vectors.near([[0, 0, 9]], 1) == [[("apple", 1.0)]]


def test_analogies(vectors: WordVectors) -> None:
    """king - man + woman, with unit vectors, is (.71, -.29, 0) + ... : nearest to queen."""
    target = np.array([0.5**0.5, 0.5**0.5 - 2, 0])
    queen = np.array([1, -1, 0.1]) / np.linalg.norm([1, -1, 0.1])
    ((word, score),) = vectors.analogy("man", "king", "woman")
    assert word == "queen" and score == pytest.approx(float(target @ queen / np.linalg.norm(target)), abs=1e-6)
    assert [word for word, _ in vectors.analogy("man", "king", "woman", 9)] == ["queen", "apple", "Rome"]
    ((word, score),) = vectors.analogy("man", "king", "woman", method="multiply")
    to_king, to_woman, to_man = (queen @ np.array(one) for one in ([0.5**0.5, 0.5**0.5, 0], [0, -1, 0], [0, 1, 0]))
    assert word == "queen"
    assert score == pytest.approx((1 + to_king) / 2 * (1 + to_woman) / 2 / ((1 + to_man) / 2 + 0.001), rel=1e-5)
    assert vectors.analogy("man", "king", "woman", among=3) == []
    assert vectors.analogy("man", "king", "man", among=3) == [("woman", pytest.approx(-(0.5**0.5)))]


def test_odd_similarity_and_distance(vectors: WordVectors) -> None:
    assert vectors.odd(["king", "man", "apple"]) == "apple"
    assert vectors.odd(["queen", "man", "woman"]) == "man"
    assert vectors.similarity("king", "man") == pytest.approx(0.5**0.5)
    assert vectors.similarity("man", "woman") == -1.0
    assert vectors.distance("king", "man") == pytest.approx(5**0.5)
    assert vectors.distance("king", "king") == 0.0


def test_vectors_in_the_place_of_words(vectors: WordVectors) -> None:
    king, woman = vectors["king"], [0, -3, 0]
    assert vectors.similarity("man", king) == vectors.similarity(king, "man") == vectors.similarity("king", "man")
    assert vectors.similarity([0, 9, 0], [[0, -1, 0]]) == -1.0 and vectors.distance("king", [2, 5, 4]) == 5.0
    expected = vectors.analogy("man", "king", "woman", 3)
    found = vectors.analogy("man", king, woman, 3)  # king and woman are now among the answers
    assert [one for one in found if one[0] not in ("king", "woman")][:1] == expected[:1]
    assert "man" not in dict(found) and vectors.analogy("man", king, "woman", 1, among=3)[0][0] == "king"
    words = np.array(["king", "man"])
    assert vectors.near(words, 2) == vectors.near(["king", "man"], 2)
    assert vectors.near(words.astype(object)[0], 2) == vectors.near("king", 2)
    assert np.array_equal(vectors[words], vectors[["king", "man"]])


def test_unknown_words(vectors: WordVectors) -> None:
    with pytest.raises(UnknownWord, match=r"the word 'kink' has no vector; .* the 6 words .*did you mean 'king'\?"):
        vectors["kink"]
    with pytest.raises(KeyError):
        vectors.near("kink")
    with pytest.raises(UserError, match="did you mean 'apple'"):
        vectors.similarity("Apple", "king")
    with pytest.raises(UserError) as raised:
        vectors.analogy("man", "king", "xxxxxx")
    assert str(raised.value) == "the word 'xxxxxx' has no vector; allowed: the 6 words of the vectors"


def test_unseen_words_from_their_spelling() -> None:
    table = np.random.default_rng(1).normal(size=(50, 3)).astype(np.float32)
    vectors = WordVectors(WORDS, MATRIX, spelling=Spelling(3, 6, table))
    expected = Spelling(3, 6, table).vector("kings")
    assert expected is not None and np.array_equal(vectors["kings"], expected)
    assert np.array_equal(vectors["king"], [2, 2, 0]) and "kings" not in vectors
    assert len(vectors.near("kings", 9)) == 6
    assert len(vectors.analogy("kings", "king", "queens", 9)) == 5
    with pytest.raises(UnknownWord, match="the word '' has no vector"):
        vectors[""]


def test_whether_they_are_lower_case(vectors: WordVectors) -> None:
    assert not vectors.lower
    assert WordVectors(["a", "é", "</s>", "日本", "7"], np.eye(5)).lower


REFUSED = {
    "no words": ({"words": [], "matrix": []}, "no words; give one or more"),
    "an empty word": ({"words": ["a", ""], "matrix": [[1], [2]]}, "'' is no word; allowed: strings"),
    "a number": ({"words": ["a", 3], "matrix": [[1], [2]]}, "3 is no word"),
    "a word twice": ({"words": ["a", "b", "a"], "matrix": [[1], [2], [3]]}, "the word 'a' is given twice"),
    "half a character": ({"words": ["a\ud800"], "matrix": [[1]]}, "which is no character"),
    "too few rows": ({"words": ["a", "b"], "matrix": [[1]]}, r"shape \(1, 1\); needed \(words, width\) = \(2, 1 or mo"),
    "one dimension": ({"words": ["a"], "matrix": [1]}, r"shape \(1,\)"),
    "no width": ({"words": ["a"], "matrix": [[]]}, r"shape \(1, 0\)"),
    "letters": ({"words": ["a"], "matrix": [["x"]]}, "no array of numbers"),
    "ragged": ({"words": ["a", "b"], "matrix": [[1], [1, 2]]}, "no array of numbers"),
    "NaN": ({"words": ["a", "b"], "matrix": [[1], [np.nan]]}, r"not finite, in row 1 \(from 0\)"),
    "too large": ({"words": ["a"], "matrix": [[1e39]]}, "not finite"),
    "counts": ({"words": ["a"], "matrix": [[1]], "counts": [1, 2]}, r"counts are int64 of shape \(2,\); needed \(1,\)"),
    "negative counts": ({"words": ["a"], "matrix": [[1]], "counts": [-1]}, "whole numbers of 0 or more"),
    "parts of counts": ({"words": ["a"], "matrix": [[1]], "counts": [0.5]}, "counts are float64"),
    "a spelling": (
        {"words": ["a"], "matrix": [[1]], "spelling": Spelling(3, 6, np.zeros((2, 2), np.float32))},
        "the n-grams have width 2, the words 1",
    ),
}


@pytest.mark.parametrize(("given", "said"), REFUSED.values(), ids=REFUSED)
def test_refused(given: dict, said: str) -> None:
    with pytest.raises(UserError, match=said) as raised:
        WordVectors(**given)
    assert "\n" not in str(raised.value)


def test_questions_that_are_none(vectors: WordVectors) -> None:
    with pytest.raises(UserError, match="number=0; allowed"):
        vectors.near("king", 0)
    with pytest.raises(UserError, match=r"a question of shape \(2,\); allowed: finite vectors of width 3"):
        vectors.near(np.zeros(2))
    with pytest.raises(UserError, match="allowed: finite vectors"):
        vectors.near(np.array([1, np.inf, 0]))
    with pytest.raises(UserError, match="the number of words is 2; allowed: 3 or more, for one to be odd"):
        vectors.odd(["king", "man"])
    with pytest.raises(UserError, match="the word 'king' is given twice; give each word once"):
        vectors.odd(["king", "king", "man"])
    with pytest.raises(UserError, match="among=2, and the word 'woman' stands in place 3; allowed: words among them"):
        vectors.analogy("man", "king", "woman", among=2)
    with pytest.raises(UserError, match=r"a question of shape \(\); allowed: finite vectors of width 3"):
        vectors.near(5)
    for given in (0, None):
        with pytest.raises(UserError, match=f"{given} is no word; allowed: a word, or a list of words"):
            vectors[given]  # pyright: ignore[reportArgumentType]
    with pytest.raises(UserError, match="method='mul'; allowed: add, multiply"):
        vectors.analogy("man", "king", "woman", method="mul")  # pyright: ignore[reportArgumentType]
    with pytest.raises(UserError, match="which='in'; allowed"):
        WordVectors.load("x", which="in")  # pyright: ignore[reportArgumentType]
    with pytest.raises(UserError, match="most=0; allowed"):
        WordVectors.load("x", 0)


MISUSED = {
    "a set": (lambda v: v.near({"king"}), "a question that is a set; allowed: a word, a list of words, or finite vect"),
    "a generator": (lambda v: v.near(word for word in ("king",)), "a question that is a generator; allowed: a word"),
    "a table of words": (lambda v: v.near(np.array([["king"]])), "a question that is a list; allowed: a word, a list"),
    "words that are none": (lambda v: v[[["king"]]], "has no vector; allowed: the 6 words"),
    "a table": (lambda v: v[np.zeros((9, 9))], r"array\(\[\[0., 0.* is no word; allowed: a word, or a list of words"),
    "an index": (lambda v: v.near("king", index="x"), "the index is a str; allowed: one that vectors.index"),
    "a vector's width": (
        lambda v: v.similarity("king", [1, 2]),
        r"a question of shape \(2,\); allowed: finite vectors",
    ),
    "several": (
        lambda v: v.similarity("king", np.eye(3)),
        "a table of vectors in the place of one; allowed: a word, or",
    ),
    "nothing": (lambda v: v.distance("king", None), r"a question of shape \(\); allowed: finite vectors"),
    "no words": (lambda v: WordVectors(None, None), "words=None; allowed: a list of words"),  # pyright: ignore
    "no path": (lambda v: WordVectors.load(None), "path=None; allowed: the path of a file of vectors, or of a run's"),  # pyright: ignore
    "nowhere": (lambda v: v.save(None), "path=None; allowed: the path of the file to write"),
    "a spelling": (lambda v: WordVectors(["a"], [[1]], spelling="x"), "the spelling is a str; allowed: a Spelling"),  # pyright: ignore
}


@pytest.mark.parametrize(("asked", "said"), MISUSED.values(), ids=MISUSED)
def test_misuse(vectors: WordVectors, asked: Callable[[WordVectors], object], said: str) -> None:
    with pytest.raises(UserError, match=said) as raised:
        asked(vectors)
    assert "\n" not in str(raised.value)


def test_no_torch_is_loaded(vectors: WordVectors) -> None:
    vectors.save("small.txt")
    code = (
        "import sys, foresay\n"
        "vectors = foresay.WordVectors.load('small.txt')\n"
        "vectors.save('small.safetensors')\n"
        "print(vectors.near('man', 1)[0][0], 'torch' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["king", "False"]
