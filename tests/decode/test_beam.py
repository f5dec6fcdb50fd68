"""Beam search against exhaustive search, greedy and cases worked by hand; rows on their own in any batch."""

from __future__ import annotations

import math
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from foresay.decode import beams
from foresay.decode.beam import Beam
from foresay.decode.beams import Trail
from foresay.decode.exhaustive import Exhaustive
from foresay.decode.generate import generate
from foresay.decode.sample import Greedy
from foresay.decode.search import NEVER, Limits
from foresay.errors import UserError
from foresay.text.tokens import START, STOP
from tests.decode.models import KINDS, Markov, V, random_table, told

A, B, C, D = 5, 6, 7, 8
ALL = 400  # more than there are sequences of four words
every = pytest.mark.parametrize("kind", KINDS)
limits = st.builds(
    Limits,
    st.integers(1, 4),
    st.integers(0, 1),
    st.lists(st.sampled_from([A, STOP]), max_size=1).map(tuple),
    st.lists(st.sampled_from([B, C, STOP]), max_size=2, unique=True).map(tuple),
)


def told_of(found: list[Any]) -> list[tuple[list[int], bool]]:
    return [(one.ids, one.finished) for one in found]


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**6), limits, st.sampled_from([0.0, 0.6, 1.0, 2.0]), st.sampled_from([0.5, 1.0, 2.0]))
def test_wide_enough_is_exhaustive(seed, limits, alpha, temperature):
    """Every outcome, in the same order, with the same score; or the same refusal."""
    model = random_table(seed)
    oracle = Exhaustive(best=2000, alpha=alpha, temperature=temperature)
    beam = Beam(width=ALL, best=2000, alpha=alpha, temperature=temperature, until="length")
    try:
        expected = oracle.find(model, [[A], []], limits)
    except UserError as refused:
        with pytest.raises(UserError, match="^" + str(refused)[:30]):
            beam.find(model, [[A], []], limits)
        return
    found = beam.find(model, [[A], []], limits)
    for own, wanted in zip(found, expected, strict=True):
        assert sorted(told_of(own)) == sorted(told_of(wanted))
        assert [one.score for one in own] == pytest.approx([one.score for one in wanted], abs=1e-12)


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10**6), limits, st.sampled_from([0.0, 1.0]), st.integers(1, 3))
def test_the_sure_rule_loses_nothing(seed, limits, alpha, best):
    """Wide enough, it gives the best of all though it may stop early."""
    model = random_table(seed)
    try:
        expected = Exhaustive(best=best, alpha=alpha).find(model, [[]], limits)[0]
    except UserError:
        return
    found = Beam(width=ALL, best=best, alpha=alpha).find(model, [[]], limits)[0]
    assert [one.score for one in found] == pytest.approx([one.score for one in expected], abs=1e-12)


@every
@settings(max_examples=8, deadline=None)
@given(seed=st.integers(0, 1000), length=st.integers(1, 12))
def test_width_one_is_greedy(kind, seed, length):
    model, prompts = KINDS[kind](seed), [[A, B], [], [C]]
    found = Beam(width=1).find(model, prompts, Limits(length))
    assert [own[0].ids for own in found] == generate(model, prompts, Greedy(), length=length)


@every
@settings(max_examples=8, deadline=None)
@given(
    seed=st.integers(0, 1000),
    width=st.sampled_from([2, 4]),
    groups=st.sampled_from([1, 2]),
    required=st.sampled_from([(), (C,)]),
)
def test_a_prompt_is_on_its_own_in_any_batch(kind, seed, width, groups, required):
    model, limits = KINDS[kind](seed), Limits(7, required=required)
    beam = Beam(width=width, best=2, alpha=0.7, groups=groups)
    prompts = [[A, B, C], [], [D], [A, A, A, A, B], [C]]
    together = beam.find(model, prompts, limits)
    for few in (1, 2, 3):
        for begin in range(0, 5, few):
            for own, whole in zip(
                beam.find(model, prompts[begin : begin + few], limits), together[begin:], strict=False
            ):
                assert told_of(own) == told_of(whole)
                assert [one.score for one in own] == pytest.approx([one.score for one in whole], abs=1e-4)


