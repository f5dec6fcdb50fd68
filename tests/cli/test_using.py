"""Texts for a command: from files, pipes and the line itself; pairs on a line; what `eval` refuses."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest

from foresay.cli.using import is_path, lines_of, placed_lines, read_lines, sides
from foresay.errors import UserError


def test_lines_come_with_their_places():
    Path("a.txt").write_text("\ufeffone\n\ntwo")
    assert list(placed_lines(["a.txt", "a b"])) == [
        ("a.txt line 1", "one"),
        ("a.txt line 2", ""),
        ("a.txt line 3", "two"),
        (None, "a b"),
    ]
    assert list(read_lines(["x", "y"])) == ["x", "y"]
    with pytest.raises(UserError, match=r"^gone.txt is no file; give a file of lines, - for a pipe, or the text"):
        list(placed_lines(["gone.txt"]))


@pytest.mark.parametrize(
    ("text", "meant"), [("a.CSV", True), ("./a", True), ("~/x y", False), ("and so on.", False), ("/usr", True)]
)
def test_what_is_meant_as_a_path(text, meant):
    assert is_path(text) is meant


def test_what_is_no_utf_8_is_told_with_the_line_before():
    file = io.TextIOWrapper(io.BytesIO(b"a\nb\n" + b"x" * 9000 + b"\n\xff"), "utf-8")
    with pytest.raises(UserError, match=r"^here is not UTF-8: byte 0xFF after line [23]; convert it"):
        list(lines_of(file, "here"))


def test_sides():
    assert sides("a b\tc") == ("a b", "c")
    for line in ("a b", "\tc", "a\t "):
        with pytest.raises(UserError, match=r"^here: .* is no pair; this run scores a target given its source"):
            sides(line, "here")


def test_eval_and_score(trained, call):
    told = json.loads(call("eval", trained, "--json").out)
    shown = call("eval", trained).out
    assert (
        f"perplexity          {told['perplexity']:.3f}" in shown and f"loss                {told['loss']:.4f}" in shown
    )
    nats, text = call("score", trained, "the cat").out.rstrip("\n").split("\t")
    parts = [float(line.split()[0]) for line in call("score", trained, "the cat", "--tokens").out.splitlines()[1:]]
    assert text == "the cat" and sum(parts) == pytest.approx(float(nats), abs=1e-3) and len(parts) >= 7


@pytest.mark.parametrize(
    ("words", "error"),
    [
        (["--encoding", "latin-1"], "--encoding latin-1 without --data; a run's own text is read as it was"),
        (["--picture", "x.png"], "--picture shows which labels are taken for which"),
        (["--beam", "3"], "--beam is for runs that write from a source"),
        (["--data", "a", "--data", "b"], "--data is given 2 times; allowed: once"),
        (["--split", "dev"], "split='dev'; allowed: valid, test"),
    ],
)
def test_eval_refuses(trained, call, words, error):
    assert call.refused("eval", trained, *words).startswith(error)
