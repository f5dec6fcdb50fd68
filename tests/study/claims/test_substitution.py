"""The claim on substitution: its rule, what is held out, and that one-hot weights of an unmet place learn nothing."""

from __future__ import annotations

import pytest
import torch

from foresay.study.claims.claim import Figure
from foresay.study.claims.substitution import IDS, KINDS, ONE_HOT, READERS, WORDS, Reader, draw, judge, right, sentences


def figure(low: float, high: float) -> Figure:
    return Figure("", (low + high) / 2, low, high)


@pytest.mark.parametrize(
    ("one_hot", "apart", "verdict"),
    [
        ((10, 30), (30, 60), "holds"),
        ((10, 55), (30, 60), "not decided at this size"),
        ((10, 30), (15, 60), "not decided at this size"),
        ((55, 60), (30, 60), "does not hold"),
        ((10, 30), (-5, 15), "does not hold"),
    ],
)
def test_the_rule(one_hot, apart, verdict):
    assert judge(figure(*one_hot), figure(*apart)) == verdict


def test_what_is_held_out_is_said_nowhere():
    every, seen, held = sentences(3)
    rows = {tuple(row) for row in every.tolist()}
    assert (len(every), len(seen), len(held)) == (36 + 24, 24, 12) and len(rows) == 60 and len(set(WORDS)) == len(WORDS)
    assert {tuple(row) for row in seen.tolist()} <= rows and not {tuple(row) for row in held.tolist()} & rows
    kinds = {IDS[word]: IDS[quality] for (_, quality), own in KINDS.items() for word in own}
    assert all(kinds[row[0]] == row[2] for row in held.tolist())
    assert all((IDS["the"], row[0]) in {one[:2] for one in rows} for row in held.tolist()), "each is met elsewhere"
    assert not torch.equal(held, sentences(4)[2])


def test_one_hot_weights_two_places_back_get_no_gradient_from_another_word():
    """What boat teaches of "boat is ..." changes no number that plane reads there."""
    torch.manual_seed(1)
    reader = Reader(ONE_HOT)
    reader(torch.tensor([[IDS["boat"], IDS["is"]]]))[:, 1].square().sum().backward()
    far = reader.encoder.dense[0].weight.grad[:, : len(WORDS)]  # of the word two places back
    assert far[:, IDS["boat"]].abs().sum() > 0 and (far[:, IDS["plane"]] == 0).all()


def test_right_counts_what_follows_is():
    reader = Reader(ONE_HOT)
    with torch.no_grad():
        reader.next.weight.zero_()
        reader.next.bias.zero_()[IDS["full"]] = 1.0
    assert right(reader, sentences(1)[2]) == pytest.approx(100 / 6)


def test_a_picture_has_every_reader():
    (axes,) = draw({name: [(100.0, 10.0), (100.0, 30.0)] for name in READERS}).axes
    assert [one.get_text() for one in axes.get_xticklabels()] == list(READERS)
    assert [bar.get_height() for bar in axes.patches] == [100.0] * 3 + [20.0] * 3
