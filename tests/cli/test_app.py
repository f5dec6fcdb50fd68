"""What every command shares."""

from __future__ import annotations

import json
import math

import pytest

from foresay.cli.app import show, show_json


def test_json_has_no_infinity_and_no_nan(capsys: pytest.CaptureFixture[str]) -> None:
    show_json({"perplexity": math.inf, "interval": (1.5, math.nan), "é": [-math.inf, 2]})
    shown = capsys.readouterr().out
    assert json.loads(shown) == {"perplexity": None, "interval": [1.5, None], "é": [None, 2]} and "é" in shown


def test_half_a_character_is_shown_as_none(capsys: pytest.CaptureFixture[str]) -> None:
    broken = b"caf\xe9 \xf0".decode("utf-8", "surrogateescape")
    show(broken)
    show_json({broken: "😀"}, compact=True)
    assert capsys.readouterr().out == 'caf\ufffd \ufffd\n{"caf\ufffd \ufffd": "😀"}\n'
