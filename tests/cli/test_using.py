"""What `eval` and `score` show and refuse; pairs on a line."""

from __future__ import annotations

import json
from pathlib import Path

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


def test_score_shows_what_cannot_be_seen(trained, call):
    broken = b"a\x1b[31mb\tc\nd\xff".decode("utf-8", "surrogateescape")
    nats, text = call("score", trained, broken).out.rstrip("\n").split("\t")
    assert text == "a␛[31mb⇥c⏎d<U+DCFF>" and float(nats) > 0
    shown = call("score", trained, "a\nb", "--tokens").out
    assert "  ⏎\n" in shown and len(shown.splitlines()) == 1 + 3
    assert json.loads(call("score", trained, broken, "--json").out)["text"] == "a\x1b[31mb\tc\nd\ufffd"
    assert call.refused("score", trained, "\x1b[31m.txt").startswith("␛[31m.txt is no file")


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


def test_files_in_another_encoding_and_other_columns(trained, call):
    Path("a.txt").write_bytes("the café\n".encode("latin-1"))
    assert call.refused("score", trained, "a.txt") == (
        "a.txt line 1 is not UTF-8: byte 0xE9; say its encoding: --encoding latin-1"
    )
    plain = call("score", trained, "the café").out
    assert call("score", trained, "a.txt", "--encoding", "latin-1").out == plain
    assert call("score", trained, "-", "--encoding", "latin-1", given="the café\n".encode("latin-1")).out == plain
    assert call.refused("eval", trained, "--data", "a.txt") == (
        "a.txt is not UTF-8: byte 0xE9 at offset 7; say its encoding (--encoding latin-1, or another)"
    )
    assert call("eval", trained, "--data", "a.txt", "--encoding", "latin-1").code == 0
    Path("a.csv").write_text("id,body\n1,the cat sees a dog\n")
    assert call.refused("eval", trained, "--data", "a.csv") == (
        "a.csv has the columns id, body and none called text; name one: --column ..."
    )
    assert call.refused("eval", trained, "--data", "a.csv", "--column", "bodi") == (
        "a.csv has no column 'bodi'; allowed: id, body; did you mean 'body'?; name its own, one by one: --column NAME"
    )
    assert call("eval", trained, "--data", "a.csv", "--column", "body").code == 0
    assert "2 columns are given; allowed: one" in call.refused(
        "eval", trained, "--data", "a.csv", "--column", "id", "--column", "body"
    )
