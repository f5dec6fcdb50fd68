"""Over a text: gradients of a chunk of places, and the rows they go to.

A chunk reads the input rows of its places once and adds up what they are to change by; the rows change at its end.
Output rows change after every place (`walk`: no lock, threads may write over one another), or nothing changes until all
gradients of a batch are there, and then each thread adds those of its own rows in the order of the text
(`walk_together`): the same for any number of threads.
"""

from __future__ import annotations

import numpy as np

from foresay.kernels.word_vectors.block import ZERO, set_against
from foresay.kernels.word_vectors.compiled import add_row, arrive, arrived, ask_for, inner, let_others_run, loop
from foresay.kernels.word_vectors.plan import Plan, Room, Tables, Text, World
from foresay.kernels.word_vectors.window import aim, fill_up, key_of, look_around, reach

PATIENCE = 10_000  # looks at the gate, a few nanoseconds each, before others may have the core


@inner
def read_inputs(text: Text, world: World, tables: Tables, low: int, high: int, x: np.ndarray) -> None:
    """The rows of words low..high; of one with pieces, the mean of all."""
    spelt = len(world.spelt.first) > 0
    for at in range(low, high):
        if not spelt:
            ask_for(tables.inputs, text.words[at])
    for at in range(low, high):
        word, to = text.words[at], at - low
        for d in range(x.shape[1]):
            x[to, d] = tables.inputs[word, d]
        if spelt:
            for p in range(world.spelt.first[word], world.spelt.first[word + 1]):
                row = world.spelt.pieces[p]
                for d in range(x.shape[1]):
                    x[to, d] += tables.inputs[row, d]
            part = np.float32(1.0 / (1 + world.spelt.first[word + 1] - world.spelt.first[word]))
            for d in range(x.shape[1]):
                x[to, d] *= part


@inner
def aim_all(text: Text, world: World, low: int, high: int, key: int, room: Room, slot: int) -> None:
    """The targets of places low..high."""
    plan = world.plan
    for place in range(low, high):
        own = key_of(key, place)
        first = (slot + place - low) * plan.most
        if not plan.outward:
            end = aim(plan, world.noise, world.ways, text.words[place], own, 0, room.targets, first)
        else:
            end = first
            for j in range(look_around(text, plan, place, own, room.near)):
                word = text.words[room.near[j]]
                end = aim(plan, world.noise, world.ways, word, own, j * plan.negatives, room.targets, end)
        room.sizes[slot + place - low] = fill_up(room.targets, first, end) - first


@inner
def average(room: Room, count: int, part: float) -> None:
    for d in range(room.h.shape[1]):
        room.h[0, d] = ZERO
        room.dh[0, d] = ZERO
    for j in range(count):
        row = room.near[j]
        for d in range(room.h.shape[1]):
            room.h[0, d] += room.x[row, d]
    for d in range(room.h.shape[1]):
        room.h[0, d] *= np.float32(part)


@inner
def learn_place(
    text: Text, world: World, tables: Tables, room: Room, place: int, low: int, key: int, first: int, size: int,
    dx: np.ndarray, to: int, rate: float,
) -> tuple[float, int]:  # fmt: skip
    """One place: its gradients in dx and, from row `to` on, in du. The loss, and of how many predictions."""
    plan = world.plan
    count = look_around(text, plan, place, key_of(key, place), room.near)
    if count == 0 or size == 0:
        room.du[to : to + size] = ZERO
        return 0.0, 0
    predictions = count if plan.averaged == 0 else 1
    if plan.outward:
        room.near[0], count = place, 1
    for j in range(count):
        room.near[j] -= low
    if plan.averaged == 0:
        loss = set_against(
            room.x, dx, room.near, count, tables.outputs, room.targets, first, size, room.du, to, room.scores,
            room.signs, rate,
        )  # fmt: skip
        return loss, predictions
    before, after = reach(plan, key_of(key, place))
    average(room, count, 1.0 / (count if plan.averaged == 1 else before + after))
    kept = room.near[0]
    room.near[0] = 0
    loss = set_against(
        room.h, room.dh, room.near, 1, tables.outputs, room.targets, first, size, room.du, to, room.scores,
        room.signs, rate,
    )  # fmt: skip
    room.near[0] = kept
    for j in range(count):
        add_row(dx, room.near[j], room.dh, 0)
    return loss, predictions


@loop
def places_in(room: Room, plan: Plan) -> int:
    """How many places a chunk has."""
    return len(room.x) - plan.before - plan.after


