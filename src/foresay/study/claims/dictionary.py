"""Claim: Chinese by characters needs a far smaller dictionary than English by words. Types by tokens: docs/claims.md.

    V(n)      types among the first n tokens of a piece of text
    N(q, n)   the most frequent types that make q of these n tokens

A token is a Han character or an English word (dictionary_text.py). Pieces of a text follow each other and are equally
long; intervals are over pieces. Texts of one kind are compared: Wikipedia in both languages where FORESAY_DATA has it,
else what is built in. Poems, and WikiText-2, whose rare words were taken out before, stand beside and do not count.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from foresay.errors import UserError
from foresay.study.claims import dictionary_text as texts
from foresay.study.claims.claim import Figure, Result, Verdict, claim, mean_of
from foresay.study.claims.words_picture import Panel
from foresay.study.claims.words_picture import draw as draw_panels
from foresay.train.progress import Tell

CHARACTERS, WORDS, POEMS, WIKITEXT = "Chinese, Wikipedia", "English, Wikipedia", "Chinese, poems", "English, WikiText-2"
DRAWN, REFERENCE = "Chinese, drawn characters", "English, Python reference"
FETCHED = {CHARACTERS: texts.WIKI_ZH, WORDS: texts.WIKI_EN, POEMS: texts.POEMS, WIKITEXT: texts.WIKITEXT}
COVERED = 0.99  # of the tokens
FAR = 3.0  # times
FIRST, STEPS = 1000, 12  # tokens, and steps by which they double, of a curve
SHARES = (0.8, 0.9, 0.95, 0.98, 0.99)
UNIT = "types"


@dataclass(frozen=True)
class Size:
    """Pieces of each text, and the most tokens of one."""

    pieces: int
    tokens: int


QUICK, FULL = Size(3, 200_000), Size(5, 500_000)


@dataclass(frozen=True)
class Counted:
    """Of one text, a value for each piece: types by the tokens read, and by the share of the tokens they make."""

    text: str
    tokens: int
    types: dict[int, list[int]]
    needed: dict[float, list[int]]


@claim(
    "dictionary",
    lecture="004",
    sentence="Chinese by characters needs a far smaller dictionary than English by words.",
    rule=(
        f"the most frequent types that make {100 * COVERED:g} % of as many tokens, English words over Han characters, "
        "both of Wikipedia, or without FORESAY_DATA words of the Python reference over characters drawn by jieba's "
        f"counts: holds when the 95 % interval over pieces of text of the ratio lies above {FAR:g}; does not hold when "
        f"it lies below {FAR:g}, of Wikipedia only; else not decided. Poems and WikiText-2 do not count. 3 pieces "
        "(full: 5)"
    ),
)
def run(quick: bool, seed: int, tell: Tell) -> Result:
    size = QUICK if quick else FULL
    read = {name: found for name, file in FETCHED.items() if (found := texts.fetched(file)) is not None}
    whole = CHARACTERS in read and WORDS in read
    note = "" if whole else missing()
    if not whole:
        if not quick:
            return Result("no data", note=note)
        try:
            read |= {DRAWN: texts.drawn(seed), REFERENCE: texts.reference()}
        except UserError as lacking:
            return Result("no data", note=f"{note}; {lacking}")
    pair = (WORDS, CHARACTERS) if whole else (REFERENCE, DRAWN)
    equal = min(len(read[name]) for name in pair) // size.pieces
    size = Size(size.pieces, min(size.tokens, equal))
    tell(0.5)
    counted = []
    for done, (name, found) in enumerate(read.items(), 1):
        counted.append(count(name, texts.numbered(found), size))
        tell(0.5 + 0.5 * done / len(read))
    own = {one.text: one for one in counted}
    more = ratios(own[pair[0]], own[pair[1]])
    details = {"size": asdict(size), "counted": [asdict(one) for one in counted]}
    return Result(judge(more[0], whole), [*more, *figures_of(counted)], details, draw(counted), note)


def missing() -> str:
    return f"without Wikipedia: set FORESAY_DATA to a folder that holds {texts.WIKI_ZH} and {texts.WIKI_EN}"


def judge(more: Figure, whole: bool) -> Verdict:
    """The rule."""
    assert more.low is not None and more.high is not None
    if more.low > FAR:
        return "holds"
    return "does not hold" if more.high < FAR and whole else "not decided at this size"


def ratios(words: Counted, characters: Counted) -> list[Figure]:
    """English over Chinese, piece by piece: to cover, and all."""
    found = []
    for name, one, other in (
        (f"for {100 * COVERED:g} % of the tokens", words.needed[COVERED], characters.needed[COVERED]),
        ("all types", words.types[max(words.types)], characters.types[max(characters.types)]),
    ):
        found.append(mean_of(f"words over characters, {name}", [a / b for a, b in zip(one, other, strict=True)]))
    return found


def figures_of(counted: Sequence[Counted]) -> list[Figure]:
    figures = []
    for one in counted:
        tokens = max(one.types)
        figures.append(mean_of(f"{one.text}: among {tokens:,} tokens", one.types[tokens], UNIT))
        for share in (0.9, COVERED):
            figures.append(mean_of(f"{one.text}: for {100 * share:g} % of them", one.needed[share], UNIT))
    return figures


def count(name: str, ids: np.ndarray, size: Size) -> Counted:
    """Types of the pieces, shorter ones where a text that does not count is shorter."""
    tokens = min(size.tokens, len(ids) // size.pieces)
    pieces = [ids[tokens * n : tokens * (n + 1)] for n in range(size.pieces)]
    marks = sorted({round(tokens / 2**step) for step in range(STEPS) if tokens / 2**step >= FIRST})
    grown = [growth(piece, marks) for piece in pieces]
    covering = [needed(piece, SHARES) for piece in pieces]
    return Counted(
        name, len(ids),
        {mark: [one[n] for one in grown] for n, mark in enumerate(marks)},
        {share: [one[n] for one in covering] for n, share in enumerate(SHARES)},
    )  # fmt: skip


def growth(ids: np.ndarray, marks: Sequence[int]) -> list[int]:
    """V(n) at each mark n."""
    firsts = np.sort(np.unique(ids, return_index=True)[1])
    return [int(np.searchsorted(firsts, mark)) for mark in marks]


def needed(ids: np.ndarray, shares: Sequence[float]) -> list[int]:
    """N(q, n) for each share q of the tokens."""
    made = np.sort(np.unique(ids, return_counts=True)[1])[::-1].cumsum()
    return [int(np.searchsorted(made, share * len(ids) - 1e-9)) + 1 for share in shares]


def draw(counted: Sequence[Counted]) -> Any:
    """Types by tokens read, and by the share of the tokens that they make."""
    grown: Mapping[str, Any] = {one.text: one.types for one in counted}
    covering: Mapping[str, Any] = {one.text: dict(enumerate(one.needed.values())) for one in counted}
    ticks = {mark: f"{mark:,}" for mark in (1_000, 10_000, 100_000)}
    names = {n: f"{100 * share:g} %" for n, share in enumerate(SHARES)}
    return draw_panels([
        Panel("The dictionary grows", "tokens read: characters or words", "different ones", grown, doubling=True,
              ticks=ticks, powers=True, over="pieces"),
        Panel("The most frequent cover", "share of the tokens", "most frequent characters or words", covering,
              ticks=names, powers=True, over="pieces"),
    ])  # fmt: skip
