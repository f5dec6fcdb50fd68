"""The claim `long-sentences`: its rule, its language, and a whole run of the smallest size."""

from __future__ import annotations

import pytest
import torch

from foresay.study.claims import long_sentences, runner
from foresay.study.claims.claim import Figure
from foresay.study.claims.long_sentences import ADJECTIVES, NOUNS, WORDS, Size, Translated, judge
from foresay.text.tokens import SPECIALS, STOP
from foresay.train.progress import Watch


def figure(low: float, high: float) -> Figure:
    return Figure("", (low + high) / 2, low, high)


@pytest.mark.parametrize(
    ("fall", "mended", "quick", "verdict"),
    [
        ((40, 60), (20, 50), True, "holds"),
        ((9, 60), (20, 50), False, "not decided at this size"),
        ((40, 60), (-1, 50), False, "not decided at this size"),
        ((40, 60), (-30, -10), False, "does not hold"),
        ((40, 60), (-30, -10), True, "not decided at this size"),
        ((1, 5), (0.5, 4), False, "does not hold"),
    ],
)
def test_the_rule(fall, mended, quick, verdict):
    assert judge(figure(*fall), figure(*mended), quick) == verdict


def test_a_fall_is_from_the_shortest_to_the_longest():
    assert Translated("", 1, {10: 50.0, 5: 90.0, 15: 20.0}, {}).fall == 70


def test_a_sentence_and_its_translation():
    """Word for word, each clause in the order n1 a1 n2 a2 v; every kind of word in its own places."""
    source, target = long_sentences.draw_sentences(200, 3, torch.Generator().manual_seed(1))
    assert source.shape == target.shape == (200, 16) and (source[:, -1] == STOP).all() and (target[:, -1] == STOP).all()
    read, wrote = (side[:, :-1].unflatten(1, (3, 5)) - len(SPECIALS) for side in (source, target))
    torch.testing.assert_close(wrote - WORDS, read[:, :, [1, 0, 4, 3, 2]])
    bounds = {0: (0, ADJECTIVES), 1: (ADJECTIVES, ADJECTIVES + NOUNS), 2: (ADJECTIVES + NOUNS, WORDS)}
    for place, kind in enumerate((0, 1, 2, 0, 1)):
        own = read[:, :, place]
        assert (int(own.min()), int(own.max()) + 1) == bounds[kind]


def test_a_whole_run(monkeypatch, tmp_path):
    monkeypatch.setattr(long_sentences, "QUICK", Size(2, 2, 6, rows=4))
    found = runner.run_claim("long-sentences", quick=True, out=tmp_path, watch=Watch())
    assert found["verdict"] != "holds" and len(found["details"]["runs"]) == 6 and len(found["figures"]) == 7
    assert [list(one["bleu"]) for one in found["details"]["runs"]] == [[5, 10]] * 6
    assert (tmp_path / "long-sentences.png").stat().st_size > 10_000
