"""On a GPU: the step as a CUDA graph gives what the model gives, and searches and samples as on a CPU."""

from __future__ import annotations

import pytest
import torch

from foresay.decode.beam import Beam
from foresay.decode.generate import generate
from foresay.decode.graphed import Graphed, graphed
from foresay.decode.sample import Greedy, Sample
from foresay.decode.search import Limits
from tests.decode.models import KINDS, V, counted, neural

PROMPTS = [[5, 6, 7], [], [8], [5, 5, 5, 5, 6]]
needs_gpu = [pytest.mark.gpu, pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device")]


def test_a_cpu_goes_without():
    model = KINDS["lstm"]()
    assert graphed(model) is model
    assert graphed(counted()).steady


@pytest.mark.parametrize("cell", ["lstm", "gru", "peephole", "mogrifier"])
class TestGpu:
    pytestmark = needs_gpu

    @torch.no_grad()
    def test_the_graph_is_the_step(self, cell):
        model = neural({"kind": "recurrent", "size": 9, "cell": cell, "layers": 2}).cuda()
        other, ids = graphed(model), torch.tensor([[5], [6], [7]], device="cuda")
        assert isinstance(other, Graphed)
        own, state = model.step(ids, model.begin(3))[1], other.begin(3)
        _, state = other.step(ids, state)
        for symbols in ([5, 6, 8], [8, 8, 5], [7, 6, 5]):
            ids = torch.tensor(symbols, device="cuda")[:, None]
            rows = torch.tensor([2, 0, 0], device="cuda")
            expected, own = model.step(ids, model.reorder(own, rows))
            found, state = other.step(ids, other.reorder(state, rows))
            torch.testing.assert_close(found, expected)

    def test_searches_and_texts_as_on_a_cpu(self, cell):
        encoder = {"kind": "recurrent", "size": 9, "cell": cell}
        model, other = neural(encoder, double=True), neural(encoder, double=True).cuda()
        for beam in (Beam(width=3, best=3, alpha=0.6), Beam(width=4, groups=2, best=2)):
            found, expected = (beam.find(one, PROMPTS, Limits(8, required=(6,))) for one in (other, model))
            assert [[one.ids for one in own] for own in found] == [[one.ids for one in own] for own in expected]
        for decoder in (Greedy(), Sample(top_p=0.9)):
            assert generate(other, PROMPTS, decoder, length=20) == generate(model, PROMPTS, decoder, length=20)


@pytest.mark.parametrize("kind", ["softmax", "monte-carlo", "sampled", "nce", "negative", "hierarchical", "adaptive"])
class TestOutputs:
    pytestmark = needs_gpu

    def test_outputs_as_on_a_cpu(self, kind):
        from foresay import parts

        torch.manual_seed(1)
        model = parts.make("output", kind)
        model.build(7, V)
        model.learn_counts(torch.arange(V).numpy())
        h, targets = torch.randn(5, 7), torch.randint(0, V, (5,))
        expected = model.log_probs(h), model.log_prob(h, targets), model.loss(h, targets)
        model.cuda()
        found = (
            model.log_probs(h.cuda()),
            model.log_prob(h.cuda(), targets.cuda()),
            model.loss(h.cuda(), targets.cuda()),
        )
        for one, other in zip(found[:2], expected[:2], strict=True):
            torch.testing.assert_close(one.cpu(), other, atol=1e-5, rtol=1e-4)
        assert torch.isfinite(found[2])
        if kind in ("softmax", "monte-carlo", "hierarchical", "adaptive"):
            torch.testing.assert_close(found[2].cpu(), expected[2], atol=1e-5, rtol=1e-4)
