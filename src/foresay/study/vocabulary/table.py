"""The report for a terminal: the parts of the text, the vocabulary, its most frequent and rarest symbols, hints."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from foresay.study.visible import visible
from foresay.study.vocabulary.facts import RARE, Facts, Text
from foresay.study.vocabulary.hints import Hint
from foresay.text.tokens import SPECIALS

WIDE = 24  # characters of a symbol
ROWS = {
    "documents": lambda text: f"{text.documents:,}",
    "tokens": lambda text: f"{text.tokens:,}",
    "tokens per document": lambda text: f"{text.tokens_per_document:,.1f}",
    "bytes per token": lambda text: f"{text.bytes_per_token:.2f}",
    "characters per token": lambda text: f"{text.characters_per_token:.2f}",
    "known": lambda text: f"{100 * (1 - text.unknown):.2f} %",
    "unknown": lambda text: f"{100 * text.unknown:.2f} %",
    f"of symbols train has < {RARE} times": lambda text: f"{100 * text.rare:.2f} %",
}


def table(facts: Facts, hints: Sequence[Hint] = ()) -> Any:
    """All of it, one below the other."""
    from rich.console import Group
    from rich.text import Text as Plain

    kind = facts.about.tokens["kind"]
    head = Plain(f"{facts.about.name}: {facts.symbols:,} symbols ({kind})", style="bold")
    shown: list[Any] = [head, "", _texts(facts.texts), "", _vocabulary(facts)]
    if facts.frequent:
        shown += ["", _symbols(facts)]
    if hints:
        shown += ["", *(Plain(f"hint: {hint}") for hint in hints)]
    return Group(*shown)


def _texts(texts: dict[str, Text]) -> Any:
    grid = _grid("", *texts)
    for name, spelt in ROWS.items():
        grid.add_row(name, *map(spelt, texts.values()))
    return grid


def _vocabulary(facts: Facts) -> Any:
    grid = _grid("vocabulary", "symbols", "of all")
    whole = facts.symbols - len(SPECIALS)
    marks = f"besides the {len(SPECIALS)} marks"
    counted = {marks: whole, "never in train": facts.never, f"fewer than {RARE} times in train": facts.rare}
    counted |= {f"cover {percent} % of train": found for percent, found in facts.coverage.items()}
    for name, number in counted.items():
        grid.add_row(name, *(("not reached", "") if number is None else _of(number, whole)))
    if facts.one_byte is not None:
        grid.add_row("train tokens that are single bytes", "", f"{100 * facts.one_byte:.1f} %")
    if facts.zipf is not None:
        line = facts.zipf
        grid.add_row(f"Zipf's slope, ranks {line.first:,} to {line.last:,}", f"{line.slope:.2f}", "")
    return grid


def _of(number: int, whole: int) -> tuple[str, str]:
    return f"{number:,}", f"{100 * number / max(whole, 1):.1f} %"


def _symbols(facts: Facts) -> Any:
    from rich.text import Text as Plain

    grid = _grid("most frequent", "times", "of train")
    grid.add_column("  ")
    grid.add_column("rarest", no_wrap=True)
    grid.add_column("times", justify="right")
    for often, seldom in zip(facts.frequent, facts.rarest, strict=True):
        share = f"{100 * often.share:.2f} %"
        rarest = (Plain(visible(seldom.symbol, WIDE)), f"{seldom.count:,}")
        grid.add_row(Plain(visible(often.symbol, WIDE)), f"{often.count:,}", share, "", *rarest)
    return grid


def _grid(first: str, *others: str) -> Any:
    from rich.table import Table

    grid = Table(box=None, pad_edge=False, header_style="bold")
    grid.add_column(first, no_wrap=True)
    for head in others:
        grid.add_column(head, justify="right", no_wrap=True)
    return grid
