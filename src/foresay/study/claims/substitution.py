"""Claim: one-hot words cannot generalise from boat to plane, embeddings can. Held-out substitutions: docs/claims.md.

    the boat departs .     boat is full .         of every kind of words: what it does, and what it is
    the plane departs .    plane is ?             two words of each kind are never said to be anything

A network reads the last two words and is asked for the next (lecture 002's language model). With one-hot words each
place has weights of its own for every word: those of `plane` two words back have never been asked for anything but an
end. With embeddings both places read one vector. An LSTM over one-hot words stands beside them: its input weights are
the same at every step, a table of vectors by another name.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from foresay.data.batch import Batch
from foresay.parts import make
from foresay.study.claims import bars
from foresay.study.claims.claim import Figure, Result, Verdict, claim
from foresay.study.claims.training import train
from foresay.study.claims.words_learning import average_of
from foresay.train.progress import Tell

KINDS = {  # what it does, what it is: the words of that kind
    ("departs", "full"): ["boat", "plane", "train", "bus", "car", "ship"],
    ("tastes", "fresh"): ["apple", "bread", "soup", "cheese", "rice", "cake"],
    ("sleeps", "hungry"): ["dog", "cat", "horse", "cow", "bird", "fish"],
    ("talks", "famous"): ["teacher", "doctor", "farmer", "lawyer", "singer", "writer"],
    ("breaks", "sharp"): ["hammer", "saw", "drill", "axe", "spade", "knife"],
    ("stretches", "wide"): ["river", "forest", "valley", "island", "desert", "lake"],
}
WORDS = ["the", "is", ".", *(word for pair, own in KINDS.items() for word in (*pair, *own))]
IDS = {word: number for number, word in enumerate(WORDS)}
EACH, HELD = 6, 2  # words of a kind, and those of them that are held out
ONE_HOT, EMBEDDED, RECURRENT = "one-hot, two places", "embedding, two places", "one-hot, LSTM"
WINDOW: Any = {"kind": "window", "span": 2, "size": 64}
READERS: dict[str, tuple[Any, Any]] = {
    ONE_HOT: ("onehot", WINDOW),
    EMBEDDED: ({"kind": "lookup", "size": 16}, WINDOW),
    RECURRENT: ("onehot", {"kind": "recurrent", "cell": "lstm", "size": 64}),
}
FAILS, APART = 50.0, 20.0  # %: what counts as failing, and how much better the other must be; guessing a kind is 16.7 %


@dataclass(frozen=True)
class Size:
    """Steps of training, and seeds."""

    steps: int
    seeds: int
    rows: int = 64


QUICK, FULL = Size(steps=400, seeds=5), Size(steps=2000, seeds=10)


@claim(
    "substitution",
    lecture="002",
    sentence="With one-hot words nothing learnt of boat holds for plane; with embeddings it does.",
    rule=(
        "accuracy of what follows a word in a sentence it was never in; holds when the 95 % intervals over seeds lie "
        f"below {FAILS:g} % for one-hot words, and above {APART:g} points for embeddings less these, both read at two "
        "places; does not hold when one of them lies on the other side; else not decided. 5 seeds (full: 10)"
    ),
)
def run(quick: bool, seed: int, tell: Tell) -> Result:
    size = QUICK if quick else FULL
    seeds, found = range(size.seeds * seed, size.seeds * seed + size.seeds), {name: [] for name in READERS}
    for done, one in enumerate(seeds, 1):
        for name in READERS:
            found[name].append(learnt(name, one, size))
        tell(done / len(seeds))
    new = {name: [one for _, one in own] for name, own in found.items()}
    one_hot = average_of(f"held-out substitutions right, {ONE_HOT}", new[ONE_HOT], "%")
    others = [average_of(f"held-out substitutions right, {name}", new[name], "%") for name in (EMBEDDED, RECURRENT)]
    pairs = zip(new[EMBEDDED], new[ONE_HOT], strict=True)
    apart = average_of("embedding less one-hot, two places", [one - other for one, other in pairs], "points")
    seen = [average_of(f"seen sentences right, {name}", [one for one, _ in own], "%") for name, own in found.items()]
    figures = [one_hot, *others, apart, *seen]
    return Result(judge(one_hot, apart), figures, {"seen and held out, %": found}, draw(found))


def judge(one_hot: Figure, apart: Figure) -> Verdict:
    """The rule."""
    assert one_hot.low is not None and one_hot.high is not None and apart.low is not None and apart.high is not None
    if one_hot.high < FAILS and apart.low > APART:
        return "holds"
    return "does not hold" if one_hot.low > FAILS or apart.high < APART else "not decided at this size"


def sentences(seed: int) -> tuple[Tensor, Tensor, Tensor]:
    """Sentences (N, 4) to learn from; of those that say what a word is, the seen and the held-out ones."""
    generator = torch.Generator().manual_seed(seed)
    does, seen, held = [], [], []
    for (verb, quality), words in KINDS.items():
        order = torch.randperm(EACH, generator=generator).tolist()
        does += [("the", word, verb, ".") for word in words]
        said = [(words[place], "is", quality, ".") for place in order]
        held += said[:HELD]
        seen += said[HELD:]
    every, known, new = (
        torch.tensor([[IDS[word] for word in row] for row in own]) for own in (does + seen, seen, held)
    )
    return every, known, new


class Reader(nn.Module):
    """Words (B, T) -> scores of the next (B, T, V)."""

    def __init__(self, name: str):
        super().__init__()
        embedding, encoder = READERS[name]
        self.embedding, self.encoder = make("embedding", embedding), make("encoder", encoder)
        self.embedding.build(len(WORDS))
        self.encoder.build(self.embedding.width)
        self.next = nn.Linear(self.encoder.width, len(WORDS))

    def forward(self, ids: Tensor) -> Tensor:
        return self.next(self.encoder(self.embedding(Batch(ids=ids)))[0])


def learnt(name: str, seed: int, size: Size) -> tuple[float, float]:
    """How many % of the words after "is" are right: in sentences seen, and in those held out."""
    every, seen, held = sentences(seed)
    generator = torch.Generator().manual_seed(seed)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        reader = Reader(name)

        def loss(_: int) -> Tensor:
            rows = every[torch.randint(len(every), (size.rows,), generator=generator)]
            return F.cross_entropy(reader(rows[:, :-1]).flatten(0, 1), rows[:, 1:].flatten())

        train(reader, loss, size.steps, 5e-3)
    return right(reader.eval(), seen), right(reader, held)


@torch.no_grad()
def right(reader: Reader, rows: Tensor) -> float:
    return 100 * float((reader(rows[:, :2])[:, 1].argmax(1) == rows[:, 2]).double().mean())


def draw(found: dict[str, list[tuple[float, float]]]) -> Any:
    """Seen and held-out sentences of each reader, a dot for every seed."""
    sentences = {
        where: {name: [one[at] for one in own] for name, own in found.items()}
        for at, where in enumerate(("seen", "held out"))
    }
    up, level = "what a word is, said rightly, %", {"guessing the kind": 100 / len(KINDS)}
    return bars.draw(sentences, "boat is full; plane is ... ?", up, level)
