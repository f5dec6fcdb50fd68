"""YAML 1.2: what is a number, a boolean, a text; one-line errors; what is written reads back."""

from __future__ import annotations

import math
import re

import pytest
import yaml

from foresay.errors import UserError
from foresay.yaml12 import dump, parse


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1e-3", 0.001),
        ("1E5", 100000.0),
        ("2.5e+2", 250.0),
        (".5", 0.5),
        ("-.5", -0.5),
        ("3.", 3.0),
        ("12", 12),
        ("+12", 12),
        ("-7", -7),
        ("017", 17),
        ("0o17", 15),
        ("0x1F", 31),
        (".inf", math.inf),
        ("-.Inf", -math.inf),
        ("true", True),
        ("False", False),
        ("null", None),
        ("~", None),
        ("", None),
        ("yes", "yes"),
        ("no", "no"),
        ("on", "on"),
        ("off", "off"),
        ("1_000", "1_000"),
        ("12:30", "12:30"),
        ("2024-01-02", "2024-01-02"),
        ("1e", "1e"),
        ("e5", "e5"),
        ('"1"', "1"),
        ("'0x1F'", "0x1F"),
    ],
)
def test_scalars_as_in_yaml_1_2(text, value):
    found = parse(f"a: {text}", "x")["a"]
    assert found == value and type(found) is type(value)


@pytest.mark.parametrize("text", [".nan", ".NaN", ".NAN"])
def test_not_a_number(text):
    assert math.isnan(parse(text, "x"))


def test_no_merge_keys():
    assert parse("{<<: 1}", "x") == {"<<": 1}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a: 1\nb: 2\na: 3\n", r"my.yaml is no YAML in line 1: 'a' is given twice"),
        ("a: 1\nb:\n  c: 1\n  c: 2\n", r"my.yaml is no YAML in line 3: 'c' is given twice"),
        ("a: 1\nb: [1,\n", r"my.yaml is no YAML in line 3: .*"),
        ("a: 1\n b: 2\n", r"my.yaml is no YAML in line 2: mapping values are not allowed here"),
        ("a: !!int abc", r"my.yaml is no YAML: invalid literal .*"),
        ("a: !!python/object:os.system {}", r"my.yaml is no YAML in line 1: could not determine a constructor .*"),
        ("a: \x00", r"my.yaml is no YAML: unacceptable character .*"),
    ],
)
def test_text_that_is_no_yaml(text, message):
    with pytest.raises(UserError) as caught:
        parse(text, "my.yaml")
    assert re.fullmatch(message, str(caught.value))


@pytest.mark.parametrize(
    "text",
    ["1e-3", "0o17", "1E5", "yes", "off", "null", "~", "0x1F", "12:30", "1_000", "2024-01-02", ".inf", " a: b #c"],
)
def test_a_text_that_looks_like_something_else_comes_back(text):
    assert parse(dump({"a": [text]}), "saved") == {"a": [text]} == yaml.safe_load(dump({"a": [text]}))


@pytest.mark.parametrize("number", [1e-300, 1e22, 0.1, 1e-5, 3.0, 123456789.123])
def test_numbers_come_back_to_the_last_digit(number):
    found = parse(dump({"a": number}), "saved")["a"]
    assert found == number and isinstance(found, float)
    assert yaml.safe_load(dump(number)) == number  # the library reads 1.1
