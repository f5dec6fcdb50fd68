"""The claim `antecedent`: its rule, its sentences, the masses by hand, and a whole run of the smallest size."""

from __future__ import annotations

import random

import pytest
import torch

from foresay.study.claims import antecedent, runner
from foresay.study.claims.antecedent import (
    EXAMPLE,
    FIRST,
    GENDERS,
    IDS,
    LAST,
    OBJECT,
    PRONOUN,
    SUBJECT,
    WORDS,
    Size,
    judge,
)
from foresay.study.claims.claim import Figure
from foresay.train.progress import Watch


def figure(low: float, high: float) -> Figure:
    return Figure("", (low + high) / 2, low, high)


@pytest.mark.parametrize(
    ("own", "apart", "quick", "verdict"),
    [
        ((0.3, 0.5), (0.1, 0.4), True, "holds"),
        ((0.2, 0.5), (0.1, 0.4), False, "not decided at this size"),  # 3 / 12 is not below
        ((0.3, 0.5), (-0.1, 0.4), False, "does not hold"),
        ((0.3, 0.5), (-0.1, 0.4), True, "not decided at this size"),
        ((0.1, 0.2), (-0.4, -0.1), False, "does not hold"),
    ],
)
def test_the_rule(own, apart, quick, verdict):
    assert judge(figure(*own), figure(*apart), quick) == verdict


@pytest.mark.parametrize("held_out", [False, True])
def test_sentences_say_what_they_mean(held_out):
    """The pronoun has the gender of the noun that the last word points to; pairs held out never meet."""
    ids, first = antecedent.batch_of(random.Random(1), 300, held_out=held_out)
    genders = {noun: gender for gender, nouns in GENDERS.items() for noun in nouns}
    for row, of_subject in zip(ids.tolist(), first.tolist(), strict=True):
        words = [WORDS[one] for one in row]
        assert (words[LAST] in FIRST) == of_subject
        assert words[PRONOUN] == genders[words[SUBJECT if of_subject else OBJECT]]
        assert antecedent.kept_apart(words[SUBJECT], words[OBJECT]) == held_out
    assert 100 < first.sum() < 200
    assert len(WORDS) == len(set(WORDS)) and all(word in IDS for word in EXAMPLE)


def test_masses_by_hand():
    found = torch.zeros(2, 12)
    found[0, SUBJECT], found[0, OBJECT], found[1, SUBJECT], found[1, OBJECT] = 0.7, 0.1, 0.2, 0.4
    own = antecedent.by_noun(found, torch.tensor([True, False]))
    torch.testing.assert_close(own, torch.tensor([(0.7 + 0.4) / 2, (0.1 + 0.2) / 2]))


def test_rollout_of_two_layers():
    """Layer 1 moves word 1 to place 0, layer 2 place 0 to place 2: a quarter of it arrives."""
    one, two = torch.eye(3).repeat(1, 1, 1, 1), torch.eye(3).repeat(1, 1, 1, 1)
    one[0, 0, 0], two[0, 0, 2] = torch.tensor([0.0, 1, 0]), torch.tensor([1.0, 0, 0])
    flow = antecedent.rollout([one, two])[0]
    torch.testing.assert_close(flow[2], torch.tensor([0.25, 0.25, 0.5]))
    torch.testing.assert_close(flow.sum(1), torch.ones(3))


def test_a_whole_run(monkeypatch, tmp_path):
    monkeypatch.setattr(antecedent, "QUICK", Size(steps=2, rows=4, looked=20, seeds=2))
    found = runner.run_claim("antecedent", quick=True, out=tmp_path, watch=Watch())
    assert found["verdict"] != "holds" and len(found["details"]["seeds"]) == 2
    assert (tmp_path / "antecedent.png").stat().st_size > 10_000
