"""The bigram: counts by hand, and against a dictionary that knows nothing of blocks, keys or sorting."""

from __future__ import annotations

import math
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import load, save

from foresay.errors import UserError
from foresay.models import ngram
from foresay.models.ngram import Ngram
from foresay.text.tokens import START, STOP
from tests.data.made import shards_of

V = 9


def fitted(folder: Path, documents: list[list[int]], add: float = 0.5, vocabulary: int = V) -> Ngram:
    model = Ngram(add)
    model.build(vocabulary)
    model.fit(shards_of(folder / "train", documents, vocabulary=vocabulary))
    return model


def test_by_hand(tmp_path: Path):
    """5 6 5 6 7 | 6 6: after 6 came 5, 7, 6 and <stop>; <start> 5 and <start> 6; k = 1/2, V = 9."""
    model = fitted(tmp_path, [[5, 6, 5, 6, 7], [6, 6]])
    found, _ = model.score(torch.tensor([[5, 6, 7, 8, STOP]]))
    expected = [
        (1 + 0.5) / (2 + 4.5),  # <start> 5
        (2 + 0.5) / (2 + 4.5),  # 5 6
        (1 + 0.5) / (4 + 4.5),  # 6 7
        (0 + 0.5) / (1 + 4.5),  # 7 8, not seen
        0.5 / 4.5,  # 8 <stop>: 8 was never seen
    ]
    assert found[0].exp().tolist() == pytest.approx(expected, rel=1e-6)
    after, _ = model.step(torch.tensor([[6]]), model.begin(1))
    counts = {5: 1, 6: 1, 7: 1, STOP: 1}
    assert after[0].exp().tolist() == pytest.approx([(counts.get(w, 0) + 0.5) / 8.5 for w in range(V)], rel=1e-6)
    assert model.size() == 8  # different pairs


@pytest.mark.parametrize("block", [1, 2, 7, 50, 1 << 22])
def test_against_a_dictionary(tmp_path: Path, monkeypatch, block):
    """Random documents, empty ones too, counted in blocks whose edges fall anywhere."""
    monkeypatch.setattr(ngram, "BLOCK", block)
    random = np.random.default_rng(block)
    documents = [random.integers(5, V, random.integers(0, 12)).tolist() for _ in range(30)]
    add = 0.3
    pairs: Counter[tuple[int, int]] = Counter()
    for document in documents:
        pairs.update(zip([START, *document], [*document, STOP], strict=True))
    firsts: Counter[int] = Counter()
    for (first, _), count in pairs.items():
        firsts[first] += count

    def log_prob(first: int, second: int) -> float:
        return math.log((pairs[first, second] + add) / (firsts[first] + add * V))

    model = fitted(tmp_path, documents, add)
    assert model.size() == len(pairs)
    text = random.integers(5, V, (3, 20))
    found, state = model.score(torch.from_numpy(text))
    expected = [[log_prob(a, b) for a, b in zip([START, *row], row, strict=False)] for row in text.tolist()]
    np.testing.assert_allclose(found.numpy(), expected, rtol=1e-5)
    after, _ = model.step(torch.zeros(3, 0, dtype=torch.long), state)
    wide = [[log_prob(row[-1], w) for w in range(V)] for row in text.tolist()]
    np.testing.assert_allclose(after.numpy(), wide, rtol=1e-5)


def test_without_counts_it_is_uniform():
    model = Ngram()
    model.build(V)
    log_probs, _ = model.step(torch.tensor([[5]]), model.begin(1))
    torch.testing.assert_close(log_probs, torch.full((1, V), -math.log(V)))
    torch.testing.assert_close(model.score(torch.tensor([[5, 6]]))[0], torch.full((1, 2), -math.log(V)))


def test_scoring_makes_no_rows_as_wide_as_the_vocabulary(tmp_path: Path):
    """10,000 tokens at V = 1,000,000: such rows would need 40 GB."""
    many = 1_000_000
    documents = np.random.default_rng(1).integers(5, many, (20, 500))
    model = fitted(tmp_path, documents.tolist(), vocabulary=many)
    seen, _ = model.score(torch.from_numpy(documents))
    alike = math.log((1 + 0.5) / (1 + 0.5 * many))  # words of one successor, nearly all
    assert seen.shape == (20, 500) and float(seen.median()) == pytest.approx(alike, rel=1e-5)


def test_saved_and_restored(tmp_path: Path):
    model = fitted(tmp_path, [[5, 6, 5, 6, 7], [6, 6]])
    other = Ngram(0.5)
    other.build(V)
    other.restore(load(save(model.tensors())))
    text = torch.tensor([[5, 6, 7, 8, 6, 6]])
    assert torch.equal(other.score(text)[0], model.score(text)[0])
    assert other.tensors().keys() == {"keys", "counts"}


def test_counts_of_a_larger_vocabulary_are_refused(tmp_path: Path):
    model = fitted(tmp_path, [[5, 6, 5, 6, 7], [6, 6]])
    smaller = Ngram()
    smaller.build(V - 2)
    with pytest.raises(UserError, match=r"my\.file is of another recipe: keys differs"):
        smaller.restore(model.tensors(), "my.file")


def test_progress_is_told(tmp_path: Path, monkeypatch):
    monkeypatch.setattr(ngram, "BLOCK", 4)
    told: list[float] = []
    model = Ngram()
    model.build(V)
    model.fit(shards_of(tmp_path / "train", [[5, 6, 5, 6, 7], [6, 6]], vocabulary=V), told.append)
    assert told == [4 / 9, 8 / 9, 1.0]
