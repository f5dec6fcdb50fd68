"""Learning on a CPU: the text in stretches, on every core.

Each thread walks a stretch of its own and writes into the same tables without a lock; or, where the result must not
depend on the threads, all work on one batch, each on columns of its own. The rate falls in a straight line over all
epochs, by the place in the text.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Generator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass, replace

import numpy as np

from foresay.counts.count import Tokens
from foresay.errors import UserError
from foresay.kernels.word_vectors.plan import (
    BLOCKS,
    CHUNK,
    MEAN_CHUNK,
    Plan,
    Room,
    Tables,
    Text,
    World,
    cut,
    empty_text,
    join,
    lines,
    own_room,
    room_for,
    shared_room,
)
from foresay.text.tokens import STOP

STRETCH = 1 << 16  # words; windows end with it
LEAST = 1e-4  # of the first rate, at the end
BEARABLE = 2.0  # steps of rate 1 that a row may take from where it was: more, and it overshoots
MOST = 4096
USUAL, USUAL_OF_MEANS = 0.025, 0.05  # rates; where the words near are averaged, each takes a part of a step


@dataclass(frozen=True)
class Course:
    """What is learnt from what."""

    tokens: Tokens
    shares: np.ndarray  # (V,) of 2**32: how often a word is kept; 0 for those that do not take part
    world: World
    tables: Tables
    epochs: int
    rate: float
    seed: int
    threads: int
    at_once: int  # places whose gradients are found before the rows they go to change

    @property
    def width(self) -> int:
        return self.tables.inputs.shape[1]

    @property
    def stretches(self) -> int:
        return -(-len(self.tokens) // STRETCH)

    def order(self, epoch: int) -> list[int]:
        """The stretches as they are walked, drawn for each epoch: a text's end counts no more than its beginning."""
        return np.random.default_rng([self.seed & 0xFFFFFFFF, epoch]).permutation(self.stretches).tolist()

    def rates(self, epoch: int, nth: int) -> tuple[float, float]:
        """At the beginning and at the end of the nth stretch of an epoch."""
        whole = self.epochs * self.stretches
        done = epoch * self.stretches + nth
        return tuple(self.rate * max(1 - at / whole, LEAST) for at in (done, done + 1))  # pyright: ignore[reportReturnType]

    def kept(self, epoch: int, stretch: int) -> tuple[Text, int, int]:
        """The words of a stretch that are kept this time, how many, and the key of their places."""
        from foresay.kernels.word_vectors.window import folded, keep_words

        ids = self.tokens.slice(stretch * STRETCH, (stretch + 1) * STRETCH)
        key = folded(folded(self.seed & 0xFFFFFFFF, epoch), stretch)
        text = empty_text(len(ids))
        return text, keep_words(ids, self.shares, STOP, folded(key, 0), text), folded(key, 1)


def bearable(plan: Plan, heat: float, counts: np.ndarray, shares: np.ndarray, rate: float) -> int:
    """How many places may be computed from the same rows: so many that the row most used takes no step too far.

    That is the row drawn most (`heat`: how often for a word), or that of the word most kept.
    """
    kept = counts * (shares / 2.0**32)
    near = 1.0 if plan.averaged else (plan.before + plan.after) / (2 if plan.dynamic else 1)
    used = near * (heat + float(kept.max() / kept.sum()))
    return int(min(max(BEARABLE / (rate * used), 1), MOST))


@dataclass(frozen=True)
class Epoch:
    """The mean loss of a prediction, and the seconds since training began."""

    loss: float
    seconds: float


Tell = Callable[[float, str], None]


@dataclass(frozen=True)
class OneToken:
    """A text's first."""

    tokens: Tokens

    def __len__(self) -> int:
        return 1

    def slice(self, start: int, stop: int) -> np.ndarray:
        return self.tokens.slice(start, min(stop, 1))


def make_ready(course: Course, *, deterministic: bool, tell: Tell) -> float:
    """Compiles the loops, on a word that has none near; the seconds it took, many where nothing is kept of it yet."""
    tell(0.0, "compiling")
    began = time.perf_counter()
    with ThreadPoolExecutor(1) as pool:
        alone = replace(course, tokens=OneToken(course.tokens), threads=1)
        list((_in_order if deterministic else _freely)(alone, 0, pool))
    return time.perf_counter() - began


