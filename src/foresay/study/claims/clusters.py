"""Claim: similar words and topics cluster. Silhouette and neighbour purity of word lists: docs/claims.md.

    d(i, j) = 1 - cos(v_i, v_j)
    a_i     mean d to the other words of its own list;   b_i   mean d to those of the nearest other list
    silhouette = mean of (b_i - a_i) / max(a_i, b_i)                                  (Rousseeuw 1987)
    purity     = mean share, of the K words nearest to a word, that are of its list

Skip-gram vectors learnt in the run; lists in clusters_lists.py. The null: the same vectors with the labels shuffled.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from foresay.study.claims.claim import Figure, Result, Verdict, claim
from foresay.study.claims.clusters_lists import ALIKE, LISTS, REFERENCE, TOPICS, WIKIPEDIA
from foresay.study.claims.words_learning import (
    PREDICTORS,
    SKIPGRAM,
    average_of,
    learn,
    seeds_of,
    side_by_side,
    vectors_of,
)
from foresay.study.claims.words_picture import plain, sheet
from foresay.study.claims.words_text import TEXTS, WordsText, built_in, wikipedia
from foresay.study.maps.project import principal_components, unit_rows
from foresay.train.progress import Tell
from foresay.vectors.word_vectors import WordVectors

NEAREST = 5  # words that purity looks at
SHUFFLES, TAIL = 200, 0.99  # of the labels, and the quantile of what they give
SILHOUETTE, PURITY = "silhouette", "purity"
MEASURES = (SILHOUETTE, PURITY)
FEWEST = 4  # words of a list that are in the vocabulary
KINDS = (ALIKE, TOPICS)
Named = dict[str, list[str]]


@dataclass(frozen=True)
class Size:
    """Words of Wikipedia, None: all; epochs over it, and over the small built-in text."""

    words: int | None
    epochs: int
    small: int = 32


QUICK, FULL = Size(4_000_000, 2), Size(None, 5)


@dataclass(frozen=True)
class Clustered:
    """Of one text, kind of list and seed: both measures, their mean and their 99th percentile where labels are
    shuffled, and how many words there were."""

    text: str
    kind: str
    seed: int
    words: int
    measured: dict[str, float]
    shuffled: dict[str, float]
    tail: dict[str, float]


@claim(
    "clusters",
    lecture="000, 004",
    sentence="Similar words and topics cluster.",
    rule=(
        f"silhouette, and purity of the {NEAREST} nearest, of lists of like words and of topics among skip-gram "
        f"vectors, less the {100 * TAIL:g}th percentile of {SHUFFLES} shuffles of the labels: holds when the 95 % "
        "interval over seeds of all four lies above 0 on the built-in text, and on Wikipedia where FORESAY_DATA has "
        "it; does not hold when one lies below 0, in the full form only; else not decided. 3 seeds (full: 5)"
    ),
)
def run(quick: bool, seed: int, tell: Tell) -> Result:
    size, note = QUICK if quick else FULL, ""
    large = wikipedia(size.words)
    if large is None:
        note = f"without Wikipedia: set FORESAY_DATA to a folder that holds {' or '.join(TEXTS)}"
    jobs = [(text, one) for text in (REFERENCE, *([WIKIPEDIA] if large else [])) for one in seeds_of(seed, quick)]

    def one(job: tuple[str, int]) -> tuple[list[Clustered], WordVectors]:
        text, own = job
        words = built_in(own)[0] if text == REFERENCE else large
        assert words is not None
        vectors = vectors_of(trained(words, own, size.small if text == REFERENCE else size.epochs), words)
        return [look(vectors, text, kind, own) for kind in KINDS], vectors

    results = side_by_side(one, jobs, tell)
    found = [each for both, _ in results for each in both]
    above = gains(found)
    details = {"size": asdict(size), "runs": [asdict(one) for one in found]}
    picture = draw(jobs[-1][0], results[-1][1])
    return Result(judge(above, quick), [*above, *figures_of(found)], details, picture, note)


def judge(above: Sequence[Figure], quick: bool) -> Verdict:
    """The rule."""
    if all(one.low is not None and one.low > 0 for one in above):
        return "holds"
    below = any(one.high is not None and one.high < 0 for one in above)
    return "does not hold" if below and not quick else "not decided at this size"


def trained(text: WordsText, seed: int, epochs: int) -> Any:
    return learn(text, seed, {"size": 100 if epochs < 10 else 50, "epochs": epochs} | PREDICTORS[SKIPGRAM])


def known(text: str, kind: str, vocabulary: Container[str]) -> Named:
    """The lists without the words that the text does not have; those with too few are left out."""
    lists = {name: [word for word in words.split() if word in vocabulary] for name, words in LISTS[text][kind].items()}
    return {name: words for name, words in lists.items() if len(words) >= FEWEST}


def look(vectors: WordVectors, text: str, kind: str, seed: int) -> Clustered:
    """Both measures of one kind of lists, and of their shuffled labels."""
    labels, rows = placed(vectors, known(text, kind, vectors))
    away = 1 - unit_rows(rows) @ unit_rows(rows).T
    chance = np.random.default_rng(seed)
    of: dict[str, Callable[[np.ndarray], float]] = {
        SILHOUETTE: lambda own: silhouette(away, own),
        PURITY: lambda own: purity(away, own, NEAREST),
    }
    null = {name: [measure(chance.permutation(labels)) for _ in range(SHUFFLES)] for name, measure in of.items()}
    return Clustered(
        text, kind, seed, len(rows), {name: measure(labels) for name, measure in of.items()},
        {name: float(np.mean(values)) for name, values in null.items()},
        {name: float(np.quantile(values, TAIL)) for name, values in null.items()},
    )  # fmt: skip


def placed(vectors: WordVectors, lists: Named) -> tuple[np.ndarray, np.ndarray]:
    """Of every word the number of its list (N,), and its vector (N, D)."""
    labels = [number for number, words in enumerate(lists.values()) for _ in words]
    return np.array(labels), vectors[[word for words in lists.values() for word in words]].astype(np.float64)


def silhouette(away: np.ndarray, labels: np.ndarray) -> float:
    """Distances (N, N) and labels (N,) -> the mean over words; every list has two words at least."""
    member = (labels[:, None] == np.unique(labels)).astype(np.float64)  # (N, C)
    sums, sizes = (away - np.diag(np.diag(away))) @ member, member.sum(0)
    own = member.astype(bool)
    a = sums[own] / (sizes[None].repeat(len(labels), 0)[own] - 1)
    b = np.where(own, np.inf, sums / sizes).min(1)
    return float(((b - a) / np.maximum(a, b)).mean())


def purity(away: np.ndarray, labels: np.ndarray, nearest: int) -> float:
    """The mean share of the nearest words that are of a word's own list."""
    others = away + np.diag(np.full(len(away), np.inf))
    near = np.argsort(others, axis=1, kind="stable")[:, :nearest]
    return float((labels[near] == labels[:, None]).mean())