@pytest.mark.parametrize(
    "kind, floats, near",
    [(kind, torch.float32, 2e-4) for kind in KINDS]
    + [(kind, torch.float64, 1e-10) for kind in ("lstm", "transformer")],
)
@settings(max_examples=8, deadline=None)
@given(seed=st.integers(0, 1000), alpha=st.sampled_from([0.0, 0.6, 1.3]), temperature=st.sampled_from([0.7, 1.0]))
@torch.no_grad()
def test_scores_add_up(kind, floats, near, seed, alpha, temperature):
    """To the model's own log P of the same symbols, with the temperature inside."""
    model, prompt = KINDS[kind](seed).to(floats), [A, C]
    for one in Beam(width=4, best=4, alpha=alpha, temperature=temperature).find(model, [prompt], Limits(6))[0]:
        ids = [*one.ids, *([STOP] if one.finished else [])]
        assert len(one.log_probs) == len(ids)
        assert one.score == pytest.approx(sum(one.log_probs) / len(ids) ** alpha, abs=1e-9)
        log_probs, state = model.step(torch.tensor([prompt]), model.begin(1))
        for symbol, log in zip(ids, one.log_probs, strict=True):
            warm = (log_probs.double() / temperature).log_softmax(1) if temperature != 1 else log_probs
            assert log == pytest.approx(float(warm[0, symbol]), abs=near)
            log_probs, state = model.step(torch.tensor([[symbol]]), state)


GARDEN = {  # the likeliest first symbol leads to the less likely whole
    START: {A: 0.6, B: 0.4},
    A: {C: 0.5, D: 0.5},
    B: {STOP: 0.9, C: 0.1},
    C: {STOP: 1.0},
    D: {STOP: 1.0},
}


def test_beam_two_finds_what_greedy_misses():
    """A C: 0.6 * 0.5 = 0.3; B: 0.4 * 0.9 = 0.36."""
    one, two = (Beam(width=width).find(told(GARDEN), [[]], Limits(5))[0][0] for width in (1, 2))
    assert (one.ids, one.finished) == ([A, C], True) and math.exp(one.score) == pytest.approx(0.3)
    assert (two.ids, two.finished) == ([B], True) and math.exp(two.score) == pytest.approx(0.36)
    assert [math.exp(log) for log in two.log_probs] == pytest.approx([0.4, 0.9])


def test_length_is_divided_out_with_the_end_mark():
    """B: L = 2; A C: L = 3. log 0.36 / 2 = -0.511; log 0.3 / 3 = -0.401."""
    found = Beam(width=4, best=2, alpha=1.0).find(told(GARDEN), [[]], Limits(5))[0]
    assert [one.ids for one in found] == [[A, C], [A, D]]
    assert found[0].score == pytest.approx(math.log(0.3) / 3)


LATE = {  # a short end comes first, the longer one is the better per symbol
    START: {A: 0.5, STOP: 0.5},
    A: {B: 0.9, STOP: 0.1},
    B: {C: 0.9, STOP: 0.1},
    C: {STOP: 0.9, C: 0.1},
}


def test_the_rules_to_stop_differ():
    """`number` takes the first that ends; `sure` waits for what may still win, with alpha = 1; `length` goes on."""
    steps = {}
    for until in ("number", "sure", "length"):
        model = told(LATE)
        found = Beam(width=2, alpha=1.0, until=until).find(model, [[]], Limits(9))[0][0]
        steps[until] = (found.ids, len(model.rows_asked))
    assert steps["number"] == ([], 1)
    assert steps["sure"][0] == steps["length"][0] == [A, B, C]
    assert steps["sure"][1] <= steps["length"][1] == 9


def test_sure_stops_when_nothing_can_win():
    """Without a norm S can only fall: 0.36 is found after two symbols, and 0.3 is live."""
    model = told(GARDEN)
    Beam(width=2).find(model, [[]], Limits(50))
    assert len(model.rows_asked) == 2


def test_what_ends_leaves_only_from_among_the_best():
    """K = 1: <stop> of 0.3 is behind A's 0.7, so it is no candidate; with K = 2 it is."""
    model = told({START: {A: 0.7, STOP: 0.3}, A: {A: 0.2, STOP: 0.8}})
    assert told_of(Beam(width=1, best=2, until="length").find(model, [[]], Limits(2))[0]) == [
        ([A], True),
        ([A, A], False),
    ]
    assert ([], True) in told_of(Beam(width=2, best=4, until="length").find(model, [[]], Limits(2))[0])


def test_groups_do_not_repeat_one_another():
    """Alone both would begin with A; the second loses 2 nats for it and takes B. The score is without the loss."""
    model = told({START: {A: 0.5, B: 0.3, C: 0.2}, **{one: {STOP: 1.0} for one in (A, B, C)}})
    alike = Beam(width=2, best=2, groups=2, diversity=0.0).find(model, [[]], Limits(3))[0]
    apart = Beam(width=2, best=2, groups=2, diversity=2.0).find(model, [[]], Limits(3))[0]
    assert [one.ids for one in alike] == [[A]]  # the same found twice is given once
    assert [one.ids for one in apart] == [[A], [B]]
    assert [math.exp(one.score) for one in apart] == pytest.approx([0.5, 0.3])


