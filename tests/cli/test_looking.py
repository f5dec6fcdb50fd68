"""`foresay look` at a pair: lines, JSON, pictures, and what it refuses. Attention maps: test_attention_map.py."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from foresay.cli import looking
from foresay.translate import Aligned
from tests.commands import Commands

WEIGHTS = [[0.1, 0.7, 0.2], [0.25, 0.25, 0.5]]


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, str | None]]:
    """A run that aligns everything alike, and what it was asked."""
    given: list[tuple[str, str | None]] = []

    def align(source: str, target: str | None = None) -> Aligned:
        given.append((source, target))
        return Aligned(["a", " ", "<stop>"], ["b", "<stop>"], WEIGHTS)

    run: Any = SimpleNamespace(model=SimpleNamespace(conditional=True), align=align)
    monkeypatch.setattr(looking, "load_run", lambda folder, device, trust: run)
    return given


def test_a_line_for_each_symbol_with_the_place_it_saw_most(asked, call: Commands, tmp_path: Path):
    (tmp_path / "run").mkdir()
    done = call("look", "run", "--pair", "a ", "b")
    assert done.code == 0 and done.out == "b\t␣\t0.700\n■\t■\t0.500\n"
    assert asked == [("a ", "b")] and "<svg" in (tmp_path / "run" / "alignment.svg").read_text("utf-8")
    assert "alignment.svg is written" in done.error
    assert "alignment.svg exists" in call.refused("look", "run", "--pair", "a ") and len(asked) == 1
    call("look", "run", "--pair", "a ", "--force")
    assert asked[-1] == ("a ", None)


def test_json_alone_draws_nothing(asked, call: Commands, tmp_path: Path):
    found = json.loads(call("look", "run", "--pair", "a ", "--json").out)
    assert found == {"source": ["a", " ", "<stop>"], "target": ["b", "<stop>"], "weights": WEIGHTS}
    assert not list(tmp_path.iterdir())
    assert json.loads(call("look", "run", "--pair", "a ", "--json", "--out", "own.png").out) == found
    assert (tmp_path / "own.png").read_bytes().startswith(b"\x89PNG")


def test_a_picture_that_is_there_stays(asked, call: Commands, tmp_path: Path):
    (tmp_path / "own.svg").write_text("mine", "utf-8")
    assert "own.svg exists" in call.refused("look", "run", "--pair", "a", "--out", "own.svg")
    assert (tmp_path / "own.svg").read_text("utf-8") == "mine" and not asked
    call("look", "run", "--pair", "a", "--out", "own.svg", "--force")
    assert "<svg" in (tmp_path / "own.svg").read_text("utf-8")


def test_more_symbols_than_can_be_read_are_not_drawn(monkeypatch: pytest.MonkeyPatch, call: Commands, tmp_path: Path):
    (tmp_path / "run").mkdir()
    sides = [["a"] * 64, ["b"] * 65]
    run: Any = SimpleNamespace(model=SimpleNamespace(conditional=True))
    run.align = lambda source, target: Aligned(*sides, [[1 / len(sides[0])] * len(sides[0])] * len(sides[1]))
    monkeypatch.setattr(looking, "load_run", lambda folder, device, trust: run)
    said = call.refused("look", "run", "--pair", "a")
    assert said == "the target has 65 tokens; up to 64 can be read in a picture: give fewer, or --json"
    sides.reverse()
    assert call.refused("look", "run", "--pair", "a").startswith("the source has 65 tokens")
    assert not (tmp_path / "run" / "alignment.svg").exists() and call("look", "run", "--pair", "a", "--json").code == 0
    sides[0].pop()
    assert call("look", "run", "--pair", "a").code == 0


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([], "nothing to look at; give one of --attention TEXT, --pair SOURCE [TARGET], --text TEXT, --gradient"),
        (["--pair", "a", "--attention", "b"], "--pair and --attention; give one of"),
        (["b", "--attention", "a"], "'b' is a target without a source; give --pair SOURCE TARGET"),
        (["--pair", "a", "--layer", "1"], "--layer and --head with --pair; they are for --attention"),
        (["--pair", ""], "no source is given; give one"),
        (["--pair", "a", "--out", "own.html"], "--out own.html; allowed: a name that ends with .svg or .png"),
        (["--pair", "a", "--out", "own.pdf"], "--out own.pdf; allowed: a name that ends with .svg or .png"),
    ],
)
def test_refused_before_any_work(asked, call: Commands, words, message):
    assert call.refused("look", "run", *words).startswith(message) and not asked
