"""Claim: n-gram data are sparse, and smoothing is needed. What held-out text has that training had not: docs/claims.md.

    unseen, n       share of the n-grams of held-out text that stand nowhere in training
    impossible, n   share of its words to which maximum likelihood, c(u w) / c(u), gives probability 0; where training
                    has no u, by the longest end of it that it has
    perplexity      of maximum likelihood infinite as soon as one word is impossible; of every smoothing, by n

Words that training has once are <unk>, in both: every 1-gram of the held-out text is known. A paragraph, or a line, is
a document: its n-grams reach back to its <start>.
"""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch

from foresay.data.builtin import known_set
from foresay.errors import UserError
from foresay.parts import make
from foresay.study.claims.claim import Figure, Result, Verdict, claim, interval
from foresay.study.claims.words_learning import average_of, seeds_of
from foresay.study.claims.words_picture import Panel, draw
from foresay.study.claims.words_text import WordsText, built_in, numbered, vocabulary
from foresay.text.tokens import START, STOP
from foresay.train.progress import Tell

ORDERS = (1, 2, 3, 4, 5)
MAXIMUM = "maximum likelihood"
SMOOTHINGS: dict[str, Any] = {
    "add 1": {"kind": "add", "k": 1.0},
    "add 0.01": {"kind": "add", "k": 0.01},
    "Witten-Bell": "witten-bell",
    "Katz": "katz",
    "Kneser-Ney": "modified-kneser-ney",
}
AT, UNSEEN, IMPOSSIBLE = 3, 25.0, 10.0  # the order that the rule is about, and %
BUILT_IN, PTB = "Python reference", "PTB"
LEAST, SHARE = 2, 0.05  # times that a word must stand in training; of PTB's lines that are held out
Found = dict[str, dict[int, list[float]]]


@claim(
    "sparse",
    lecture="000",
    sentence="The data of n-grams are sparse: smoothing is needed.",
    rule=(
        f"on {AT}-grams of words: holds when the 95 % intervals over seeds, each with other paragraphs held out, lie "
        f"above {UNSEEN:g} % for the share of held-out {AT}-grams that training had never, above {IMPOSSIBLE:g} % for "
        "the share of held-out words that maximum likelihood holds for impossible (its perplexity is then infinite), "
        f"and below 1 for the perplexity of modified Kneser-Ney by that of single words; does not hold when one of "
        "them lies on the other side; else not decided. 3 seeds (full: 5, and PTB, which must say the same)"
    ),
)
def run(quick: bool, seed: int, tell: Tell) -> Result:
    seeds, note = seeds_of(seed, quick), ""
    texts = {BUILT_IN: lambda one: built_in(one, least=LEAST)}
    if not quick:
        try:
            lines = penn_lines()
            texts[PTB] = lambda one: held_out_of(lines, one)
        except UserError as missing:
            note = f"without PTB: {missing}"
    found: dict[str, dict[str, Found]] = {}
    for done, (name, one) in enumerate([(name, one) for name in texts for one in seeds], 1):
        for what, rows in measured(*texts[name](one)).items():
            for line, by_order in rows.items():
                own = found.setdefault(name, {}).setdefault(what, {}).setdefault(line, {})
                for order, value in by_order.items():
                    own.setdefault(order, []).append(value)
        tell(done / (len(seeds) * len(texts)))
    asked = {name: asked_of(name, own) for name, own in found.items()}
    figures = [*(one for own in asked.values() for one in own), *(one for name in found for one in rest(name, found))]
    verdicts: set[Verdict] = {judge(*own) for own in asked.values()}
    verdict: Verdict = verdicts.pop() if len(verdicts) == 1 else "not decided at this size"
    return Result(verdict, figures, {"found": found}, picture(found[PTB if PTB in found else BUILT_IN]), note)


def penn_lines() -> list[list[str]]:
    """The training lines of PTB; UserError where FORESAY_DATA has them not."""
    files = known_set("ptb")
    assert files is not None
    return [line.split() for line in files[0].read_text("utf-8").splitlines() if line.strip()]


def held_out_of(lines: Sequence[Sequence[str]], seed: int) -> tuple[WordsText, WordsText]:
    """The text and what is held out of it: lines by chance."""
    lines = list(lines)
    random.Random(seed).shuffle(lines)
    cut = round(SHARE * len(lines))
    words = vocabulary(lines[cut:], LEAST)
    return numbered(lines[cut:], words), numbered(lines[:cut], words)


