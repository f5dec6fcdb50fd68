"""The check of a written graph: differences by hand, and a graph that is not the run's is noticed."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from foresay.export.onnx import parity
from foresay.export.onnx.graph import LabelGraph, TagGraph, TextGraph
from foresay.export.onnx.tracing import traced
from tests.export.onnx.made import made

pytest.importorskip("onnxruntime")


def test_differences_by_hand():
    impossible = -np.inf
    assert parity.difference(np.array([1.0, impossible]), np.array([1.25, impossible])) == 0.25
    assert parity.difference(np.array([1.0, 0.0]), np.array([1.0, impossible])) > 1e300
    assert parity.difference(np.array([np.nan]), np.array([0.0])) > 1e300
    assert parity.difference(np.zeros((1, 0)), np.zeros((1, 0))) == 0


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    place = tmp_path_factory.mktemp("parity")
    encoder = {"kind": "window", "span": 3, "size": 7}
    graphs = [
        TextGraph(made(encoder=encoder)),
        TagGraph(made("tagger", encoder=encoder, output="softmax")),
        LabelGraph(made("classifier", encoder=encoder)),
    ]
    for number, graph in enumerate(graphs):
        traced(graph, "this").save(place / f"{number}.onnx")
    return [(graph, place / f"{number}.onnx") for number, graph in enumerate(graphs)]


def test_a_graph_is_near_its_run_and_far_from_another(written):
    for graph, path in written:
        assert 0 <= parity.compare(graph, path, None)["difference"] < 1e-5
        parameter = next(one for one in graph.model.encoder.parameters())
        with torch.no_grad():
            parameter.add_(0.1)
        assert parity.compare(graph, path, None)["difference"] > 1e-3
        with torch.no_grad():
            parameter.sub_(0.1)


def test_no_longer_than_there_are_positions(written, monkeypatch):
    graph, path = written[0]
    asked = []
    monkeypatch.setattr(
        graph, "reference", lambda ids, **_: asked.append(ids.shape[1]) or TextGraph.reference(graph, ids)
    )
    parity.compare(graph, path, 6)
    assert asked == [1, 6, 6, 6]
