"""A noise model as JSON: read back the same, and what is refused."""

from __future__ import annotations

import json

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
    assert again.weight == 1.5 and again.caution == 0.5
    assert all(again.log_sub(x, o) == made.log_sub(x, o) for x in "abcd" for o in "abcd")


@pytest.mark.parametrize(
    "change", [{"format": 9}, {"rates": {}}, {"weight": 0}, {"confusions": ["shape"]}, {"meant": 3}]
)
def test_damaged_files_are_said(tmp_path, change):
    path = tmp_path / "noise.json"
    path.write_text(json.dumps(json.loads(as_json(noise(), "character")) | change), "utf-8")
    with pytest.raises(UserError) as error:
        read_noise(path)
    assert "\n" not in str(error.value) and "noise.json" in str(error.value)


@given(st.binary(max_size=40) | st.text(max_size=40).map(str.encode))
def test_anything_else_is_refused(tmp_path_factory, data):
    path = tmp_path_factory.getbasetemp() / "any.json"
    path.write_bytes(data)
    with pytest.raises(UserError):
        read_noise(path)
