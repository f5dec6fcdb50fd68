"""Who predicts whom: the forms of word2vec and of the lectures.

skipgram       each word near predicts the word in the middle, or (outward) the middle one each word near
cbow           the mean of the words near predicts the word in the middle
cbow-product   P(w | near) = prod_i sigmoid(e(w) . c_i), vectors of length 1
one-word       a word predicts the next one
"""

from __future__ import annotations

from typing import Literal

from foresay.kernels.word_vectors.plan import Plan
from foresay.parts import Count, Part, Size, part


class Predictor(Part):
    """`before` and `after` are how far it looks."""

    part_kind = "predictor"
    before: int
    after: int
    dynamic = False

    def plan(self) -> Plan:
        """What the loops need to know; the objective adds its part."""
        raise AssertionError(f"{type(self).__name__} has no plan")


@part("predictor", "skipgram")
class SkipGram(Predictor):
    """Each word near predicts the middle one; `outward` the other way round; `subset` of the words near, by chance."""

    def __init__(self, window: Size = 5, dynamic: bool = True, outward: bool = False, subset: Count = 0):
        self.before = self.after = window
        self.dynamic, self.outward, self.subset = dynamic, outward, subset

    def plan(self) -> Plan:
        return Plan(self.before, self.after, dynamic=self.dynamic, outward=self.outward, subset=self.subset)


@part("predictor", "cbow")
class Cbow(Predictor):
    """The words near, averaged, predict the middle one; at a text's edge too divided as in a whole window, or not."""

    def __init__(self, window: Size = 5, dynamic: bool = True, divisor: Literal["window", "real"] = "window"):
        self.before = self.after = window
        self.dynamic, self.divisor = dynamic, divisor

    def plan(self) -> Plan:
        return Plan(self.before, self.after, dynamic=self.dynamic, averaged=2 if self.divisor == "window" else 1)


@part("predictor", "cbow-product")
class CbowProduct(Predictor):
    """P(w | near) is a product over the words near; a drawn word is refused by `each` of them, or by the `whole`."""

    def __init__(self, window: Size = 5, dynamic: bool = True, negative: Literal["each", "whole"] = "each"):
        self.before = self.after = window
        self.dynamic, self.negative = dynamic, negative

    def plan(self) -> Plan:
        return Plan(self.before, self.after, dynamic=self.dynamic)


@part("predictor", "one-word")
class OneWord(Predictor):
    """A word predicts the next one."""

    def __init__(self) -> None:
        self.before, self.after = 1, 0

    def plan(self) -> Plan:
        return Plan(1, 0, dynamic=False)
