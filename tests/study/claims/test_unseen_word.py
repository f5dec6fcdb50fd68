"""The claim on a word that the text has not: its rule, its texts, vectors in their places, and P by hand."""

from __future__ import annotations

import math
import random

import numpy as np
import pytest
import torch

from foresay.data.batch import Batch
from foresay.study.claims import unseen_word as claim
from foresay.study.claims.claim import Figure
from foresay.study.claims.unseen_word import (
    CITY,
    LARGE,
    SMALL,
    WIDTH,
    WORDS,
    Size,
    batch_of,
    build,
    judge,
    picture,
    probabilities,
    sentences,
    vectors,
)
from foresay.text.blanks import Blanks
from foresay.text.tokens import PAD, SPECIALS, START, STOP
from foresay.vectors.word_vectors import WordVectors

TINY = Size(updates=4, large=200, small=60, epochs=1, rows=8, every=2)


def figure(low: float, high: float) -> Figure:
    return Figure("", (low + high) / 2, low, high)


@pytest.mark.parametrize(
    ("ratio", "better", "likelier", "quick", "verdict"),
    [
        ((20, 50), (20, 50), (2, 5), True, "holds"),
        ((5, 50), (20, 50), (2, 5), False, "not decided at this size"),
        ((20, 50), (20, 50), (0.5, 5), False, "not decided at this size"),
        ((2, 5), (20, 50), (2, 5), True, "not decided at this size"),
        ((2, 5), (20, 50), (2, 5), False, "does not hold"),
        ((20, 50), (1, 5), (2, 5), False, "does not hold"),
        ((20, 50), (20, 50), (0.1, 0.5), False, "does not hold"),
    ],
)
def test_the_rule(ratio, better, likelier, quick, verdict):
    assert judge([figure(*ratio), figure(*better), figure(*likelier)], quick) == verdict


def test_the_small_text_has_not_what_is_left_out_and_the_large_one_says_nobody_lives_anywhere():
    small = sentences(SMALL, 2000, random.Random(1), (CITY, "devour"))
    large = sentences(LARGE, 2000, random.Random(1))
    said = [set(" ".join(texts).split()) for texts in (small, large)]
    every = {word for words in WORDS.values() for word in words}
    assert every - said[0] == {CITY, "devour"} and every <= said[1]
    assert any(text == "i live in oslo" for text in small) and "live" not in said[1] and "in" not in said[1]
    assert not {"CITY", "VERB", "FOOD", "BEAST"} & (said[0] | said[1])


def test_shanghai_stands_among_cities_in_the_large_text():
    known = vectors(3, Size(updates=0, large=2000))
    assert all(word in WORDS["CITY"] for word, _ in known.near(CITY, 5))
    assert np.linalg.norm(known.matrix, axis=1).mean() == pytest.approx(1.0, abs=1e-6)


def test_rows_of_words_begin_with_their_vectors_also_those_the_text_has_not(tmp_path):
    given = WordVectors([CITY, "london"], np.random.default_rng(1).normal(size=(2, WIDTH)).astype(np.float32))
    given.save(tmp_path / "vectors.txt", "glove")
    tokens = Blanks(also=str(tmp_path / "vectors.txt"))
    tokens.learn(["i live in london"])
    model, plain = build(tokens, 1, str(tmp_path / "vectors.txt")), build(tokens, 1)
    table, output = model.embedding.weight(), model.output.weight
    assert table is output and plain.embedding.weight() is plain.output.weight
    row = int(tokens.encode(CITY)[0])
    assert row == len(SPECIALS) + 4
    torch.testing.assert_close(table[row], torch.from_numpy(given[CITY]))
    other = int(tokens.encode("live")[0])
    assert torch.equal(table[other], plain.embedding.weight()[other])
    assert not build(tokens, 1, str(tmp_path / "vectors.txt"), frozen=True).embedding.weight().requires_grad


def test_probabilities_by_hand():
    """P of each sentence from the softmax at every place; the third is a mean."""
    torch.manual_seed(1)
    tokens = Blanks()
    tokens.learn(["a b c d e f"])
    model = build(tokens, 1)
    asked = torch.tensor([[*tokens.encode(text).tolist(), STOP] for text in ("a b", "a c", "a d", "a e")])
    read = torch.cat([torch.full((4, 1), START), asked[:, :-1]], 1)
    with torch.no_grad():
        y, _ = model.encoder(model.embedding(Batch(ids=read)))
        logs = (y @ model.output.weight.T + model.output.bias).log_softmax(2)
    each = logs.gather(2, asked[:, :, None])[:, :, 0].sum(1).exp().tolist()
    assert probabilities(model, asked) == pytest.approx((each[0], each[1], (each[2] + each[3]) / 2), rel=1e-4)


def test_a_batch_is_shifted_by_one():
    batch = batch_of([np.array([7, 8]), np.array([9])])
    assert batch.ids is not None and batch.targets is not None and batch.mask is not None
    assert batch.ids.tolist() == [[START, 7, 8], [START, 9, PAD]]
    assert batch.targets.tolist() == [[7, 8, STOP], [9, STOP, PAD]] and batch.mask.tolist()[1] == [True, True, False]


def test_all_of_it_tiny(monkeypatch):
    monkeypatch.setattr(claim, "QUICK", TINY)
    found = claim.run(True, 1, lambda _: None)
    looks = found.details["P by updates: shanghai, verb, city of the text"]
    assert [list(own[0]) for own in looks.values()] == [[0, 2, 4]] * 3
    ends = [math.log(own[4][0] / own[4][1]) for own in looks[claim.WITH]]
    assert found.figures[0].value == pytest.approx(math.exp(sum(ends) / 3))
    tuned, frozen = looks[claim.WITH][0], looks[claim.FROZEN][0]
    assert tuned[0] == frozen[0] and tuned[4] != frozen[4]


def test_a_picture_in_powers_of_ten():
    looks = [{0: (1.0, 1.0, 1.0), 5: (0.1, 0.001, 1.0)}, {0: (1.0, 1.0, 1.0), 5: (0.1, 0.001, 1.0)}]
    left, right = picture({claim.WITH: looks}).axes
    assert left.lines[0].get_ydata().tolist() == pytest.approx([0, 2])
    assert right.lines[0].get_ydata().tolist() == pytest.approx([0, -1])
