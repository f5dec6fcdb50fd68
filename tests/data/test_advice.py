"""Advice in the options of a command."""

import pytest

from foresay.data.advice import OR_CONLLU, as_options
from foresay.data.decoding import not_text


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("data.columns=[en, de], or data.columns=[1, 2]", "--column en --column de, or --column 1 --column 2"),
        ("data.columns=['a']; allowed: two", "--column a; allowed: two"),
        ("name one: data.column=...", "name one: --column ..."),
        ("name another column with data.column", "name another column with --column"),
        (not_text(255, 3), "is not UTF-8: byte 0xFF at offset 3; say its encoding (--encoding latin-1, or another)"),
        ("give text in UTF-8, or data.encoding", "give text in UTF-8, or --encoding"),
        ("is no CSV; mend it, or read it with data.format=text", "is no CSV; mend it"),
        (f"delete such lines{OR_CONLLU}; where", "delete such lines; where"),
        (
            "give two files, data=[train.en,train.de], or a table",
            "give two files, --data test.en --data test.de, or a table",
        ),
        ("TSV, CSV, JSON lines (data.format says which); of talk, data.format=play or lines", "TSV, CSV, JSON lines"),
        ("a.txt is empty; give a file with text", "a.txt is empty; give a file with text"),
    ],
)
def test_settings_become_options(said, told):
    assert as_options(said) == told
