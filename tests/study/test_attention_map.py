"""Attention maps of a run: the numbers, the picture, the command, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import torch

from foresay import start
from foresay.errors import UserError
from foresay.loading import load
from foresay.study import attention_map
from foresay.study.attention_map import attention_of
from foresay.text.tokens import START, STOP
from foresay.train.progress import Watch
from tests.commands import Commands

ENCODER = {"kind": "transformer", "size": 8, "heads": 2, "layers": 3}


def trained(corpus: Path, folder: Path, **more: Any) -> Path:
    train = {"steps": 2, "batches": {"kind": "packed", "rows": 4, "length": 24}, "evaluate": {"tokens": 100}}
    recipe = {"task": "language-model", "tokens": "blanks", "embedding": {"size": 8}, "encoder": ENCODER}
    given = recipe | {"data": {"train": str(corpus)}, "train": train} | more
    start.train(given, out=folder, device="cpu", watch=Watch())
    return folder


@pytest.fixture(scope="module")
def run(corpus: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return trained(corpus, tmp_path_factory.mktemp("looking") / "run")


def test_maps_are_those_of_the_encoder(run: Path):
    loaded = load(run)
    found = attention_of(loaded, "the cat sees $a$ dog")
    assert found.tokens == ["<start>", "the", "cat", "sees", "<unk>", "dog"]
    assert [one.shape for one in found.maps] == [(2, 6, 6)] * 3
    every = torch.stack(found.maps)
    torch.testing.assert_close(every.sum(-1), torch.ones(3, 2, 6))
    assert (every.triu(1) == 0).all()  # nothing ahead
    model: Any = loaded.model
    ids = torch.tensor([[START, *loaded.tokens.encode("the cat sees $a$ dog").tolist()]])
    x = model.embedding.table[ids]
    x = x + model.encoder.positions(torch.arange(6)[None])
    block = model.encoder.blocks[0]
    q, k, _ = block.attention.project(block.norm_attention(x))
    scores = (q @ k.permute(0, 2, 3, 1))[0] * 4**-0.5
    expected = scores.masked_fill(~torch.ones(6, 6).tril().bool(), -torch.inf).softmax(-1)
    torch.testing.assert_close(found.maps[0], expected.detach(), rtol=1e-5, atol=1e-6)


def test_a_model_that_sees_both_sides_has_no_start(corpus: Path, tmp_path: Path):
    folder = trained(corpus, tmp_path / "masked", task="masked-lm", encoder=ENCODER | {"causal": False})
    found = attention_of(load(folder), "the cat sees a dog")
    assert found.tokens == ["the", "cat", "sees", "a", "dog"] and bool((torch.stack(found.maps) > 0).all())


@pytest.fixture(scope="module")
def writers(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Runs that write from a source: one vocabulary, and one for each side."""
    folder = tmp_path_factory.mktemp("pairs")
    pairs = "".join(f"{a} {b}\t{b.upper()} {a.upper()}\n" for a in ("ab", "cd", "ef") for b in ("gh", "ij", "kl"))
    (folder / "pairs.tsv").write_text(pairs, "utf-8")
    data = {"kind": "pairs", "train": str(folder / "pairs.tsv"), "valid": str(folder / "pairs.tsv")}
    side = {"kind": "transformer", "size": 8, "heads": 2, "layers": 1}
    train = {"steps": 2, "batches": {"kind": "pairs", "tokens": 60}, "evaluate": {"tokens": 100}}
    given = {"task": "seq2seq", "tokens": "blanks", "embedding": {"size": 8}, "writer": side, "train": train}
    given |= {"encoder": side | {"causal": False}}
    for name, own in (("one", {}), ("two", {"source_tokens": "blanks"})):
        start.train(given | {"data": data | own}, out=folder / name, device="cpu", watch=Watch())
    return folder / "one", folder / "two"


