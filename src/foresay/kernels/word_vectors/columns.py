"""Over a text, the same for any number of threads: batches of places, each thread with columns of its own.

The tables are cut into a fixed number of blocks of columns, and a block belongs to one thread: no row travels between
cores. What must travel is small: a score is the sum of what the blocks give,

    s_jk = sum_b x_jb . u_kb

added in the order of the blocks, whoever computed them. So a batch has two halves with a gate between: each thread
writes the scores of its blocks, and then, when all are there, finds the gradients of its blocks and changes its rows in
the order of the text. Before the gate each also draws its share of the targets of the batch after. Scores have two
places and targets three, used in turn: who is ahead fills one while another still reads the one before, and nobody gets
further ahead than the next gate.
"""

from __future__ import annotations

import numpy as np

from foresay.kernels.word_vectors.block import ZERO, give_signs, push, score, weigh
from foresay.kernels.word_vectors.compiled import add_row, arrive, arrived, ask_for, inner, let_others_run, loop
from foresay.kernels.word_vectors.plan import Blocks, Own, Shared, Text, World
from foresay.kernels.word_vectors.walk import add_inputs, aim_all, average, part_of_mean, read_inputs
from foresay.kernels.word_vectors.window import key_of, predictors

PATIENCE = 10_000  # looks at the gate, a few nanoseconds each, before others may have the core


@loop
def walk_together(
    text: Text, size: int, world: World, blocks: Blocks, shared: Shared, own: Own, key: int,
    rates: tuple[float, float], owners: int, owner: int, gate: np.ndarray, losses: np.ndarray,
) -> None:  # fmt: skip
    """One thread of `owners`. (loss, predictions) of each batch go to `losses`."""
    batch, waits = shared.sizes.shape[1], 0
    first, end = len(blocks) * owner // owners, len(blocks) * (owner + 1) // owners
    aim_share(text, size, world, shared, own, key, 0, owners, owner)
    waits = wait(gate, owners, waits)
    for low in range(0, size, batch):
        at, high = low // batch, min(low + batch, size)
        for b in range(first, end):
            find_scores(text, size, world, blocks, b, shared, own, low, high, key, at)
        aim_share(text, size, world, shared, own, key, low + batch, owners, owner)
        waits = wait(gate, owners, waits)
        rate = rates[0] + (rates[1] - rates[0]) * low / size
        loss, predictions = find_gradients(text, world, blocks, first, end, shared, own, low, high, key, at, rate)
        for b in range(first, end):
            change(text, size, world, blocks, b, shared, low, high, at)
        if owner == owners - 1:
            losses[at, 0], losses[at, 1] = loss, predictions


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


@inner
def aim_share(
    text: Text, size: int, world: World, shared: Shared, own: Own, key: int, low: int, owners: int, owner: int
) -> None:
    """The targets of this thread's share of a batch."""
    batch = shared.sizes.shape[1]
    places, turn = max(min(batch, size - low), 0), low // batch % len(shared.targets)
    first, end = places * owner // owners, places * (owner + 1) // owners
    aim_all(
        text, world, low + first, low + end, key, own.near, shared.targets[turn], shared.sizes[turn], first
    )  # fmt: skip


@inner
def find_scores(
    text: Text, size: int, world: World, blocks: Blocks, b: int, shared: Shared, own: Own, low: int, high: int,
    key: int, batch: int,
) -> None:  # fmt: skip
    """What a block gives to the scores of places low..high."""
    plan, block, turn = world.plan, blocks[b], batch % len(shared.targets)
    targets, sizes = shared.targets[turn], shared.sizes[turn]
    begin, end = max(low - plan.before, 0), min(high + plan.after, size)
    scores = shared.scores[batch % 2, b]
    read_inputs(text, world, block.inputs, begin, end, block.x)
    for place in range(low, high):
        at = place - low
        first, count, to = at * plan.most, sizes[at], at * shared.flat
        if place + 1 < high:
            for k in range(first + plan.most, first + plan.most + sizes[at + 1]):
                ask_for(block.outputs, targets.rows[k])
        inputs, _ = predictors(text, plan, place, key_of(key, place), own.near, begin)
        if inputs == 0:
            continue
        if plan.averaged == 0:
            score(block.x, own.near, inputs, block.outputs, targets, first, count, scores, to)
        else:
            average(block.x, own.near, inputs, part_of_mean(plan, inputs, key_of(key, place)), block.h)
            score(block.h, own.zeroth, 1, block.outputs, targets, first, count, scores, to)


@inner
def find_gradients(
    text: Text, world: World, blocks: Blocks, mine: int, others: int, shared: Shared, own: Own, low: int, high: int,
    key: int, batch: int, rate: float,
) -> tuple[float, int]:  # fmt: skip
    """dx and du of blocks mine..others. The loss, and of how many predictions."""
    plan, loss, predictions, turn = world.plan, 0.0, 0, batch % len(shared.targets)
    targets, sizes, scores = shared.targets[turn], shared.sizes[turn], shared.scores[batch % 2]
    begin = max(low - plan.before, 0)
    for b in range(mine, others):
        blocks[b].dx[:] = ZERO
    for place in range(low, high):
        at = place - low
        first, count = at * plan.most, sizes[at]
        inputs, more = predictors(text, plan, place, key_of(key, place), own.near, begin)
        if inputs == 0 or count == 0:
            for b in range(mine, others):
                blocks[b].du[first : first + count] = ZERO
            continue
        predictions += more
        rows = inputs if plan.averaged == 0 else 1
        add_up(scores, at * shared.flat, rows * count, own.scores)
        give_signs(targets, first, count, rows, own.signs)
        loss += weigh(own.scores, own.signs, rows * count, rate)
        for b in range(mine, others):
            block = blocks[b]
            if plan.averaged == 0:
                push(
                    block.x, block.dx, own.near, inputs, block.outputs, targets, first, count, own.scores, block.du,
                    first,
                )  # fmt: skip
            else:
                average(block.x, own.near, inputs, part_of_mean(plan, inputs, key_of(key, place)), block.h)
                block.dh[:] = ZERO
                push(
                    block.h, block.dh, own.zeroth, 1, block.outputs, targets, first, count, own.scores, block.du, first
                )  # fmt: skip
                for j in range(inputs):
                    add_row(block.dx, own.near[j], block.dh, 0)
    return loss, predictions


@inner
def add_up(parts: np.ndarray, begin: int, size: int, scores: np.ndarray) -> None:
    """The sums of what the blocks gave, block after block."""
    for p in range(size):
        scores[p] = parts[0, begin + p]
    for b in range(1, len(parts)):
        for p in range(size):
            scores[p] += parts[b, begin + p]


@inner
def change(
    text: Text, size: int, world: World, blocks: Blocks, b: int, shared: Shared, low: int, high: int, batch: int
) -> None:
    """Adds the gradients of a batch to a block's rows, in the order of the text."""
    plan, block, turn = world.plan, blocks[b], batch % len(shared.targets)
    targets, sizes = shared.targets[turn], shared.sizes[turn]
    begin, end = max(low - plan.before, 0), min(high + plan.after, size)
    for at in range(begin, end):
        add_inputs(world, block.inputs, text.words[at], block.dx, at - begin)
    for at in range(high - low):
        for k in range(at * plan.most, at * plan.most + sizes[at]):
            if targets.signs[k] != ZERO:
                add_row(block.outputs, targets.rows[k], block.du, k)
