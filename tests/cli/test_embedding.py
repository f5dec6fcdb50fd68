"""`foresay embed`: the same vectors in every format, as the model reads the words; mistakes in one line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors import safe_open

from foresay import represent, start
from foresay.cli import lines
from foresay.data.batch import Batch
from foresay.errors import UserError
from foresay.loading import load
from foresay.text.tokens import UNK
from foresay.text.word_bytes import numbered
from foresay.train.progress import Watch
from tests.commands import Commands

TEXTS = ["the cat sat", "a quagga sat"]


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("embed")
    (made / "text.txt").write_text("the cat sat on a mat\n" * 30)
    (made / "lines.txt").write_text(f"{TEXTS[0]}\n\n{TEXTS[1]}\n")
    recipe = {
        "task": "bilm",
        "data": {"train": str(made / "text.txt")},
        "tokens": "words",
        "embedding": {"kind": "characters", "size": 6, "kernels": [[2, 8]]},
        "encoder": {"kind": "recurrent", "size": 6, "layers": 2, "between": {"wiring": "fed"}},
        "train": {"steps": 2, "batches": {"kind": "packed", "rows": 2, "length": 10}},
    }
    start.train(recipe, out=made / "run", device="cpu", watch=Watch())
    narrow = recipe["embedding"] | {"size": 4}
    start.train(recipe | {"embedding": narrow}, out=made / "narrow", device="cpu", watch=Watch())
    bare = {"kind": "words", "normalise": {"punctuation": "strip"}}
    start.train(recipe | {"tokens": bare}, out=made / "bare", device="cpu", watch=Watch())
    counted = {"task": "ngram", "data": recipe["data"], "tokens": "words"}
    start.train(counted, out=made / "counts", device="cpu", watch=Watch())
    return made


@pytest.fixture(autouse=True)
def here(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(place)


def expected() -> list[torch.Tensor]:
    """By the model itself: its numbers of the words that it knows, the letters of the one that it does not."""
    run: Any = load("run", "cpu")
    (the, cat, sat, a), size = run.tokens.encode("the cat sat a").tolist(), len(run.tokens)
    letters = torch.from_numpy(numbered(["quagga"], 50))
    strange = Batch(ids=torch.tensor([[a, UNK, sat]]), spelt=torch.tensor([[a, size, sat]]), characters=letters)
    with torch.no_grad():
        both = [run.model.read(batch) for batch in (Batch(ids=torch.tensor([[the, cat, sat]])), strange)]
    return [torch.stack([h[0] for h in layers]) for layers in both]


def test_json_lines(call: Commands):
    done = call("embed", "run", "lines.txt")
    told = [json.loads(line) for line in done.out.splitlines()]
    assert [line["tokens"] for line in told] == [TEXTS[0].split(), [], TEXTS[1].split()]
    assert told[1] == {"text": "", "tokens": [], "layers": [[], [], []]}
    for line, wanted in zip(told[::2], expected(), strict=True):
        torch.testing.assert_close(torch.tensor(line["layers"]), wanted)


def test_sequences_of_fasta(call: Commands):
    Path("two.fasta").write_text(">one\nthe cat\n>two\n on a\n mat \n")
    told = [json.loads(line) for line in call("embed", "run", "two.fasta").out.splitlines()]
    assert [line["text"] for line in told] == ["the cat", "on amat"]
    Path("bare.fa").write_text("the cat\n")
    done = call("embed", "run", "bare.fa")
    assert done.code == 2 and done.error.startswith("foresay: bare.fa line 1 stands below no name, and FASTA has one")
    Path("long.fa").write_text(">one\nthe\n>two\n...\n")
    assert call("embed", "bare", "long.fa").error.startswith("foresay: long.fa sequence 2 ")


def test_what_stands_before_a_line_that_cannot_be_read_is_given(call: Commands):
    done = call("embed", "run", "-", given=b"the cat\na\xff\n")
    assert done.code == 2 and done.error.startswith("foresay: standard input line 2 is not UTF-8: byte 0xFF")
    assert json.loads(done.out)["tokens"] == ["the", "cat"]
    done = call("embed", "run", "-", given=b"the cat\r\na\rmat\r")
    assert done.code == 2 and done.error.startswith("foresay: standard input line 2 has a carriage return within; end")
    assert json.loads(done.out)["tokens"] == ["the", "cat"]


def test_a_line_without_tokens_is_told_with_its_place(call: Commands, tmp_path, monkeypatch):
    """Past the first block of lines; those before it are given, a file of all is not begun."""
    monkeypatch.setattr(lines, "BLOCK", 4)
    (tmp_path / "new.txt").write_text("the cat\na\n\nsat\n\non!\n\n!!!\na mat\n")
    done = call("embed", "bare", tmp_path / "new.txt")
    told = "has no tokens ('!!!'); give some words"
    assert (done.code, done.error) == (2, f"foresay: {tmp_path / 'new.txt'} line 8 {told}\n")
    found = [json.loads(line)["tokens"] for line in done.out.splitlines()]
    assert found == [["the", "cat"], ["a"], [], ["sat"], [], ["on"], []]
    assert call.refused("embed", "bare", tmp_path / "new.txt", "--out", tmp_path / "v.npy").endswith(told)
    assert not (tmp_path / "v.npy").exists()
    assert call("embed", "bare", "a", "!!!").error == f"foresay: '!!!' {told}\n"
    run: Any = load("bare", "cpu")
    with pytest.raises(UserError, match=r"^text 2 of 3 has no tokens \('!!!'\); give some words$"):
        run.embed(["a", "!!!", "?"])
    with pytest.raises(UserError, match=r"^texts=5; allowed: text, or a list of texts$"):
        run.embed(5)


def test_files_in_another_encoding(call: Commands, tmp_path):
    (tmp_path / "latin.txt").write_text("the café", "latin-1")
    assert "say its encoding: --encoding latin-1" in call.refused("embed", "run", tmp_path / "latin.txt")
    done = call("embed", "run", tmp_path / "latin.txt", "--encoding", "latin-1")
    assert json.loads(done.out)["text"] == "the café"


def test_every_format_holds_the_same(call: Commands, tmp_path):
    whole = torch.cat(expected(), 1)  # (layers, tokens, width)
    for name in ("v.safetensors", "v.npy", "w.json"):
        assert call("embed", "run", *TEXTS, "--out", tmp_path / name).code == 0
    with safe_open(tmp_path / "v.safetensors", "pt") as file:
        found = [file.get_tensor(f"h{n}") for n in range(3)]
        assert file.get_tensor("ends").tolist() == [3, 6]
        assert json.loads(file.metadata()["tokens"]) == [text.split() for text in TEXTS]
    torch.testing.assert_close(torch.stack(found), whole)
    torch.testing.assert_close(torch.from_numpy(np.load(tmp_path / "v.npy")), whole.transpose(0, 1))
    assert json.loads((tmp_path / "v.json").read_text()) == [text.split() for text in TEXTS]
    read = json.loads((tmp_path / "w.json").read_text())
    torch.testing.assert_close(torch.cat([torch.tensor(one["layers"]) for one in read], 1), whole)
    call("embed", "run", *TEXTS, "--out", tmp_path / "one.npy", "--layer", 1)
    torch.testing.assert_close(torch.from_numpy(np.load(tmp_path / "one.npy"))[:, 0], whole[1])


@pytest.mark.parametrize("layer", [None, 1])
def test_blank_lines_keep_their_places(call: Commands, tmp_path, monkeypatch, layer):
    """An entry without tokens, also where it is read before the first word is."""
    monkeypatch.setattr(lines, "BLOCK", 1)
    (tmp_path / "new.txt").write_text(f"\n{TEXTS[0]}\n \n{TEXTS[1]}\n")
    chosen = [] if layer is None else ["--layer", layer]
    for name in ("v.safetensors", "v.npy"):
        assert call("embed", "run", tmp_path / "new.txt", "--out", tmp_path / name, *chosen).code == 0
    whole = torch.cat(expected(), 1) if layer is None else torch.cat(expected(), 1)[[layer]]
    tokens = [[], TEXTS[0].split(), [], TEXTS[1].split()]
    with safe_open(tmp_path / "v.safetensors", "pt") as file:
        assert file.get_tensor("ends").tolist() == [0, 3, 3, 6]
        assert json.loads(file.metadata()["tokens"]) == tokens
        torch.testing.assert_close(file.get_tensor("h1"), whole[1 if layer is None else 0])
    torch.testing.assert_close(torch.from_numpy(np.load(tmp_path / "v.npy")), whole.transpose(0, 1))
    assert json.loads((tmp_path / "v.json").read_text()) == tokens


def test_what_is_written_is_counted(call: Commands, tmp_path):
    assert call("embed", "run", "a", "--out", tmp_path / "v.npy").error == f"{tmp_path / 'v.npy'}: 1 token of 1 text\n"


def test_where_all_lines_are_blank_there_is_no_text(call: Commands, tmp_path):
    (tmp_path / "blank.txt").write_text("\n \n")
    for out in ([], ["--out", tmp_path / "v.npy"]):
        said = call.refused("embed", "run", tmp_path / "blank.txt", *out)
        assert said == f"there is nothing to embed in {tmp_path / 'blank.txt'}; give texts with words"


def test_several_are_read_together(monkeypatch):
    """As each alone, in the order given; no batch above the bound but a text that is longer by itself."""
    run: Any = load("run", "cpu")
    texts = ["a", "the cat sat on a mat", "quagga", "the zebu sat", "a mat", "on a mat the cat sat on a mat sat a zho"]
    alone = [run.embed(text)[0] for text in texts]
    read, sizes = run.model.read, []
    monkeypatch.setattr(run.model, "read", lambda batch: sizes.append(batch.ids.shape) or read(batch))
    monkeypatch.setattr(represent, "AT_ONCE", 8)
    found = run.embed(texts)
    assert sizes == [(1, 12), (1, 6), (2, 3), (2, 1)] and run.embed([]) == []
    for one, wanted in zip(found, alone, strict=True):
        assert (one.text, one.tokens) == (wanted.text, wanted.tokens)
        torch.testing.assert_close(one.layers, wanted.layers, atol=1e-5, rtol=0)
    assert {h.untyped_storage().nbytes() for h in found[0].layers} == {12 * 4}  # a row, not its batch


def test_nothing_is_lost(call: Commands, tmp_path, monkeypatch):
    """The tokens beside an .npy are a file as any other; a place is looked at before the run is."""
    (tmp_path / "v.json").write_text("mine")
    said = call.refused("embed", "nowhere", "a", "--out", tmp_path / "v.npy")
    assert said.startswith(f"{tmp_path / 'v.json'} exists; allowed: a new place: give another --out")
    assert (tmp_path / "v.json").read_text() == "mine" and not (tmp_path / "v.npy").exists()
    assert call("embed", "run", "a", "--out", tmp_path / "v.npy", "--force").code == 0
    assert json.loads((tmp_path / "v.json").read_text()) == [["a"]]
    said = call.refused("embed", "nowhere", "a", "--out", "no/q.npy")
    assert said == "no is no folder; make it first, or give another --out"


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["run", "a", "--out", "v.csv"], "--out v.csv; allowed: a name that ends with .safetensors, .npy, .json"),
        (["run", "a", "--out", "text.json", "--layer", "3"], "--layer 3; allowed: 0 to 2"),
        (["run", "a", " "], "the text is empty; give a text with words"),
        (["narrow", "a", "--out", "v.npy"], "layers are 8, 12, 12 wide, and .npy holds one table"),
        (["nowhere", "a"], "nowhere is no run"),
        (["counts", "a"], "counts is of task ngram; vectors in context are given by a run of task bilm"),
    ],
)
def test_mistakes(call: Commands, words, told):
    assert told in call.refused("embed", *words)
    assert not [*Path().glob("v.*")] and not Path("text.json").exists()


@pytest.mark.parametrize("name", ["t.csv", "t.jsonl.gz", "t.conll", "t.parquet"])
def test_files_that_hold_no_lines_of_text_are_refused(call: Commands, tmp_path, name):
    (tmp_path / name).write_bytes(b"the cat,1\n")
    said = call.refused("embed", "nowhere", tmp_path / name)
    assert f"{name} holds no lines of text by its name (." in said and said.endswith("; allowed: a text a line")
