"""A noise model as JSON: read back the same, and what is refused."""

from __future__ import annotations

import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foresay.decode.correct.saved import as_json, read_noise
from foresay.errors import UserError
from tests.decode.correct.test_noise import noise


def test_saved_and_read(tmp_path):
    made, path = noise(weight=1.5, caution=0.5), tmp_path / "noise.json"
    path.write_text(as_json(made, "character"), "utf-8")
    again = read_noise(path).build("abcd")
    assert (again.weight, again.caution, again.unit) == (1.5, 0.5, "character")
    assert all(again.log_sub(x, o) == made.log_sub(x, o) for x in "abcd" for o in "abcd")


RATES, WHOLE = {"wrong": 0.1, "insert": 0.0, "delete": 0.0, "swap": 0.0}, {"listed": 0.8, "any": 0.2}


@pytest.mark.parametrize(
    "change, says",
    [
        ({"format": 9}, "format=9; allowed: 1"),
        ({"unit": "letter"}, "unit=letter; allowed: character or word"),
        ({"rates": {}}, "wrong"),
        ({"rates": RATES | {"wrong": -0.1}}, "rates.wrong=-0.1; allowed: 0 to 1"),
        ({"rates": RATES | {"wrong": 1}}, "below 1"),
        ({"rates": RATES | {"delete": 0.6, "swap": 0.5}}, "below 1"),
        ({"rates": RATES | {"swap": math.nan}}, "rates.swap=nan"),
        ({"weight": 0}, "weight=0"),
        ({"weight": True}, "weight=True"),
        ({"weight": math.inf}, "weight=inf"),
        ({"caution": math.nan}, "caution=nan"),
        ({"caution": -1000}, "caution=-1000"),
        ({"strength": 0}, "strength=0; allowed: above 0"),
        ({"confusions": ["shape"]}, "shape"),
        ({"shares": WHOLE | {"listed": 1.8}}, "shares.listed=1.8"),
        ({"shares": WHOLE | {"listed": 0.7}}, "sum to 0.9"),
        ({"shares": {"keyboard": 0.8, "any": 0.2}}, "keyboard"),
        ({"meant": 3}, "int"),
        ({"meant": {"a": -1}}, "meant.a=-1"),
        ({"meant": {"a": 2.5}}, "meant.a=2.5"),
        ({"meant": {"a": 10**400}}, "allowed: a whole number from 0 to 1,000,000,000,000"),
        ({"mistaken": {"a": {"b": -3}}}, "mistaken.a.b=-3"),
        ({"mistaken": {"a": {"b": 97}}}, "more often than"),
        ({"mistaken": {"a": {"a": 1}}}, "for itself"),
    ],
)
def test_damaged_files_are_said(tmp_path, change, says):
    path = tmp_path / "noise.json"
    path.write_text(json.dumps(json.loads(as_json(noise(), "character")) | change), "utf-8")
    with pytest.raises(UserError) as error:
        read_noise(path)
    assert "\n" not in str(error.value) and "noise.json" in str(error.value) and says in str(error.value)


@given(st.binary(max_size=40) | st.text(max_size=40).map(str.encode))
def test_anything_else_is_refused(tmp_path_factory, data):
    path = tmp_path_factory.getbasetemp() / "any.json"
    path.write_bytes(data)
    with pytest.raises(UserError):
        read_noise(path)


def test_a_file_too_deep_is_refused(tmp_path):
    path = tmp_path / "deep.json"
    path.write_text("[" * 100_000)
    with pytest.raises(UserError, match="cannot be read"):
        read_noise(path)