@pytest.mark.parametrize("which", [0, 1])
def test_a_source_is_looked_at_as_the_model_reads_it(writers: tuple[Path, Path], which: int):
    """No <start>, but <stop>; with a vocabulary of their own, the sources' symbols and vectors."""
    loaded: Any = load(writers[which])
    found = attention_of(loaded, "ab gh")
    assert found.tokens == ["ab", "gh", "<stop>"]
    model = loaded.model
    table = (model.embedding if which == 0 else model.source_embedding).table
    tokens = loaded.tokens if which == 0 else loaded.recipe.data.source_tokens
    ids = [*tokens.encode("ab gh").tolist(), STOP]
    x = table[ids][None] + model.encoder.positions(torch.arange(3)[None])
    block = model.encoder.blocks[0]
    q, k, _ = block.attention.project(block.norm_attention(x))
    expected = ((q @ k.permute(0, 2, 3, 1))[0] * 4**-0.5).softmax(-1)
    torch.testing.assert_close(found.maps[0], expected.detach(), rtol=1e-5, atol=1e-6)
    with pytest.raises(UserError, match="source 1 of 1 is empty"):
        attention_of(loaded, "")


def test_the_command(run: Path, call: Commands, tmp_path: Path):
    text = "the cat sees a dog $x$ ."
    told = json.loads(call("look", run, "--attention", text, "--layer", 1, "--head", 0, "--json").out)
    assert [(one["layer"], one["head"]) for one in told["maps"]] == [(1, 0)] and not (run / "attention.svg").exists()
    torch.testing.assert_close(torch.tensor(told["maps"][0]["weights"]), attention_of(load(run), text).maps[1][0])
    said = call("look", run, "--attention", text).error
    picture = run / "attention.svg"
    assert said == f"{picture} is written: 8 tokens, of a model with 3 layers of 2 heads\n"
    drawn = picture.read_text("utf-8")
    assert drawn.count(">layer ") == 6 and drawn.count(">cat<") == 12 and ">layer 2, head 1<" in drawn
    assert "attention.svg exists" in call.refused("look", run, "--attention", text)
    call("look", run, "--attention", text, "--force")
    assert picture.read_text("utf-8") == drawn
    picture.unlink()
    call("look", run, "--attention", text, "--layer", 0, "--head", 1, "--out", "one.png")
    assert Path("one.png").read_bytes().startswith(b"\x89PNG") and Path("one.png").stat().st_size > 10_000
    both = call("look", run, "--attention", text, "--layer", 2, "--out", "row.svg", "--json")
    assert len(json.loads(both.out)["maps"]) == 2 and Path("row.svg").read_text("utf-8").count(">layer 2") == 2


def test_long_texts_have_small_maps_without_labels(run: Path, call: Commands):
    call("look", run, "--attention", "the cat " * 15, "--out", "long.svg")
    assert ">cat<" not in Path("long.svg").read_text("utf-8")
    call("look", run, "--attention", "the cat " * 15, "--layer", 0, "--head", 0, "--out", "large.svg")
    assert Path("large.svg").read_text("utf-8").count(">cat<") == 30


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([], "nothing to look at; give one of --attention TEXT, --pair SOURCE [TARGET], --text TEXT, --gradient"),
        (["--attention", ""], "the text has 1 token; give at least two"),
        (["--attention", "the cat", "--layer", 3], "--layer 3; allowed: 0 to 2, as the run has 3"),
        (["--attention", "the cat", "--head", -1], "--head -1; allowed: 0 to 1, as the run has 2"),
        (["--attention", "the cat", "--out", "x.pdf"], "--out x.pdf; allowed: a name that ends with .svg or .png"),
        (["--attention", "the cat " * 40], "the text has 81 tokens; up to 64 can be read in a picture"),
    ],
)
def test_refusals(run: Path, call: Commands, words, message):
    assert call.refused("look", run, *words).startswith(message)


def test_a_run_without_attention(trained_lstm: Path, call: Commands):
    assert "has no attention to look at: it is recurrent" in call.refused(
        "look", trained_lstm, "--attention", "the cat"
    )


@pytest.fixture
def trained_lstm(request: pytest.FixtureRequest) -> Path:
    return request.getfixturevalue("trained")


def test_positions_end(corpus: Path, tmp_path: Path):
    learnt = ENCODER | {"positions": {"kind": "learnt", "longest": 24}}
    loaded = load(trained(corpus, tmp_path / "learnt", encoder=learnt))
    with pytest.raises(UserError, match="the text has 26 tokens; the run has positions for 24"):
        attention_map.attention_of(loaded, "cat " * 25)


def test_a_layer_that_is_not_there_is_refused_before_anything_is_read(run: Path):
    with pytest.raises(UserError, match="--layer 9; allowed: 0 to"):
        attention_map.check_place(load(run), 9, None)
