"""Graphs run by onnxruntime against the models: any batch, any chunks; what cannot be written is refused."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

from foresay.data.batch import Batch
from foresay.errors import UserError
from foresay.export.onnx.graph import LabelGraph, TagGraph, TextGraph
from foresay.export.onnx.tracing import traced
from foresay.text.tokens import START
from tests.export.onnx.made import V, made

onnxruntime = pytest.importorskip("onnxruntime")

HEADS = {"kind": "transformer", "size": 8, "layers": 1, "heads": 2}
TEXTS = {
    "recurrent": {
        "encoder": {"kind": "recurrent", "cell": {"kind": "normed", "cell": "gru"}, "size": 7},
        "condition": 3,
    },
    "transformer": {"encoder": HEADS | {"positions": "rotary", "attention": {"groups": 1}}},
    "window of attention": {"encoder": HEADS | {"positions": "learnt", "attention": {"window": 4}}},
    "dilated": {"encoder": {"kind": "dilated", "size": 7, "dilations": [1, 2]}, "output": "hierarchical"},
    "window": {"encoder": {"kind": "window", "span": 3, "size": 7}},
}


def session(graph, place: Path):
    traced(graph, "this").save(place / "model.onnx")
    return onnxruntime.InferenceSession(str(place / "model.onnx"), providers=["CPUExecutionProvider"])


@pytest.mark.parametrize("name", TEXTS)
@torch.no_grad()
def test_texts_in_chunks_of_any_length(name, tmp_path):
    """Every log P of what follows, and one graph for all batches: the step of a writer is a chunk of one."""
    model = made(**TEXTS[name])
    graph = TextGraph(model)
    found = session(graph, tmp_path)
    assert found.get_inputs()[0].shape == ["batch", "time"]
    assert found.get_outputs()[0].shape == ["batch", "time", V]
    for rows, lengths in ((1, [1, 1, 9]), (4, [3, 1, 7])):
        ids = torch.cat([torch.full((rows, 1), START), torch.randint(5, V, (rows, sum(lengths) - 1))], 1)
        label = torch.arange(rows) % 3 if graph.labelled else None
        given = {} if label is None else {"label": label.numpy()}
        states, parts = {n: one.expand(rows, *one.shape[1:]).numpy() for n, one in graph.first.items()}, []
        for chunk in ids.split(lengths, 1):
            log_probs, *after = found.run(None, {"ids": chunk.numpy(), **given, **states})
            states = dict(zip(states, after, strict=True))
            parts.append(log_probs)
        whole = np.concatenate(parts, 1)
        state = model.begin(rows, label)
        due, state = model.step(ids[:, :0], state)
        np.testing.assert_allclose(whole[:, 0], due.numpy(), rtol=0, atol=1e-5)
        for step in range(1, ids.shape[1]):
            due, state = model.step(ids[:, step : step + 1], state)
            np.testing.assert_allclose(whole[:, step], due.numpy(), rtol=0, atol=1e-5)


MASK = torch.arange(6) < torch.tensor([6, 2, 5, 1])[:, None]


@torch.no_grad()
def test_tags(tmp_path):
    """A chain with rules, both ways: the tags of the run, and no score at padding."""
    encoder = {"kind": "recurrent", "cell": "elman", "size": 8, "bidirectional": True}
    model = made("tagger", encoder=encoder, output="crf")
    found = session(TagGraph(model), tmp_path)
    ids = torch.randint(5, V, (4, 6))
    tags, scores = found.run(None, {"ids": ids.numpy(), "mask": MASK.numpy()})
    due = model.best(Batch(ids=ids, mask=MASK))
    assert np.array_equal(tags[MASK], due.numpy()[MASK]) and not tags[~MASK].any()
    expected = model.scores(Batch(ids=ids, mask=MASK)).masked_fill(~MASK[..., None], 0)
    np.testing.assert_allclose(scores, expected.numpy(), rtol=0, atol=1e-5)


@torch.no_grad()
def test_labels(tmp_path):
    encoder = {"kind": "transformer", "size": 8, "layers": 1, "heads": 2, "causal": False}
    model = made("classifier", encoder=encoder, pool="attention")
    found = session(LabelGraph(model), tmp_path)
    ids = torch.randint(5, V, (4, 6))
    (log_probs,) = found.run(None, {"ids": ids.numpy(), "mask": MASK.numpy()})
    np.testing.assert_allclose(log_probs, model.log_probs(Batch(ids=ids, mask=MASK)).numpy(), rtol=0, atol=1e-5)
    np.testing.assert_allclose(np.exp(log_probs).sum(1), 1, rtol=1e-5)


def test_what_torch_cannot_note_is_one_line(monkeypatch):
    def fail(*_, **__):
        raise RuntimeError("no such\noperation")

    monkeypatch.setattr(torch.onnx, "export", fail)
    monkeypatch.setattr(torch.export, "export", lambda *_, **__: None)
    with pytest.raises(UserError) as error:
        traced(TextGraph(made(encoder={"kind": "window", "size": 7})), "runs/x")
    assert str(error.value).startswith("runs/x cannot be written as onnx: RuntimeError: no such operation; use the run")


def test_libraries_that_are_missing_are_named(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "onnxruntime", None)
    with pytest.raises(UserError, match=r"an export to onnx needs the library onnxruntime .*foresay\[export\]"):
        traced(TextGraph(made(encoder={"kind": "window", "size": 7})), "runs/x")
