"""Down-sampling before an encoder: against the encoder on blocks made by hand."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor

from foresay.encode.encoder import Encoder
from foresay.encode.shrunk import Shrunk
from foresay.parts import make

D = 3
INNER: dict[str, Any] = {"kind": "transformer", "size": 8, "heads": 2, "layers": 2, "causal": False}
POOL = {
    "stride": lambda block: block[0],
    "mean": lambda block: block.mean(0),
    "max": lambda block: block.amax(0),
}


def build(**settings: Any) -> Shrunk:
    torch.manual_seed(1)
    encoder = make("encoder", {"kind": "shrunk", "encoder": INNER, **settings})
    encoder.build(D)
    return encoder.double().eval()


def by_hand(inner: Encoder, x: Tensor, by: int, how: str) -> Tensor:
    """One row (T, D), in blocks one after the other."""
    blocks = x.split(by)
    joined = {"join": lambda block: torch.cat([block.flatten(), x.new_zeros((by - len(block)) * x.shape[1])])}
    y = inner(torch.stack([(POOL | joined)[how](block) for block in blocks])[None])[0][0]
    return torch.cat([y[n].expand(len(block), -1) for n, block in enumerate(blocks)])


@pytest.mark.parametrize("how", [*POOL, "join"])
@pytest.mark.parametrize("by", [1, 2, 4, 20])
def test_equals_the_encoder_on_blocks(how, by):
    encoder = build(by=by, how=how)
    torch.manual_seed(2)
    x = torch.randn(3, 11, D, dtype=torch.float64)
    lengths, cut = [11, 7, 9], 5
    mask, starts = torch.arange(11) < torch.tensor(lengths)[:, None], torch.zeros(3, 11, dtype=torch.bool)
    y = encoder(x, mask)[0]
    for row, length in enumerate(lengths):
        torch.testing.assert_close(y[row, :length], by_hand(encoder.inner, x[row, :length], by, how))
        assert (y[row, length:] == 0).all()
    starts[1, cut] = starts[0, 0] = True
    y = encoder(x, mask, starts=starts)[0]
    torch.testing.assert_close(y[0], by_hand(encoder.inner, x[0], by, how))
    for part in (slice(0, cut), slice(cut, 7)):
        torch.testing.assert_close(y[1, part], by_hand(encoder.inner, x[1, part], by, how))


def test_the_encoder_sees_a_quarter_of_the_steps(monkeypatch):
    encoder, seen = build(by=4), []
    whole = encoder.inner.forward
    monkeypatch.setattr(
        encoder.inner, "forward", lambda x, *rest, **more: seen.append(x.shape) or whole(x, *rest, **more)
    )
    encoder(torch.randn(2, 13, D, dtype=torch.float64))
    assert seen == [(2, 4, D)]


def test_positions_go_further():
    learnt = {**INNER, "positions": {"kind": "learnt", "longest": 5}}
    assert build(encoder=learnt, by=3).longest == 15 and build().longest is None
    assert build().grows and not build(encoder="recurrent").grows
