"""`foresay look` at a recurrence: gradient, spectrum, gates; lines, JSON, pictures, and what it refuses."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from foresay.loading import load
from foresay.study.dynamics.backwards import gradient_of
from foresay.study.dynamics.gates import gates_of
from foresay.study.dynamics.learning import spectrum_of
from tests.commands import Commands

TEXT = "the cat sees a dog."


@pytest.mark.parametrize(
    ("words", "first"),
    [
        (["--gradient", TEXT], "x\t"),
        (["--gates", TEXT], "0.i\tclosed"),
        (["--spectrum"], "step\t0\t"),
    ],
)
def test_lines_and_a_picture(words, first, trained: Path, call: Commands):
    done = call("look", trained, *words, "--out", "own.svg")
    assert done.code == 0 and done.out.startswith(first) and done.error == "own.svg is written\n"
    assert "<svg" in Path("own.svg").read_text("utf-8")
    assert "own.svg exists" in call.refused("look", trained, *words, "--out", "own.svg")


def test_json_is_what_python_gives(trained: Path, call: Commands):
    run = load(trained, "cpu")
    found = [json.loads(call("look", trained, *words, "--device", "cpu", "--json").out) for words in (
        ["--gradient", TEXT, "--far", 5], ["--gates", TEXT], ["--spectrum"],
    )]  # fmt: skip
    expected = [gradient_of(run, TEXT, 5).as_dict(), gates_of(run, TEXT).as_dict(), spectrum_of(run).as_dict()]
    assert found == json.loads(json.dumps(expected)) and not list(trained.glob("*.svg"))


def test_a_file_is_read_as_its_lines(trained: Path, call: Commands):
    Path("two.txt").write_text("the cat\nsees\n", "utf-8")
    found = json.loads(call("look", trained, "--gates", "two.txt", "--json").out)
    assert "".join(found["tokens"][1:]) == "the cat\nsees"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--gradient", "ab"], "the text has 2 tokens; give at least three"),
        (["--gradient", TEXT, "--gates", TEXT], "--gradient and --gates; give one of --attention TEXT"),
        (["--spectrum", "--far", 3], "--far 3 with --spectrum; it is for --gradient"),
        (["--spectrum", "--out", "x.pdf"], "--out x.pdf; allowed: a name that ends with .svg or .png"),
        (["--gates", "no.txt"], "no.txt is no file"),
    ],
)
def test_refusals(words, message, trained: Path, call: Commands):
    assert call.refused("look", trained, *words).startswith(message) and not list(trained.glob("*.svg"))
