"""The claim `context-words`: its rule, its choice of epochs, and a whole run of the smallest size."""

from __future__ import annotations

import pytest

from foresay.study.claims import context_words, runner
from foresay.study.claims.claim import Figure
from foresay.study.claims.context_words import Held, best_losses, judge
from foresay.train.progress import Watch


@pytest.mark.parametrize(
    "low, high, quick, verdict",
    [
        (-0.2, -0.1, True, "holds"),
        (-0.2, 0.1, False, "not decided at this size"),
        (0.1, 0.2, False, "does not hold"),
        (0.1, 0.2, True, "not decided at this size"),
    ],
)
def test_the_rule(low, high, quick, verdict):
    assert judge(Figure("", 0, low, high), quick) == verdict


def test_the_best_number_of_epochs_is_that_of_the_mean():
    """After two epochs 1.5 on average, after four 1.6, though one seed is lowest there."""
    found = [Held(2, 2, 1, 1.4), Held(2, 2, 2, 1.6), Held(2, 4, 1, 1.3), Held(2, 4, 2, 1.9), Held(3, 4, 1, 0.1)]
    assert best_losses(found[:4], 2) == (2, [1.4, 1.6])


def test_a_whole_run(monkeypatch, tmp_path, small_texts):
    monkeypatch.setattr(context_words, "QUICK", (1, 2))
    monkeypatch.setattr(context_words, "built_in", small_texts)
    found = runner.run_claim("context-words", quick=True, out=tmp_path, watch=Watch())
    assert len(found["details"]["runs"]) == 6 * 2 * 3 and len(found["figures"]) == 7
    assert found["figures"][0]["name"].endswith("on each side − one word")
    assert (tmp_path / "context-words.png").stat().st_size > 10_000
