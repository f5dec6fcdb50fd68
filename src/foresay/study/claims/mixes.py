"""Claim: a learnt mix of ELMo's layers beats a fixed one; [1, 0, 0] suits spelling. Linear probes: docs/claims.md.

A bidirectional language model that reads letters learns sentences of a made language (made_language.py). Of its layers
h_0, h_1, h_2 as they are, mixed in five ways (embed/mix.py), one linear layer then learns to tell

    spelling    the tigos was ...         whether a noun has a plural s, which nothing around it tells
    meaning     they spoke of lamu        whether a name is of a person or of a place, which this sentence does not tell
    context     was zeti and nufe         at `and`, whether what stands around it praises or blames

and is tested, of the first two, on words that it was not taught.
"""

from __future__ import annotations

import random
import statistics
import tempfile
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from foresay.embed.mix import How, Mix
from foresay.loading import load
from foresay.study.claims import bars
from foresay.study.claims.claim import Figure, Result, Verdict, claim
from foresay.study.claims.made_language import EITHER, Language, learn_bilm
from foresay.study.claims.words_learning import average_of, seeds_of
from foresay.study.claims.words_picture import LOOKS, plain, sheet
from foresay.train.progress import Tell

MIXES: dict[str, How] = {
    "learnt": "learnt",
    "even": "mean",
    "[1, 0, 0]": [1.0, 0.0, 0.0],
    "[0, 1, 0]": [0.0, 1.0, 0.0],
    "[0, 0, 1]": [0.0, 0.0, 1.0],
}
TASKS = ("spelling", "meaning", "context")
WIDTH, TAUGHT, STEPS = 32, 0.5, 150
Example = tuple[str, int, int]  # a sentence, the place of a word in it, and which of two it is


@dataclass(frozen=True)
class Size:
    """Steps of the bilm, and examples of each task to learn from and as many to be tested on."""

    steps: int
    examples: int


QUICK, FULL = Size(600, 200), Size(1500, 500)


@dataclass(frozen=True)
class Probed:
    """% right of one task, seed and mix, and what a learnt mix made of the layers."""

    task: str
    seed: int
    mix: str
    accuracy: float
    shares: tuple[float, ...]


@claim(
    "mixes",
    lecture="001",
    sentence="A learnt mix of ELMo's layers beats a fixed one; [1, 0, 0] suits tasks of spelling.",
    rule=(
        "accuracy of linear probes: holds when the 95 % intervals over seeds of learnt less even, in the mean of three "
        "tasks, and of [1, 0, 0] less even and less the better of the other layers alone, in the task of spelling, all "
        "lie above 0; does not hold when one of them lies below 0; else not decided. 3 seeds (full: 5)"
    ),
)
def run(quick: bool, seed: int, tell: Tell) -> Result:
    size, seeds, found = QUICK if quick else FULL, seeds_of(seed, quick), []
    for done, one in enumerate(seeds, 1):
        with tempfile.TemporaryDirectory() as folder:
            found += probe(Path(folder), one, size)
        tell(done / len(seeds))
    shown = figures(found)
    details = {"size": asdict(size), "runs": [asdict(one) for one in found]}
    return Result(judge(shown[:3]), shown, details, draw(found))


def probe(folder: Path, seed: int, size: Size) -> list[Probed]:
    """Every task with every mix, of one bilm."""
    language, chance = Language(seed), random.Random(seed)
    bilm: Any = load(learn_bilm(folder, language, seed, size.steps, WIDTH), "cpu")
    found = []
    for task in TASKS:
        taught, tested = (
            looked_at(bilm, examples(language, task, size.examples, chance, known)) for known in (True, False)
        )
        for name, how in MIXES.items():
            found.append(Probed(task, seed, name, *learnt(how, taught, tested, seed)))
    return found


def examples(language: Language, task: str, many: int, chance: random.Random, known: bool) -> list[Example]:
    """Sentences of a task with the words that are taught, or with the others."""

    def one_of(kind: str) -> str:
        words = language.words[kind]
        taught = round(TAUGHT * len(words))
        return chance.choice(words[:taught] if known else words[taught:])

    found: list[Example] = []
    for _ in range(many):
        which = chance.randrange(2)
        if task == "meaning":
            frame = chance.choice(EITHER).split()
            place = frame.index("_")
            found.append((" ".join(frame).replace("_", one_of(("person", "place")[which])), place, which))
            continue
        kind = chance.choice(("praise", "blame")) if task == "spelling" else ("praise", "blame")[which]
        noun = one_of("noun") + "s" * (which if task == "spelling" else chance.randrange(2))
        first, second = chance.choices(language.words[kind], k=2)
        found.append((f"the {noun} was {first} and {second}", 1 if task == "spelling" else 4, which))
    return found


