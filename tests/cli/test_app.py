"""What every command shares."""

from __future__ import annotations

import json
import math

import pytest

from foresay.cli.app import show_json


def test_json_has_no_infinity_and_no_nan(capsys: pytest.CaptureFixture[str]) -> None:
    show_json({"perplexity": math.inf, "interval": (1.5, math.nan), "é": [-math.inf, 2]})
    shown = capsys.readouterr().out
    assert json.loads(shown) == {"perplexity": None, "interval": [1.5, None], "é": [None, 2]} and "é" in shown
