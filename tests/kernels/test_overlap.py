"""Two independent pieces of work: in order on a CPU; on a GPU with the results of doing them in order."""

from __future__ import annotations

import pytest
import torch

from foresay.encode.recurrent import Recurrent
from foresay.kernels.overlap import overlap


def test_on_a_cpu_one_after_the_other():
    done = []
    found = overlap(lambda: done.append(1) or "a", lambda: done.append(2) or "b", torch.device("cpu"), lambda _: [])
    assert found == ("a", "b") and done == [1, 2]


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
def test_on_a_gpu_as_in_order(monkeypatch):
    torch.manual_seed(1)
    encoder = Recurrent(size=128, layers=3, bidirectional=True, cell="gru-cudnn")
    encoder.build(64)
    encoder, x = encoder.cuda(), torch.randn(8, 50, 64, device="cuda")

    def results():
        encoder.zero_grad()
        y = encoder(x)[0]
        y.square().sum().backward()
        return [y.detach(), *(parameter.grad.clone() for parameter in encoder.parameters())]

    found = []
    for plain in ("0", "1", "0", "0"):
        monkeypatch.setattr("foresay.kernels.overlap.plain", lambda plain=plain: plain == "1")
        found.append(results())
    for other in found[1:]:
        torch.testing.assert_close(other, found[0], rtol=1e-4, atol=1e-4)
