"""The claim `mixes`: its rule, its examples, its probe by hand, and a whole run of the smallest size."""

from __future__ import annotations

import random

import pytest
import torch

from foresay.study.claims import mixes, runner
from foresay.study.claims.claim import Figure
from foresay.study.claims.made_language import Language
from foresay.study.claims.mixes import MIXES, TASKS, Probed, Size, examples, figures, judge, learnt
from foresay.train.progress import Watch


@pytest.mark.parametrize(
    ("intervals", "verdict"),
    [
        ([(1, 2), (1, 2), (0.1, 9)], "holds"),
        ([(1, 2), (-1, 2), (0.1, 9)], "not decided at this size"),
        ([(1, 2), (-2, -1), (0.1, 9)], "does not hold"),
    ],
)
def test_the_rule(intervals, verdict):
    assert judge([Figure("", sum(one) / 2, *one) for one in intervals]) == verdict


def test_figures_by_hand():
    right = {"learnt": 90.0, "even": 80.0, "[1, 0, 0]": 85.0, "[0, 1, 0]": 70.0, "[0, 0, 1]": 75.0}
    found = [Probed(task, seed, mix, right[mix] + seed, ()) for task in TASKS for seed in (0, 1) for mix in MIXES]
    assert [one.value for one in figures(found)[:3]] == pytest.approx([10, 5, 10])


def test_examples_tell_by_what_the_task_says():
    language, chance = Language(1), random.Random(1)
    praise, taught = set(language.words["praise"]), set(language.words["noun"][:15])
    for known in (True, False):
        for text, place, which in examples(language, "spelling", 60, chance, known):
            noun = text.split()[place]
            assert noun.endswith("s") == bool(which) and (noun.removesuffix("s") in taught) == known
        for text, place, which in examples(language, "meaning", 60, chance, known):
            name = text.split()[place]
            assert name in language.words["place" if which else "person"][slice(0, 15) if known else slice(15, 30)]
        for text, place, which in examples(language, "context", 60, chance, known):
            words = text.split()
            assert words[place] == "and" and (words[place - 1] in praise) == (words[place + 1] in praise) == (not which)


def test_a_probe_learns_what_one_layer_has_and_the_mix_finds_it():
    """The answer stands in layer 1 alone, among noise."""
    torch.manual_seed(1)
    answers = torch.arange(200) % 2
    layers = [torch.randn(200, 6) for _ in range(3)]
    layers[1][:, 0] = 4.0 * answers - 2
    given = (layers, answers)
    assert learnt([0.0, 1.0, 0.0], given, given, 1)[0] == 100 > learnt([1.0, 0.0, 0.0], given, given, 1)[0]
    accuracy, shares = learnt("learnt", given, given, 1)
    assert accuracy > 95 and shares[1] > 3 * max(shares[0], shares[2])


def test_a_whole_run(monkeypatch, tmp_path):
    monkeypatch.setattr(mixes, "QUICK", Size(4, 8))
    monkeypatch.setattr("foresay.study.claims.made_language.SENTENCES", 60)
    found = runner.run_claim("mixes", quick=True, out=tmp_path, watch=Watch())
    assert len(found["details"]["runs"]) == 45 and len(found["figures"]) == 18
    assert (tmp_path / "mixes.png").stat().st_size > 10_000