@inner
def learn_chunk(
    text: Text, size: int, world: World, tables: Tables, room: Room, low: int, key: int, rate: float, slot: int,
    dx: np.ndarray, at_once: bool,
) -> tuple[float, int]:  # fmt: skip
    """The places from `low` on: input gradients in dx; output rows change at once, or their gradients stay in du."""
    plan, loss, predictions = world.plan, 0.0, 0
    high = min(low + places_in(room, plan), size)
    begin, end = max(low - plan.before, 0), min(high + plan.after, size)
    read_inputs(text, world, tables, begin, end, room.x)
    dx[: end - begin] = ZERO
    aim_all(text, world, low, high, key, room, slot)
    for place in range(low, high):
        first, count = (slot + place - low) * plan.most, room.sizes[slot + place - low]
        if place + 1 < high:
            following = first + plan.most
            for k in range(following, following + room.sizes[slot + place + 1 - low]):
                ask_for(tables.outputs, room.targets.rows[k])
        to = 0 if at_once else first
        one, more = learn_place(text, world, tables, room, place, begin, key, first, count, dx, to, rate)
        loss += one
        predictions += more
        for k in range(count if at_once and more else 0):
            if room.targets.signs[first + k] != ZERO:
                add_row(tables.outputs, room.targets.rows[first + k], room.du, k)
    return loss, predictions


@loop
def walk(
    text: Text, size: int, world: World, tables: Tables, room: Room, key: int, rates: tuple[float, float]
) -> tuple[float, int]:
    """All places of a text, the rows changed on the way. The loss, and of how many predictions."""
    loss, predictions, chunk = 0.0, 0, places_in(room, world.plan)
    for low in range(0, size, chunk):
        rate = rates[0] + (rates[1] - rates[0]) * low / size
        one, more = learn_chunk(text, size, world, tables, room, low, key, rate, 0, room.dx, True)
        loss += one
        predictions += more
        begin, end = max(low - world.plan.before, 0), min(low + chunk + world.plan.after, size)
        for at in range(begin, end):
            add_inputs(world, tables, text.words[at], room.dx, at - begin, 1, 0)
    return loss, predictions


@loop
def walk_together(
    text: Text, size: int, world: World, tables: Tables, room: Room, key: int, rates: tuple[float, float],
    batch: int, owners: int, owner: int, gate: np.ndarray, losses: np.ndarray,
) -> None:  # fmt: skip
    """One thread of `owners`: in batches of `batch` chunks it finds gradients of its share of the chunks and, when all
    are there, adds those of its own rows. (loss, predictions) of each chunk go to `losses`."""
    places, waits = places_in(room, world.plan), 0
    for base in range(0, size, batch * places):
        chunks = min(batch, -(-(size - base) // places))
        find(
            text, size, world, tables, room, key, rates, base, chunks * owner // owners,
            chunks * (owner + 1) // owners, losses,
        )  # fmt: skip
        waits = wait(gate, owners, waits)
        apply(text, size, world, tables, room, base, chunks, owners, owner)
        waits = wait(gate, owners, waits)


@loop
def wait(gate: np.ndarray, owners: int, waits: int) -> int:
    """Until every thread is here, for the (waits + 1)-th time."""
    arrive(gate)
    looks = 0
    while arrived(gate) < (waits + 1) * owners:
        looks += 1
        if looks > PATIENCE:
            let_others_run()
    return waits + 1


@loop
def find(
    text: Text, size: int, world: World, tables: Tables, room: Room, key: int, rates: tuple[float, float], base: int,
    first: int, end: int, losses: np.ndarray,
) -> None:  # fmt: skip
    """The gradients of chunks first..end of the batch that begins at place `base`."""
    rows, places = len(room.x), places_in(room, world.plan)
    rate = rates[0] + (rates[1] - rates[0]) * base / size
    for chunk in range(first, end):
        low = base + chunk * places
        dx = room.dx[chunk * rows : (chunk + 1) * rows]
        loss, predictions = learn_chunk(
            text, size, world, tables, room, low, key, rate, chunk * places, dx, False
        )  # fmt: skip
        losses[low // places, 0], losses[low // places, 1] = loss, predictions


@loop
def apply(
    text: Text, size: int, world: World, tables: Tables, room: Room, base: int, chunks: int, owners: int, owner: int
) -> None:
    """Adds the gradients of a batch to the owner's rows, in the order of the text."""
    rows, plan, places = len(room.x), world.plan, places_in(room, world.plan)
    for chunk in range(chunks):
        low = base + chunk * places
        begin, end = max(low - plan.before, 0), min(low + places + plan.after, size)
        for at in range(begin, end):
            add_inputs(world, tables, text.words[at], room.dx, chunk * rows + at - begin, owners, owner)
        for place in range(low, min(low + places, size)):
            first = (place - base) * plan.most
            for k in range(first, first + room.sizes[place - base]):
                if room.targets.signs[k] != ZERO and room.targets.rows[k] % owners == owner:
                    add_row(tables.outputs, room.targets.rows[k], room.du, k)


@inner
def add_inputs(world: World, tables: Tables, word: int, dx: np.ndarray, at: int, owners: int, owner: int) -> None:
    """Adds a change to a word's row and to those of its pieces, as far as they are the owner's."""
    if word % owners == owner:
        add_row(tables.inputs, word, dx, at)
    if len(world.spelt.first):
        for p in range(world.spelt.first[word], world.spelt.first[word + 1]):
            if world.spelt.pieces[p] % owners == owner:
                add_row(tables.inputs, world.spelt.pieces[p], dx, at)
