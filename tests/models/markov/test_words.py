"""The hidden Markov language model: exact by sums over paths, measured amid a text, states that are found."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
import torch

from foresay import start
from foresay.data.batch import Batch
from foresay.errors import UserError
from foresay.models.markov.words import HiddenMarkov, rows_of
from foresay.models.task import Fitting
from foresay.text.tokens import SPECIALS, START, STOP
from foresay.train.progress import Watch
from tests.data.made import shards_of
from tests.kernels.test_markov import paths_of

A, B_, C, D = range(len(SPECIALS), len(SPECIALS) + 4)
V = len(SPECIALS) + 4


def documents(seed: int = 1, number: int = 60) -> list[list[int]]:
    """Two states that take turns, a word of two each."""
    chance = np.random.default_rng(seed)
    return [
        [int(chance.choice([A, B_] if t % 2 else [C, D])) for t in range(chance.integers(2, 9))] for _ in range(number)
    ]


def fitted(folder: Path, text: list[list[int]] | None = None, seed: int = 1, **settings: float) -> HiddenMarkov:
    model = HiddenMarkov(**({"states": 3, "passes": 20} | settings))  # pyright: ignore[reportArgumentType]
    model.build(V)
    model.fit(shards_of(folder / "train", text or documents(), vocabulary=V), how=Fitting(seed=seed))
    return model


def test_a_text_is_the_sum_over_all_paths(tmp_path: Path):
    """Two documents in a row, each from pi; what follows is a distribution, by the states that were reached."""
    model = fitted(tmp_path)
    b, a, first = (getattr(model, name).numpy() for name in ("emits", "moves", "first"))
    one, other = [C, A, D, STOP], [D, B_]
    found, state = model.score(torch.tensor([one + other]))
    for place, own in ((slice(0, 4), one), (slice(4, 6), other)):
        whole = sum(paths_of(own, b, a, first).values())
        assert float(found[0, place].sum()) == pytest.approx(math.log(whole), rel=1e-6)
    every = paths_of(other, b, a, first)
    reached = np.zeros(3)
    for path, p in every.items():
        reached[path[-1]] += p / sum(every.values())
    rows, _ = model.step(torch.zeros(1, 0, dtype=torch.long), state)
    np.testing.assert_allclose(rows[0].exp(), b @ (reached @ a), rtol=1e-5)
    assert float(rows.exp().sum()) == pytest.approx(1.0, abs=1e-6)


def test_amid_a_text_the_word_before_and_the_usual_states_are_known(tmp_path: Path):
    model = fitted(tmp_path)
    batch = Batch(ids=torch.tensor([[A, C], [START, C], [STOP, C]]), targets=torch.tensor([[C, A], [C, A], [C, A]]))
    found, state = model.measure(batch)
    known = model.usual * model.emits[A]
    known = known / known.sum() @ model.moves
    expected = [float((p @ model.emits[C]).log()) for p in (known, model.first, model.first)]
    np.testing.assert_allclose(found[:, 0], expected, rtol=1e-5)
    more = Batch(ids=torch.tensor([[A]] * 3), targets=torch.tensor([[D]] * 3), fresh=False)
    again, _ = model.measure(more, state)
    whole, _ = model.score(torch.tensor([[C, A, D]]))
    assert float(again[1, 0]) == pytest.approx(float(whole[0, 2]), rel=1e-6)


def test_it_finds_states_that_take_turns(tmp_path: Path):
    """Every word tells its state, and all but the end is known up to one of two: at most log 2 a word, and the end."""
    model = fitted(tmp_path, documents(number=200), states=2, passes=60, starts=4, smoothing=0.0)
    filtered, smoothed = model.posteriors(torch.tensor([C, B_, D, A]))
    assert (smoothed.max(1) > 0.99).all() and (filtered.max(1) > 0.99).all()
    states = smoothed.argmax(1)
    assert states[0] == states[2] != states[1] == states[3]
    unigram = -sum(p * math.log(p) for p in model.emits.numpy() @ model.usual.numpy() if p > 0)
    assert model.history[-1].loss < unigram - 0.3
    assert model.moves[0, 0] < 0.01 and model.moves[1, 1] < 0.01


def test_passes_are_kept_and_fall(tmp_path: Path):
    model = fitted(tmp_path, smoothing=0.0)
    losses = [one.loss for one in model.history]
    assert losses == sorted(losses, reverse=True) and losses[0] > losses[-1]
    assert "passes: " in model.notes[0]
    again, other = fitted(tmp_path), fitted(tmp_path, seed=2)
    assert torch.equal(again.emits, fitted(tmp_path).emits) and not torch.equal(again.emits, other.emits)


def test_unfitted_it_is_uniform():
    model = HiddenMarkov(states=2)
    model.build(V)
    found, _ = model.score(torch.tensor([[A, STOP, B_]]))
    torch.testing.assert_close(found, torch.full((1, 3), -math.log(V)))
    assert model.size() == 2 + 4 + 2 * V


def test_without_smoothing_what_was_not_seen_is_impossible(tmp_path: Path):
    model = fitted(tmp_path, [[A, B_], [B_, A]], smoothing=0.0)
    found, _ = model.score(torch.tensor([[A, C, B_]]))
    assert found[0, 1] == -math.inf and bool(found[0, [0, 2]].isfinite().all())
    assert bool(fitted(tmp_path, [[A, B_], [B_, A]]).score(torch.tensor([[A, C, B_]]))[0].isfinite().all())


def test_rows_end_with_their_document(tmp_path: Path):
    rows = rows_of(shards_of(tmp_path / "a", [[A, B_], [C], [A]], vocabulary=V))
    assert rows.ids.tolist() == [A, B_, STOP, C, STOP, A, STOP] and rows.edges.tolist() == [0, 3, 5, 7]


def test_an_empty_text_is_refused(tmp_path: Path):
    model = HiddenMarkov()
    model.build(V)
    with pytest.raises(UserError, match="the text is empty"):
        model.fit(shards_of(tmp_path / "none", [], vocabulary=V))


def test_the_recipe_is_far_better_than_words_alone(tmp_path: Path):
    """After few passes: below 0.8 of the perplexity of its own symbols by their frequency, which one state is."""
    found = {}
    for states, passes in ((1, 1), (16, 20)):
        words = [f"states={states}", f"passes={passes}", "tokens.size=400"]
        run = start.train("hmm", words, out=tmp_path / f"run{states}", device="cpu", watch=Watch())
        found[states] = run.evaluate().perplexity
        assert run.recipe.task.part_name == "hmm-lm"
    assert found[16] < 0.8 * found[1], found
    with pytest.raises(UserError, match="states=0"):
        start.train("hmm", ["states=0"], out=tmp_path / "none", device="cpu", watch=Watch())
