"""Exhaustive search: all outcomes sum to one; against a search written out by hand."""

from __future__ import annotations

import itertools
import math

import pytest

from foresay.decode import exhaustive
from foresay.decode.exhaustive import Exhaustive
from foresay.decode.search import NEVER, Limits
from foresay.errors import UserError
from foresay.text.tokens import START, STOP
from tests.decode.models import V, random_table


def test_every_outcome_once():
    """P of all sequences up to L, and of those cut at L, is the mass that the marks leave: 1 when they have none."""
    model = random_table(4)
    model.table[:, list(NEVER)] = -math.inf
    model.table = model.table.log_softmax(1)
    found = Exhaustive(best=10**6).find(model, [[]], Limits(4))[0]
    assert math.fsum(math.exp(one.log_prob) for one in found) == pytest.approx(1.0)
    words = range(len(NEVER) + 1, V)
    assert len(found) == sum(len(words) ** n for n in range(4)) + len(words) ** 4
    assert [one.score for one in found] == sorted((one.score for one in found), reverse=True)


def test_against_products_written_out():
    model, alpha = random_table(7), 0.5
    table, best = model.table.exp().tolist(), -math.inf
    for length in range(4):
        for words in itertools.product(range(5, V), repeat=length):
            path = [START, *words, *([STOP] if length < 3 else [])]
            p = math.prod(table[a][b] for a, b in itertools.pairwise(path))
            best = max(best, math.log(p) / max(len(path) - 1, 1) ** alpha)
    assert Exhaustive(alpha=alpha).find(model, [[]], Limits(3))[0][0].score == pytest.approx(best)


def test_too_many_sequences(monkeypatch):
    monkeypatch.setattr(exhaustive, "MOST", 300)
    with pytest.raises(UserError, match=r"320 sequences of 4 symbols, and exhaustive looks at 300; lower the length"):
        Exhaustive().find(random_table(1), [[]], Limits(12))