def measured(text: WordsText, held_out: WordsText) -> dict[str, dict[str, dict[int, float]]]:
    """% unseen and % impossible by order, and the perplexity of every smoothing; infinite ones are left out."""
    unseen: dict[int, float] = dict(zip(ORDERS, unseen_shares(text.ids, held_out.ids, ORDERS[-1]), strict=True))
    impossible: dict[int, float] = {}
    perplexities: dict[str, dict[int, float]] = {name: {} for name in SMOOTHINGS}
    for order in ORDERS:
        log_probs = scored(text, held_out, order, "none")
        impossible[order] = 100 * float(np.isneginf(log_probs).mean())
        for name, smoothing in SMOOTHINGS.items():
            perplexities[name][order] = math.exp(-scored(text, held_out, order, smoothing).mean())
    return {"unseen": {"": unseen}, "impossible": {"": impossible}, "perplexity": perplexities}


def scored(text: WordsText, held_out: WordsText, order: int, smoothing: Any) -> np.ndarray:
    """log P of every word of the held-out text, (N,)."""
    model = make("task", {"kind": "ngram", "order": order, "smoothing": smoothing})
    model.build(len(text.words))
    model.fit(text)
    return model.score(torch.from_numpy(held_out.ids.astype(np.int64))[None])[0][0].double().numpy()


def unseen_shares(text: np.ndarray, held_out: np.ndarray, most: int) -> list[float]:
    """% of the 1-grams, 2-grams ... of a held-out text that another has not; each ends at a word of it."""
    both = np.concatenate([text, held_out]).astype(np.int64)
    base, size = int(both.max()) + 2, len(text)
    before = np.concatenate([[STOP], both[:-1]])
    first = before == STOP  # of a document
    grams, found = both, []
    for _ in range(most):
        _, grams = np.unique(grams, return_inverse=True)
        known = np.zeros(int(grams.max()) + 1, bool)
        known[grams[:size]] = True
        found.append(100 * float((~known[grams[size:]]).mean()))
        shorter = np.concatenate([[0], grams[:-1]])  # what ends one word earlier
        grams = np.where(first, START, shorter + base) * base + both  # a document's first words know its beginning
    return found


def asked_of(name: str, found: dict[str, Found]) -> list[Figure]:
    """The figures that the rule is about."""
    smoothed = found["perplexity"]["Kneser-Ney"]
    ratios = [many / one for many, one in zip(smoothed[AT], smoothed[1], strict=True)]
    return [
        average_of(f"{name}: {AT}-grams unseen", found["unseen"][""][AT], "%"),
        average_of(f"{name}: impossible by {MAXIMUM}, {AT}-grams", found["impossible"][""][AT], "%"),
        Figure(f"{name}: perplexity, {AT}-grams with Kneser-Ney by single words", *interval(ratios)),
    ]


def rest(name: str, found: dict[str, dict[str, Found]]) -> list[Figure]:
    """All others."""
    own = found[name]
    shares = [
        average_of(f"{name}: {what}, n = {order}", values, "%")
        for what in ("unseen", "impossible")
        for order, values in own[what][""].items()
    ]
    return shares + [
        average_of(f"{name}: perplexity, {smoothing}, n = {order}", values)
        for smoothing, by_order in own["perplexity"].items()
        for order, values in by_order.items()
    ]


def judge(unseen: Figure, impossible: Figure, ratio: Figure) -> Verdict:
    """The rule."""
    ends = [(one.low, one.high) for one in (unseen, impossible, ratio)]
    (u_low, u_high), (i_low, i_high), (r_low, r_high) = [(low or 0.0, high or 0.0) for low, high in ends]
    if u_low > UNSEEN and i_low > IMPOSSIBLE and r_high < 1:
        return "holds"
    wrong = u_high < UNSEEN or i_high < IMPOSSIBLE or r_low > 1
    return "does not hold" if wrong else "not decided at this size"


def picture(found: dict[str, Found]) -> Any:
    """Shares by order, and perplexities by order."""
    shares = {f"{what} n-grams" if what == "unseen" else "impossible words": found[what][""] for what in
              ("unseen", "impossible")}  # fmt: skip
    ticks = {order: str(order) for order in ORDERS}
    return draw([
        Panel("What training never had", "n", "of the held-out text, %", shares, ticks=ticks, bounds=(0, 105)),
        Panel(
            "Perplexity, maximum likelihood: infinite", "n", "held-out perplexity", found["perplexity"], ticks=ticks,
            powers=True, bounds=(80, 5000),
        ),
    ])  # fmt: skip
