"""A small course on a made-up text."""

import numpy as np

from foresay.kernels.word_vectors.plan import NOT_SPELT, Spelt, Tables, World, aligned
from foresay.models.word_vectors.learn import Course, bearable
from foresay.models.word_vectors.task import shares
from foresay.text.tokens import SPECIALS
from tests.data.made import shards_of

V, D = 29, 16


def documents(number=4, length=30, seed=1):
    draw = np.random.default_rng(seed)
    weights = 1 / np.arange(1, V - len(SPECIALS) + 1)
    return [
        (len(SPECIALS) + draw.choice(len(weights), length + 3 * n, p=weights / weights.sum())).tolist()
        for n in range(number)
    ]


def counts_of(texts):
    return np.bincount(np.concatenate(texts), minlength=V)


def spelt_words():
    """Each word has as many pieces as its id modulo 4, out of 11."""
    lengths = np.arange(V) % 4
    first = np.r_[0, np.cumsum(lengths)]
    return Spelt(first, V + np.arange(first[-1]) * 7 % 11)


def course_of(folder, predictor, objective, *, spelt=False, threads=1, texts=None, epochs=2, sample=0.0, size=D):
    texts = documents() if texts is None else texts
    counts = counts_of(texts)
    plan, noise, ways = objective.prepare(predictor.plan(), counts)
    world = World(plan, noise, ways, spelt_words() if spelt else NOT_SPELT)
    draw = np.random.default_rng(2)
    inputs, outputs = aligned(V + 11 * spelt, size), aligned(objective.rows(V), size)
    inputs[:], outputs[:] = draw.normal(size=inputs.shape) * 0.4, draw.normal(size=outputs.shape) * 0.4
    shards = shards_of(folder, texts, shard=1000, vocabulary=V)
    kept = shares(counts, sample)
    at_once = bearable(plan, objective.heat(counts), counts, kept, 0.05)
    return Course(shards, kept, world, Tables(inputs, outputs), epochs, 0.05, 1, threads, at_once)
