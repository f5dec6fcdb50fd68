"""The Mogrifier LSTM against its paper's sums, written as a loop in torch around torch's LSTM cell."""

from __future__ import annotations

import pytest
import torch

from foresay.encode.cells.mogrifier import Mogrifier

B, T, D, H = 2, 4, 3, 5


@pytest.mark.parametrize("rounds", [1, 2, 5, 6])
def test_equals_the_papers_loop(rounds):
    """x^i = 2 sigmoid(Q^i h^{i-1}) * x^{i-2} for odd i, h^i = 2 sigmoid(R^i x^{i-1}) * h^{i-2} for even i."""
    torch.manual_seed(rounds)
    cell = Mogrifier(rounds=rounds, forget_bias=0.5)
    cell.build(D, H)
    cell = cell.double()
    for name in ("bias_i", "bias_g", "bias_o"):
        torch.nn.init.normal_(cell.get_parameter(name))
    peer = torch.nn.LSTMCell(D, H).double()
    last_x, last_h = rounds - 1 + rounds % 2, rounds - rounds % 2
    source_h = f"h{last_h}" if last_h else None
    weights = {name: value.detach() for name, value in cell.named_parameters()}
    peer.weight_ih.data = weights[f"weight_x{last_x}"][-4 * H :]
    first = weights["weight_hh"]
    peer.weight_hh.data = weights[f"weight_{source_h}"][-4 * H :] if source_h else first[-4 * H :]
    peer.bias_ih.data = torch.cat([weights[f"bias_{gate}"] for gate in "ifgo"])
    peer.bias_hh.data.zero_()

    def turn(n: int) -> torch.Tensor:
        """Q or R of round n: the first rows of the matrix that multiplies what it sees."""
        seen = "weight_hh" if n == 1 else f"weight_{'h' if n % 2 else 'x'}{n - 1}"
        return weights[seen][: D if n % 2 else H]

    x = torch.randn(B, T, D, dtype=torch.float64)
    h, c = torch.randn(B, H, dtype=torch.float64), torch.randn(B, H, dtype=torch.float64)
    y, after = cell.run(x, {"h": h, "c": c})
    for t in range(T):
        gated_x, gated_h = x[:, t], h
        for n in range(1, rounds + 1):
            if n % 2:
                gated_x = 2 * (gated_h @ turn(n).T).sigmoid() * gated_x
            else:
                gated_h = 2 * (gated_x @ turn(n).T).sigmoid() * gated_h
        h, c = peer(gated_x, (gated_h, c))
        torch.testing.assert_close(y[:, t], h)
    torch.testing.assert_close(after["c"], c)
