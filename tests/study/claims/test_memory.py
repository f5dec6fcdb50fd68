"""The claim `memory`: its rule, its search, and a whole run of the smallest size."""

from __future__ import annotations

import dataclasses
import json

import pytest

from foresay.study import recall
from foresay.study.claims import memory, runner
from foresay.study.claims.claim import Figure
from foresay.study.claims.memory import judge
from foresay.train.progress import Watch

TINY = recall.Size(parameters=200, longest=8, updates=2, rows=4, tested=16)


def figure(low: float, high: float, *, at_least: bool = False) -> Figure:
    return Figure("", (low * high) ** 0.5, low, high, at_least=at_least)


@pytest.mark.parametrize(
    "rnn, lstm, quick, verdict",
    [
        (figure(6, 8), figure(41, 200), True, "holds"),
        (figure(6, 8), figure(40, 200), True, "not decided at this size"),  # 5 * 8 is not below 40
        (figure(6, 8), figure(10, 29), False, "does not hold"),
        (figure(6, 8), figure(10, 29), True, "not decided at this size"),  # quick cannot refute
        (figure(6, 8), figure(10, 30), False, "not decided at this size"),
        (figure(128, 128, at_least=True), figure(128, 128, at_least=True), False, "not decided at this size"),
        (figure(8, 8, at_least=True), figure(50, 60), False, "not decided at this size"),
    ],
)
def test_the_rule(rnn, lstm, quick, verdict):
    assert judge(rnn, lstm, quick) == verdict


def test_a_search_in_a_process_of_its_own_equals_one_here(monkeypatch):
    monkeypatch.setattr(memory, "SEEDS", 1)
    told: list[float] = []
    found = memory.search_all({"RNN": "elman"}, TINY, 3, told.append)
    assert found == [memory.search_one("RNN", "elman", 3, TINY)]
    assert told == [1.0] and found[0].parameters == 10 * 7 + 7 * 7 + 2 * 7 + 8 * 7 + 8  # Elman of width 7
    assert [one.lag for one in found[0].tried] == [4, 2, 1] and found[0].remembered == 0


def test_a_search_keeps_the_network_of_the_longest_lag(monkeypatch):
    """Recalls up to 4: its gradients after are those of the network trained on 4, not of the last one tried."""
    made = {}

    def try_lag(cell, lag, size, seed):
        made[lag] = recall.build(cell, size.parameters, 100 + lag)
        return recall.Tried(lag, 1, 1.0 if lag <= 4 else 0.2), made[lag]

    monkeypatch.setattr(recall, "try_lag", try_lag)
    monkeypatch.setattr(recall, "gradient_norms", lambda model, *rest: [next(model.parameters()).sum().item()])
    found = memory.search_one("RNN", "elman", 1, TINY)
    assert found.remembered == 4 and set(made) == {4, 8, 6}
    assert found.norms == [next(made[4].parameters()).sum().item()] != found.norms_before


@pytest.mark.parametrize("quick", [True, False])
def test_a_whole_run(quick, monkeypatch, tmp_path):
    monkeypatch.setattr(memory, "SEEDS", 2)
    monkeypatch.setattr(memory, "QUICK", TINY)
    monkeypatch.setattr(memory, "FULL", dataclasses.replace(TINY, longest=4))

    def in_turn(networks, size, seed, tell):
        return [memory.search_one(name, cell, one, size) for name, cell in networks.items() for one in (1, 2)]

    monkeypatch.setattr(memory, "search_all", in_turn)
    found = runner.run_claim("memory", quick=quick, out=tmp_path, watch=Watch())
    expected = "not decided at this size" if quick else "does not hold"  # two updates teach neither
    names = ["RNN", "LSTM", "LSTM, forget bias 5", *([] if quick else ["GRU"])]
    assert [one["name"] for one in found["figures"][: len(names)]] == [f"{name} remembers" for name in names]
    assert len(found["figures"]) == 3 * len(names) and found["verdict"] == expected
    saved = json.loads((tmp_path / "memory.json").read_text("utf-8"))
    assert len(saved["details"]["runs"]) == 2 * len(names) and saved["details"]["size"]["longest"] == (
        8 if quick else 4
    )
    assert (tmp_path / "memory.png").stat().st_size > 10_000
