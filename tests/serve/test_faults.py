"""What is wrong with a body, in the API's own words: every kind of pydantic's errors that bodies can raise has one."""

from __future__ import annotations

import json
from typing import Any

import pytest
from pydantic import ValidationError

from foresay.errors import UserError
from foresay.serve.bodies import AnalogyBody, Body, CompletionBody, CorrectBody, ForecastBody, ScoreBody, half_of
from foresay.serve.engine import Busy
from foresay.serve.faults import fault_of, unfit, unread

WRONG = [
    (CompletionBody, {"temperature": 101}, "temperature=101; allowed: 100 at most"),
    (CompletionBody, {"seed": 2**63}, f"seed={2**63}; allowed: less than {2**63}"),
    (CompletionBody, {"top_k": None}, "top_k=null; allowed: a whole number"),
    (CompletionBody, {"stream_options": 5}, "stream_options=5; allowed: an object"),
    (CompletionBody, {"temperature": float("nan")}, "temperature=NaN; allowed: a finite number"),
    (CompletionBody, {"user": 1}, "user=1; allowed: text"),
    (AnalogyBody, {"a": "a", "b": "b", "c": "c", "method": "x"}, "method=\"x\"; allowed: 'add' or 'multiply'"),
    (ScoreBody, {"input": [["a"]]}, 'input=[["a"]]; allowed: text, or a list of 1 to 256 texts or pairs ['),
    (CorrectBody, {"input": "a", "number": 33}, "number=33; allowed: 32 at most"),
    (ForecastBody, {"input": [1], "quantiles": [0.5] * 10}, "quantiles=[0.5, 0.5, " + "0.5, " * 7 + "0.5]; "
     "allowed: 9 entries at most"),
    (CompletionBody, {"\ud800": 1}, r"\ud800 is unknown; allowed: model, prompt"),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "given", "said"), WRONG, ids=range(len(WRONG)))
def test_each_error_has_words_of_its_own(kind: type[Body], given: dict[str, Any], said: str) -> None:
    with pytest.raises(ValidationError) as caught:
        kind.model_validate({"model": "m"} | given)
    fault = unfit(caught.value.errors(), kind.model_fields)
    assert str(fault).startswith(said) and fault.status == 400
    json.dumps(fault.body, ensure_ascii=False).encode()  # it can be sent


def test_a_body_that_is_no_json() -> None:
    for given, why in (
        ("{", "Expecting property name enclosed in double quotes at character 2"),
        ("[" * 200_000, "its lists or objects are nested too deep"),
        ("1" * 5000, "a number has too many digits"),
    ):
        with pytest.raises((ValueError, RecursionError)) as caught:
            json.loads(given)
        assert str(unread(caught.value)) == f"the body is no JSON ({why}); give a JSON object"
    assert str(unread(None)) == "the body is no JSON (it cannot be read); give a JSON object"


def test_the_setting_a_message_is_about() -> None:
    fields = CompletionBody.model_fields
    for message, param in (
        ("n=5; allowed here: 4", "n"),
        ("echo, and pairs writes from a source", "echo"),
        ("length=5; allowed", None),  # no setting of this request
        ("a prompt of 9 tokens", None),
        ("nothing is said", None),
    ):
        assert fault_of(UserError(message), fields).param == param
    assert fault_of(UserError("n=5"), None).param is None
    assert fault_of(Busy("full"), fields).status == 429 and fault_of(Busy("ends", closing=True)).status == 503
    assert str(fault_of(KeyError("inside"))) == "the run could not answer: KeyError"


def test_the_first_half_character_is_found() -> None:
    assert half_of({"a": ["b", {"\udc01": 1}, "\ud802"]}) == "\udc01"
    assert half_of(["\ud802", "\ud803"]) == "\ud802" and half_of(["\U0001f600", 1, None, 2.5, True]) is None
