"""What graphs take and give: names, shapes, first states; who has none."""

from __future__ import annotations

import pytest
import torch

from foresay import parts
from foresay.encode.encoder import flatten_state
from foresay.errors import UserError
from foresay.export.onnx.graph import LabelGraph, TagGraph, TextGraph, graph_of
from foresay.text.tokens import START
from tests.export.onnx.made import V, made


def test_a_language_model_has_its_state_outside():
    model = made(encoder={"kind": "recurrent", "cell": "lstm", "size": 7, "layers": 2})
    graph = graph_of(model, "this")
    assert isinstance(graph, TextGraph)
    states = ["state.position", "state.0.h", "state.0.c", "state.1.h", "state.1.c"]
    assert [*graph.examples] == ["ids", *states] and [*graph.outputs] == ["log_probs", *(f"new.{n}" for n in states)]
    assert graph.axes["ids"] == {0: "batch", 1: "time"} and graph.axes["state.0.c"] == {0: "batch"}
    assert all(not one.any() for one in graph.first.values())
    ids = torch.randint(5, V, (2, 4))
    begun = torch.full((2, 1), START)
    out = graph(torch.cat([begun, ids], 1), *(one.expand(2, *one.shape[1:]) for one in graph.first.values()))
    due, after = model.score(ids)  # which has read <start> itself
    found = out[0][:, :-1].gather(2, ids[..., None])[..., 0]
    torch.testing.assert_close(found, due, rtol=0, atol=1e-5)
    for one, other in zip(out[1:], flatten_state(after["encoder"]).values(), strict=True):
        torch.testing.assert_close(one, other, rtol=0, atol=1e-5)


def test_keys_and_values_grow_and_a_window_does_not():
    grown = TextGraph(made(encoder={"kind": "transformer", "size": 8, "layers": 1, "heads": 2}))
    assert grown.axes["state.0.k"] == {0: "batch", 1: "past"} and grown.first["state.0.k"].shape == (1, 0, 2, 4)
    assert grown.outputs["new.state.0.k"] == {0: "batch", 1: "new_past"}
    settings = {"kind": "transformer", "size": 8, "layers": 1, "heads": 2, "attention": {"window": 4}}
    fixed = TextGraph(made(encoder=settings))
    assert fixed.axes["state.0.k"] == {0: "batch"} and fixed.first["state.0.k"].shape == (1, 3, 2, 4)
    assert fixed.first["state.at"].tolist() == [[-1, -1, -1]]


def test_learnt_first_states_are_the_models():
    model = made(encoder={"kind": "recurrent", "cell": "gru", "size": 7, "initial": {"state": "learnt"}})
    assert torch.equal(TextGraph(model).first["state.0.h"], model.encoder.begin(1)["0"]["h"])
    assert TextGraph(model).first["state.0.h"].any()


def test_a_text_for_a_label_takes_the_label():
    graph = TextGraph(made(encoder={"kind": "window", "span": 3, "size": 7}, condition=4))
    assert [*graph.examples][:2] == ["ids", "label"] and graph.axes["label"] == {0: "batch"}


def test_the_others():
    assert isinstance(graph_of(made("tagger"), "this"), TagGraph)
    assert isinstance(graph_of(made("classifier"), "this"), LabelGraph)
    with pytest.raises(
        UserError, match=r"^runs/x is a masked-lm; onnx holds a language-model, a tagger or a classifier"
    ):
        graph_of(parts.make("task", "masked-lm"), "runs/x")


def test_worth_of_tags_knows_the_rules():
    """`I-a` may not follow O: the path costs what is forbidden."""
    graph = TagGraph(made("tagger", output="softmax"))
    ids, mask = torch.tensor([[7, 8]]), torch.ones(1, 2, dtype=torch.bool)
    names = graph.model.tags.names
    both = [[names.index(name) for name in row] for row in (("O", "O"), ("O", "I-a"))]
    good, bad = (graph.worth(ids, mask, torch.tensor([row])).item() for row in both)
    due = graph(ids, mask)[1][0]
    assert good == pytest.approx((due[0, both[0][0]] + due[1, both[0][0]]).item(), abs=1e-4) and bad < -1e8
