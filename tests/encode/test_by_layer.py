"""The parameters of an encoder, layer by layer."""

from __future__ import annotations

import pytest
import torch

from foresay.parts import make

TWICE = {"kind": "recurrent", "size": 4, "bidirectional": True, "layers": 2, "between": {"wiring": "highway"}}
KINDS = {
    "recurrent": (TWICE, 2),
    "transformer": ({"kind": "transformer", "size": 4, "heads": 2, "layers": 3}, 3),
    "convolution": ({"kind": "convolution", "kernels": [[2, 3]]}, 1),
    "stack": ({"kind": "stack", "layers": [TWICE, {"kind": "transformer", "size": 4, "heads": 2, "layers": 1}]}, 3),
}


@pytest.mark.parametrize("name", KINDS)
def test_every_parameter_is_of_one_layer_and_later_layers_do_not_change_earlier_outputs(name):
    settings, depth = KINDS[name]
    torch.manual_seed(0)
    encoder = make("encoder", settings)
    encoder.build(5)
    found = encoder.by_layer()
    placed = [id(parameter) for layer in found for parameter in layer]
    assert len(found) == depth and sorted(placed) == sorted(map(id, encoder.parameters()))
    x = torch.randn(2, 3, 5)
    with torch.no_grad():
        before = encoder.eval().layers(x)
        for parameter in found[-1]:
            parameter += 0.5
        after = encoder.layers(x)
    assert not torch.allclose(before[-1], after[-1])
    if depth > 1:
        torch.testing.assert_close(before[0], after[0])
