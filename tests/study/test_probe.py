"""The linear probe against scikit-learn's logistic regression, and on what no straight cut tells."""

from __future__ import annotations

import pytest
import torch
from sklearn.linear_model import LogisticRegression

from foresay.study.probe import fit


def test_it_is_logistic_regression():
    chance = torch.Generator().manual_seed(3)
    x = torch.randn(90, 5, generator=chance) * torch.tensor([1.0, 10.0, 0.1, 3.0, 1.0]) + 7
    labels = ((x[:, :3] - 7) / torch.tensor([1.0, 10.0, 0.1]) + torch.randn(90, 3, generator=chance)).argmax(1)
    found = fit(x, labels, 3, penalty=0.02)
    z = ((x.double() - x.double().mean(0)) / x.double().std(0, correction=0)).numpy()
    peer = LogisticRegression(C=1 / (90 * 0.02), tol=1e-9, max_iter=1000).fit(z, labels.numpy())
    assert found.weight.T.numpy() == pytest.approx(peer.coef_, abs=2e-4)
    assert found.accuracy(x, labels) == pytest.approx(peer.score(z, labels.numpy()))
    assert found.scores(x).softmax(1).numpy() == pytest.approx(peer.predict_proba(z), abs=1e-3)


def test_it_tells_a_straight_cut_and_no_other():
    x = torch.randn(4000, 2, generator=torch.Generator().manual_seed(4))
    for labels, low, high in (((x[:, 0] > x[:, 1]), 0.98, 1.0), ((x[:, 0] > 0) ^ (x[:, 1] > 0), 0.4, 0.6)):
        one = fit(x[:2000], labels[:2000].long(), 2)
        assert low <= one.accuracy(x[2000:], labels[2000:].long()) <= high


def test_a_number_that_never_changes_does_no_harm():
    x = torch.tensor([[0.0, 5.0], [1.0, 5.0], [0.1, 5.0], [0.9, 5.0]])
    found = fit(x, torch.tensor([0, 1, 0, 1]), 2)
    assert found.accuracy(x, torch.tensor([0, 1, 0, 1])) == 1 and found.weight[1].abs().max() == 0
