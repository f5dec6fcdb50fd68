"""The claim on sparse n-grams: its rule, what is unseen and what is impossible by hand, a run on a small text."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

from foresay.errors import UserError
from foresay.study.claims import sparse as claim
from foresay.study.claims.claim import Figure
from foresay.study.claims.sparse import (
    BUILT_IN,
    ORDERS,
    PTB,
    SMOOTHINGS,
    held_out_of,
    judge,
    measured,
    penn_lines,
    picture,
    scored,
    unseen_shares,
)
from foresay.study.claims.words_text import numbered, vocabulary
from foresay.text.tokens import STOP

A, B, C = 7, 8, 9


def figure(low: float, high: float) -> Figure:
    return Figure("", (low + high) / 2, low, high)


@pytest.mark.parametrize(
    ("unseen", "impossible", "ratio", "verdict"),
    [
        ((60, 70), (40, 50), (0.2, 0.4), "holds"),
        ((20, 70), (40, 50), (0.2, 0.4), "not decided at this size"),
        ((60, 70), (40, 50), (0.8, 1.1), "not decided at this size"),
        ((10, 20), (40, 50), (0.2, 0.4), "does not hold"),
        ((60, 70), (1, 5), (0.2, 0.4), "does not hold"),
        ((60, 70), (40, 50), (1.1, 1.2), "does not hold"),
    ],
)
def test_the_rule(unseen, impossible, ratio, verdict):
    assert judge(figure(*unseen), figure(*impossible), figure(*ratio)) == verdict


def test_unseen_n_grams_by_hand():
    """After A B A: of B A B, which has <start> B, B A, A B and B <stop>, two 2-grams are new, and all longer ones."""
    found = unseen_shares(np.array([A, B, A, STOP]), np.array([B, A, B, STOP]), 3)
    assert found == [0.0, 50.0, 100.0]
    assert unseen_shares(np.array([A, B, STOP]), np.array([A, B, STOP]), 5) == [0.0] * 5
    assert unseen_shares(np.array([A, STOP]), np.array([C, STOP]), 2) == [50.0, 100.0]


def words(*lines: str):
    names = vocabulary([line.split() for line in lines], 1)
    return lambda *own: numbered([line.split() for line in own], names)


def test_maximum_likelihood_has_impossible_words():
    made = words("a b a b", "b a")
    text = made("a b a b", "b a")
    found = scored(text, made("a a"), 2, "none")  # <start> a: 1 of 2; a a: never
    assert math.exp(found[0]) == pytest.approx(1 / 2) and found[1] == -math.inf
    assert np.isfinite(scored(text, made("a a"), 2, "witten-bell")).all()


def test_all_figures_of_a_small_text():
    made = words("a b c a b c", "c b a", "b b")
    found = measured(made("a b c a b c", "c b a"), made("b b c"))
    assert found["unseen"][""][1] == 0 and list(found["perplexity"]) == list(SMOOTHINGS)
    assert found["impossible"][""][2] == found["unseen"][""][2] == 50.0  # <start> b and b b, of four
    for by_order in found["perplexity"].values():
        assert list(by_order) == list(ORDERS) and all(1 < one < math.inf for one in by_order.values())


def test_lines_are_held_out_by_the_seed():
    lines = [[f"w{number % 7}", "x"] for number in range(100)]
    (text, out), (again, _), (other, _) = (held_out_of(lines, seed) for seed in (1, 1, 2))
    assert (out.ids == STOP).sum() == 5 and (text.ids == STOP).sum() == 95
    assert (text.ids == again.ids).all() and (text.words != other.words or (text.ids != other.ids).any())


def test_without_ptb_it_says_so(monkeypatch, tmp_path: Path):
    monkeypatch.delenv("FORESAY_DATA", raising=False)
    with pytest.raises(UserError, match="FORESAY_DATA is not set"):
        penn_lines()
    folder = tmp_path / "ptb"
    folder.mkdir()
    for part in ("train", "valid", "test"):
        (folder / f"ptb.{part}.txt").write_text(" a b \n\n c\n")
    monkeypatch.setenv("FORESAY_DATA", str(tmp_path))
    assert penn_lines() == [["a", "b"], ["c"]]


@pytest.mark.parametrize("quick", [True, False])
def test_a_run_on_small_texts(monkeypatch, quick):
    def small(seed: int, least: int):
        draw = np.random.default_rng(seed)
        lines = [" ".join(draw.choice(list("abcdefgh"), draw.integers(2, 9))) for _ in range(80)]
        made = words(*lines)
        return made(*lines[:70]), made(*lines[70:])

    monkeypatch.setattr(claim, "built_in", small)
    monkeypatch.setattr(claim, "penn_lines", lambda: [list("abcab")[: 2 + n % 4] for n in range(100)])
    done: list[float] = []
    found = claim.run(quick, 1, done.append)
    names = [BUILT_IN] if quick else [BUILT_IN, PTB]
    assert list(found.details["found"]) == names and done[-1] == 1.0
    assert len(found.figures) == len(names) * (3 + 2 * len(ORDERS) + len(SMOOTHINGS) * len(ORDERS))
    assert found.figures[0].name == f"{BUILT_IN}: 3-grams unseen"


def test_the_picture():
    rows = {order: [10.0 * order, 11.0 * order] for order in ORDERS}
    left, other = picture({"unseen": {"": rows}, "impossible": {"": rows}, "perplexity": {"a": rows, "b": rows}}).axes
    assert [one.get_text() for one in left.get_legend().get_texts()] == ["unseen n-grams", "impossible words"]
    assert [one.get_text() for one in other.get_legend().get_texts()] == ["a", "b"]
    assert left.get_xlabel() == other.get_xlabel() == "n" and other.get_ylabel() == "held-out perplexity"
