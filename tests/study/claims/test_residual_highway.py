"""The claim `residual-highway`: its rule, its models, its measures by hand, and a small run."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch

from foresay.study.claims import residual_highway, runner
from foresay.study.claims.claim import Figure
from foresay.study.claims.residual_highway import (
    MORE,
    NO_HIGHWAY,
    PARTS,
    WHOLE,
    Learnt,
    Size,
    build,
    judge,
    measured,
    pieces,
    ratio,
)
from foresay.study.claims.words_text import WordsText
from foresay.text.tokens import SPECIALS, STOP
from foresay.train.progress import Watch

SMALL = Size(2, rows=4, longest=6, width=8, held=20)
LETTERS = [*SPECIALS, "one", "two", "three"]


def figure(low: float, high: float) -> Figure:
    return Figure("", (low + high) / 2, low, high)


@pytest.mark.parametrize(
    ("highway", "residual", "quick", "verdict"),
    [
        ((1.01, 1.2), (1.01, 1.1), True, "holds"),
        ((0.99, 1.2), (1.01, 1.1), False, "not decided at this size"),
        ((1.01, 1.2), (0.8, 0.9), False, "does not hold"),
        ((0.8, 0.9), (1.01, 1.2), False, "does not hold"),
        ((0.8, 0.9), (0.8, 0.9), True, "not decided at this size"),
    ],
)
def test_the_rule(highway, residual, quick, verdict):
    assert judge(figure(*highway), figure(*residual), quick) == verdict


def test_paragraphs_in_pieces():
    text = WordsText(LETTERS, np.array([5, 6, 7, STOP, 6, STOP, STOP, 7, 5]))
    assert pieces(text, 2) == [[5, 6], [7], [6], [7, 5]]


def test_ratios_are_of_the_same_seed():
    found = [Learnt(seed, name, 1, loss) for seed, name, loss in (
        (1, WHOLE, 1.0), (1, NO_HIGHWAY, 1.0 + math.log(2)), (2, WHOLE, 3.0), (2, NO_HIGHWAY, 3.0 + math.log(8)),
    )]  # fmt: skip
    assert ratio(found, NO_HIGHWAY).value == pytest.approx(4)  # the geometric mean of 2 and 8


def test_models_differ_by_the_part_alone():
    names = {name: {key for key, _ in build(own, LETTERS, 3, SMALL).named_parameters()} for name, own in PARTS.items()}
    assert {key.split(".")[1] for key in names[WHOLE] - names[NO_HIGHWAY]} == {"highway"}
    models = {name: build(own, LETTERS, 3, SMALL) for name, own in (PARTS | MORE).items()}
    wirings = {name: model.encoder.wiring.kind for name, model in models.items()}
    assert wirings == {name: wiring for name, (_, wiring) in (PARTS | MORE).items()}
    assert [len(models[name].embedding.highway) for name in PARTS | MORE] == [n for n, _ in (PARTS | MORE).values()]
    with torch.no_grad():  # the words are spelt: another spelling, another vector
        other = build(PARTS[WHOLE], [*LETTERS[:-1], "four"], 3, SMALL)
        one, two = (model.embedding.vectors(["three"]) for model in (models[WHOLE], other))
        assert torch.equal(one, two) and not torch.equal(models[WHOLE].embedding.spelling, other.embedding.spelling)


def test_what_knows_nothing_has_as_many_choices_as_words():
    """All scores alike: -log P is log V at every word, either way."""
    model = build(PARTS[WHOLE], LETTERS, 4, SMALL)
    with torch.no_grad():
        for parameter in model.output.parameters():
            parameter.zero_()
    assert measured(model, [[5, 6], [7]]) == pytest.approx(math.log(len(LETTERS)), rel=1e-6)


def test_a_whole_run(monkeypatch, tmp_path, small_texts):
    monkeypatch.setattr(residual_highway, "QUICK", SMALL)
    monkeypatch.setattr(residual_highway, "built_in", small_texts)
    found = runner.run_claim("residual-highway", quick=True, out=tmp_path, watch=Watch())
    assert [one["parts"] for one in found["details"]["runs"]] == [*PARTS] * 3 and len(found["figures"]) == 7
    weights = {one["parts"]: one["weights"] for one in found["details"]["runs"]}
    assert weights["both"] == weights["no residual"] > weights["no highway"] == weights["neither"]
    assert (tmp_path / "residual-highway.png").stat().st_size > 10_000