def learn(course: Course, *, deterministic: bool, tell: Tell) -> list[Epoch]:
    """Fills the tables."""
    epochs, began = [], time.perf_counter()
    with ThreadPoolExecutor(course.threads) as pool:
        for epoch in range(course.epochs):
            found: list[tuple[float, int]] = []
            walk = _in_order(course, epoch, pool) if deterministic else _freely(course, epoch, pool)
            with closing(walk):
                for one in walk:
                    found.append(one)
                    tell((epoch + len(found) / course.stretches) / course.epochs, said(epochs, course))
            check_lengths(course, epoch)
            epochs.append(Epoch(mean(found), time.perf_counter() - began))
    return epochs


def check_lengths(course: Course, epoch: int) -> None:
    """Refuses tables that are no longer numbers; the loss would hide it, for loops bound what they score.

    By the squares of the rows' lengths, which are of no use either where a float32 cannot hold them.
    """
    with np.errstate(over="ignore", invalid="ignore"):
        squares = [np.einsum("vd,vd->v", table, table) for table in course.tables]
    if not all(np.isfinite(one).all() for one in squares):
        raise diverged(course, epoch)


def diverged(course: Course, epoch: int) -> UserError:
    """The end of a run that steps too far."""
    usual = USUAL_OF_MEANS if course.world.plan.averaged else USUAL
    remedy = f"lower lr: {usual:g} is usual" if course.rate > usual else "lower lr"
    return UserError(f"lr={course.rate:g}: the vectors are no longer numbers after epoch {epoch + 1}; {remedy}")


def said(epochs: list[Epoch], course: Course) -> str:
    """Where it is, and how good the last epoch was."""
    loss = f", loss {epochs[-1].loss:.4f}" if epochs else ""
    return f"epoch {len(epochs) + 1} of {course.epochs}{loss}"


def mean(found: list[tuple[float, int]]) -> float:
    """Of (sum, number of predictions)."""
    predictions = sum(number for _, number in found)
    if not predictions:
        raise UserError(
            "no word of the text has a known word beside it; give more text, lower tokens.min_count, or keep frequent "
            "words with sample=0"
        )
    return math.fsum(total for total, _ in found) / predictions


def measure(course: Course, epoch: int = 0) -> float:
    """The mean loss of a prediction on a text, from which nothing is learnt."""
    still = replace(course, rate=0.0, epochs=1)
    with ThreadPoolExecutor(course.threads) as pool:
        return mean(list(_freely(still, epoch, pool)))


def _freely(course: Course, epoch: int, pool: ThreadPoolExecutor) -> Generator[tuple[float, int]]:
    from foresay.kernels.word_vectors.walk import walk

    plan, rooms = course.world.plan, list[Room]()  # rooms that no thread works in
    places = MEAN_CHUNK if plan.averaged else CHUNK

    def one(nth: int, stretch: int) -> tuple[float, int]:
        text, size, key = course.kept(epoch, stretch)
        room = rooms.pop() if rooms else room_for(plan, course.width, min(places, course.at_once))
        found = walk(text, size, course.world, course.tables, room, key, course.rates(epoch, nth))
        rooms.append(room)
        return found

    yield from pool.map(one, range(course.stretches), course.order(epoch))


def _in_order(course: Course, epoch: int, pool: ThreadPoolExecutor) -> Generator[tuple[float, int]]:
    from foresay.kernels.word_vectors.columns import walk_together

    world, plan, batch = course.world, course.world.plan, course.at_once
    threads = min(course.threads, BLOCKS)
    blocks, shared = cut(course.tables, plan, batch), shared_room(plan, batch)
    rooms = [own_room(plan) for _ in range(threads)]
    for nth, stretch in enumerate(course.order(epoch)):
        text, size, key = course.kept(epoch, stretch)
        rates, gate = course.rates(epoch, nth), lines(1, np.int64)
        losses = np.zeros((-(-size // batch), 2))

        def one(n: int, text=text, size=size, key=key, rates=rates, gate=gate, losses=losses) -> None:
            walk_together(text, size, world, blocks, shared, rooms[n], key, rates, threads, n, gate, losses)

        list(pool.map(one, range(threads)))
        yield math.fsum(losses[:, 0]), int(losses[:, 1].sum())
    join(blocks, course.tables)
