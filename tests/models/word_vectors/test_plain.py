"""The compiled loops give what torch's own gradients give, for every predictor and objective they know."""

import math

import numpy as np
import pytest
import torch

from foresay.kernels.word_vectors.plan import cut, join, own_room, room_for, shared_room
from foresay.models.word_vectors import learn, plain
from foresay.models.word_vectors.objective import Hierarchical, Negative, Softmax
from foresay.models.word_vectors.predictor import Cbow, CbowProduct, OneWord, SkipGram
from tests.models.word_vectors.made import D, V, course_of

PREDICTORS = {
    "skipgram": SkipGram(window=3),
    "outward": SkipGram(window=2, outward=True),
    "subset": SkipGram(window=3, dynamic=False, subset=2),
    "cbow": Cbow(window=3),
    "cbow, real": Cbow(window=3, divisor="real"),
    "one word": OneWord(),
}
OBJECTIVES = {"negative": Negative(number=4), "no negatives": Negative(number=0), "tree": Hierarchical()}


@pytest.mark.parametrize("spelt", [False, True], ids=["", "spelt"])
@pytest.mark.parametrize("objective", OBJECTIVES.values(), ids=OBJECTIVES)
@pytest.mark.parametrize("predictor", PREDICTORS.values(), ids=PREDICTORS)
def test_loops_equal_plain(tmp_path, predictor, objective, spelt):
    from foresay.kernels.word_vectors.columns import walk_together

    course = course_of(tmp_path / "text", predictor, objective, spelt=spelt, size=48)
    text, size, key = course.kept(0, 0)
    tables = [torch.from_numpy(table.astype(np.float64)).requires_grad_() for table in course.tables]
    places = plain.look_at(course, text, 0, size, key, whole=False)
    loss, predictions = plain.loss_of(places, *tables, course.world.spelt, predictor, objective)
    gradients = torch.autograd.grad(loss, tables)
    plan = course.world.plan
    blocks, losses = cut(course.tables, plan, size), np.zeros((1, 2))
    given = (text, size, course.world, blocks, shared_room(plan, size), own_room(plan), key, (0.05, 0.05))
    walk_together(*given, 1, 0, np.zeros(1, np.int64), losses)
    join(blocks, course.tables)
    assert losses[0, 1] == predictions > 0
    assert losses[0, 0] == pytest.approx(float(loss.detach()), rel=1e-6)
    for found, table, gradient in zip(course.tables, tables, gradients, strict=True):
        np.testing.assert_allclose(found, (table - 0.05 * gradient).detach(), rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("objective", OBJECTIVES.values(), ids=OBJECTIVES)
@pytest.mark.parametrize("predictor", [PREDICTORS["skipgram"], PREDICTORS["cbow"]], ids=["skipgram", "cbow"])
def test_walking_changes_rows_on_the_way(tmp_path, predictor, objective):
    """At a rate of almost nothing the order of changes does not matter: the walk is the gradient."""
    from foresay.kernels.word_vectors.walk import walk

    course = course_of(tmp_path / "text", predictor, objective)
    text, size, key = course.kept(0, 0)
    before = [table.astype(np.float64) for table in course.tables]
    for table in course.tables:
        table *= np.float32(1.0)
    tables = [torch.from_numpy(table).requires_grad_() for table in before]
    places = plain.look_at(course, text, 0, size, key, whole=False)
    loss, predictions = plain.loss_of(places, *tables, course.world.spelt, predictor, objective)
    gradients = torch.autograd.grad(loss, tables)
    room = room_for(course.world.plan, D)
    rate = 1e-4
    found = walk(text, size, course.world, course.tables, room, key, (rate, rate))
    assert found[1] == predictions and found[0] == pytest.approx(float(loss.detach()), rel=1e-3)
    for after, table, gradient in zip(course.tables, before, gradients, strict=True):
        change = (after - table) / rate
        assert np.linalg.norm(change + gradient.numpy()) < 0.02 * np.linalg.norm(gradient)


def test_the_whole_softmax_by_hand(tmp_path):
    course = course_of(tmp_path / "text", OneWord(), Softmax(), texts=[[5, 6, 7], [6, 5]], epochs=1)
    inputs, outputs = (table.astype(np.float64) for table in course.tables)
    pairs = [(5, 6), (6, 7), (6, 5)]
    expected = 0.0
    for word, following in pairs:
        scores = outputs @ inputs[word]
        expected += math.log(np.exp(scores).sum()) - scores[following]
    assert plain.measure(course, OneWord(), Softmax()) == pytest.approx(expected / 3, rel=1e-6)


@pytest.mark.parametrize("negative", ["each", "whole"])
def test_the_product_form_by_hand(tmp_path, negative):
    """log P(+) = sum log sigmoid(w c_i); P(-) both ways; vectors of length 1."""
    predictor, objective = CbowProduct(window=2, dynamic=False, negative=negative), Negative(number=2)
    course = course_of(tmp_path / "text", predictor, objective, texts=[[5, 6, 7, 8]], epochs=1)
    text, size, key = course.kept(0, 0)
    places = plain.look_at(course, text, 0, size, key, whole=False)
    unit = [
        table / np.linalg.norm(table, axis=1, keepdims=True) for table in (t.astype(np.float64) for t in course.tables)
    ]
    sigmoid = lambda x: 1 / (1 + np.exp(-x))  # noqa: E731
    expected = 0.0
    for at, near in enumerate([[6, 7], [5, 7, 8], [5, 6, 8], [6, 7]]):
        for row, sign in zip(places.targets[at].tolist(), places.signs[at].tolist(), strict=True):
            p = sigmoid(unit[0][near] @ unit[1][row])
            expected -= (sign > 0) * np.log(p).sum()
            expected -= (sign < 0) * (np.log(1 - p).sum() if negative == "each" else np.log(1 - p.prod()))
    tables = [torch.from_numpy(table.astype(np.float64)) for table in course.tables]
    loss, predictions = plain.loss_of(places, *tables, course.world.spelt, predictor, objective)
    assert predictions == 4 and float(loss) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize(
    ("predictor", "objective"),
    [(SkipGram(), Softmax()), (SkipGram(outward=True), Softmax()), (Cbow(), Softmax()), (CbowProduct(), Negative())],
    ids=["skipgram", "outward", "cbow", "product"],
)
def test_plain_learning_lowers_the_loss(tmp_path, predictor, objective):
    course = course_of(tmp_path / "text", predictor, objective, epochs=8)
    epochs = plain.learn(course, predictor, objective, tell=lambda done, said: None)
    losses = [epoch.loss for epoch in epochs]
    assert len(losses) == 8 and losses[-1] < 0.98 * losses[0]


def test_measuring_changes_nothing(tmp_path):
    course = course_of(tmp_path / "text", SkipGram(), Negative())
    before = [table.copy() for table in course.tables]
    text, size, key = course.kept(0, 0)
    places = plain.look_at(course, text, 0, size, key, whole=False)
    tables = [torch.from_numpy(table) for table in course.tables]
    loss, predictions = plain.loss_of(places, *tables, course.world.spelt, SkipGram(), Negative())
    assert learn.measure(course) == pytest.approx(float(loss) / predictions, rel=1e-5)
    for table, then in zip(course.tables, before, strict=True):
        np.testing.assert_array_equal(table, then)
    assert len(course.shares) == V
