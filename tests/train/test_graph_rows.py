"""Taggers and classifiers as CUDA graphs: the step of every shape is the plain one, letters and ELMo among it."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file

from foresay import start
from foresay.data.batch import Batch
from foresay.train.graph import FEW, _evened
from foresay.train.progress import Watch

needs_gpu = pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")
WORDS = "the a cat dog bird sees hears likes runs small old red house tree river under over".split()  # noqa: SIM905
LETTERS = {"kind": "characters", "size": 8, "kernels": [[2, 8]], "longest": 12}
BOTH = {"kind": "recurrent", "cell": "lstm", "size": 16, "bidirectional": True, "dropout": 0.2}
ELMO = {"kind": "joined", "of": [{"kind": "lookup", "size": 8, "words": 0.1}, {"kind": "elmo", "run": "elmo"}]}


@pytest.mark.parametrize(("words", "room"), [(1, FEW), (FEW, FEW), (FEW + 1, 2 * FEW), (5 * FEW, 8 * FEW)])
def test_strange_words_have_room_for_a_power_of_two(words: int, room: int) -> None:
    letters = torch.arange(words * 7, dtype=torch.int16).view(words, 7)
    found = _evened(Batch(characters=letters)).characters
    assert found is not None and found.shape == (room, 102) and found.dtype == torch.int16
    assert torch.equal(found[:words, :7], letters) and not found[words:].any() and not found[:, 7:].any()
    assert _evened(Batch()).characters is None


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A text, sentences with tags, sentences with labels; some words stand there once, so no vocabulary has them."""
    monkeypatch.chdir(tmp_path)
    draw = random.Random(1)
    rare = ["".join(draw.choices("abcdefgh", k=6)) for _ in range(400)]
    rows = [draw.choices([*WORDS, rare[n]], k=draw.choice([3, 4, 4, 5, 9, 12])) for n in range(400)]
    Path("text.txt").write_text("\n".join(" ".join(row) for row in rows), "utf-8")
    Path("a.conll").write_text("\n\n".join("\n".join(f"{w}\t{w[0]}" for w in row) for row in rows), "utf-8")
    Path("a.tsv").write_text("".join(f"{'yes' if 'cat' in row else 'no'}\t{' '.join(row)}\n" for row in rows), "utf-8")
    return tmp_path


def train(recipe: dict[str, Any], out: str, *words: str) -> dict[str, torch.Tensor]:
    start.train(recipe, [*words, "train.steps=60", "train.lr=0.125"], out=out, device="cuda", watch=Watch())
    return load_file(f"{out}/model.safetensors")


def recipe(task: str, **changed: Any) -> dict[str, Any]:
    kind = "tags" if task == "tagger" else "labels"
    data = {"kind": kind, "train": "a.conll" if kind == "tags" else "a.tsv"}
    if kind == "labels":
        data |= {"format": "tsv", "columns": [2, 1]}
    steps = {"batches": {"kind": kind, "tokens": 100, "width": 4}, "optimizer": {"kind": "sgd", "lr": 0.125}}
    tokens = {"kind": "blanks", "min_count": 2}
    return {"task": task, "data": data, "tokens": tokens, "encoder": BOTH, "train": steps, **changed}


@pytest.mark.gpu
@needs_gpu
@pytest.mark.parametrize(
    ("task", "changed"),
    [
        ("tagger", {"embedding": {"kind": "joined", "of": ["lookup", LETTERS]}, "unknown": 0.1}),
        ("tagger", {"embedding": ELMO}),
        ("classifier", {"embedding": "lookup", "agreement": 1.0, "dropout": 0.2}),
        ("classifier", {"embedding": ELMO, "agreement": 1.0}),
    ],
    ids=["letters", "tagger-elmo", "classifier", "classifier-elmo"],
)
def test_replayed_it_is_the_plain_step(task: str, changed: dict, here: Path) -> None:
    """`train.graph=true` refuses what cannot be captured; 1e-3 for products that may be cut differently."""
    if changed["embedding"] == ELMO:
        fed = {"kind": "recurrent", "size": 8, "layers": 2, "between": {"wiring": "fed"}}
        train_ = {"steps": 2, "batches": {"kind": "packed", "rows": 2, "length": 12}}
        elmo = {"task": "bilm", "data": {"train": "text.txt"}, "tokens": "blanks", "embedding": LETTERS, "encoder": fed}
        start.train(elmo | {"train": train_}, out="elmo", device="cuda", watch=Watch())
    plain = train(recipe(task, **changed), "plain", "train.graph=false", "train.best=last")
    ours = train(recipe(task, **changed), "graph", "train.graph=true", "train.best=last")
    for name, tensor in plain.items():
        torch.testing.assert_close(ours[name], tensor, rtol=1e-3, atol=1e-4)
