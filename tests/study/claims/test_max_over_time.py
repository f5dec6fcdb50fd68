"""The claim on max over time: its rule, its texts, what is asked by hand, and a whole run of the smallest size."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from foresay.data.batch import Batch
from foresay.study.claims import max_over_time as claim
from foresay.study.claims import runner
from foresay.study.claims.claim import Figure
from foresay.study.claims.max_over_time import (
    ALONE,
    CONVOLUTION,
    CONVOLUTIONS,
    KEY,
    LAST,
    LENGTHS,
    LONGEST,
    LSTM,
    LSTMS,
    MAX,
    MEAN,
    TOGETHER,
    Learnt,
    Size,
    ask,
    build,
    draw,
    judge,
    learnt,
    less,
    texts,
)
from foresay.train.progress import Watch


def figure(low: float, high: float) -> Figure:
    return Figure("", (low + high) / 2, low, high)


@pytest.mark.parametrize(
    ("last", "mean", "quick", "verdict"),
    [
        ((6, 40), (7, 9), True, "holds"),
        ((6, 40), (4, 9), False, "not decided at this size"),
        ((6, 40), (-2, 4), True, "not decided at this size"),
        ((6, 40), (-2, 4), False, "does not hold"),
        ((0, 1), (7, 9), False, "does not hold"),
    ],
)
def test_the_rule(last, mean, quick, verdict):
    assert judge([figure(*last), figure(*mean)], quick) == verdict


def test_half_of_the_texts_have_the_word_once_at_any_place():
    batch, places = texts(2000, 10, torch.Generator().manual_seed(1))
    assert batch.ids is not None and batch.labels is not None and batch.ids.shape == (2000, 10)
    having = batch.ids == KEY
    assert having.sum(1).tolist() == batch.labels.tolist() and int(batch.labels.sum()) == 1000
    assert torch.equal(having.nonzero()[:, 1], places[batch.labels == 1])
    assert set(places.tolist()) == set(range(10)) and 60 < (places[1::2] == 0).sum() < 140
    assert int(batch.ids[batch.ids != KEY].min()) == KEY - claim.WORDS and int(batch.ids.max()) == KEY


class Sees:
    """Says that a text has the word where it stands in one of the first `many` places."""

    def __init__(self, many: int):
        self.many = many

    def scores(self, batch: Batch) -> Tensor:
        assert batch.ids is not None
        seen = (batch.ids[:, : self.many] == KEY).any(1).float()
        return torch.stack([1 - seen, seen], 1)


def test_what_is_asked_by_hand():
    """Eight words, the word at 0, 3, 4 and 7 of four texts that have it: one in each quarter but the third two."""
    ids = torch.full((8, 8), KEY - 1)
    places = torch.tensor([0, 0, 3, 3, 4, 4, 7, 7])
    labels = torch.arange(8) % 2
    ids[labels == 1, places[labels == 1]] = KEY
    batch = Batch(ids=ids, labels=labels)
    assert ask(Sees(8), batch, places) == (100.0, [100.0] * 4)  # pyright: ignore[reportArgumentType]
    assert ask(Sees(4), batch, places) == (75.0, [100.0, 100.0, 0.0, 0.0])  # pyright: ignore[reportArgumentType]


def test_max_finds_a_word_wherever_it_stands_and_the_mean_divides_it_by_the_length():
    """The difference of the scores with and without the word, of random weights: in the mean it falls as 1 / T."""
    ways = {}
    for pool in (MAX, MEAN):
        torch.manual_seed(2)
        model = build(CONVOLUTION, pool).eval()
        ways[pool] = []
        for length in (20, 200):
            ids = torch.full((2, length), KEY - 1)
            ids[1, length // 2] = KEY
            with torch.no_grad():
                one, other = model.scores(Batch(ids=ids))
            ways[pool].append(float((one - other).norm()))
    assert ways[MAX][0] == pytest.approx(ways[MAX][1], rel=1e-4) and ways[MAX][0] > 0
    assert ways[MEAN][0] == pytest.approx(10 * ways[MEAN][1], rel=1e-3)


def test_max_learns_what_it_is_asked():
    own = learnt((CONVOLUTION, MAX, TOGETHER), 3, Size(60, (), rows=16, asked=100, rate=2e-2))
    assert own.right[LONGEST] > 95 and min(own.found) > 90 and set(own.right) == set(LENGTHS)


def runs() -> list[Learnt]:
    found = []
    for seed in (1, 2):
        for number, reader in enumerate((*LSTMS, *CONVOLUTIONS)):
            right = dict.fromkeys(LENGTHS, 100.0 - 10 * number - seed)
            found.append(Learnt(reader, seed, right, [90.0, 91.0, 92.0, 93.0]))
    return found


def test_differences_are_of_one_seed_and_of_what_is_taught_alike():
    assert less(runs(), TOGETHER, LAST) == [10, 10] and less(runs(), TOGETHER, MEAN) == [20, 20]
    assert less([*runs()[:8], *runs()[8:][::-1]], ALONE, MEAN) == [20, 20]


def test_a_picture_of_both_ways_to_teach():
    first, second, third = draw(runs()).axes
    assert [line.get_label() for line in first.containers] == [
        f"{LSTM}, {MAX}", f"{LSTM}, {LAST}", f"{LSTM}, {MEAN}", f"{CONVOLUTION}, {MAX}", f"{CONVOLUTION}, {MEAN}",
    ]  # fmt: skip
    assert first.lines[0].get_ydata().tolist() == [98.5] * 5 and len(third.containers) == 3
    assert second.lines[0].get_ydata().tolist() == [90.0, 91.0, 92.0, 93.0]


def test_a_whole_run(monkeypatch, tmp_path):
    monkeypatch.setattr(claim, "QUICK", Size(1, LSTMS, rows=4, asked=40))
    found = runner.run_claim("max-over-time", quick=True, out=tmp_path, watch=Watch())
    assert found["verdict"] == "not decided at this size" and len(found["details"]["runs"]) == 18
    assert found["figures"][0]["name"] == f"{TOGETHER}: max less {LAST}"
    assert (tmp_path / "max-over-time.png").stat().st_size > 10_000