def test_required_symbols_are_found_where_pruning_would_lose_them():
    model = told({START: {A: 0.98, D: 0.02}, A: {A: 0.6, B: 0.3, STOP: 0.1}, B: {STOP: 1.0}, D: {STOP: 1.0}})
    assert Beam(width=1).find(model, [[]], Limits(4, required=(D,)))[0][0].ids == [D]
    assert Beam(width=1).find(model, [[]], Limits(4, required=(B,)))[0][0].ids == [A, B]


def test_least_and_banned():
    model = told(GARDEN)
    assert Beam(width=2).find(model, [[]], Limits(5, least=2))[0][0].ids == [A, C]
    found = Beam(width=2).find(model, [[]], Limits(5, banned=(A,)))[0][0]
    assert found.ids == [B] and math.exp(found.score) == pytest.approx(0.36)  # no other norm


def test_a_model_that_never_ends_is_cut():
    model = told({START: {A: 1.0}, A: {A: 0.5, B: 0.5}, B: {B: 1.0}})
    found = Beam(width=3, best=2).find(model, [[]], Limits(4))[0]
    assert [(one.ids, one.finished) for one in found] == [([A, B, B, B], False), ([A, A, B, B], False)]


def test_more_candidates_than_symbols():
    found = Beam(width=50, best=50).find(random_table(3), [[]], Limits(1))[0]
    assert len(found) == V - len(NEVER)


def test_of_equals_the_lower_id_comes_first():
    table = told({START: dict.fromkeys((D, C, B, A), 0.25), **{one: {STOP: 1.0} for one in (A, B, C, D)}})
    assert [one.ids for one in Beam(width=2, best=2).find(table, [[]], Limits(3))[0]] == [[A], [B]]


@pytest.mark.parametrize(
    ("settings", "limits", "told_what"),
    [
        ({"width": 0}, Limits(3), "^search beam: width=0; allowed"),
        ({"width": 5, "groups": 2}, Limits(3), "^groups=2 of width=5; allowed: a number that divides"),
        ({"temperature": -1.0}, Limits(3), "^search beam: temperature=-1.0; allowed"),
        ({"alpha": -1.0}, Limits(3), "^search beam: alpha=-1.0; allowed"),
        ({"until": "never"}, Limits(3), "^search beam: until='never'; allowed"),
        ({}, Limits(3, banned=(99,)), "^banned id 99; allowed: 0 to 8"),
        ({}, Limits(3, required=(-1,)), "^required id -1; allowed: 0 to 8"),
        ({}, Limits(3, banned=(A,), required=(A,)), "^id 5 is required and never written"),
        ({}, Limits(3, least=4), "^at least 4 symbols of at most 3"),
        ({}, Limits(1, required=(A, B)), "^2 required symbols in 1; raise the length"),
        ({}, Limits(3, banned=(A, B, C, D, STOP)), "^no sequence of at most 3 symbols has P > 0: 5 symbols are banned"),
    ],
)
def test_what_cannot_be_searched_is_said(settings, limits, told_what):
    with pytest.raises(UserError, match=told_what):
        Beam(**settings).find(random_table(1), [[]], limits)


def test_no_prompts_no_results():
    assert Beam().find(random_table(1), [], Limits(3)) == []


def test_an_unsure_prompt_is_searched_alone(monkeypatch):
    """A model whose rows differ by the size of the batch: far less than the margin, and enough to turn near ties."""

    class Shaky(Markov):
        steady = False

        def step(self, ids, state, mask=None):
            log_probs, state = super().step(ids, state, mask)
            return log_probs + 1e-6 * len(ids) * torch.arange(V) / V, state

    table = told({START: {A: 0.5, B: 0.5}, A: {STOP: 1.0}, B: {STOP: 1.0}}).table
    table[START, A] += 2e-7  # alone B gains 1.1e-7 on A, among three 3.3e-7
    prompts, beam = [[], [A], []], Beam(width=1)

    def together() -> list[list[int]]:
        return [own[0].ids for own in beam.find(Shaky(table), prompts, Limits(3))]

    assert together() == [[A], [], [A]] == [beam.find(Shaky(table), [one], Limits(3))[0][0].ids for one in prompts]
    monkeypatch.setattr(beams, "MARGIN", 0.0)
    assert together() == [[B], [], [B]]


def test_the_trail_tells_every_step():
    trail = Trail()
    Beam(width=2).find(told(GARDEN), [[]], Limits(5), trail)
    looked, kept, ends = trail.steps[0]
    assert kept.ids[0].tolist() == [A, B] and {A, B} <= set(looked.ids[0].tolist())
    assert ends.scores[0].max() == -math.inf and trail.steps[1][2].scores[0].max() == pytest.approx(math.log(0.36))


@pytest.mark.parametrize("seed", range(5))
def test_groups_that_find_the_same_give_it_once(seed):
    found = Beam(width=4, groups=4, best=4, diversity=0.0).find(random_table(seed), [[A]], Limits(4))[0]
    assert len({(tuple(one.ids), one.finished) for one in found}) == len(found)
