"""`foresay claims`: list, run, report."""

from __future__ import annotations

import json

import pytest

from foresay.study.claims import claim as register
from foresay.study.claims.claim import Figure, Result, claim
from tests.commands import Commands


@pytest.fixture(autouse=True)
def dice(monkeypatch: pytest.MonkeyPatch) -> None:
    register.claims()
    monkeypatch.setattr(register, "_register", {})

    @claim("dice", lecture="009", sentence="Dice fall.", rule="holds when they do")
    def run(quick, seed, tell):
        return Result("holds", [Figure("fall", seed, 1, 2, "m")], {"quick": quick})


def test_list(call: Commands):
    assert call("claims").out == "dice: Dice fall. (lecture 009)\n"
    assert json.loads(call("claims", "--json").out) == [
        {"name": "dice", "lecture": "009", "sentence": "Dice fall.", "rule": "holds when they do"}
    ]


def test_run(call: Commands):
    called = call("claims", "dice", "--quick", "--out", "here")
    assert called.code == 0 and "fall  1 m  (95 % interval 1 – 2)" in called.out and "verdict: holds" in called.out
    found = json.loads(call("claims", "dice", "--json", "--seed", "2").out)
    assert found["verdict"] == "holds" and found["figures"][0]["value"] == 2 and not found["details"]["quick"]


def test_report(call: Commands):
    call("claims", "dice", "--out", "here")
    called = call("claims", "--report", "--out", "here")
    assert called.out == "here/index.html\n"
    assert "leave out one of them" in call.refused("claims", "dice", "--report")


def test_unknown(call: Commands):
    assert call.refused("claims", "dize") == "'dize' is no claim; allowed: dice; did you mean 'dice'?"


def test_quick_needs_a_name(call: Commands):
    line = "--quick is of one claim, and none was named; name one: foresay claims dice --quick"
    assert call.refused("claims", "--quick") == line
    assert call.refused("claims", "--quick", "--json") == line
    assert call.refused("claims", "--report", "--quick", "--out", "here") == line
