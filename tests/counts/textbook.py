"""The smoothings as the books write them, on tuples of words: slow, and of no code that they check."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence

from foresay.text.tokens import MASK, PAD, START, STOP

Gram = tuple[int, ...]


def counted(documents: Sequence[Sequence[int]], order: int) -> Counter[Gram]:
    """Every n-gram of every order; <start> stands once before a document and is no n-gram alone."""
    found: Counter[Gram] = Counter()
    for document in documents:
        words = (START, *document, STOP)
        for end in range(1, len(words)):
            for n in range(1, min(order, end + 1) + 1):
                found[words[end + 1 - n : end + 1]] += 1
    return found


def different_before(counts: Counter[Gram], order: int) -> Counter[Gram]:
    """Kneser-Ney's counts: of the highest order and of what begins with <start> as they are, else words before."""
    found: Counter[Gram] = Counter()
    for gram, count in counts.items():
        if len(gram) == order or gram[0] == START:
            found[gram] = count
        if len(gram) > 1:
            rest = gram[1:]
            if len(rest) < order and rest[0] != START:
                found[rest] += 1
    return found


class Textbook:
    """P(w | u) by interpolation: `taken(n, c)` is taken from a count c of an n-gram; Witten-Bell takes by kinds."""

    def __init__(
        self,
        counts: Counter[Gram],
        vocabulary: int,
        order: int,
        taken: Callable[[int, int], float],
        kinds: bool = False,
    ):
        self.counts, self.vocabulary, self.order, self.taken, self.kinds = counts, vocabulary, order, taken, kinds
        self.after: dict[Gram, list[tuple[int, int]]] = {}
        for gram, count in counts.items():
            self.after.setdefault(gram[:-1], []).append((gram[-1], count))

    def prob(self, context: Gram, word: int) -> float:
        context = context[-(self.order - 1) :] if self.order > 1 else ()
        if context and context not in self.after:
            return self.prob(context[1:], word)
        children = self.after.get(context, [])
        total = sum(count for _, count in children)
        n = len(context) + 1
        lost = len(children) if self.kinds else sum(min(self.taken(n, c), c) for _, c in children)
        if self.kinds:
            total += lost
        count = self.counts.get((*context, word), 0)
        own = count - (min(self.taken(n, count), count) if count and not self.kinds else 0.0)
        below = self.prob(context[1:], word) if context else self.uniform(word)
        return own / total + lost / total * below if total else below

    def uniform(self, word: int) -> float:
        seen = {gram[0] for gram in self.counts if len(gram) == 1}
        never = set(range(self.vocabulary)) - seen - {PAD, START, MASK} or {PAD}
        share = 1 / (len(seen) + 1)
        return share if word in seen else share / len(never) if word in never else 0.0


def times(counts: Counter[Gram], n: int, r: int) -> int:
    return sum(1 for gram, count in counts.items() if len(gram) == n and count == r)


def three(counts: Counter[Gram], n: int) -> list[float] | None:
    n1, n2, n3, n4 = (times(counts, n, r) for r in (1, 2, 3, 4))
    if not (n1 and n2 and n3):
        return None
    y = n1 / (n1 + 2 * n2)
    found = [1 - 2 * y * n2 / n1, 2 - 3 * y * n3 / n2, 3 - 4 * y * n4 / n3]
    return found if all(0 <= d <= k for k, d in enumerate(found, 1)) else None
