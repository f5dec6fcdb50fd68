"""The claim `generation`: its rule, what is counted, that both ways agree, and a whole run of the smallest size."""

from __future__ import annotations

import json

import pytest
import torch

from foresay.study.claims import generation, runner
from foresay.study.claims.claim import Figure
from foresay.study.claims.generation import ANEW, CACHED, FIRST, SCORED, SYMBOLS, Size, agree, judge
from foresay.study.claims.parallel import Measured
from foresay.train.progress import Watch


def figure(low: float, high: float) -> Figure:
    return Figure("", (low + high) / 2, low, high)


def calls(scored: tuple[float, float] = (1, 1), more: tuple[float, float] = (0, 0)) -> list[Measured]:
    """At lengths of 4 and 8: calls of scoring, and those of writing beyond the length."""
    found = [Measured(SCORED, "calls", n, 0, value) for n, value in zip((4, 8), scored, strict=True)]
    return found + [Measured(CACHED, "calls", n, 0, n + value) for n, value in zip((4, 8), more, strict=True)]


@pytest.mark.parametrize(
    ("counted", "same", "cached", "anew", "quicker", "verdict"),
    [
        (calls(), True, (0.9, 1.1), (1.6, 1.9), (50, 60), "holds"),
        (calls(more=(1, 1)), True, (0.9, 1.1), (1.6, 1.9), (50, 60), "holds"),  # a constant
        (calls(more=(0, 4)), True, (0.9, 1.1), (1.6, 1.9), (50, 60), "does not hold"),
        (calls(scored=(1, 2)), True, (0.9, 1.1), (1.6, 1.9), (50, 60), "does not hold"),
        (calls(scored=(2, 2)), True, (0.9, 1.1), (1.6, 1.9), (50, 60), "does not hold"),
        (calls(), False, (0.9, 1.1), (1.6, 1.9), (50, 60), "does not hold"),
        (calls(), True, (1.6, 1.8), (1.9, 2.0), (50, 60), "does not hold"),
        (calls(), True, (0.9, 1.3), (1.6, 1.9), (50, 60), "not decided at this size"),
        (calls(), True, (0.7, 1.1), (1.6, 1.9), (50, 60), "not decided at this size"),
        (calls(), True, (0.9, 1.1), (1.15, 1.9), (50, 60), "not decided at this size"),
        (calls(), True, (0.9, 1.1), (1.6, 1.9), (0.9, 60), "not decided at this size"),
    ],
)
def test_the_rule(counted, same, cached, anew, quicker, verdict):
    spent = {CACHED: figure(*cached), ANEW: figure(*anew)}
    assert judge(counted, same, spent, figure(*quicker)) == verdict


def test_calls_are_counted_with_their_steps():
    """To score 5 symbols is a call of 5 steps; rings take <start> and 4 more; anew the whole text before each."""
    model, noise = generation.built(1), generation.noise_of(5, 1)
    with torch.inference_mode():
        with generation.counted(model.encoder) as rings:
            text, _ = generation.write(generation.from_rings(model, 5), noise)
        with generation.counted(model.encoder) as anew:
            generation.write(generation.anew(model), noise)
        with generation.counted(model.encoder) as scored:
            generation.score(model, text)
    assert (rings, anew, scored) == ([1, 1, 1, 1, 1], [1, 2, 3, 4, 5], [5])


def test_what_is_written_is_the_largest_of_log_p_and_noise():
    """P of the symbols grows, the special ones before them: without noise it is the last one, with much another."""
    log_probs = torch.cat([torch.zeros(FIRST), torch.arange(1.0, SYMBOLS - FIRST + 1).log() - 5])[None]
    noise = torch.zeros(2, SYMBOLS - FIRST)
    noise[1, 3] = 9
    text, found = generation.write(lambda _: log_probs, noise)
    assert text == [SYMBOLS - 1, FIRST + 3]
    assert found == pytest.approx([float(log_probs[0, -1]), float(log_probs[0, FIRST + 3])])


@torch.inference_mode()
def test_both_ways_agree_beyond_what_a_step_sees(monkeypatch):
    monkeypatch.setattr(generation, "DILATIONS", [1, 2, 4])
    model, noise = generation.built(1), generation.noise_of(20, 1)
    assert model.encoder.receptive_field == 8 and agree(model, noise)
    whole = generation.anew
    monkeypatch.setattr(generation, "anew", lambda model: lambda text: whole(model)(text[-2:]))  # forgets
    assert not agree(model, noise)


def test_writing_adds_up_the_quickest_of_each_symbol(monkeypatch):
    """1 + 2 + 1 + 3 and 2 + 1 + 5 + 1 ms: the quickest are 1, 1, 1, 1."""
    runs = iter([([5.0, 6, 8, 9, 12], [1, 2, 3, 4]), ([0.0, 2, 3, 8, 9], [1, 2, 3, 4])])
    monkeypatch.setattr(generation, "trail", lambda *_: next(runs))
    spent, made = generation.writing(generation.built(1), ANEW, torch.zeros(4, 11), Size((2, 4)))
    assert spent == {2: 2, 4: 4} and made == {2: 2, 4: 4}


def test_how_many_times_as_quick():
    times = [(SCORED, 4, 1.0), (SCORED, 8, 2.0), (CACHED, 4, 9.0), (CACHED, 8, 20.0)]
    found = [Measured(kind, "time", n, repeat, spent) for kind, n, spent in times for repeat in (0, 1)]
    quicker = generation.speed_up(found, SCORED, CACHED)
    assert quicker.value == pytest.approx(10) and quicker.low == pytest.approx(10)


def test_a_whole_run(monkeypatch, tmp_path):
    monkeypatch.setattr(generation, "QUICK", Size((4, 8), repeats=2, compared=8))
    found = runner.run_claim("generation", quick=True, out=tmp_path, watch=Watch())
    values = {one["name"]: one["value"] for one in found["figures"]}
    assert [values[f"{kind}: calls in a row at L = 8"] for kind in (SCORED, CACHED, ANEW)] == [1, 8, 8]
    details = json.loads((tmp_path / "generation.json").read_text("utf-8"))["details"]
    assert details["same"] and len(details["measured"]) == 6 + 12
    assert (tmp_path / "generation.png").stat().st_size > 10_000
