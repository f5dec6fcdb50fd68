"""`generate --beam` and `rescore` from the command line: what Python finds, pictures, and what is refused."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest

import foresay
from foresay.decode.beam import Beam
from foresay.run import Run
from foresay.train.progress import Watch
from tests.commands import Commands
from tests.conftest import TINY


@pytest.fixture(scope="module")
def run(trained: Path) -> Run:
    return foresay.load(trained, "cpu")


def test_a_beam_is_what_python_finds(call: Commands, run: Run, trained: Path) -> None:
    search = Beam(width=4, best=3, alpha=0.6)
    expected = run.search("the ", length=12, search=search)[0]
    found = call("generate", trained, "the ", "--length", 12, "--beam", 4, "--number", 3, "--alpha", "0.6")
    assert found.out.splitlines() == [f"{one.found.score:.4f}\t{one.text}" for one in expected]
    as_json = json.loads(
        call("generate", trained, "the ", "--length", 12, "--beam", 4, "--number", 3, "--alpha", "0.6", "--json").out
    )
    assert [one["text"] for one in as_json] == [one.text for one in expected]
    for one in as_json:
        length = len(one["log_probs"])
        assert one["score"] == pytest.approx(math.fsum(one["log_probs"]) / length**0.6)
        assert length == len(one["tokens"]) + one["finished"]


def test_log_p_is_that_of_the_run(run: Run) -> None:
    """A search from nothing adds up to what `score` gives of the same text, less the end."""
    found = run.search("", length=9)[0][0]
    assert run.score(found.text)[0].nats == pytest.approx(-math.fsum(found.found.log_probs[:9]), abs=1e-4)


def test_the_best_of_more_candidates_is_no_worse(run: Run) -> None:
    one, wide = (run.search("a ", length=10, search=Beam(width=width))[0][0].found.score for width in (1, 40))
    assert wide >= one - 1e-6


def test_a_tree_is_drawn(call: Commands, trained: Path) -> None:
    called = call("generate", trained, "the ", "--length", 5, "--beam", 3, "--tree", "tree.svg")
    assert called.code == 0 and Path("tree.svg").read_text("utf-8").startswith("<svg")
    Path("tree.svg").write_text("mine")
    beam = ("generate", trained, "the ", "--length", 5, "--beam", 3, "--tree", "tree.svg")
    assert "tree.svg exists; allowed: a new place: give another --tree, or --force" in call.refused(*beam)
    assert Path("tree.svg").read_text() == "mine"
    assert call(*beam, "--force").code == 0 and Path("tree.svg").read_text("utf-8").startswith("<svg")


def test_tokens_banned_and_required(call: Commands, run: Run, trained: Path) -> None:
    given = ["--length", 8, "--beam", 3, "--ban", "e", "--require", "z" if "z" in run.generate() else "s"]
    text = call("generate", trained, "th", *given).out.strip()[2:]
    assert "e" not in text and given[-1] in text


def test_a_text_ends_before_a_string(call: Commands, run: Run, trained: Path) -> None:
    whole = run.generate("the ", length=60)[0]
    stop = whole[10:12]
    text = call("generate", trained, "the ", "--length", 60, "--stop", stop, "--stop", "§").out[:-1]
    end = whole.index(stop, 4)
    assert text == whole[:end] and run.generate("the ", length=60, stop=[stop])[0] == text


def test_fused_with_another_run(call: Commands, run: Run, trained: Path, corpus: Path, tmp_path: Path) -> None:
    data = {"train": str(corpus)}
    other = foresay.train({"task": "ngram", "data": data, "tokens": "characters"}, out=tmp_path / "n", watch=Watch())
    expected = run.search("a ", length=8, fuse=[(other, 0.5)])[0][0]
    found = call("generate", trained, "a ", "--length", 8, "--beam", 5, "--fuse", f"{tmp_path / 'n'}=0.5")
    assert found.out == expected.text + "\n"
    both = [one.score(expected.text[:])[0].log_probs[2:] for one in (run, other)]
    total = sum(a + 0.5 * b for a, b in zip(*both, strict=True))
    assert math.fsum(expected.found.log_probs[:8]) == pytest.approx(total, abs=1e-3)
    foreign = foresay.train(
        TINY | {"data": data, "tokens": "bytes"}, ["train.steps=1"], out=tmp_path / "b", watch=Watch()
    )
    assert call("generate", trained, "--beam", 2, "--fuse", f"{foreign.folder}=1").error.startswith(
        f"foresay: {foreign.folder} has another vocabulary than {trained}"
    )


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--beam", "-1"], "search.width=-1; allowed"),
        (["--beam", "3", "--temperature", "0"], "search.temperature=0.0; allowed"),
        (["--beam", "3", "--groups", "2"], "groups=2 of width=3; allowed"),
        (["--beam", "3", "--top-k", "2"], "--top-k with --beam 3; it is for sampling: leave out --beam"),
        (["--beam", "3", "--stop", "x"], "--stop with --beam 3; it is for sampling: leave out --beam"),
        (["--tree", "x.svg"], "--tree with no --beam; it is for beam search: give --beam 5"),
        (["--groups", "2"], "--groups with no --beam"),
        (["--beam", "3", "--ban", "the"], "banned='the' is 3 tokens; allowed: texts that are one token"),
        (["--beam", "3", "--require", "☃"], "required='☃' is unknown; allowed: texts that are one token"),
        (["--beam", "3", "--fuse", "runs/x"], "--fuse runs/x; allowed: a run and its weight"),
        (["--beam", "3", "--least", "9", "--length", "5"], "at least 9 symbols of at most 5"),
        (["--typical", "0"], "typical=0.0; allowed"),
        (["--top-p", "1.5"], "top_p=1.5; allowed"),
        (["--stop", ""], "stop='' is in every text"),
        (["--temperature", "0", "--top-p", "0.5"], "--top-p with --temperature 0; it is for sampling"),
        (["--beam", "3", "--seed", "2"], "--seed with --beam 3; it is for sampling: leave out --beam"),
        (["--beam", "3", "--diversity", "1"], "--diversity with one group"),
        (["--beam", "3", "--until", "never"], "search.until='never'; allowed: one of sure, number, length"),
        (["--beam", "3", "--tree", "x.png"], "--tree x.png; allowed: a name that ends with .svg"),
        (["--beam", "3", "--tree", "no/x.svg"], "no is no folder"),
        (["--beam", "1000000000"], "search.width=1000000000; allowed"),
        (["--number", "1000000000000"], "number=1000000000000; allowed"),
        (["--length", "99999999999999999999999"], "length=99999999999999999999999; allowed"),
        (["--beam", "3", "--fuse", "x=nan"], "--fuse x=nan; allowed: a run and its weight, 0 or more"),
    ],
)
def test_what_cannot_be(words: list[str], message: str, call: Commands, trained: Path) -> None:
    called = call("generate", trained, *words)
    assert called.code == 2 and message in called.error and called.error.count("\n") == 1 and not called.out
    assert not Path("x.svg").exists()


def test_a_search_stays_in_the_window(corpus: Path, tmp_path: Path, call: Commands) -> None:
    """A Transformer that was trained on windows of 12 keeps all of a search in them."""
    small = {"kind": "transformer", "size": 8, "heads": 2, "layers": 1}
    train = {"steps": 1, "batches": {"kind": "packed", "rows": 2, "length": 12}}
    raw = TINY | {"data": {"train": str(corpus)}, "encoder": small, "train": train}
    foresay.train(raw, out=tmp_path / "t", watch=Watch())
    assert call("generate", tmp_path / "t", "the ", "--beam", 2, "--length", 7).code == 0
    called = call("generate", tmp_path / "t", "the ", "--beam", 2, "--length", 8)
    assert (
        called.code == 2
        and "a prompt of 4 tokens and length=8; a search keeps all of it, and <start>, in the 12" in called.error
    )
    assert "length=7 at most, or shorten the prompt" in called.error


def test_rescore(call: Commands, run: Run, trained: Path) -> None:
    Path("list.tsv").write_text("1\t-1\tthe cat\n1\t-1.5\tzzq\n2\t0\ta dog\n")
    rows = [line.split("\t") for line in call("rescore", trained, "list.tsv", "--weight", "0.5").out.splitlines()]
    assert [row[0] for row in rows] == ["1", "1", "2"]
    totals = {"the cat": -1 - 0.5 * run.score("the cat")[0].nats, "zzq": -1.5 - 0.5 * run.score("zzq")[0].nats}
    assert float(rows[0][1]) == pytest.approx(max(totals.values()), abs=1e-4)
    best = json.loads(call("rescore", trained, "-", "--best", "--json", given=Path("list.tsv").read_bytes()).out)
    assert [one["id"] for one in best] == ["1", "2"] and best[1]["total"] == pytest.approx(best[1]["log_prob"])
    given = b'{"id": 7, "score": 0, "text": "a dog"}\n{"id": "7b", "score": 0, "text": "a dog"}\n'
    assert [one["id"] for one in json.loads(call("rescore", trained, "-", "--json", given=given).out)] == [7, "7b"]
    assert [line.split("\t")[0] for line in call("rescore", trained, "-", given=given).out.splitlines()] == ["7", "7b"]


def test_what_cannot_be_rescored(call: Commands, trained: Path) -> None:
    Path("bad.tsv").write_text("1\tx\n")
    assert (
        "bad.tsv line 1: '1\\tx'; allowed: id, score and text between tabs" in call("rescore", trained, "bad.tsv").error
    )
    assert call("rescore", trained, "none.tsv").error.startswith("foresay: none.tsv is no file")