def looked_at(bilm: Any, given: Sequence[Example]) -> tuple[list[Tensor], Tensor]:
    """The layers (N, D) of each example's word, and which it is (N,)."""
    read = [one.layers for one in bilm.embed([text for text, _, _ in given])]
    places = [place for _, place, _ in given]
    layers = [
        torch.stack([own[n][place] for own, place in zip(read, places, strict=True)]) for n in range(len(read[0]))
    ]
    return [one.clone() for one in layers], torch.tensor([which for _, _, which in given])


def learnt(
    how: How, taught: tuple[list[Tensor], Tensor], tested: tuple[list[Tensor], Tensor], seed: int
) -> tuple[float, tuple[float, ...]]:
    """% of the tested that a mix and a linear layer tell rightly, and the shares of the layers."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        mix, linear = Mix(how, [one.shape[1] for one in taught[0]]), nn.Linear(taught[0][0].shape[1], 2)
    optimizer = torch.optim.Adam([*mix.parameters(), *linear.parameters()], lr=0.02, weight_decay=1e-4)

    def scores(layers: Sequence[Tensor]) -> Tensor:
        return linear(mix([one[None] for one in layers])[0])

    for _ in range(STEPS):
        optimizer.zero_grad()
        F.cross_entropy(scores(taught[0]), taught[1]).backward()
        optimizer.step()
    with torch.no_grad():
        right = (scores(tested[0]).argmax(1) == tested[1]).double().mean()
        return 100 * float(right), tuple(mix.shares().tolist())


def figures(found: Sequence[Probed]) -> list[Figure]:
    """What the rule looks at; then the accuracy of each task and mix."""
    seeds = list(dict.fromkeys(one.seed for one in found))
    right = {(one.task, one.seed, one.mix): one.accuracy for one in found}
    fixed = "[1, 0, 0]"
    over_even = [statistics.fmean(right[t, s, "learnt"] - right[t, s, "even"] for t in TASKS) for s in seeds]
    spelt = {mix: [right["spelling", s, mix] for s in seeds] for mix in MIXES}
    others = [max(pair) for pair in zip(spelt["[0, 1, 0]"], spelt["[0, 0, 1]"], strict=True)]
    return [
        average_of("learnt less even, mean of the tasks", over_even, "points"),
        average_of(f"spelling: {fixed} less even", _less(spelt[fixed], spelt["even"]), "points"),
        average_of(f"spelling: {fixed} less the better other layer", _less(spelt[fixed], others), "points"),
        *(
            average_of(f"{task}, {mix}", [right[task, s, mix] for s in seeds], "%")
            for task in TASKS
            for mix in MIXES
        ),
    ]  # fmt: skip


def _less(ones: Sequence[float], others: Sequence[float]) -> list[float]:
    return [one - other for one, other in zip(ones, others, strict=True)]


def judge(shown: Sequence[Figure]) -> Verdict:
    """The rule."""
    if all(one.low is not None and one.low > 0 for one in shown):
        return "holds"
    return (
        "does not hold" if any(one.high is not None and one.high < 0 for one in shown) else "not decided at this size"
    )


def draw(found: Sequence[Probed]) -> Any:
    """Each task's accuracy by mix, a mark for every seed; and what the learnt mix is made of."""
    picture, (left, right) = sheet(2)
    right_of = {
        mix: {task: [one.accuracy for one in found if (one.task, one.mix) == (task, mix)] for task in TASKS}
        for mix in MIXES
    }
    bars.put(left, right_of, {"guessing": 50})
    left.set_ylabel("right, %")
    plain(left, "What a linear layer tells from a mix")
    for layer, (colour, mark) in zip(range(3), LOOKS, strict=False):
        for place, task in enumerate(TASKS):
            values = [one.shares[layer] for one in found if (one.task, one.mix) == (task, "learnt")]
            at = place + 0.25 * (layer - 1)
            right.bar(
                at, statistics.fmean(values), 0.22, color=colour, alpha=0.5, label=f"h{layer}" if place == 0 else None
            )
            right.plot([at] * len(values), values, mark, color=colour, markersize=5)
    right.set_ylabel("share of the layer in the learnt mix, γ s")
    right.legend(frameon=False, fontsize=9)
    plain(right, "What is learnt")
    right.set_xticks(range(len(TASKS)), TASKS)
    return picture
