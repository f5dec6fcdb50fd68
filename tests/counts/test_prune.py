"""Smaller models: what was rare goes, what changes little goes; the rest still adds up to one."""

from __future__ import annotations

import numpy as np
import pytest

from foresay import parts
from foresay.counts.count import count
from foresay.counts.prune import without_the_needless
from foresay.counts.table import Table, build
from foresay.counts.train import train
from foresay.errors import UserError
from tests.counts.test_count import as_tuples, flat
from tests.counts.test_smoothing import CONTEXTS, V, documents, walked
from tests.counts.textbook import counted

BACKING_OFF = ["witten-bell", "absolute", "kneser-ney", "modified-kneser-ney", "katz"]


def made(name: str, text: list[list[int]], **given: object) -> Table:
    return train(flat(text), V, 4, parts.make("smoothing", name), **given)[0]  # pyright: ignore[reportArgumentType]


def grams_of(table: Table) -> list[int]:
    return np.diff(table.orders[2:]).tolist()


@pytest.mark.parametrize("name", [*BACKING_OFF, "add", "none"])
@pytest.mark.parametrize("cut", [[1], [0, 1], [0, 1, 2]])
def test_rare_ones_go(name: str, cut: list[int]) -> None:
    text = documents(many=200)
    table = made(name, text, cut=cut)
    most = {2: cut[0], 3: cut[min(1, len(cut) - 1)], 4: cut[-1]}
    kept = [gram for gram, times in counted(text, 4).items() if len(gram) > 1 and times > most[len(gram)]]
    assert grams_of(table) == [sum(len(gram) == n for gram in kept) for n in (2, 3, 4)]
    for context in CONTEXTS:
        total = np.exp(table.rows(np.array([walked(table, context)])).astype(np.float64)).sum()
        assert total == pytest.approx(1.0, abs=1e-5)


@pytest.mark.parametrize("name", BACKING_OFF)
def test_what_changes_little_goes(name: str) -> None:
    """The more may change, the fewer stay, down to none of the longest; perplexity rises as they go."""
    text, held = documents(many=300), flat(documents(seed=2, many=100))
    rows = held.ids[None]
    last, sizes = -np.inf, []
    for threshold in (0.0, 1e-6, 1e-4, 1e-2, 1.0):
        table = made(name, text, prune=threshold)
        sizes.append(int(table.orders[-1]))
        found, _ = table.score(flat(text).ids[None], np.array([len(flat(text).ids)]), np.array([table.start]))
        if name != "katz":  # what is weighed is the model's own view, and Katz's is further from the text's
            assert -found.sum() >= last - 1e-3
        last = -found.sum()
        for context in CONTEXTS:
            total = np.exp(table.rows(np.array([walked(table, context)])).astype(np.float64)).sum()
            assert total == pytest.approx(1.0, abs=1e-5)
    assert sizes == sorted(sizes, reverse=True) and sizes[0] > sizes[-1]
    if name != "katz":  # which has contexts that know every word and need no other
        assert grams_of(table) == [0, 0, 0]
    assert np.isfinite(table.score(rows, np.array([rows.size]), np.array([0]))[0]).all()


def test_the_change_by_the_definition() -> None:
    """Of one bigram: the relative entropy of the two whole distributions, times the probability of the context."""
    text = documents(many=300)
    smoothing = parts.make("smoothing", "witten-bell")
    grams = count(flat(text), 2, V)
    keep = [np.ones(len(order), bool) for order in grams]
    whole = build(grams, smoothing.estimate(grams, keep))
    victim = 7
    context, word = int(grams[1].context[victim]), int(grams[1].word[victim])
    old = np.exp(whole.rows(np.array([1 + context]))[0].astype(np.float64))
    single = np.exp(whole.rows(np.array([0]))[0].astype(np.float64))
    seen = [w for c, w in zip(grams[1].context, grams[1].word, strict=True) if c == context and w != word]
    back = (1 - old[seen].sum()) / (1 - single[seen].sum())
    new = back * single
    new[seen] = old[seen]
    shown = old > 0
    before = 1.0 if grams[0].begins[context] else single[context]
    change = np.exp(before * (old[shown] * np.log(old[shown] / new[shown])).sum()) - 1
    for threshold, stays in ((change * 0.999, True), (change * 1.001, False)):
        fresh = smoothing.estimate(grams, keep)
        left = as_tuples(without_the_needless(grams, fresh, threshold)[0])
        assert ((context, word) in left) is stays


def test_bad_settings() -> None:
    with pytest.raises(UserError, match=r"cut \[2, 1\] with order 4: .* none smaller"):
        made("katz", documents(), cut=[2, 1])
    with pytest.raises(UserError, match=r"cut \[1, 1, 1, 1\] with order 4: .* at most 3"):
        made("katz", documents(), cut=[1, 1, 1, 1])
    for name in ("add", "none", "stupid"):
        with pytest.raises(UserError, match=f"prune 0.1 with smoothing {name}.*use witten-bell"):
            made(name, documents(), prune=0.1)
