"""The tagger learns a batch by heart; the HMM has shares worked by hand, and its posterior is that of all paths."""

from __future__ import annotations

import itertools
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from foresay import parts
from foresay.data.batch import Batch
from foresay.data.prepare import Prepared, prepare
from foresay.data.spans import first_broken
from foresay.data.tag_set import TagSet
from foresay.text.tokens import UNK

RECURRENT = {"kind": "recurrent", "size": 12, "bidirectional": True}


def made(**settings: Any) -> Any:
    torch.manual_seed(1)
    model = parts.make("task", {"kind": "tagger", "embedding": {"size": 6}, "encoder": RECURRENT, **settings})
    model.tags = TagSet.of(["A", "B", "C"])
    model.build(12)
    return model


@pytest.mark.parametrize("output", ["softmax", "crf"])
def test_one_batch_is_learnt_by_heart(output):
    model = made(output=output)
    ids, tags = torch.randint(5, 12, (3, 6)), torch.randint(0, 3, (3, 6))
    optimizer = torch.optim.Adam(model.parameters(), lr=0.03)
    for _ in range(120):
        optimizer.zero_grad()
        loss = model.loss(Batch(ids=ids, targets=tags))[0]
        loss.backward()
        optimizer.step()
    assert loss < 0.05 and torch.equal(model.eval().best(Batch(ids=ids)), tags)


@pytest.mark.parametrize("plainly", [False, True], ids=["compiled", "plain"])
@pytest.mark.parametrize("scheme", ["bio", "bioes"])
@pytest.mark.parametrize("output", ["softmax", "crf"])
def test_spans_keep_the_rules_of_their_scheme(output, scheme, plainly, monkeypatch):
    """The best of all sequences that are not broken, found by trying every one."""
    if plainly:
        monkeypatch.setenv("FORESAY_PLAIN", "1")
    model = made(output=output)
    model.tags = TagSet.of(["B-x", "I-x", "B-y", "I-y", "O"], scheme)
    model.build(12)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(torch.randn_like(parameter))
    ids, mask = torch.randint(5, 12, (6, 3)), torch.ones(6, 3, dtype=torch.bool)
    mask[1:3, 2] = False
    batch, names = Batch(ids=ids, mask=mask), model.tags.names
    best, broken = model.eval().best(batch), 0
    for row, length in enumerate(mask.sum(1).tolist()):
        every = [list(tags) for tags in itertools.product(range(len(names)), repeat=length)]
        one = Batch(ids=ids[row : row + 1, :length].expand(len(every), -1), targets=torch.tensor(every))
        order = model.measure(one)[0].sum(1).argsort(descending=True).tolist()
        allowed = [n for n in order if first_broken([names[tag] for tag in every[n]], scheme) is None]
        broken += allowed[0] != order[0]
        assert best[row, :length].tolist() == every[allowed[0]]
    assert broken, "the rules matter in this case"
    assert torch.equal(model.predict(batch)[0][mask], best[mask])


def test_what_is_unknown_while_training():
    model = made(unknown=0.9)
    ids = torch.randint(5, 12, (40, 6))
    read = []
    model.embedding.register_forward_pre_hook(lambda _, given: read.append(given[0].ids))
    model.train().loss(Batch(ids=ids, targets=torch.zeros_like(ids)))
    model.eval().measure(Batch(ids=ids, targets=torch.zeros_like(ids)))
    share = (read[0] == UNK).float().mean()
    assert 0.8 < share < 1 and torch.equal(read[0][read[0] != UNK], ids[read[0] != UNK]) and torch.equal(read[1], ids)


def test_the_letters_of_what_is_unknown_while_training_stay():
    model = made(unknown=0.9, embedding={"kind": "characters", "size": 6, "kernels": [[2, 4]]})
    ids = torch.randint(5, 12, (40, 6))
    batch = Batch(ids=ids, targets=torch.zeros_like(ids))
    torch.testing.assert_close(model.train().loss(batch)[0], model.eval().loss(batch)[0])
    letters, read = ids.roll(1, 0), []
    model.embedding.register_forward_pre_hook(lambda _, given: read.append(given[0].spelt))
    model.train().loss(Batch(ids=ids, targets=torch.zeros_like(ids), spelt=letters))
    assert torch.equal(read[0], letters)


