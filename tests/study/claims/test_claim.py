"""What a claim's figures say: intervals against tables, and the register."""

from __future__ import annotations

import math
import re
from pathlib import Path

import pytest

from foresay.errors import UserError
from foresay.study.claims import claim as register
from foresay.study.claims.claim import Figure, claim, claims, find, interval, mean_of

PAGE = Path(__file__).parents[3] / "docs" / "claims.md"
ROW = re.compile(r"^\| (\d+) \| (.+?) \| \[`(.+?)`\]\(#(.+?)\) (.+) \| (.+?) \| (.+?) \|$", re.MULTILINE)
FOUND = ("holds", "does not hold", "not decided", "no data", "–")


def test_interval_by_hand():
    """1 ... 5: mean 3, deviation sqrt 2.5, t = 2.776: 3 -+ 2.776 * sqrt(2.5 / 5) = 3 -+ 1.963."""
    assert interval([1, 2, 3, 4, 5]) == pytest.approx((3, 1.0371, 4.9629), abs=1e-3)
    assert interval([7.0, 7.0]) == (7, 7, 7)


def test_geometric_mean_and_its_interval():
    """1, 2, 4 are 0, 1, 2 powers of 2: mean 2, spread 4.303 / sqrt 3 = 2.4843 powers."""
    figure = mean_of("lag", [1, 2, 4], "steps")
    assert (figure.value, figure.low, figure.high) == pytest.approx((2, 2 / 2**2.4843, 2 * 2**2.4843), rel=1e-3)
    assert figure.spelt() == "2 steps  (95 % interval 0.357 – 11.2)"


def test_figures_in_words():
    assert Figure("a", 128.4, 100, 2345.6, "steps", at_least=True).spelt() == "≥ 128 steps  (95 % interval 100 – 2346)"
    assert Figure("a", math.inf, 3, None).spelt() == "∞  (95 % interval 3 – ∞)"


def test_every_claim_says_what_it_is():
    found = claims()
    assert "memory" in [one.name for one in found] and [one.name for one in found] == sorted(one.name for one in found)
    for one in found:
        assert one.lecture and one.sentence.endswith(".") and "holds when" in one.rule and callable(one.run)


def test_an_unknown_claim_is_refused():
    with pytest.raises(UserError, match=r"'memry' is no claim; allowed: .*memory.*did you mean.*memory"):
        find("memry")


def test_two_claims_of_one_name_are_refused(monkeypatch):
    monkeypatch.setattr(register, "_register", dict(register._register))
    with pytest.raises(AssertionError, match="two claims are called memory"):
        claim("memory", lecture="000", sentence="Other.", rule="holds when")(lambda quick, seed, tell: None)  # pyright: ignore


def heading_of(name: str) -> str:
    """How links call the heading of docs/claims.md that a claim's name begins; several claims may share one."""
    heads = re.findall(r"^#+ (.+: .+)$", PAGE.read_text("utf-8"), flags=re.MULTILINE)
    head = next((one for one in heads if name in one.split(": ")[0].split(", ")), f"(docs/claims.md has no {name})")
    return re.sub(r"[\s-]+", "-", re.sub(r"[^\w\s-]", "", head.lower()).strip())


def test_every_claim_stands_in_the_table_of_the_page():
    """A row: | number | lecture | [`name`](#heading) sentence | verdict of --quick | verdict of the full form |."""
    rows = {
        name: (lecture, anchor, sentence)
        for _, lecture, name, anchor, sentence, _, _ in ROW.findall(PAGE.read_text("utf-8"))
    }
    for one in claims():
        assert rows.pop(one.name, None) == (one.lecture, heading_of(one.name), one.sentence), f"no such row: {one.name}"
    assert not rows, "rows of claims that are not"


def test_the_table_is_in_order_and_says_verdicts():
    rows = ROW.findall(PAGE.read_text("utf-8"))
    numbers = [int(row[0]) for row in rows]
    assert numbers == sorted(set(numbers)) and {*range(1, 63)} - {*numbers} <= {56, 57}
    assert all(verdict in FOUND for row in rows for verdict in row[-2:]) and all(row[-2] != "–" for row in rows)
