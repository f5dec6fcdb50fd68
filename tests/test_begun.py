"""Runs that begin with the weights of others, and parts that do not learn."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest
import torch

from foresay import parts, start
from foresay.begin import Begin
from foresay.begun import Another, hold, take
from foresay.data.batch import Batch
from foresay.errors import UserError
from foresay.loading import load
from foresay.train.progress import Watch
from tests.contracts.settings import described, label
from tests.forks import Forks
from tests.train.test_resume import drive

V = 13
SYMBOLS = [str(number) for number in range(V)]


class Notes(Watch):
    def __init__(self) -> None:
        self.notes: list[str] = []

    def note(self, text: str) -> None:
        self.notes.append(text)


def weights(folder: Path) -> dict[str, torch.Tensor]:
    return dict(load(folder, "cpu").model.named_parameters())


def model(seed: int, vocabulary: int = V, **more: Any) -> Any:
    torch.manual_seed(seed)
    raw = {"kind": "language-model", "embedding": {"size": 6}, "encoder": {"kind": "recurrent", "size": 7}}
    made = parts.make("task", raw | more)
    made.build(vocabulary)
    return made


def another(one: Any, symbols: list[str] = SYMBOLS) -> Another:
    return Another("runs/a", {name: tensor.detach().clone() for name, tensor in one.named_parameters()}, symbols)


def test_all_that_fits_is_taken() -> None:
    """Of a model with a wider head the head begins as it would alone, bit for bit."""
    own, other = model(1), model(2)
    notes = take(own, Begin("runs/a"), SYMBOLS, another(other))
    assert all(map(torch.equal, own.parameters(), other.parameters()))
    assert notes == [f"begun with runs/a: {own.size():,} of {own.size():,} parameters, of embedding, encoder, output"]
    own, alone = (model(1, output={"kind": "hierarchical"}) for _ in range(2))
    notes = take(own, Begin("runs/a"), SYMBOLS, another(other))
    assert torch.equal(own.embedding.table, other.embedding.table)
    for name, tensor in own.output.named_parameters():
        assert torch.equal(tensor, dict(alone.output.named_parameters())[name])
    assert "at random begin output." in notes[1]


def test_parts_by_name_and_under_another_name() -> None:
    two = {"encoder": {"kind": "recurrent", "size": 6, "layers": 2}}
    own, alone, other = model(1, **two), model(1, **two), model(2, **two)
    take(own, Begin("a", ["encoder.forwards.1"]), SYMBOLS, another(other))
    first, second = own.encoder.forwards
    assert all(map(torch.equal, first.parameters(), alone.encoder.forwards[0].parameters()))
    assert all(map(torch.equal, second.parameters(), other.encoder.forwards[1].parameters()))
    assert torch.equal(own.embedding.table, alone.embedding.table)
    take(own, Begin("a", {"encoder.forwards.1": "encoder.forwards.0"}), SYMBOLS, another(other))
    assert all(map(torch.equal, second.parameters(), other.encoder.forwards[0].parameters()))


def test_tables_of_other_vocabularies_are_taken_symbol_by_symbol() -> None:
    own, alone, other = model(1), model(1), model(2, vocabulary=9)
    theirs = ["7", "x", "0", "12", "3", "y", "5", "z", "1"]
    notes = take(own, Begin("a"), SYMBOLS, another(other, theirs))
    for row, symbol in enumerate(SYMBOLS):
        for mine, yours, before in ((own, other, alone),):
            for table in ("embedding.table", "output.weight", "output.bias"):
                found = mine.get_parameter(table)[row]
                expected = (
                    yours.get_parameter(table)[theirs.index(symbol)]
                    if symbol in theirs
                    else before.get_parameter(table)[row]
                )
                assert torch.equal(found, expected)
    assert notes[-1] == "6 of 13 symbols are in its vocabulary; the others begin at random"
    assert all(map(torch.equal, own.encoder.parameters(), other.encoder.parameters()))


def test_as_many_symbols_that_are_others_are_not_taken_for_the_same() -> None:
    own, other = model(1), model(2)
    take(own, Begin("a"), SYMBOLS, another(other, SYMBOLS[::-1]))
    assert torch.equal(own.embedding.table, other.embedding.table.flip(0))
    assert torch.equal(own.output.bias, other.output.bias.flip(0))


@pytest.mark.parametrize(
    ("begin", "said"),
    [
        (Begin("a", ["encode"]), r"begin.parts: encode is no part of runs/a; allowed: embedding, encoder, output; did"),
        (Begin("a", {"head": "output"}), "begin.parts: head is no part; allowed: embedding, encoder, output"),
        (Begin("a", ["encoder.forwards.7"]), r"encoder.forwards.7 is no part of runs/a; allowed: encoder.forwards.0"),
        (Begin("a", {"output": "embedding"}), r"begin.parts: runs/a has no embedding.weight; make the parts alike"),
        (
            Begin("a", ["encoder"]),
            r"begin.parts: encoder.forwards.0.\w+ is \(28, 6\) here and \(36, 6\) there, in runs/a",
        ),
    ],
)
def test_parts_that_do_not_fit(begin: Begin, said: str) -> None:
    other = model(2, encoder={"kind": "recurrent", "size": 9})
    with pytest.raises(UserError, match=said):
        take(model(1), begin, SYMBOLS, another(other))


def test_little_that_fits_is_warned_of() -> None:
    other = model(2, embedding={"size": 5}, encoder={"kind": "recurrent", "size": 9})
    notes = take(model(1), Begin("runs/a"), SYMBOLS, another(other))
    assert notes[0] == f"begun with runs/a: {V} of {model(1).size():,} parameters, of output"
    assert notes[-1].startswith("warning: little of runs/a fits: embedding.table is (13, 6) here and (13, 5) there;")


def test_nothing_that_fits() -> None:
    wide = {"kind": "window", "size": 9}
    other = model(2, embedding={"size": 5}, encoder=wide, output={"kind": "softmax", "bias": False})
    with pytest.raises(UserError, match=r"begin.run='runs/a' has nothing that fits: embedding.table is \(13, 6\) here"):
        take(model(1), Begin("a"), SYMBOLS, another(other))


@pytest.mark.parametrize(
    "encoder", [one for one in described("encoder") if parts.make("encoder", one).causal], ids=label
)
def test_what_is_held_changes_no_other_gradient(encoder: dict[str, Any]) -> None:
    """With the encoder held, or the embedding below it, the gradients of the rest are what they are without."""
    batch = Batch(ids=torch.randint(5, V, (2, 6)), targets=torch.randint(5, V, (2, 6)))
    found = {}
    for held in ("", "encoder", "embedding", "output"):
        one = model(3, encoder=encoder).eval()
        hold(one, [held] if held else [])
        one.loss(batch)[0].backward()
        found[held] = {name: parameter.grad for name, parameter in one.named_parameters()}
    for held in ("encoder", "embedding", "output"):
        for name, grad in found[held].items():
            if name.startswith(held):
                assert grad is None
            elif found[""][name] is not None:
                torch.testing.assert_close(grad, found[""][name], msg=f"{held} held: {name}")


def test_what_cannot_be_held() -> None:
    with pytest.raises(UserError, match=r"begin.frozen: embeding is no part; allowed: .*; did you mean 'embedding'\?"):
        hold(model(1), ["embeding"])
    with pytest.raises(UserError, match="is all of the model, and nothing is left to learn"):
        hold(model(1), ["embedding", "encoder", "output"])


def test_a_run_goes_on_with_another_text(trained: Path, corpus: Path, tmp_path: Path) -> None:
    """Of a bare text the recipe is that of the run; its tokens are kept, and the loss begins where the run ended."""
    other = tmp_path / "other.txt"
    other.write_text(corpus.read_text("utf-8")[:9000], "utf-8")
    watch = Notes()
    words = [f"begin.run={trained}", "train.steps=2", "begin.frozen=[embedding]"]
    run = start.train(other, words, out=tmp_path / "on", device="cpu", watch=watch)
    before, after = weights(trained), weights(run.folder)
    assert before.keys() == after.keys() and torch.equal(before["embedding.table"], after["embedding.table"])
    assert not torch.equal(before["output.weight"], after["output.weight"])
    assert (run.folder / "tokenizer.json").read_bytes() == (trained / "tokenizer.json").read_bytes()
    told = "\n".join(watch.notes)
    assert f"the recipe of {trained}" in told and f"begun with {trained}" in told
    raw = run.recipe.as_dict() | {"begin": {"run": str(trained), "parts": ["output.bias"]}}
    fresh = start.train(raw, out=tmp_path / "new", device="cpu", watch=Watch())
    assert run.evaluate().loss < fresh.evaluate().loss - 0.1  # of the same text, cut alike
    assert run.recipe.begin is not None and run.recipe.begin.frozen == ["embedding"]
    assert load(run.folder, "cpu").evaluate(other).tokens > 0


def test_a_head_of_another_task(trained: Path, tmp_path: Path) -> None:
    """A classifier on the embedding and the encoder of a language model."""
    texts = "".join(f'"the cat {word} it","{word}"\n' for word in ("sees", "hears") * 30)
    (tmp_path / "x.csv").write_text(f"text,label\n{texts}", "utf-8")
    raw = {
        "task": "classifier",
        "data": {"kind": "labels", "train": str(tmp_path / "x.csv")},
        "embedding": {"size": 8},
        "encoder": {"kind": "recurrent", "size": 12, "layers": 2},
        "train": {"steps": 3, "batches": {"kind": "labels"}},
        "begin": {"run": str(trained), "frozen": ["embedding", "encoder.forwards.0"]},
    }
    run = start.train(raw, out=tmp_path / "run", device="cpu", watch=Watch())
    before, after = weights(trained), weights(run.folder)
    for name in before:
        if name.startswith(("embedding", "encoder.forwards.0")):
            assert torch.equal(before[name], after[name])
    assert not torch.equal(before["encoder.forwards.1.weight_hh"], after["encoder.forwards.1.weight_hh"])
    frozen = sum(one.numel() for name, one in before.items() if name.startswith(("embedding", "encoder.forwards.0")))
    assert run.model.size() == sum(one.numel() for one in after.values())  # of a loaded model all
    assert (
        f"{sum(one.numel() for one in after.values()) - frozen:,} parameters" in (run.folder / "README.md").read_text()
    )


def test_killed_and_gone_on_with_when_the_other_run_is_gone(
    tiny: dict[str, Any], trained: Path, tmp_path: Path, forks: Forks
) -> None:
    shutil.copytree(trained, tmp_path / "other")
    recipe = tiny | {"begin": {"run": str(tmp_path / "other"), "frozen": ["encoder.forwards.0"]}, "seed": 4}
    drive(forks, recipe, tmp_path / "alone")
    drive_until_killed(forks, recipe, tmp_path / "killed")
    shutil.rmtree(tmp_path / "other")
    code, _, error = forks.run("foresay", "train", "--resume", tmp_path / "killed", "--device", "cpu")
    assert code == 0, error
    alone, killed = ((tmp_path / name / "model.safetensors").read_bytes() for name in ("alone", "killed"))
    assert alone == killed


def drive_until_killed(forks: Forks, recipe: dict[str, Any], out: Path) -> None:
    import signal

    import yaml

    path = out.with_suffix(".yaml")
    path.write_text(yaml.safe_dump(recipe), "utf-8")
    words = ("foresay", "train", path, "--out", out, "--device", "cpu")
    code, _, error = forks.run(*words, hook=("tests.train.killing", "die", "13"))
    assert code == -signal.SIGKILL, error


def test_what_cannot_be_begun_with(tiny: dict[str, Any], trained: Path, tmp_path: Path, call: Any) -> None:
    for begin, said in (
        ({"run": "none"}, "begin.run='none': no run is there; give the folder of a finished run"),
        ({"frozen": ["middle"]}, "begin.frozen: middle is no part; allowed: embedding, encoder, output"),
    ):
        with pytest.raises(UserError, match=said):
            start.train(tiny | {"begin": begin}, out=tmp_path / "run", device="cpu", watch=Watch())
        assert not (tmp_path / "run" / "recipe.yaml").exists()
    start.train(
        {"task": "ngram", "data": tiny["data"], "tokens": "characters"},
        out=tmp_path / "counts",
        device="cpu",
        watch=Watch(),
    )
    with pytest.raises(UserError, match="is of task=ngram, which is not trained in steps and has no parts to begin"):
        start.train(tiny | {"begin": {"run": str(tmp_path / "counts")}}, out=tmp_path / "run", watch=Watch())
    levels = tiny | {"begin": {"run": str(trained)}, "tokens": "levels"}
    with pytest.raises(UserError, match=r"has tokens=characters, and this recipe reads levels; give a run on data of"):
        start.train(levels, out=tmp_path / "run", device="cpu", watch=Watch())
    counts = {"task": "ngram", "data": tiny["data"], "begin": {"run": str(trained)}}
    with pytest.raises(UserError, match="begin with task=ngram, which is not trained in steps; leave it out"):
        start.train(counts, out=tmp_path / "run", device="cpu", watch=Watch())
    (tmp_path / "x.txt").write_text("a b c\n" * 99, "utf-8")
    assert "no run is there" in call.refused("train", tmp_path / "x.txt", "begin.run=none")
