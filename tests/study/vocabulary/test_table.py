"""The report on a terminal says every number, whatever the symbols are."""

from __future__ import annotations

import io

from rich.console import Console

from foresay.study.vocabulary.facts import Facts
from foresay.study.vocabulary.hints import Hint
from foresay.study.vocabulary.table import table
from tests.study.vocabulary.made import SUBWORDS, good


def lines_of(facts: Facts, *hints: Hint) -> list[str]:
    console = Console(width=120, file=io.StringIO(), record=True)
    console.print(table(facts, hints), highlight=False)
    return [" ".join(line.split()) for line in console.export_text().splitlines() if line.strip()]


def test_every_number_is_there():
    shown = lines_of(good(valid={"unknown": 0.0123}, train={"documents": 1200}))
    assert shown[0] == "my.txt: 5,005 symbols (words)" and shown[1] == "train valid"
    for line in (
        "documents 1,200 1",
        "tokens 100,000 10,000",
        "tokens per document 83.3 10,000.0",
        "bytes per token 5.00 5.00",
        "characters per token 5.00 50.00",
        "known 100.00 % 98.77 %",
        "unknown 0.00 % 1.23 %",
        "of symbols train has < 5 times 1.00 % 1.00 %",
        "besides the 5 marks 5,000 100.0 %",
        "never in train 0 0.0 %",
        "fewer than 5 times in train 1,000 20.0 %",
        "cover 90 % of train 2,000 40.0 %",
        "Zipf's slope, ranks 10 to 2,105 -1.00",
        "the 20,000 20.00 % ⏎ 1",
        "[bold] 10,000 10.00 % unity 2",
    ):
        assert line in shown
    assert not any(line.startswith("hint") or "single bytes" in line for line in shown)


def test_what_is_not_there_is_not_shown():
    shown = lines_of(good(tokens=SUBWORDS, one_byte=0.25, zipf=None, frequent=[], rarest=[], coverage={99: None}))
    assert "train tokens that are single bytes 25.0 %" in shown and "cover 99 % of train not reached" in shown
    assert not any("Zipf" in line or "rarest" in line for line in shown)


def test_hints_come_last_and_whole():
    shown = lines_of(good(), Hint("a [b]", ("x=1", "y=2")), Hint("c", ("z=3",)))
    assert shown[-2:] == ["hint: a [b]; try x=1, or y=2", "hint: c; try z=3"]
