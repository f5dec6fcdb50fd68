"""The claim `parallel`: its rule, what is counted, and a whole run of the smallest size."""

from __future__ import annotations

import json

import pytest
import torch

from foresay.study.claims import parallel, runner
from foresay.study.claims.claim import Figure
from foresay.study.claims.parallel import ATTENTION, KINDS, RNN, SHRUNK, TABLE, Measured, Size, exponent, judge
from foresay.train.progress import Watch


def figure(low: float, high: float | None = None) -> Figure:
    high = low if high is None else high
    return Figure("", (low + high) / 2, low, high)


@pytest.mark.parametrize(
    ("depths", "attention", "rnn", "table", "quicker", "verdict"),
    [
        ((1.0, 0.0), (1.8, 2.0), (0.9, 1.1), 1.9, (3, 4), "holds"),
        ((1.0, 0.0), (1.4, 2.0), (0.9, 1.1), 1.9, (3, 4), "not decided at this size"),
        ((1.0, 0.0), (1.6, 2.0), (0.9, 1.7), 1.9, (3, 4), "not decided at this size"),  # the LSTM's as steep
        ((1.0, 0.0), (1.8, 2.0), (0.9, 1.1), 1.9, (0.9, 4), "not decided at this size"),  # not quicker
        ((1.0, 0.0), (1.8, 2.0), (0.9, 1.1), 1.2, (3, 4), "not decided at this size"),
        ((1.0, 0.0), (1.0, 1.4), (0.9, 1.1), 1.9, (3, 4), "does not hold"),
        ((0.2, 0.0), (1.8, 2.0), (0.9, 1.1), 1.9, (3, 4), "does not hold"),  # an RNN that is not sequential
        ((1.0, 0.5), (1.8, 2.0), (0.9, 1.1), 1.9, (3, 4), "does not hold"),
    ],
)
def test_the_rule(depths, attention, rnn, table, quicker, verdict):
    depth = {RNN: figure(depths[0]), ATTENTION: figure(depths[1])}
    spent = {RNN: figure(*rnn), ATTENTION: figure(*attention)}
    assert judge(depth, spent, figure(table), figure(*quicker)) == verdict


def test_depth_is_the_longest_chain():
    """((x + 1) * 2)² x is a sum, a product, a square and a product, and ends at x; the short way does not count."""
    x = torch.ones(3)
    assert parallel.depth_of(lambda x: ((x + 1) * 2).square() * x, x) == 5
    assert parallel.depth_of(lambda x: x * 2, x) == 2


def test_memory_is_what_is_kept():
    """exp keeps its result, the square of it its input: the same storage; the input itself is not counted."""
    x = torch.ones(10)
    assert parallel.memory_of(lambda x: x.exp().square().sum(), x) == 40
    assert parallel.memory_of(lambda x: x.square().sum(), x) == 0


def test_the_table_is_the_same_attention():
    torch.manual_seed(1)
    encoder = parallel.built(ATTENTION)
    x = torch.randn(2, 9, parallel.WIDTH)
    attention = encoder.blocks[0].attention
    fast = attention.mix(*attention.project(x), parallel.Seen()).square().mean()
    torch.testing.assert_close(parallel.with_table(encoder)(x), fast)


def test_exponents_of_known_powers():
    found = [Measured("a", "time", n, r, (2 + r) * n**1.5) for n in (2, 4, 8) for r in (0, 1)]
    assert exponent(found, "a", "time").value == pytest.approx(1.5)
    assert exponent([Measured("a", "depth", n, 0, 7 * n) for n in (2, 4)], "a", "depth").low == pytest.approx(1)


def test_a_whole_run(monkeypatch, tmp_path):
    monkeypatch.setattr(parallel, "QUICK", Size((16, 32), kept=(64, 256), walked=(8, 32), repeats=2, calls=1))
    found = runner.run_claim("parallel", quick=True, out=tmp_path, watch=Watch())
    values = {one["name"]: one["value"] for one in found["figures"]}
    assert values[f"{RNN}: exponent of depth"] > 0.8 and values[f"{ATTENTION}: exponent of depth"] == 0
    assert values[f"{TABLE}: exponent of memory"] > 1.2 > values[f"{ATTENTION}: exponent of memory"]
    measured = json.loads((tmp_path / "parallel.json").read_text("utf-8"))["details"]["measured"]
    assert {one["kind"] for one in measured if one["what"] == "time"} == set(KINDS) == {RNN, ATTENTION, SHRUNK}
    assert (tmp_path / "parallel.png").stat().st_size > 10_000
