from dataclasses import replace

import numpy as np
import pytest

from foresay.errors import UserError
from foresay.kernels.word_vectors import columns, walk
from foresay.models.word_vectors import learn
from foresay.models.word_vectors.objective import Hierarchical, Negative
from foresay.models.word_vectors.predictor import Cbow, SkipGram
from tests.models.word_vectors.made import course_of, documents


def nothing(done, said):
    pass


@pytest.mark.parametrize("spelt", [False, True], ids=["", "spelt"])
@pytest.mark.parametrize("objective", [Negative(), Hierarchical()], ids=["negative", "tree"])
@pytest.mark.parametrize("predictor", [SkipGram(), Cbow(), SkipGram(outward=True)], ids=["skipgram", "cbow", "outward"])
def test_same_bytes_for_any_number_of_threads(tmp_path, monkeypatch, predictor, objective, spelt):
    monkeypatch.setattr(learn, "STRETCH", 45)
    found = []
    for threads in (1, 2, 3):
        course = course_of(
            tmp_path / f"{threads}",
            predictor,
            objective,
            spelt=spelt,
            threads=threads,
            texts=documents(4, 50),
            sample=0.05,
            size=48,
        )
        assert course.stretches > 3
        epochs = learn.learn(course, deterministic=True, tell=nothing)
        found.append(([epoch.loss for epoch in epochs], course.tables))
    for losses, tables in found[1:]:
        assert losses == found[0][0]
        for one, other in zip(tables, found[0][1], strict=True):
            assert one.tobytes() == other.tobytes()


@pytest.mark.parametrize("deterministic", [False, True])
def test_learning_lowers_the_loss_and_says_where_it_is(tmp_path, monkeypatch, deterministic):
    monkeypatch.setattr(learn, "STRETCH", 90)
    course, said = course_of(tmp_path / "text", SkipGram(), Negative(), threads=2, epochs=6), []
    epochs = learn.learn(course, deterministic=deterministic, tell=lambda done, text: said.append((done, text)))
    losses = [epoch.loss for epoch in epochs]
    assert losses[-1] < 0.9 * losses[0]
    shares = [done for done, _ in said]
    assert shares == sorted(shares) and shares[-1] == pytest.approx(1.0)
    assert said[-1][1] == f"epoch 6 of 6, loss {losses[-2]:.4f}"


@pytest.mark.parametrize("deterministic", [False, True])
def test_compiling_is_said_and_learns_nothing(tmp_path, deterministic):
    course, said = course_of(tmp_path / "text", SkipGram(), Negative(), threads=2), []
    before = [np.array(table) for table in course.tables]
    taken = learn.make_ready(course, deterministic=deterministic, tell=lambda done, text: said.append((done, text)))
    assert said == [(0.0, "compiling")] and taken > 0
    assert all(np.array_equal(one, other) for one, other in zip(before, course.tables, strict=True))
    if not hasattr(walk.walk, "signatures"):  # the compiler is off
        return
    loop = columns.walk_together if deterministic else walk.walk
    known = len(loop.signatures)
    learn.learn(course, deterministic=deterministic, tell=nothing)
    assert len(loop.signatures) == known  # nothing is left to compile


def test_stretches_are_walked_in_an_order_of_their_own_each_epoch(tmp_path, monkeypatch):
    monkeypatch.setattr(learn, "STRETCH", 20)
    course = course_of(tmp_path / "text", SkipGram(), Negative(), epochs=3)
    orders = [course.order(epoch) for epoch in range(3)]
    assert all(sorted(order) == list(range(course.stretches)) for order in orders)
    assert len({tuple(order) for order in orders}) == 3 and course.order(1) == orders[1]
    assert replace(course, seed=course.seed + 1).order(0) != orders[0]


def test_the_rate_falls_in_a_straight_line(tmp_path, monkeypatch):
    monkeypatch.setattr(learn, "STRETCH", 50)
    course = course_of(tmp_path / "text", SkipGram(), Negative(), epochs=2)
    rates = [course.rates(epoch, n) for epoch in range(2) for n in range(course.stretches)]
    whole = 2 * course.stretches
    np.testing.assert_allclose([rate for rate, _ in rates], [0.05 * (1 - n / whole) for n in range(whole)])
    assert [end for _, end in rates[:-1]] == [rate for rate, _ in rates[1:]]
    assert rates[-1][1] == pytest.approx(0.05 * learn.LEAST)


def test_the_loss_is_the_mean_over_predictions():
    assert learn.mean([(3.0, 2), (5.0, 6)]) == 1.0


@pytest.mark.filterwarnings("ignore:.* encountered in:RuntimeWarning")  # by numpy, where nothing is compiled
@pytest.mark.parametrize("deterministic", [False, True])
@pytest.mark.parametrize("objective", [Negative(), Hierarchical()], ids=["negative", "tree"])
@pytest.mark.parametrize("predictor, usual", [(SkipGram(), "0.025"), (Cbow(), "0.05")], ids=["skipgram", "cbow"])
def test_vectors_that_are_no_longer_numbers_end_the_run(tmp_path, predictor, usual, objective, deterministic):
    course = replace(course_of(tmp_path / "text", predictor, objective, epochs=9), rate=1e30)
    line = rf"^lr=1e\+30: the vectors are no longer numbers after epoch 1; lower lr: {usual} is usual$"
    with pytest.raises(UserError, match=line):
        learn.learn(course, deterministic=deterministic, tell=nothing)


@pytest.mark.parametrize("strange", [np.nan, np.inf, -1e20])
@pytest.mark.parametrize("table, at", [(0, (0, 0)), (0, (-1, -1)), (1, (3, 5))])
def test_every_number_of_both_tables_is_looked_at(tmp_path, table, at, strange):
    course = replace(course_of(tmp_path / "text", SkipGram(), Negative()), rate=0.01)
    learn.check_lengths(course, 0)
    course.tables[table][at] = strange
    with pytest.raises(UserError, match=r"^lr=0.01: the vectors are no longer numbers after epoch 3; lower lr$"):
        learn.check_lengths(course, 2)
