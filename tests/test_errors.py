"""A user's mistake: the nearest name, and an exception that Python code may catch as ValueError."""

from __future__ import annotations

import pytest

import foresay
from foresay.errors import UserError, counted, nearest, reason


@pytest.mark.parametrize(
    ("name", "allowed", "hint"),
    [
        ("lsmt", ["gru", "lstm"], "; did you mean 'lstm'?"),
        ("encodr", ["decoder", "encoder"], "; did you mean 'encoder'?"),
        ("lstm", [], ""),
        ("zzz", ["gru", "lstm"], ""),
        ("", ["gru"], ""),
    ],
)
def test_nearest(name, allowed, hint):
    assert nearest(name, allowed) == hint


def test_nearest_takes_any_iterable():
    assert nearest("gruu", iter({"gru": 1})) == "; did you mean 'gru'?"


def test_user_error_is_a_value_error_at_the_top():
    assert foresay.UserError is UserError and issubclass(UserError, ValueError)


def test_reasons(tmp_path):
    with pytest.raises(OSError) as raised:
        (tmp_path / "none").read_text()
    assert reason(raised.value) == "No such file or directory"
    assert reason(OSError("full")) == "full" and reason(ValueError("line 3")) == "line 3"


def test_counted():
    assert [counted(number, "text") for number in (0, 1, 2000)] == ["0 texts", "1 text", "2,000 texts"]
