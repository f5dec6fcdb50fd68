"""Claim: read by its letters, no word is unknown. Parts of speech of words that training never saw: docs/claims.md.

Two taggers of the same sentences (UD English EWT), alike but for what they read of a word: a vector of its own, the
same for all unknown words, or beside a narrower one the greatest values of kernels over its letters.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from foresay.data.tag_files import Tagged
from foresay.data.tags import Tags
from foresay.errors import UserError
from foresay.start import train
from foresay.study.claims import bars
from foresay.study.claims.claim import Figure, Result, Verdict, claim
from foresay.study.claims.words_learning import average_of, seeds_of
from foresay.train.progress import Tell, Watch

SET = "ud-english-ewt"
WORDS, LETTERS = "words alone", "words and letters"
READ: dict[str, dict[str, Any]] = {
    WORDS: {"kind": "lookup", "size": 96, "dropout": 0.2},
    LETTERS: {
        "kind": "joined",
        "of": [
            {"kind": "lookup", "size": 48, "dropout": 0.2},
            {"kind": "characters", "size": 48, "kernels": [[2, 24], [3, 48]], "highways": 0, "longest": 24},
        ],
    },
}
APART, LEFT = 10.0, 0.5  # points of accuracy; the share of the gap to known words that may be left


@dataclass(frozen=True)
class Size:
    """Sentences of training and of the test (None: all), and the steps."""

    sentences: int | None
    tested: int | None
    steps: int


QUICK, FULL = Size(1500, 600, 200), Size(None, None, 2000)


@dataclass(frozen=True)
class Scored:
    """% of words whose tag is right: of those that training never saw, and of the others."""

    read: str
    seed: int
    unseen: float
    seen: float
    share: float  # % of words that training never saw

    @property
    def gap(self) -> float:
        return self.seen - self.unseen


@claim(
    "letters",
    lecture="001",
    sentence="Characters remove the unknown word.",
    rule=(
        "of words that training never saw: holds when the 95 % interval over seeds of the accuracy of their tags, with "
        f"letters less without, lies above {APART:g} points, and that of the gap to the words it saw, with letters "
        f"over without, below {LEFT:g}; does not hold when the first lies below 0; else not decided. 3 seeds (full: 5)"
    ),
)
def run(quick: bool, seed: int, tell: Tell) -> Result:
    size, found = QUICK if quick else FULL, []
    try:
        texts = Tags(SET).find(seed)
    except UserError as error:
        return Result("no data", note=str(error))
    jobs = [(read, one) for one in seeds_of(seed, quick) for read in READ]
    with tempfile.TemporaryDirectory() as folder:
        for name, many in (("train", size.sentences), ("test", size.tested)):
            write(Path(folder) / f"{name}.tsv", islice(texts[name], many))
        for done, (read, one) in enumerate(jobs, 1):
            found.append(tag(Path(folder), read, one, size))
            tell(done / len(jobs))
    shown = figures(found)
    details = {"size": asdict(size), "runs": [asdict(one) for one in found]}
    return Result(judge(*shown[:2]), shown, details, draw(found))


def write(path: Path, sentences: Iterable[Tagged]) -> None:
    """A file of two columns."""
    lines = ("".join(f"{word}\t{tag}\n" for word, tag in zip(one.words, one.tags, strict=True)) for one in sentences)
    path.write_text("\n".join(lines), "utf-8")


def tag(folder: Path, read: str, seed: int, size: Size) -> Scored:
    """One tagger, and how it does on the test sentences."""
    recipe = {
        "task": "tagger",
        "data": {"kind": "tags", "train": str(folder / "train.tsv"), "valid": str(folder / "test.tsv")},
        "tokens": {"kind": "blanks", "size": 50000},
        "embedding": READ[read],
        "encoder": {"kind": "recurrent", "size": 64, "bidirectional": True},
        "output": "softmax",
        "dropout": 0.1,
        "unknown": 0.1,
        "seed": seed,
        "train": {
            "steps": size.steps,
            "batches": {"kind": "tags", "tokens": 512},
            "optimizer": {"kind": "adamw", "lr": 0.02, "schedule": {"kind": "cosine", "warmup": 10, "floor": 0.02}},
            "clip": 1.0,
            "evaluate": {"every": size.steps},
            "save": {"every": size.steps},
        },
    }
    run = train(recipe, out=folder / f"{read} {seed}", device="cpu", watch=Watch())
    found = json.loads((run.folder / "results.json").read_text("utf-8"))["valid"]
    share, right = found["unknown"], found["accuracy_of_unknown"]
    return Scored(read, seed, 100 * right, 100 * (found["accuracy"] - share * right) / (1 - share), 100 * share)


def figures(found: Sequence[Scored]) -> list[Figure]:
    """What the rule looks at, then what it was made of."""
    without, by_letters = ([one for one in found if one.read == read] for read in READ)
    pairs = list(zip(without, by_letters, strict=True))
    return [
        average_of("unseen words: with letters less without", [b.unseen - a.unseen for a, b in pairs], "points"),
        average_of("gap to words seen: with letters over without", [b.gap / a.gap for a, b in pairs]),
        *(
            average_of(f"{read}: accuracy of words {which}", [getattr(one, which) for one in own], "%")
            for read, own in zip(READ, (without, by_letters), strict=True)
            for which in ("unseen", "seen")
        ),
        average_of("words of the test that training never saw", [one.share for one in without], "%"),
    ]


def judge(apart: Figure, left: Figure) -> Verdict:
    """The rule."""
    assert apart.low is not None and apart.high is not None and left.high is not None
    if apart.low > APART and left.high < LEFT:
        return "holds"
    return "does not hold" if apart.high < 0 else "not decided at this size"


def draw(found: Sequence[Scored]) -> Any:
    """Words seen and unseen, with and without letters."""
    places = {"words that training saw": "seen", "words that it never saw": "unseen"}
    shown = {
        read: {name: [getattr(one, which) for one in found if one.read == read] for name, which in places.items()}
        for read in READ
    }
    return bars.draw(shown, "Unknown words, read by their letters: a dot is one seed", "parts of speech right, %", {})
