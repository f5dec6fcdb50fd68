"""The n-gram as a sequence model: what its table says, through scoring, stepping, measuring and restoring."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import load, save

from foresay.counts.smoothing import Add
from foresay.data.batch import Batch
from foresay.errors import UserError
from foresay.models.ngram import Ngram
from foresay.text.tokens import START, STOP
from tests.counts.test_smoothing import V, documents, textbook
from tests.data.made import shards_of


def fitted(folder: Path, text: list[list[int]], vocabulary: int = V, **settings: object) -> Ngram:
    model = Ngram(**settings)
    model.build(vocabulary)
    model.fit(shards_of(folder / "train", text, vocabulary=vocabulary))
    return model


def test_scores_are_the_textbook_s(tmp_path: Path):
    text = documents()
    model, book = fitted(tmp_path, text, order=3), textbook("modified-kneser-ney", 3, text)
    ids = [5, 6, 12, 5, 5, STOP, 6, 7]
    found, state = model.score(torch.tensor([ids]))
    words = [START, *ids]
    expected = []
    for at in range(1, len(words)):
        begin = max(i for i in range(at) if words[i] in (START, STOP))
        context = (START, *words[begin + 1 : at])
        expected.append(math.log(book.prob(tuple(context), words[at])))
    np.testing.assert_allclose(found[0], expected, rtol=1e-5)
    rows, _ = model.step(torch.zeros(1, 0, dtype=torch.long), state)
    np.testing.assert_allclose(
        rows[0].exp(), [book.prob((START, 6, 7), word) for word in range(V)], rtol=1e-5, atol=1e-9
    )


def test_measured_from_the_word_before(tmp_path: Path):
    """A row that begins in the middle of a document knows the one word before it; a carried state knows more."""
    text = documents()
    model, book = fitted(tmp_path, text, order=3), textbook("modified-kneser-ney", 3, text)
    batch = Batch(ids=torch.tensor([[5, 6], [START, 6]]), targets=torch.tensor([[6, 7], [6, 7]]), fresh=True)
    found, state = model.measure(batch)
    expected = [[book.prob((5,), 6), book.prob((5, 6), 7)], [book.prob((START,), 6), book.prob((START, 6), 7)]]
    np.testing.assert_allclose(found.exp(), expected, rtol=1e-5)
    more = Batch(ids=torch.tensor([[7], [7]]), targets=torch.tensor([[8], [8]]), fresh=False)
    again, _ = model.measure(more, state)
    np.testing.assert_allclose(again[:, 0].exp(), [book.prob((6, 7), 8)] * 2, rtol=1e-5)


def test_without_counts_it_is_uniform():
    model = Ngram()
    model.build(V)
    log_probs, _ = model.step(torch.tensor([[5]]), model.begin(1))
    torch.testing.assert_close(log_probs, torch.full((1, V), -math.log(V)))
    torch.testing.assert_close(model.score(torch.tensor([[5, 6]]))[0], torch.full((1, 2), -math.log(V)))


def test_scoring_makes_no_rows_as_wide_as_the_vocabulary(tmp_path: Path):
    """10,000 tokens at V = 1,000,000: such rows would need 40 GB."""
    many = 1_000_000
    text = np.random.default_rng(1).integers(5, many, (20, 500))
    model = fitted(tmp_path, text.tolist(), many, order=2, smoothing=Add(0.5))
    seen, _ = model.score(torch.from_numpy(text))
    alike = math.log((1 + 0.5) / (1 + 0.5 * many))  # words of one successor, nearly all
    assert seen.shape == (20, 500) and float(seen.median()) == pytest.approx(alike, rel=1e-5)


def test_saved_and_restored(tmp_path: Path):
    model = fitted(tmp_path, documents())
    other = Ngram()
    other.build(V)
    other.restore(load(save(model.tensors())))
    text = torch.tensor([[5, 6, 7, 8, 6, 6]])
    assert torch.equal(other.score(text)[0], model.score(text)[0])
    assert model.size() == other.size() == len(model.table.grams) - 1


def test_another_vocabulary_is_refused(tmp_path: Path):
    model = fitted(tmp_path, documents())
    smaller = Ngram()
    smaller.build(V - 2)
    with pytest.raises(UserError, match=r"my\.file is of another recipe: orders differs"):
        smaller.restore(model.tensors(), "my.file")
    with pytest.raises(UserError, match=r"my\.file is of another recipe: grams differs"):
        smaller.restore({name: value for name, value in model.tensors().items() if name != "grams"}, "my.file")


@pytest.mark.parametrize(
    "damage",
    [
        ("grams", (-1, 0), 10**6),
        ("grams", (-1, 0), -1),
        ("grams", (-1, 2), 10**6),
        ("grams", (-1, 2), -1),
        ("contexts", (-1, 0), 10**6),
        ("contexts", (5, 0), -1),
        ("contexts", (-2, 2), 10**6),
        ("contexts", (-2, 2), -1),
        ("orders", -1, 10**6),
        ("orders", -1, -1),
    ],
)
def test_damaged_tables_are_refused_before_they_are_walked(tmp_path: Path, damage: tuple):
    name, place, value = damage
    model = fitted(tmp_path, documents())
    for change in ("value", "length"):
        tensors = {key: tensor.clone() for key, tensor in model.tensors().items()}
        if change == "value":
            tensors[name][place] = value
        else:
            tensors[name] = tensors[name][:-1]
        other = Ngram()
        other.build(V)
        with pytest.raises(UserError, match=r"of another recipe: (grams|contexts|orders) differs"):
            other.restore(tensors)


def test_progress_is_told(tmp_path: Path):
    told: list[float] = []
    model = Ngram(order=2)
    model.build(V)
    model.fit(shards_of(tmp_path / "train", [[5, 6, 5, 6, 7], [6, 6]], vocabulary=V), told.append)
    assert told == sorted(told) and told[-1] == pytest.approx(1.0)


def test_what_is_worth_knowing_is_noted(tmp_path: Path):
    assert "too few" in fitted(tmp_path, [[5, 6, 5, 6, 7], [6, 6]], order=2).notes[0]


def test_a_cut_that_falls_is_refused_at_once():
    with pytest.raises(UserError, match=r"cut \[5, 1\] with order 3: a number for 2-grams, 3-grams and so on"):
        Ngram(order=3, cut=[5, 1])
