"""Measures of written texts, against values worked by hand and an independent ROUGE."""

from __future__ import annotations

import itertools
import re
import sys
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foresay.errors import UserError
from foresay.train.overlap import distance, error_rate, overlap

words = st.lists(st.sampled_from("abc"), max_size=5)


def test_exact_match_and_error_rate_by_hand() -> None:
    found = overlap(["a b c", " x ", "k k"], ["a c", "x", "k l m"], ["exact", "errors"])
    assert found.exact == pytest.approx(1 / 3)
    assert found.errors == pytest.approx((1 + 0 + 2) / 6)  # b goes; k -> l, m comes
    assert (found.bleu, found.chrf, found.rouge, found.signatures) == (None, None, None, {})
    assert found.as_dict() == {"texts": 3, "exact": found.exact, "errors": found.errors, "signatures": {}}


def test_an_error_rate_may_exceed_one_and_needs_words() -> None:
    assert error_rate(["a b c"], ["x"]) == 3.0
    with pytest.raises(UserError, match="the references have no words"):
        error_rate(["a"], [" "])


@given(words, words)
def test_distance_is_the_recursion(one: list[str], other: list[str]) -> None:
    def plain(i: int, j: int) -> int:
        if not i or not j:
            return i + j
        return min(plain(i - 1, j) + 1, plain(i, j - 1) + 1, plain(i - 1, j - 1) + (one[i - 1] != other[j - 1]))

    assert distance(one, other) == plain(len(one), len(other)) == distance(other, one)


def test_rouge_by_hand() -> None:
    """Words: 4 of 6 and 6; 1 of 1 and 2. Pairs: `the cat` of 5 and 5; none. In order: the cat on mat; hello."""
    found = overlap(["The cat sat on the mat!", "hello"], ["the cat lay on a mat", "hello, world"], ["rouge"])
    assert found.rouge == pytest.approx({"rouge1": 100 * 2 / 3, "rouge2": 10.0, "rougeL": 100 * 2 / 3}, rel=1e-5)
    assert found.exact is None and found.signatures["rouge"].startswith(
        "case:lower|tok:a-z0-9|stem:no|mean:texts|torch"
    )
    assert {"rouge1", "rouge2", "rougeL"} < set(found.as_dict())


def rouge_n(one: list[str], other: list[str], n: int) -> float:
    grams = [Counter(zip(*(text[i:] for i in range(n)), strict=False)) for text in (one, other)]
    hits, sizes = (grams[0] & grams[1]).total(), [gram.total() for gram in grams]
    return 2 * hits / sum(sizes) if all(sizes) else 0.0


def rouge_l(one: list[str], other: list[str]) -> float:
    """By trying every subsequence of one."""
    for size in range(min(len(one), len(other)), 0, -1):
        for chosen in itertools.combinations(one, size):
            rest = iter(other)
            if all(word in rest for word in chosen):
                return 2 * size / (len(one) + len(other))
    return 0.0


def test_rouge_is_the_formula() -> None:
    written = ["a b c a b", "the Old dog", "x", "b a", "c c c a"]
    references = ["a b b c", "an old, old dog sleeps", "y z", "a b", "a c c"]
    found = overlap(written, references, ["rouge"]).rouge
    both = [[re.findall(r"[a-z0-9]+", text.lower()) for text in pair] for pair in zip(written, references, strict=True)]
    wanted = {
        "rouge1": sum(rouge_n(*pair, 1) for pair in both),
        "rouge2": sum(rouge_n(*pair, 2) for pair in both),
        "rougeL": sum(rouge_l(*pair) for pair in both),
    }
    assert found == pytest.approx({name: 100 * total / len(both) for name, total in wanted.items()}, rel=1e-5)


def test_the_usual_measures_and_their_signatures() -> None:
    found = overlap(["a b c d", "no"], ["a b c d", "yes"])
    assert found.exact == 0.5 and found.chrf is not None and found.bleu is not None
    assert set(found.signatures) == {"bleu", "chrf"} and found.errors is None
    assert overlap(["a b c d e"], ["a b c d e"]).bleu == pytest.approx(100.0)


def test_what_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(UserError, match="1 texts and 2 references"):
        overlap(["a"], ["a", "b"])
    monkeypatch.setitem(sys.modules, "torchmetrics.functional.text.rouge", None)
    with pytest.raises(UserError, match=r"ROUGE needs the library torchmetrics .* pip install 'foresay\[summarise\]'"):
        overlap(["a"], ["a"], ["rouge"])
