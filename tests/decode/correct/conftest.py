"""A language model small enough to enumerate all that it can say: a bigram over three letters, given as a table."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import Tensor

from foresay.decode.correct.scorer import Scorer
from foresay.text.characters import Characters
from foresay.text.tokens import START, STOP

TABLE = {  # P(next | last), <stop> last
    "": [0.5, 0.3, 0.2, 0.0],
    "a": [0.1, 0.5, 0.1, 0.3],
    "b": [0.4, 0.1, 0.3, 0.2],
    "c": [0.2, 0.2, 0.2, 0.4],
}


class Bigram:
    """Keeps `score` and `step` of a sequence model."""

    sequence, causal, device = True, True, torch.device("cpu")

    def __init__(self, ids: dict[str, int]):
        self.asked = 0
        self.log_probs = torch.full((len(ids) + 5, len(ids) + 5), -40.0)
        columns = [ids["a"], ids["b"], ids["c"], STOP]
        for last, row in TABLE.items():
            self.log_probs[ids[last] if last else START, columns] = torch.tensor(row).clamp(min=1e-9).log()

    def eval(self) -> None:
        pass

    def score(self, ids: Tensor, mask: Tensor | None = None) -> tuple[Tensor, dict]:
        self.asked += len(ids)
        before = torch.cat([torch.full((len(ids), 1), START), ids[:, :-1]], 1)
        found = self.log_probs[before, ids]
        return (found if mask is None else found.masked_fill(~mask, 0.0)), {}


class SmallRun:
    folder, ends_count, context = "small", True, None

    def __init__(self) -> None:
        self.tokens = Characters()
        self.tokens.learn(["aaabbc"])
        self.model = Bigram({letter: int(self.tokens.encode(letter)[0]) for letter in "abc"})

    def expect(self, before: str, after: str = "") -> Tensor:
        last = int(self.tokens.encode(before)[-1]) if before else START
        return self.model.log_probs[last]


class BothSides(Bigram):
    """P(x_t | both neighbours) by the same table; the end is certain."""

    causal = False

    def between(self, before: Tensor, after: Tensor) -> Tensor:
        logs = self.log_probs[before] + self.log_probs.T[after]
        return logs.index_fill(-1, torch.arange(5), -40.0).log_softmax(-1)

    def score(self, ids: Tensor, mask: Tensor | None = None) -> tuple[Tensor, dict]:
        around = torch.nn.functional.pad(ids, (1, 1), value=START)
        found = self.between(around[:, :-2], around[:, 2:]).gather(2, ids[..., None])[..., 0]
        return found.masked_fill(ids == STOP, 0.0), {}


class SeeingRun(SmallRun):
    def __init__(self) -> None:
        super().__init__()
        self.model = BothSides({letter: int(self.tokens.encode(letter)[0]) for letter in "abc"})

    def expect(self, before: str, after: str = "") -> Tensor:
        ids = self.tokens.encode(before + after).tolist()
        around = [START, *ids[: len(before)]][-1], [*ids[len(before) :], STOP][0]
        return self.model.between(*map(torch.tensor, around))


@pytest.fixture
def run() -> SmallRun:
    return SmallRun()


@pytest.fixture
def scorer(run: SmallRun) -> Scorer:
    return Scorer([run])


def log_p(x: str) -> float:
    """log P of a text and its end, from the table."""
    places = ["abc".index(letter) for letter in x] + [3]
    return float(sum(np.log(TABLE[last][place]) for last, place in zip(["", *x], places, strict=True)))
