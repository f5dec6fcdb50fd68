"""Texts with labels as they stand in files: columns, quotes, several labels, and mistakes with their line."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from foresay.data.label_files import LabelText
from foresay.data.source import Reading, Source
from foresay.errors import UserError


def table(content: str, form: Any, **settings: Any) -> LabelText:
    path = Path(f"t.{form}")
    path.write_bytes(content.encode())
    return LabelText(path.name, Source(path.name, path, read=Reading(format=form)), **settings)


def said(text: LabelText) -> str:
    with pytest.raises(UserError) as caught:
        list(text)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_quoted_newlines_and_mixed_line_ends_keep_the_line_numbers() -> None:
    found = table('label,text\r\na,"one\ntwo, ""three"""\nb,four\r\n\nc,five\n', "csv")
    assert list(found) == list(found) == [(2, 'one\ntwo, "three"', ("a",)), (4, "four", ("b",)), (6, "five", ("c",))]


def test_the_text_is_the_other_column() -> None:
    assert list(table("label\tsentence\n1\tgood\n", "tsv")) == [(2, "good", ("1",))]
    assert list(table("n\ttext\tlabel\n7\tgood\t1\n", "tsv")) == [(2, "good", ("1",))]


def test_columns_by_name_and_by_number() -> None:
    rows = "stars\tid\treview\n5\t1\tfine\n"
    assert list(table(rows, "tsv", columns=["review", "stars"])) == [(2, "fine", ("5",))]
    assert list(table("5\tfine\n", "tsv", columns=[2, 1])) == [(1, "fine", ("5",))]
    named = '{"body": "fine", "stars": 5}\n'
    assert list(table(named, "jsonl", columns=["body", "stars"])) == [(1, "fine", ("5",))]


SNLI = (
    '{"annotator_labels": ["neutral"], "gold_label": "neutral", "sentence1": "A dog runs.", "sentence2": "It barks."}\n'
    '{"annotator_labels": ["neutral", "entailment"], "gold_label": "-", "sentence1": "A man.", "sentence2": "A cat."}\n'
    '{"annotator_labels": ["entailment"], "gold_label": "entailment", "sentence1": "A dog.", "sentence2": "A pet."}\n'
)
MNLI = 'index\tsentence1\tsentence2\tlabel1\tgold_label\n0\tA "dog" runs.\tIt barks.\tneutral\tneutral\n'
COLUMNS = ["sentence1", "sentence2", "gold_label"]


def test_two_texts_become_one() -> None:
    found = table(SNLI, "jsonl", columns=COLUMNS, without=["-"])
    assert list(found) == [(1, "A dog runs. ||| It barks.", ("neutral",)), (3, "A dog. ||| A pet.", ("entailment",))]
    assert [labels for _, _, labels in table(SNLI, "jsonl", columns=COLUMNS)] == [("neutral",), ("-",), ("entailment",)]
    tsv = table(MNLI, "tsv", columns=COLUMNS, between="#")
    assert list(tsv) == [(2, 'A "dog" runs. # It barks.', ("neutral",))]
    assert list(table("a\tb\tx\n", "tsv", columns=[1, 2, 3])) == [(1, "a ||| b", ("x",))]
    assert "line 1 has a text with '|||', which stands between two" in said(
        table("a ||| c\tb\tx\n", "tsv", columns=[1, 2, 3])
    )
    assert "line 1 has an empty text" in said(table("a\t \tx\n", "tsv", columns=[1, 2, 3]))
    assert "line 1 has no sentence1 and sentence2 and gold_label; allowed: {" in said(
        table('{"sentence1": "a", "gold_label": "x"}\n', "jsonl", columns=COLUMNS)
    )


