"""The plain twin: the same places and the same draws as the compiled loops, in torch, with torch's own gradients.

It is what the loops are tested against (FORESAY_PLAIN=1 trains with it), and it trains what they do not have: the whole
softmax and the product form. A batch of places is computed from the tables as they are, then the tables change.

Where the words near are averaged, each takes the whole step of the mean, as in the original tool: the gradient of each
is multiplied by the divisor.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from foresay.kernels.word_vectors.plan import Room, Spelt, Text, room_for
from foresay.models.word_vectors.learn import Course, Epoch, Tell, check_lengths, mean, said
from foresay.models.word_vectors.objective import Negative, Objective, Softmax
from foresay.models.word_vectors.predictor import CbowProduct, Predictor

MOST = 256  # places at once: each is as wide as the vocabulary where the softmax is whole


@dataclass(frozen=True)
class Places:
    """P places: word ids of inputs (P, M) and where they are real, rows of targets (P, L) and y of each, 0 for none.

    Of the whole softmax a target is a word, and y is 1.
    """

    inputs: Tensor
    real: Tensor
    targets: Tensor
    signs: Tensor
    divisors: Tensor  # (P,)
    near: Tensor  # (P,): how many words are near


def learn(course: Course, predictor: Predictor, objective: Objective, *, tell: Tell) -> list[Epoch]:
    """Fills the course's tables."""
    inputs, outputs = tables = [torch.from_numpy(table).requires_grad_() for table in course.tables]
    epochs, began = [], time.perf_counter()
    for epoch in range(course.epochs):
        found: list[tuple[float, int]] = []
        for nth, stretch in enumerate(course.order(epoch)):
            rate, end = course.rates(epoch, nth)
            for share, places in places_of(course, epoch, stretch, objective):
                loss, predictions = loss_of(places, inputs, outputs, course.world.spelt, predictor, objective)
                gradients = torch.autograd.grad(loss, tables)
                with torch.no_grad():
                    for table, gradient in zip(tables, gradients, strict=True):
                        table -= (rate + share * (end - rate)) * gradient
                found.append((float(loss.detach()), predictions))
            tell((epoch + (nth + 1) / course.stretches) / course.epochs, said(epochs, course))
        check_lengths(course, epoch)
        epochs.append(Epoch(mean(found), time.perf_counter() - began))
    return epochs


@torch.inference_mode()
def measure(course: Course, predictor: Predictor, objective: Objective) -> float:
    """The mean loss of a prediction on a text, from which nothing is learnt."""
    inputs, outputs = (torch.from_numpy(table) for table in course.tables)
    found: list[tuple[float, int]] = []
    for stretch in range(course.stretches):
        for _, places in places_of(course, 0, stretch, objective):
            loss, predictions = loss_of(places, inputs, outputs, course.world.spelt, predictor, objective)
            found.append((float(loss), predictions))
    return mean(found)


def places_of(course: Course, epoch: int, stretch: int, objective: Objective) -> Iterator[tuple[float, Places]]:
    """Batches of places, each with how far it is in the stretch."""
    text, size, key = course.kept(epoch, stretch)
    places = min(course.at_once, MOST)
    for low in range(0, size, places):
        yield low / size, look_at(course, text, low, min(low + places, size), key, whole=isinstance(objective, Softmax))


def look_at(course: Course, text: Text, low: int, high: int, key: int, *, whole: bool) -> Places:
    """What places low..high are made of; `whole`: words as targets."""
    from foresay.kernels.word_vectors.walk import aim_all
    from foresay.kernels.word_vectors.window import key_of, look_around, reach

    plan = course.world.plan
    room: Room = room_for(plan._replace(most=max(plan.most, 3)), 16, high - low)
    if not whole:
        aim_all(text, course.world, low, high, key, room.near, room.targets, room.sizes, 0)
    near = np.zeros((high - low, plan.before + plan.after), np.int64)
    counts, divisors = np.zeros(high - low, np.int64), np.ones(high - low)
    for place in range(low, high):
        count = look_around(text, plan, place, key_of(key, place), room.near)
        near[place - low, :count], counts[place - low] = text.words[room.near[:count]], count
        divisors[place - low] = max(count, 1) if plan.averaged == 1 else sum(reach(plan, key_of(key, place)))
    real = np.arange(near.shape[1]) < counts[:, None]
    centres = text.words[low:high, None]
    rows = room.targets.rows.reshape(-1, max(plan.most, 3))[: high - low]
    signs = room.targets.signs.reshape(-1, max(plan.most, 3))[: high - low].copy()
    signs[np.arange(signs.shape[1]) >= room.sizes[: high - low, None]] = 0.0
    if whole:
        rows, signs = (near, real.astype(np.float32)) if plan.outward else (centres, np.ones(centres.shape, np.float32))
    if plan.outward:
        near, real = centres, counts[:, None] > 0
    made = (torch.from_numpy(np.ascontiguousarray(one)) for one in (near, real, rows, signs, divisors, counts))
    return Places(*made)


