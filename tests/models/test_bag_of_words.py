"""Logistic regression on words against scikit-learn's."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

from foresay.data.batch import Batch
from foresay.data.label_shards import LabelSet, LabelShards, LabelWriter
from foresay.data.strange import StrangeWriter
from foresay.models.bag_of_words import BagOfWords
from foresay.models.task import Fitting
from foresay.parts import make

V, N = 12, 60


def made(several: bool = False) -> tuple[LabelShards, list[np.ndarray]]:
    random = np.random.default_rng(3)
    texts = [random.integers(5, V, random.integers(1, 9)).astype(np.uint32) for _ in range(N)]
    labels = [[int(text.max()) % 3] for text in texts]
    LabelSet(("a", "b", "c"), several, (1, 1, 1)).save(Path())
    writer = LabelWriter(Path("train"), V)
    with writer:
        writer.add(list(range(N)), texts, ["x"] * N)
        writer.numbers += labels
        writer.finish()
    StrangeWriter(make("tokens", "blanks")).save(Path("train"))
    return LabelShards(Path("train")), texts


@pytest.mark.parametrize("counts", ["binary", "all"])
def test_equals_scikit_learn(counts):
    linear = pytest.importorskip("sklearn.linear_model")
    shards, texts = made()
    x = np.stack([np.bincount(text, minlength=V) for text in texts]).astype(float)
    x = np.minimum(x, 1) if counts == "binary" else x
    peer = linear.LogisticRegression(C=0.7, max_iter=5000, tol=1e-10).fit(x, shards.numbers)
    model = BagOfWords(counts=counts, strength=0.7, rounds=500)
    model.learn_labels(shards.labels)
    model.build(V)
    model.fit(shards)
    width = max(map(len, texts))
    ids = torch.tensor([[*text.tolist(), *[0] * (width - len(text))] for text in texts])
    p = model.log_probs(Batch(ids=ids, mask=ids != 0)).exp()
    np.testing.assert_allclose(p.detach().numpy(), peer.predict_proba(x), atol=2e-4)


def test_what_is_not_read_is_not_learnt():
    """Fitted to the first three tokens of each text, it is the model of those texts cut."""
    shards, texts = made()
    weights = []
    for longest, read in ((3, shards), (None, cut(shards, texts))):
        model = BagOfWords(rounds=500)
        model.learn_labels(shards.labels)
        model.build(V)
        model.fit(read, how=Fitting(longest=longest))
        weights.append(model.weight.detach())
    torch.testing.assert_close(*weights)
    model.fit(shards)
    assert (model.weight - weights[0]).abs().max() > 0.1


def cut(shards: LabelShards, texts: list[np.ndarray]) -> LabelShards:
    """The same texts, of each its first three tokens."""
    writer = LabelWriter(Path("cut"), V)
    with writer:
        writer.add(list(range(N)), [text[:3] for text in texts], ["x"] * N)
        writer.numbers += [[int(one)] for one in shards.labels_of(np.arange(N))]
        writer.finish()
    StrangeWriter(make("tokens", "blanks")).save(Path("cut"))
    return LabelShards(Path("cut"))


def test_several_labels_are_apart():
    """Each label by itself: at the best weights the gradient of its cost is zero."""
    shards, texts = made(several=True)
    model = BagOfWords(strength=2.0, rounds=500)
    model.learn_labels(shards.labels)
    model.build(V)
    model.fit(shards)
    x = torch.zeros(N, V, dtype=torch.float64)
    for row, text in zip(x, texts, strict=True):
        row[text.astype(int)] = 1
    weight, bias = model.weight.detach().double(), model.bias.detach().double()
    left = (x @ weight + bias).sigmoid() - torch.from_numpy(shards.labels_of(np.arange(N))).double()
    torch.testing.assert_close(x.T @ left + weight / 2.0, torch.zeros(V, 3, dtype=torch.float64), atol=2e-4, rtol=0)
    torch.testing.assert_close(left.sum(0), torch.zeros(3, dtype=torch.float64), atol=2e-4, rtol=0)
