"""A step through all blocks in one call, against the whole sequence in float64 at once."""

from __future__ import annotations

import pytest
import torch

from foresay.encode.attention import Heads
from foresay.encode.block import Form
from foresay.encode.cache import reordered
from foresay.encode.transformer import Transformer
from foresay.kernels import blocks

B, D, H = 3, 5, 32
SETTINGS = {
    "gelu": {},
    "relu": {"block": Form(activation="relu", hidden=48)},
    "tanh": {"block": Form(activation="gelu-tanh")},
    "rotary": {"positions": "rotary"},
    "grouped": {"attention": Heads(groups=2, width=6, values=16)},
}


def built(width: int = D, **settings) -> Transformer:
    torch.manual_seed(1)
    encoder = Transformer(size=H, layers=2, heads=4, **settings)
    encoder.build(width)
    with torch.no_grad():
        for parameter in encoder.parameters():
            parameter.add_(0.3 * torch.randn_like(parameter))
    return encoder.eval()


@pytest.fixture
def taken(monkeypatch) -> list[int]:
    """How often the one call was made."""
    calls, step = [], blocks.step
    monkeypatch.setattr(blocks, "step", lambda *given: calls.append(1) or step(*given))
    return calls


@pytest.mark.parametrize("name", SETTINGS)
@pytest.mark.parametrize("threads", [1, 2])
def test_steps_equal_one_pass(name, threads, taken, monkeypatch):
    monkeypatch.setattr(torch, "get_num_threads", lambda: threads)
    encoder, x = built(**SETTINGS[name]), torch.randn(B, 9, D)
    mask = torch.arange(4) < torch.tensor([[4], [2], [3]])
    with torch.inference_mode():
        state, found = encoder.begin(B, capacity=9), []
        _, state = encoder(x[:, :4], mask, state)
        for t in range(4, 9):
            y, state = encoder(x[:, t : t + 1], None, state)
            found.append(y)
        encoder = encoder.double()
        for row, length in enumerate((4, 2, 3)):
            whole = torch.cat([x[row : row + 1, :length], x[row : row + 1, 4:]], 1).double()
            expected = encoder(whole)[0][:, length:]
            torch.testing.assert_close(torch.cat(found, 1)[row : row + 1].double(), expected, rtol=1e-4, atol=1e-4)
    assert len(taken) == 5


def test_rows_that_share_their_past(taken):
    """Picked rows read slots of others, and a row's numbers do not depend on its company."""
    encoder, x = built(H, positions="rotary"), torch.randn(B, 6, H)  # no product before the blocks: torch's may
    with torch.inference_mode():
        _, state = encoder(x[:, :3], None, encoder.begin(B, capacity=8))
        alone = reordered(state, torch.tensor([2]))
        state = reordered(state, torch.tensor([2, 2, 0]))
        y, state = encoder(x[:, 3:4], None, state)
        own, _ = encoder(x[:1, 3:4], None, alone)
        assert torch.equal(y[:1], own)
        state = reordered(state, torch.tensor([1, 0, 1]))
        y, _ = encoder(x[:, 4:5], None, state)
        rows = [torch.cat([x[2, :3], x[1, 3:4], x[0, 4:5]]), torch.cat([x[2, :3], x[0, 3:4], x[1, 4:5]])]
        expected = encoder.double()(torch.stack(rows).double())[0][:, -1:]
    torch.testing.assert_close(y[:2].double(), expected, rtol=1e-4, atol=1e-4)
    assert len(taken) == 3


@pytest.mark.parametrize(
    "settings",
    [{"block": Form(norm="rms")}, {"block": Form(activation="swiglu")}, {"block": Form(place="post")},
     {"block": Form(bias=False)}, {"block": Form(hidden=40)}, {"block": Form(shortcuts="dense")}],
)  # fmt: skip
def test_other_blocks_go_the_long_way(settings, taken):
    encoder, x = built(**settings), torch.randn(B, 4, D)
    with torch.inference_mode():
        _, state = encoder(x[:, :3], None, encoder.begin(B, capacity=4))
        y, _ = encoder(x[:, 3:], None, state)
        expected = encoder.double()(x.double())[0][:, 3:]
    torch.testing.assert_close(y.double(), expected, rtol=1e-4, atol=1e-4)
    assert not taken


def test_not_for_double(taken):
    encoder, x = built().double(), torch.randn(B, 2, D).double()
    with torch.inference_mode():
        _, state = encoder(x[:, :1], None, encoder.begin(B, capacity=2))
        encoder(x[:, 1:], None, state)
    assert not taken