def loss_of(
    places: Places, inputs: Tensor, outputs: Tensor, spelt: Spelt, predictor: Predictor, objective: Objective
) -> tuple[Tensor, int]:
    """The sum of the loss over all predictions, and how many there are."""
    x = _vectors(inputs, spelt, places.inputs)
    if isinstance(predictor, CbowProduct):
        assert isinstance(objective, Negative)
        return _product(places, x, outputs, predictor.negative == "whole")
    real, predictions = places.real, int(places.near.sum())
    if predictor.plan().averaged:
        there = real.any(1, keepdim=True)
        x = _whole_step(x, places.divisors)  # (P, M, D)
        x = (x * real[..., None]).sum(1, keepdim=True) / places.divisors[:, None, None].to(x)
        real, predictions = there, int(there.sum())
    if isinstance(objective, Softmax):
        logs = F.log_softmax(x @ outputs.T, -1)  # (P, M, V)
        found = logs.gather(2, places.targets[:, None].expand(-1, x.shape[1], -1))
        return -(found * places.signs[:, None] * real[..., None]).sum(dtype=torch.float64), predictions
    scores = torch.einsum("pmd,pld->pml", x, outputs[places.targets])
    loss = -F.logsigmoid(scores * places.signs[:, None])
    kept = real[..., None] & (places.signs != 0)[:, None]
    return (loss * kept).sum(dtype=torch.float64), predictions


def _vectors(inputs: Tensor, spelt: Spelt, words: Tensor) -> Tensor:
    """(P, M) words -> (P, M, D); of spelt ones, the mean of all their rows, each with the whole step."""
    if not len(spelt.first):
        return inputs[words]
    flat = words.flatten().numpy()
    lengths = np.diff(spelt.first)[flat]
    places = np.arange(lengths.max(initial=0))
    rows = spelt.pieces[np.minimum(spelt.first[flat, None] + places, len(spelt.pieces) - 1)]
    rows = np.concatenate([flat[:, None], np.where(places < lengths[:, None], rows, -1)], 1)
    bags, sizes = torch.from_numpy(rows), torch.from_numpy(1 + lengths)
    parts = _whole_step(inputs[bags.clamp(min=0)], sizes)
    vectors = (parts * (bags >= 0)[..., None]).sum(1) / sizes[:, None]
    return vectors.view(*words.shape, -1)


def _whole_step(x: Tensor, divisors: Tensor) -> Tensor:
    """x as it is, its gradient times the divisor of its place."""
    if x.requires_grad:
        x.register_hook(lambda gradient: gradient * divisors[:, None, None].to(gradient))
    return x


def _product(places: Places, near: Tensor, outputs: Tensor, whole: bool) -> tuple[Tensor, int]:
    """log P(+) = sum_i log sigmoid(w . c_i); log P(-) = sum_i log(1 - sigmoid), or log(1 - prod_i sigmoid)."""
    near, words = F.normalize(near, dim=-1), F.normalize(outputs[places.targets], dim=-1)
    scores = torch.einsum("pmd,pld->pml", near, words)
    real = places.real[..., None]
    taken = (F.logsigmoid(scores) * real).sum(1)  # (P, L)
    refused = _log_one_minus(taken) if whole else (F.logsigmoid(-scores) * real).sum(1)
    there = places.real.any(1)
    kept = there[:, None] & (places.signs != 0)
    found = torch.where(places.signs > 0, taken, refused) * kept
    return -found.sum(dtype=torch.float64), int(there.sum())


def _log_one_minus(log_p: Tensor) -> Tensor:
    """log(1 - p) from log p < 0."""
    return torch.where(log_p > -math.log(2), torch.log(-torch.expm1(log_p)), torch.log1p(-torch.exp(log_p)))
