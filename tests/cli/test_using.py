"""What `eval` and `score` show and refuse; pairs on a line."""

from __future__ import annotations

import json

import pytest

from foresay.cli.using import sides
from foresay.errors import UserError


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
        (["--picture", "x.pdf"], "--picture x.pdf; allowed: a name that ends in .png"),
        (["--picture", "x.png"], "--picture shows which labels are taken for which"),
        (["--beam", "3"], "--beam is for runs that write from a source"),
        (["--data", "a", "--data", "b"], "--data is given 2 times; allowed: once"),
        (["--split", "dev"], "split='dev'; allowed: valid, test"),
    ],
)
def test_eval_refuses(trained, call, words, error):
    assert call.refused("eval", trained, *words).startswith(error)
