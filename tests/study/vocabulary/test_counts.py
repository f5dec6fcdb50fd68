"""Counting, coverage and Zipf's line against hand-worked examples and numpy's own fit."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from foresay.errors import UserError
from foresay.study.vocabulary.counts import by_rank, count, covering, text_tokens, zipf
from foresay.text.tokens import STOP, UNK
from tests.data.made import shards_of

DOCUMENTS = [[5, 6, 5, 7], [], [5, UNK, 9, 9, 9, 6], [8]]


@pytest.mark.parametrize("size", [1, 3, 5, 7, 100])
def test_counts_are_pythons(size: int, tmp_path: Path):
    shards = shards_of(tmp_path / "s", DOCUMENTS, shard=4, vocabulary=11)
    told: list[float] = []
    counts = count(shards, told.append, size)
    expected = Counter(i for document in DOCUMENTS for i in (*document, STOP))
    assert counts.tolist() == [expected[i] for i in range(11)]
    assert told == sorted(told) and told[-1] == 1.0 and len(told) == -(-15 // size)


def test_stop_is_no_token_of_the_text(tmp_path: Path):
    assert text_tokens(count(shards_of(tmp_path / "s", DOCUMENTS, vocabulary=11))) == 11


def test_an_id_outside_the_vocabulary_is_damage(tmp_path: Path):
    shards = shards_of(tmp_path / "s", [[5, 9]], vocabulary=9)
    with pytest.raises(UserError, match=r"is damaged: id 9 in a vocabulary of 9; delete .* and prepare again"):
        count(shards)


def test_ranks_leave_out_marks_and_what_is_not_seen():
    counts = np.array([0, 90, 0, 80, 0, 3, 7, 0, 7, 1])
    assert by_rank(counts).tolist() == [6, 8, 5, 9]  # ties in the order of the ids


@pytest.mark.parametrize(
    ("tokens", "percent", "expected"),
    [
        (100, 50, 1),
        (100, 51, 2),
        (100, 90, 3),  # 50 + 30 + 10 is exactly enough
        (100, 95, 4),
        (100, 99, 4),
        (100, 100, 5),
        (200, 50, 5),  # as many tokens again are unknown
        (200, 51, None),
    ],
)
def test_coverage_by_hand(tokens: int, percent: int, expected: int | None):
    assert covering(np.array([50, 30, 10, 9, 1]), tokens, percent) == expected


def test_a_line_through_exact_points():
    line = zipf(np.array([600, 300, 200, 150, 120, 100]))  # 600 / r
    assert line is not None and (line.first, line.last) == (1, 6)
    assert line.slope == pytest.approx(-1, abs=1e-12) and line.top == pytest.approx(600)
    assert line.at(4) == pytest.approx(150)


def test_a_line_by_hand():
    """x = (0, 0.30103, 0.47712), y = (2, 1, 1), w = (1, 1/2, 1/3): means 0.168848 and 1.545455 over 1.833333;

    sum w xy = 0.309555, less 1.833333 * 0.168848 * 1.545455: -0.168847; sum w x^2 = 0.121191, less 0.052268: 0.068924.
    """
    line = zipf(np.array([100, 10, 10]))
    assert line is not None and line.slope == pytest.approx(-0.168847 / 0.068924, rel=1e-4)


def test_the_line_is_numpys_fit_with_even_weight_on_log_rank():
    draw = np.random.default_rng(3)
    f = np.sort((1e6 / np.arange(1, 400) ** 0.9 * draw.uniform(0.7, 1.4, 399)).astype(np.int64))[::-1]
    line = zipf(f)
    assert line is not None and (line.first, line.last) == (10, 399)
    rank = np.arange(10, 400)
    slope, height = np.polyfit(np.log10(rank), np.log10(f[9:]), 1, w=rank**-0.5)  # numpy squares its weights
    assert line.slope == pytest.approx(slope, rel=1e-9) and line.top == pytest.approx(10**height, rel=1e-9)


def test_the_head_and_the_stairs_are_left_out():
    f = np.round(1e6 / np.arange(1, 201.0)).astype(np.int64)
    whole, bent = zipf(f), zipf(np.concatenate([[10**8] * 9, f[9:], [9] * 50, [1] * 500]))
    assert whole == bent and whole is not None and (whole.first, whole.last) == (10, 200)
    assert whole.slope == pytest.approx(-1, abs=1e-4)


@pytest.mark.parametrize(("ranks", "first"), [(99, 1), (100, 10)])
def test_with_few_symbols_the_head_belongs_to_the_line(ranks: int, first: int):
    line = zipf(np.full(ranks, 50))
    assert line is not None and line.first == first and line.slope == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize("f", [[], [100], [100, 50], [100, 50, 9], [9, 9, 9, 9]])
def test_too_few_ranks_give_no_line(f: list[int]):
    assert zipf(np.array(f, dtype=np.int64)) is None
