"""Discretised logistics against the formula in many digits, their edges, tails and beginnings."""

from __future__ import annotations

from decimal import Decimal, localcontext

import numpy as np
import pytest
import torch

from foresay import parts
from foresay.errors import UserError
from foresay.output.logistics import MARKS, Logistics
from foresay.start import train

H, K = 3, 2


def built(number: int, mixtures: int = K, least: float = 0.05) -> Logistics:
    torch.manual_seed(5)
    output = Logistics(mixtures, least=least)
    output.build(H, MARKS + number)
    with torch.no_grad():
        output.linear.weight.normal_()
        output.linear.bias.normal_()
    return output.double()


def by_hand(output: Logistics, feature: torch.Tensor, number: int, digits: int = 60) -> list[float]:
    """log P of all symbols from the definition, F(upper edge) - F(lower edge), in so many digits."""
    with localcontext(prec=digits, Emin=-(10**6), Emax=10**6):
        found = [Decimal(value) for value in output.linear(feature).tolist()]
        marks, *rest = found[: MARKS + 1], *(found[MARKS + 1 + K * n : MARKS + 1 + K * (n + 1)] for n in range(3))
        half, total = Decimal(number - 1) / 2, sum((one.exp() for one in rest[0]), Decimal(0))
        logs = [value - sum((one.exp() for one in marks), Decimal(0)).ln() for value in marks]
        masses = [Decimal(0)] * number
        for w, a, s in zip(*rest, strict=True):
            m, d = half * (1 + a), half * (1 + s.exp()).ln() + Decimal(output.least)
            inner = [1 / (1 + ((m - level - Decimal("0.5")) / d).exp()) for level in range(number - 1)]
            edges = [Decimal(0), *inner, Decimal(1)]
            for level in range(number):
                masses[level] += w.exp() / total * (edges[level + 1] - edges[level])
        return [float(one) for one in (*logs[:MARKS], *(logs[MARKS] + mass.ln() for mass in masses))]


@pytest.mark.parametrize("number", [2, 3, 17])
def test_every_symbol_by_the_formula(number: int) -> None:
    output = built(number)
    features = torch.randn(4, H, dtype=torch.float64)
    expected = torch.tensor([by_hand(output, feature, number) for feature in features], dtype=torch.float64)
    torch.testing.assert_close(output.log_probs(features), expected)
    targets = torch.arange(MARKS + number).expand(4, -1)
    spread = features[:, None].expand(-1, MARKS + number, -1)
    torch.testing.assert_close(output.log_prob(spread, targets), expected)
    assert output.loss(spread, targets).item() == pytest.approx(-expected.mean().item())


def test_tails_keep_their_digits_and_their_gradients() -> None:
    """Levels hundreds of widths from every middle, where differences of F are 0 in any floats."""
    output = built(20, least=0.03)
    with torch.no_grad():
        output.linear.weight.zero_()
        output.linear.bias.copy_(torch.tensor([0.0] * 6 + [0.0, 1.0] + [-1.0, -0.9] + [-30.0, -25.0]))
    feature = torch.zeros(1, H, dtype=torch.float64)
    expected = by_hand(output, feature[0], 20, digits=500)
    assert expected[MARKS + 17] < -500
    torch.testing.assert_close(output.log_probs(feature)[0].tolist(), expected)
    single = output.float()
    loss = single.loss(torch.zeros(2, H), torch.tensor([MARKS + 17, MARKS + 19]))
    loss.backward()
    assert loss.isfinite() and all(p.grad is not None and p.grad.isfinite().all() for p in single.parameters())
    assert single.linear.bias.grad is not None and (single.linear.bias.grad[8:10] < 0).all()  # middles are to rise


def test_where_it_begins() -> None:
    """Marks by their shares, middles at the quantiles of the levels."""
    output = Logistics(4)
    output.build(H, MARKS + 9)
    counts = np.array([0, 0, 0, 99, 0, *[500, 0, 0, 0, 300, 0, 0, 0, 200]])
    output.learn_counts(counts)
    found = output.log_probs(torch.zeros(H)).exp()
    assert found[3].item() == pytest.approx(100 / (1000 + 99 + 6)) and found[0].item() == pytest.approx(1 / 1105)
    middles = 4 * (1 + output.linear.bias[MARKS + 1 + 4 : MARKS + 1 + 8])
    assert middles.tolist() == pytest.approx([0, 0, 4, 8], abs=1e-5)


def test_as_many_numbers_whatever_the_levels() -> None:
    sizes = set()
    for number in (2, 256, 4000):
        output = Logistics(5)
        output.build(H, MARKS + number)
        sizes.add(sum(parameter.numel() for parameter in output.parameters()))
    assert sizes == {(H + 1) * (MARKS + 1 + 15)}


def test_what_is_refused(tmp_path) -> None:
    with pytest.raises(UserError, match=r"over 6 symbols; it needs 5 marks and 2 levels or more"):
        Logistics().build(H, 6)
    for least in (0.0, -1.0):
        with pytest.raises(UserError, match=r"output\.least=.*; allowed: a number > 0"):
            parts.make("output", {"kind": "logistics", "least": least})
    (tmp_path / "a.txt").write_text("to be or not to be\n" * 9)
    with pytest.raises(UserError, match=r"^output=logistics is over levels, and tokens=characters; allowed: tokens"):
        train("lstm", [f"data.train={tmp_path / 'a.txt'}", "tokens=characters", "output=logistics"], out=tmp_path / "x")
    assert not (tmp_path / "x").exists()