def test_several_labels() -> None:
    rows = "text,label\nx,a|b\ny,\nz,b|a|b\n"
    assert [labels for _, _, labels in table(rows, "csv", several=True)] == [("a", "b"), (), ("b", "a")]
    assert [labels for _, _, labels in table("text,label\nx,a; b\n", "csv", several=True, separator=";")] == [
        ("a", "b")
    ]
    objects = '{"text": "x", "label": ["a", 2]}\n{"text": "y", "label": []}\n'
    assert [labels for _, _, labels in table(objects, "jsonl", several=True)] == [("a", "2"), ()]
    single = '{"text": "x", "label": "a|b"}\n{"text": "y", "label": 2}\n{"text": "z", "label": ["a|b"]}\n'
    assert [labels for _, _, labels in table(single, "jsonl", several=True)] == [("a", "b"), ("2",), ("a|b",)]


@pytest.mark.parametrize(
    ("label", "shown"),
    [
        ("null", "null"),
        ("true", "true"),
        ("1.5", "1.5"),
        ('{"a": 1.5}', '{"a": 1.5}'),
        ('["a", null]', "null"),
        ('[["a"]]', '["a"]'),
    ],
)
def test_with_several_labels_each_is_text_or_an_integer_too(label: str, shown: str) -> None:
    text = table(f'{{"text": "x", "label": "a"}}\n{{"text": "y", "label": {label}}}\n', "jsonl", several=True)
    assert said(text) == f"t.jsonl: line 2 has the label {shown}; allowed: text or an integer, or a list of these"


@pytest.mark.parametrize(
    ("content", "form", "message"),
    [
        ("text,label\nx,a\n  ,b\n", "csv", "t.csv: line 3 has an empty text; mend or delete it"),
        ("text,label\nx, \n", "csv", "t.csv: line 2 has an empty label; mend or delete it"),
        (
            'text,label\nx,"a\nb"\n',
            "csv",
            "t.csv: line 2 has the label 'a\\nb'; allowed: one line without tabs; mend it",
        ),
        ('text,label\nx,"a\tb"\n', "csv", "t.csv: line 2 has the label 'a\\tb'; allowed: one line without tabs"),
        (
            "text;label\nx;a\n",
            "csv",
            "t.csv: line 1 looks divided by ;, and CSV is divided by commas; divide it by commas",
        ),
        (
            "text\tlabel\nx\ta\n",
            "csv",
            "t.csv: line 1 looks divided by tabs, and CSV is divided by commas; name it *.tsv",
        ),
        (
            "text,label\nx,a\n",
            "tsv",
            "t.tsv: line 1 looks divided by commas, and TSV is divided by tabs; name it *.csv",
        ),
        (
            '{"text": "x\\u0000", "label": "a"}\n',
            "jsonl",
            "t.jsonl: line 1 holds a zero byte in its text; mend or delete",
        ),
        ("text,label\nx\0y,a\n", "csv", "t.csv: line 2 holds a zero byte in its text; mend or delete it"),
        ("text,label\nx,a\ny\n", "csv", "t.csv: line 3 has 1 field, the first has 2; mend it"),
        ('text,label\nx,a\n"y,b\n', "csv", "t.csv: line 3 is no CSV (unexpected end of data); mend it"),
        ("good\t1\n", "tsv", "t.tsv: line 1 names no columns text and label, but 'good', '1'; name two:"),
        ("label\ta\tb\n", "tsv", "t.tsv: line 1 names no columns text and label"),
        ('{"text": "x"}\n', "jsonl", "t.jsonl: line 1 has no text and label; allowed: "),
        ('{"text": 3, "label": "a"}\n', "jsonl", "t.jsonl: line 1 has no text and label; allowed: "),
        ('\n{"text": "x", "label": 1.5}\n', "jsonl", "t.jsonl: line 2 has the label 1.5; allowed: text or an integer"),
        ('{"text": "x", "label": null}\n', "jsonl", "t.jsonl: line 1 has the label null; allowed"),
        (
            '{"text": "x", "label": ["a"]}\n',
            "jsonl",
            "t.jsonl: line 1 has a list of labels; for any number of them set",
        ),
        ('{"text": "x", "label": "a"}\n[1\n', "jsonl", "t.jsonl: line 2 is no JSON"),
    ],
)
def test_mistakes_are_said_with_their_line(content: str, form: str, message: str) -> None:
    assert said(table(content, form)).startswith(message)
