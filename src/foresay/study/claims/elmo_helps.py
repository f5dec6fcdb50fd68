"""Claim: ELMo helps. The error of a tagger and of a classifier with few labels, with it and without: docs/claims.md.

Labelled sentences of a made language (made_language.py) are few, and have half of its words; the bidirectional language
model read plenty of sentences without labels, with all of them. Tested is on all words. Both models are alike but for
the embedding: words alone, or words and ELMo.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from foresay.start import train
from foresay.study.claims import bars
from foresay.study.claims.claim import Figure, Result, Verdict, claim
from foresay.study.claims.made_language import Language, columns, learn_bilm, settings
from foresay.study.claims.words_learning import average_of, seeds_of
from foresay.train.progress import Tell, Watch

NAMES, REVIEWS = "names", "sentiment"
TASKS = (NAMES, REVIEWS)
PARTS = (("train", "train"), ("valid", "test"))  # of the recipe, and of the files
SHARE, TESTED, WIDTH = 0.5, 400, 32
LEAST = 6.0  # % of the error: the least gain that the lecture prints


@dataclass(frozen=True)
class Size:
    """Steps of the bilm and of a task, and labelled sentences to learn from."""

    steps: int
    task_steps: int
    labelled: int = 200


QUICK, FULL = Size(600, 120), Size(1500, 200)


@dataclass(frozen=True)
class Learnt:
    """Errors of one task and seed, in percent."""

    task: str
    seed: int
    without: float
    helped: float

    @property
    def less(self) -> float:
        return 100 * (self.without - self.helped) / max(self.without, 1e-9)


@claim(
    "elmo-helps",
    lecture="001",
    sentence="ELMo helps: 6 to 25 % less error.",
    rule=(
        "holds when of both tasks, names and sentiment of a made language, the 95 % interval over seeds of how much "
        f"less error there is with ELMo lies above {LEAST:g} % of the error without; does not hold when of one of them "
        "it lies below 0; else not decided. 3 seeds (full: 5)"
    ),
)
def run(quick: bool, seed: int, tell: Tell) -> Result:
    size, seeds, found = QUICK if quick else FULL, seeds_of(seed, quick), []
    for done, one in enumerate(seeds):
        with tempfile.TemporaryDirectory() as folder:
            found += learn(Path(folder), one, size, lambda share, done=done: tell((done + share) / len(seeds)))
    shown = figures(found)
    details = {"size": asdict(size), "runs": [asdict(one) for one in found]}
    return Result(judge(shown[: len(TASKS)]), shown, details, draw(found))


def learn(folder: Path, seed: int, size: Size, tell: Tell) -> list[Learnt]:
    """Both tasks, each without ELMo and with it."""
    language = Language(seed)
    bilm = learn_bilm(folder, language, seed, size.steps, WIDTH)
    tell(0.4)
    own = {"kind": "lookup", "size": WIDTH, "dropout": 0.2}
    both = {"kind": "joined", "of": [own, {"kind": "elmo", "run": str(bilm), "dropout": 0.2}]}
    found = []
    for number, task in enumerate(TASKS):
        write(folder, language, task, size.labelled)
        errors = [100 * error(folder, task, embedding, seed, size) for embedding in (own, both)]
        found.append(Learnt(task, seed, *errors))
        tell(0.7 + 0.3 * number)
    return found


def write(folder: Path, language: Language, task: str, labelled: int) -> None:
    """The files of a task: few sentences with half of the words to learn from, many with all to be tested on."""
    for name, many, share in (("train", labelled, SHARE), ("test", TESTED, 1.0)):
        if task == NAMES:
            text = columns([language.naming(share, alone=0.5) for _ in range(many)])
        else:
            rows = (language.review(share) for _ in range(many))
            text = "text\tlabel\n" + "".join(f"{review}\t{kind}\n" for review, kind in rows)
        (folder / f"{task}-{name}.tsv").write_text(text)


def error(folder: Path, task: str, embedding: dict[str, Any], seed: int, size: Size) -> float:
    """The share of words, or of reviews, that a model gets wrong once it is trained."""
    kind, reads = ("tagger", "tags") if task == NAMES else ("classifier", "labels")
    recipe = {
        "task": kind,
        "data": {"kind": reads, **{part: str(folder / f"{task}-{name}.tsv") for part, name in PARTS}},
        "tokens": "blanks",
        "embedding": embedding,
        "encoder": {"kind": "recurrent", "size": WIDTH, "bidirectional": True},
        "dropout": 0.2,
        "train": settings(size.task_steps, {"kind": reads, "tokens": 256}),
        "seed": seed,
    }
    folder = train(recipe, out=folder / f"{task}-{embedding['kind']}", device="cpu", watch=Watch()).folder
    return 1 - json.loads((folder / "results.json").read_text("utf-8"))["valid"]["accuracy"]


def figures(found: Sequence[Learnt]) -> list[Figure]:
    """How much less error, of each task; then the errors."""
    less = [average_of(f"{task}: less error", [one.less for one in of(found, task)], "%") for task in TASKS]
    errors = [
        average_of(f"{task}: error {name}", [getattr(one, field) for one in of(found, task)], "%")
        for task in TASKS
        for field, name in (("without", "without"), ("helped", "with ELMo"))
    ]
    return [*less, *errors]


def of(found: Sequence[Learnt], task: str) -> list[Learnt]:
    return [one for one in found if one.task == task]


def judge(less: Sequence[Figure]) -> Verdict:
    """The rule."""
    if all(one.low is not None and one.low > LEAST for one in less):
        return "holds"
    return "does not hold" if any((one.high or 0) < 0 for one in less) else "not decided at this size"


def draw(found: Sequence[Learnt]) -> Any:
    """What each task gets right, with ELMo and without."""
    named = {"words alone": "without", "words and ELMo": "helped"}
    shown = {
        name: {task: [100 - getattr(one, field) for one in of(found, task)] for task in TASKS}
        for name, field in named.items()
    }
    return bars.draw(shown, "Few labels, much text: a dot is one seed", "right, %", {})
