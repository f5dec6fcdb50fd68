"""The mixture: sums of probabilities, weights that a text was drawn with, and the rules of a sequence model."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

from foresay.data.batch import Batch
from foresay.errors import UserError
from foresay.models.mixture import Mixture, fit_weights
from foresay.text.tokens import START
from tests.counts.test_smoothing import V, documents
from tests.models.test_ngram import fitted


def members(folder: Path) -> list:
    return [fitted(folder / str(order), documents(), order=order) for order in (1, 3)]


def test_probabilities_are_weighed(tmp_path: Path) -> None:
    one, three = members(tmp_path)
    mixed = Mixture([one, three], [0.25, 0.75])
    ids = torch.tensor([[5, 6, 7], [6, 6, 5]])
    expected = 0.25 * one.score(ids)[0].exp() + 0.75 * three.score(ids)[0].exp()
    found, state = mixed.score(ids)
    torch.testing.assert_close(found.exp(), expected)
    rows, _ = mixed.step(torch.zeros(2, 0, dtype=torch.long), state)
    torch.testing.assert_close(rows.exp().sum(1), torch.ones(2))
    begun, middle = mixed.score(ids[:, :1])
    torch.testing.assert_close(torch.cat([begun, mixed.score(ids[:, 1:], state=middle)[0]], 1), found)
    turned = mixed.reorder(middle, torch.tensor([1, 0]))
    torch.testing.assert_close(mixed.score(ids[[1, 0], 1:], state=turned)[0], found[[1, 0], 1:])


def test_measured_and_padded(tmp_path: Path) -> None:
    mixed = Mixture(members(tmp_path))
    mask = torch.tensor([[True, True], [True, False]])
    batch = Batch(
        ids=torch.tensor([[START, 5], [START, 6]]), targets=torch.tensor([[5, 6], [6, 0]]), mask=mask, fresh=True
    )
    found, _ = mixed.measure(batch)
    torch.testing.assert_close(found, mixed.score(torch.tensor([[5, 6], [6, 0]]), mask)[0])
    assert found[1, 1] == 0


def test_em_finds_the_weights_a_text_was_drawn_with() -> None:
    random = np.random.default_rng(1)
    tables = random.dirichlet(np.ones(20) * 0.3, 3)
    true = np.array([0.6, 0.3, 0.1])
    text = random.choice(20, 200_000, p=true @ tables)
    found = fit_weights(np.log(tables[:, text] + 1e-300))
    assert found == pytest.approx(true.tolist(), abs=0.01) and sum(found) == pytest.approx(1)


def test_em_leaves_out_what_never_helps() -> None:
    good, bad = np.log(np.full(50, 0.5)), np.full(50, -np.inf)
    assert fit_weights(np.stack([good, bad])) == pytest.approx([1.0, 0.0])


def test_bad_mixtures(tmp_path: Path) -> None:
    one, three = members(tmp_path)
    small = fitted(tmp_path / "small", [[5, 6]], vocabulary=V - 2, order=1)
    with pytest.raises(UserError, match=rf"a mixture of vocabularies \[{V}, {V - 2}\]"):
        Mixture([one, small])
    with pytest.raises(UserError, match="give two or more"):
        Mixture([one])
    for weights in ([0.5, 0.6], [1.5, -0.5], [1.0]):
        with pytest.raises(UserError, match="allowed: 2 that are not negative and sum to 1"):
            Mixture([one, three], weights)
