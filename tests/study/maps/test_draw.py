"""`draw_map`: which words it draws, what it answers, and what it refuses."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np
import pytest

from foresay.errors import UserError
from foresay.study.cooccurrence import CountedVectors
from foresay.study.maps import draw_map
from tests.study.maps.made import made, needs_tsne


class Spelt(CountedVectors):
    """Makes up a vector for any word of letters, as vectors of character n-grams do."""

    def __getitem__(self, word: str) -> np.ndarray:
        if not word.isalpha():
            raise UserError(f"{word!r} has no vector")
        return np.full(6, float(len(word)))


def draw(vectors=None, out: str = "map.png", **given):
    return draw_map(made(12) if vectors is None else vectors, out, **{"method": "pca"} | given)


def test_the_most_frequent_words():
    vectors = made(12)
    shuffled = np.random.default_rng(1).permutation(12)
    other = CountedVectors([vectors.words[i] for i in shuffled], vectors.counts[shuffled], vectors.matrix[shuffled])
    found, same = draw(vectors, number=5), draw(other, number=5)
    assert found.words == same.words == vectors.words[:5] and np.allclose(found.points, same.points)
    assert (
        found.title == "The 5 most frequent words" and found.missing == [] and Path("map.png").stat().st_size > 10_000
    )


def test_without_counts_the_first_words():
    vectors = dataclasses.replace(made(12), counts=None)  # pyright: ignore
    found = draw(vectors, number=3)
    assert found.words == vectors.words[:3] and found.counts is None
    with pytest.raises(UserError, match="colour='frequency', but these vectors come without counts; use groups"):
        draw(vectors, colour="frequency")


def test_words_that_are_given_and_those_without_a_vector():
    found = draw(words=["wrd7", "nobody", "wrd0", "wrd7"])
    assert found.words == ["wrd7", "wrd0"] and found.missing == ["nobody"] and found.title == "2 words"
    assert found.counts.tolist() == [1250, 10_000]


def test_words_out_of_the_vocabulary_where_vectors_make_them_up():
    vectors = made(12)
    found = draw(Spelt(vectors.words, vectors.counts, vectors.matrix), words=["cat", "3", "horse"], colour="frequency")
    assert found.words == ["cat", "horse"] and found.missing == ["3"] and found.counts.tolist() == [0, 0]


def test_groups_choose_the_words_unless_words_are_given():
    groups = {"wrd0": "a", "wrd7": "b", "gone": "b"}
    found = draw(colour=groups)
    assert (found.words, found.groups, found.missing) == (["wrd0", "wrd7"], groups, ["gone"])
    assert draw(colour=groups, words=["wrd0", "word1"]).words == ["wrd0", "word1"]


@pytest.mark.parametrize("ending", ["png", "PNG", "svg"])
def test_pictures_by_their_ending(ending: str):
    draw(out=f"map.{ending}", colour={"wrd0": "a", "wrd7": "b"}, title="Mine")
    assert Path(f"map.{ending}").stat().st_size > 5000


@needs_tsne
def test_tsne_is_the_default():
    assert draw_map(made(40), "map.png").note == "t-SNE, perplexity 13, seed 1"


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"out": "map.jpg"}, r"a map as map.jpg; allowed: a name that ends in .png, .svg, .html"),
        ({"out": "map"}, r"a map as map; allowed: "),
        ({"out": "no/map.png"}, r"a map as no/map.png, but no is no folder; make it or give another place"),
        ({"method": "tsme"}, r"method='tsme'; allowed: tsne, umap, pca; did you mean 'tsne'\?"),
        ({"number": 0}, r"number=0; allowed: an integer > 0"),
        ({"seed": -1}, r"seed=-1; allowed: an integer >= 0"),
        ({"colour": "red"}, r"colour='red'; allowed: 'frequency', a group for each word, or None"),
        ({"words": ["wrd0"]}, r"1 of the words given have a vector; a map needs two: give more words"),
        ({"words": ["x", "y", "wrd0"]}, r"1 of the words given have a vector \('x', 'y' have none\); a map needs two"),
        ({"words": []}, r"0 of the words given have a vector; a map needs two"),
    ],
)
def test_what_cannot_be_drawn(given: dict, message: str):
    with pytest.raises(UserError, match=message):
        draw(**given)


def test_a_file_that_cannot_be_written():
    Path("map.png").mkdir()
    with pytest.raises(UserError, match=r"map.png cannot be written \(.*\); give another place"):
        draw()
