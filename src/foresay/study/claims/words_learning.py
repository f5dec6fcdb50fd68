"""Word vectors learnt for the claims: one thread a model, so that its numbers depend on the seed alone.

Models of several seeds are learnt side by side.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from typing import Any, TypeVar

import torch

from foresay.counts.threads import threads
from foresay.models.task import Fitting
from foresay.models.word_vectors.task import WordVectorTask
from foresay.parts import make
from foresay.study.claims.claim import Figure, interval
from foresay.study.claims.words_text import WordsText
from foresay.text.tokens import SPECIALS
from foresay.train.progress import Tell
from foresay.vectors.word_vectors import WordVectors

SKIPGRAM, CBOW = "skip-gram", "CBOW"
# the rates of the original tool
PREDICTORS: dict[str, dict[str, Any]] = {
    SKIPGRAM: {"predict": "skipgram", "lr": 0.025},
    CBOW: {"predict": "cbow", "lr": 0.05},
}
Job = TypeVar("Job")
Found = TypeVar("Found")
_seeding = threading.Lock()


def learn(text: WordsText, seed: int, settings: dict[str, Any], *, many: int = 1) -> WordVectorTask:
    """A model of a text, learnt by so `many` threads, 0 for all."""
    model: WordVectorTask = make("task", {"kind": "word-vectors", **settings})
    with _seeding:
        torch.manual_seed(seed)
        model.build(len(text.words))
    model.fit(text, None, fitting(text, seed, many))
    return model


def fitting(text: WordsText, seed: int, many: int = 1) -> Fitting:
    return Fitting(text.words, seed, threads=many)


def vectors_of(model: WordVectorTask, text: WordsText) -> WordVectors:
    first = len(SPECIALS)
    return WordVectors(text.words[first:], model.vectors.numpy()[first:], model.counts.numpy()[first:])


def side_by_side(call: Callable[[Job], Found], jobs: Sequence[Job], tell: Tell) -> list[Found]:
    """What each job gives, in their order; as many at a time as there are cores."""
    with ThreadPoolExecutor(threads()) as pool:
        waiting = [pool.submit(call, job) for job in jobs]
        try:
            for done, one in enumerate(as_completed(waiting), 1):
                one.result()
                tell(done / len(jobs))
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise
    return [one.result() for one in waiting]


def seeds_of(seed: int, quick: bool) -> range:
    """Three or five, others for each seed that is given."""
    many = 3 if quick else 5
    return range(many * seed, many * seed + many)


def average_of(name: str, values: Sequence[float], unit: str = "") -> Figure:
    """The mean over seeds and Student's 95 % interval of it."""
    return Figure(name, *interval(values), unit)