@pytest.fixture
def text() -> Prepared:
    Path("a.conll").write_text("the D\ncat N\nsleeps V\n\nthe D\ndog N\n\nsleeps V\n")
    corpus = parts.make("data", {"kind": "tags", "train": "a.conll", "share": 0.0})
    return prepare(corpus, parts.make("tokens", "blanks"), 1)


@pytest.fixture
def hmm(text) -> Any:
    model = parts.make("task", {"kind": "hmm", "smoothing": 0.5})
    model.tags = text.tags
    model.build(len(text.tokens))
    model.fit(text.train)
    return model.double()


def test_the_hmm_has_the_shares_of_the_text(hmm, text):
    """Tags D, N, V; V words with the marks: 5 + 4."""
    size, (the, cat) = len(text.tokens), text.tokens.encode("the cat").tolist()
    assert size == 9 and text.tags.names == ("D", "N", "V")
    expected = {"D": (2 + 0.5) / (3 + 1.5), "N": 0.5 / 4.5, "V": 1.5 / 4.5}
    for name, share in expected.items():
        assert float(hmm.layer.begins[text.tags.ids[name]].exp()) == pytest.approx(share, rel=1e-6)
    moves = hmm.layer.transitions.exp()
    assert float(moves[0, 1]) == pytest.approx((2 + 0.5) / (2 + 0.5 * 4), rel=1e-6)  # D -> N, of D -> D, N, V, end
    assert float(hmm.layer.ends[1].exp()) == pytest.approx((1 + 0.5) / (2 + 0.5 * 4), rel=1e-6)
    assert float(hmm.emissions[the, 0].exp()) == pytest.approx((2 + 0.5) / (2 + 0.5 * size), rel=1e-6)
    assert float(hmm.emissions[cat, 0].exp()) == pytest.approx(0.5 / (2 + 0.5 * size), rel=1e-6)
    whole = moves.sum(1) + hmm.layer.ends.exp()
    np.testing.assert_allclose(whole.numpy(), np.ones(3), rtol=1e-6)


def test_the_hmms_posterior_is_bayes(hmm, text):
    words = text.tokens.encode("the dog sleeps").tolist()
    layer = hmm.layer

    def joint(path: tuple[int, ...]) -> float:
        found = float(layer.begins[path[0]] + layer.ends[path[-1]])
        found += sum(float(hmm.emissions[word, tag]) for word, tag in zip(words, path, strict=True))
        return math.exp(found + sum(float(layer.transitions[a, b]) for a, b in itertools.pairwise(path)))

    every = {path: joint(path) for path in itertools.product(range(3), repeat=3)}
    ids = torch.tensor([words])
    for path, share in every.items():
        log_prob = hmm.measure(Batch(ids=ids, targets=torch.tensor([path])))[0].sum()
        assert math.exp(float(log_prob)) == pytest.approx(share / sum(every.values()), rel=1e-6)
    assert tuple(hmm.best(Batch(ids=ids))[0].tolist()) == max(every, key=every.__getitem__) == (0, 1, 2)


def test_the_hmms_filtered_tags_are_bayes_of_the_words_so_far(hmm, text):
    words, layer = text.tokens.encode("the dog sleeps").tolist(), hmm.layer
    mask = torch.tensor([[True] * 3, [True, True, False]])
    found = hmm.filtered(Batch(ids=torch.tensor([words, [*words[:2], 0]]), mask=mask)).exp()
    for size in (1, 2, 3):
        sums = torch.zeros(3, dtype=torch.float64)
        for path in itertools.product(range(3), repeat=size):  # of what comes after, and the end, nothing is known
            total = float(layer.begins[path[0]])
            total += sum(float(hmm.emissions[word, tag]) for word, tag in zip(words, path, strict=False))
            total += sum(float(layer.transitions[a, b]) for a, b in itertools.pairwise(path))
            sums[path[-1]] += math.exp(total)
        torch.testing.assert_close(found[0, size - 1], sums / sums.sum(), rtol=1e-6, atol=1e-9)
    torch.testing.assert_close(found[1, :2], found[0, :2])