def of(found: Sequence[Clustered], text: str, kind: str) -> list[Clustered]:
    return [one for one in found if (one.text, one.kind) == (text, kind)]


def gains(found: Sequence[Clustered]) -> list[Figure]:
    """Each measure above what shuffled labels give."""
    texts = dict.fromkeys(one.text for one in found)
    return [
        average_of(
            f"{text}, {kind}: {name}, less that of shuffled labels",
            [one.measured[name] - one.tail[name] for one in of(found, text, kind)],
        )
        for text in texts
        for kind in KINDS
        for name in MEASURES
    ]


def figures_of(found: Sequence[Clustered]) -> list[Figure]:
    """The measures themselves, and the mean over shuffles."""
    figures = []
    for text in dict.fromkeys(one.text for one in found):
        for kind in KINDS:
            own = of(found, text, kind)
            for name in MEASURES:
                figures.append(average_of(f"{text}, {kind}: {name}", [one.measured[name] for one in own]))
                shuffled = [one.shuffled[name] for one in own]
                figures.append(average_of(f"{text}, {kind}: {name}, labels shuffled", shuffled))
    return figures


def draw(text: str, vectors: WordVectors) -> Any:
    """The map: two principal components of the words of each kind, the last seed."""
    import matplotlib as mpl

    picture, panels = sheet(len(KINDS))
    for axes, kind in zip(panels, KINDS, strict=True):
        lists = known(text, kind, vectors)
        labels, rows = placed(vectors, lists)
        points, share = principal_components(unit_rows(rows))
        for number, (name, words) in enumerate(lists.items()):
            colour, own = mpl.colormaps["tab10"](number), points[labels == number]
            axes.scatter(*own.T, s=14, color=colour, label=name)
            for word, place in zip(words, own, strict=True):
                axes.annotate(word, place, (2, 2), textcoords="offset points", fontsize=6.5, color=colour)
        axes.legend(frameon=False, fontsize=7.5, loc="best")
        axes.set_xticks([])
        axes.set_yticks([])
        plain(axes, f"{text}: {kind}, two components, {100 * share:.0f} %")
    return picture
