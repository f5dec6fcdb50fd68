"""Over a text, without a lock: gradients of a chunk of places, and the rows they go to.

A chunk reads the input rows of its places once and adds up what they are to change by; the rows change at its end.
Output rows change after every place. Several threads may walk texts of their own and write over one another.
"""

from __future__ import annotations

import numpy as np

from foresay.kernels.word_vectors.block import ZERO, set_against
from foresay.kernels.word_vectors.compiled import add_row, ask_for, inner, loop
from foresay.kernels.word_vectors.plan import Plan, Room, Tables, Targets, Text, World
from foresay.kernels.word_vectors.window import aim, fill_up, key_of, look_around, predictors, reach


@inner
def read_inputs(text: Text, world: World, inputs: np.ndarray, low: int, high: int, x: np.ndarray) -> None:
    """The rows of words low..high; of one with pieces, the mean of all."""
    spelt = len(world.spelt.first) > 0
    for at in range(low, high):
        if not spelt:
            ask_for(inputs, text.words[at])
    for at in range(low, high):
        word, to = text.words[at], at - low
        for d in range(x.shape[1]):
            x[to, d] = inputs[word, d]
        if spelt:
            for p in range(world.spelt.first[word], world.spelt.first[word + 1]):
                row = world.spelt.pieces[p]
                for d in range(x.shape[1]):
                    x[to, d] += inputs[row, d]
            part = np.float32(1.0 / (1 + world.spelt.first[word + 1] - world.spelt.first[word]))
            for d in range(x.shape[1]):
                x[to, d] *= part


@inner
def aim_all(
    text: Text, world: World, low: int, high: int, key: int, near: np.ndarray, targets: Targets, sizes: np.ndarray,
    slot: int,
) -> None:  # fmt: skip
    """The targets of places low..high, and how many each has; those of the first go to `slot`."""
    plan = world.plan
    for place in range(low, high):
        own = key_of(key, place)
        first = (slot + place - low) * plan.most
        if not plan.outward:
            end = aim(plan, world.noise, world.ways, text.words[place], own, 0, targets, first)
        else:
            end = first
            for j in range(look_around(text, plan, place, own, near)):
                end = aim(plan, world.noise, world.ways, text.words[near[j]], own, j * plan.negatives, targets, end)
        sizes[slot + place - low] = fill_up(targets, first, end) - first


@inner
def average(x: np.ndarray, near: np.ndarray, count: int, part: float, h: np.ndarray) -> None:
    """h becomes the sum of `count` rows, times a part."""
    for d in range(h.shape[1]):
        h[0, d] = ZERO
    for j in range(count):
        row = near[j]
        for d in range(h.shape[1]):
            h[0, d] += x[row, d]
    for d in range(h.shape[1]):
        h[0, d] *= np.float32(part)


@inner
def part_of_mean(plan: Plan, count: int, key: int) -> float:
    """What a sum over the words near is multiplied with."""
    before, after = reach(plan, key)
    return 1.0 / (count if plan.averaged == 1 else before + after)


@inner
def learn_place(
    text: Text, world: World, tables: Tables, room: Room, place: int, low: int, key: int, rate: float
) -> tuple[float, int]:
    """One place: its gradients in dx and du. The loss, and of how many predictions."""
    plan, first, size = world.plan, (place - low) * world.plan.most, room.sizes[place - low]
    begin = max(low - plan.before, 0)
    count, predictions = predictors(text, plan, place, key_of(key, place), room.near, begin)
    if count == 0 or size == 0:
        return 0.0, 0
    if plan.averaged == 0:
        loss = set_against(
            room.x, room.dx, room.near, count, tables.outputs, room.targets, first, size, room.du, 0, room.scores,
            room.signs, rate,
        )  # fmt: skip
        return loss, predictions
    average(room.x, room.near, count, part_of_mean(plan, count, key_of(key, place)), room.h)
    room.dh[0] = ZERO
    loss = set_against(
        room.h, room.dh, room.zeroth, 1, tables.outputs, room.targets, first, size, room.du, 0, room.scores,
        room.signs, rate,
    )  # fmt: skip
    for j in range(count):
        add_row(room.dx, room.near[j], room.dh, 0)
    return loss, predictions


@inner
def learn_chunk(
    text: Text, size: int, world: World, tables: Tables, room: Room, low: int, key: int, rate: float
) -> tuple[float, int]:
    """The places from `low` on: output rows change at once, input rows at the end."""
    plan, loss, predictions = world.plan, 0.0, 0
    high = min(low + len(room.sizes), size)
    begin, end = max(low - plan.before, 0), min(high + plan.after, size)
    read_inputs(text, world, tables.inputs, begin, end, room.x)
    room.dx[: end - begin] = ZERO
    aim_all(text, world, low, high, key, room.near, room.targets, room.sizes, 0)
    for place in range(low, high):
        first = (place - low) * plan.most
        if place + 1 < high:
            following = first + plan.most
            for k in range(following, following + room.sizes[place + 1 - low]):
                ask_for(tables.outputs, room.targets.rows[k])
        one, more = learn_place(text, world, tables, room, place, low, key, rate)
        loss += one
        predictions += more
        for k in range(room.sizes[place - low] if more else 0):
            if room.targets.signs[first + k] != ZERO:
                add_row(tables.outputs, room.targets.rows[first + k], room.du, k)
    for at in range(begin, end):
        add_inputs(world, tables.inputs, text.words[at], room.dx, at - begin)
    return loss, predictions


@loop
def walk(
    text: Text, size: int, world: World, tables: Tables, room: Room, key: int, rates: tuple[float, float]
) -> tuple[float, int]:
    """All places of a text, the rows changed on the way. The loss, and of how many predictions."""
    loss, predictions = 0.0, 0
    for low in range(0, size, len(room.sizes)):
        rate = rates[0] + (rates[1] - rates[0]) * low / size
        one, more = learn_chunk(text, size, world, tables, room, low, key, rate)
        loss += one
        predictions += more
    return loss, predictions


@inner
def add_inputs(world: World, inputs: np.ndarray, word: int, dx: np.ndarray, at: int) -> None:
    """Adds a change to a word's row and to those of its pieces."""
    add_row(inputs, word, dx, at)
    if len(world.spelt.first):
        for p in range(world.spelt.first[word], world.spelt.first[word + 1]):
            add_row(inputs, world.spelt.pieces[p], dx, at)
