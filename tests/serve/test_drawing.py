"""What is drawn and forecast for clients is what the runs' own methods give, read back from the files' formats."""

from __future__ import annotations

import io
import json
from base64 import b64decode
from typing import Any

import numpy as np
import pytest
from PIL import Image

from foresay.data.midi import midi_bytes
from foresay.data.wav import opened
from foresay.serve import drawing
from foresay.serve.served import Shelf


@pytest.fixture
def ask(client: Any) -> Any:
    def asked(path: str, status: int = 200, **body: Any) -> Any:
        answer = client.post(path, json=body)
        assert answer.status_code == status, answer.text
        return answer.json()

    return asked


def test_pictures(ask: Any, shelf: Shelf) -> None:
    run: Any = shelf.find("pics").run
    found = ask("/v1/draw", model="pics", number=3, label="rows", seed=4, temperature=0.7)
    want = run.draw(3, label="rows", seed=4, temperature=0.7)
    assert found["seed"] == 4 and len({one.tobytes() for one in want}) > 1
    for told, one in zip(found["data"], want, strict=True):
        assert (told["rows"], told["columns"]) == (4, 3)
        assert np.array_equal(np.asarray(Image.open(io.BytesIO(b64decode(told["png"])))), one[..., 0])


def test_without_a_seed_it_is_drawn_and_told(ask: Any) -> None:
    first, second = (ask("/v1/draw", model="pics", label="rows", number=4) for _ in range(2))
    assert first["seed"] != second["seed"] and first["data"] != second["data"]
    assert ask("/v1/draw", model="pics", label="rows", number=4, seed=first["seed"]) == first


def test_sounds(ask: Any, shelf: Shelf) -> None:
    run: Any = shelf.find("hums").run
    found = ask("/v1/draw", model="hums", number=2, seed=2, seconds=0.02)
    for told, one in zip(found["data"], run.draw(2, seed=2, seconds=0.02), strict=True):
        wave = opened(io.BytesIO(b64decode(told["wav"])))
        assert wave.rate == 1000 and told["seconds"] == len(one) / 1000
        samples = np.concatenate([np.zeros((0, 1), np.float32), *wave.blocks()])[:, 0]
        assert samples == pytest.approx(np.clip(one, -1, 1), abs=2**-15)
    whole = ask("/v1/draw", model="hums", seed=2)["data"][0]  # as long as is allowed: 300 samples
    assert whole["seconds"] == len(run.draw(seed=2, seconds=0.3)[0]) / 1000


def test_series_and_music(ask: Any, shelf: Shelf) -> None:
    tides, chords = (shelf.find(name).run for name in ("tides", "chords"))
    found = ask("/v1/draw", model="tides", number=2, steps=5, seed=3)
    assert found["data"][0]["columns"] == ["height", "high"]
    assert [one["values"] for one in found["data"]] == tides.draw(2, steps=5, seed=3).tolist()  # pyright: ignore[reportOptionalMemberAccess, reportAttributeAccessIssue]
    (told,) = ask("/v1/draw", model="chords", steps=4, seed=3)["data"]
    roll = chords.draw(1, steps=4, seed=3)[0]  # pyright: ignore[reportOptionalMemberAccess, reportAttributeAccessIssue]
    music = chords.form.music  # pyright: ignore[reportOptionalMemberAccess, reportAttributeAccessIssue]
    assert told["values"] == roll.tolist()
    assert b64decode(told["midi"]) == midi_bytes(roll, music.seconds, music.first)
    assert b64decode(told["midi"])[:4] == b"MThd"
    assert len(ask("/v1/draw", model="tides")["data"][0]["values"]) == 64


def test_a_forecast(ask: Any, shelf: Shelf) -> None:
    run: Any = shelf.find("tides").run
    given = [[10.0, 0], [12.5, 1], [None, 1], [8, 0]]
    history = np.array([[10.0, 0], [12.5, 1], [np.nan, 1], [8, 0]])
    found = ask("/v1/forecast", model="tides", input=given, steps=3, paths=20, quantiles=[0.25, 0.9], seed=5)
    want = run.forecast(history, steps=3, number=20, seed=5)
    assert found["columns"] == ["height", "high"] and found["paths"] == 20
    (told,) = found["data"]
    assert told["mean"] == json.loads(json.dumps(want.mean[0].tolist())) and np.shape(told["mean"]) == (3, 2)
    assert told["quantiles"] == {"0.25": want.quantile(0.25)[0].tolist(), "0.9": want.quantile(0.9)[0].tolist()}
    usual = ask("/v1/forecast", model="tides", input=given)
    whole = run.forecast(history)
    assert usual["paths"] == 200 and usual["data"][0]["mean"] == whole.mean[0].tolist()  # its horizon, seed 1
    assert list(usual["data"][0]["quantiles"]) == ["0.1", "0.5", "0.9"]


WRONG = [
    ("draw", {"model": "pics"}, None, None, "no label is given, and "),
    ("draw", {"model": "pics", "label": "x"}, "label", None, "label='x' is none of this run's"),
    ("draw", {"model": "pics", "number": 5}, "number", None, "number=5; allowed here: 4 at most"),
    ("draw", {"model": "pics", "steps": 5}, "steps", None, "steps=5 is for series, and pics draws images of 4 x 3 pix"),
    ("draw", {"model": "pics", "label": "rows", "seconds": 1}, "seconds", None, "seconds=1 is for sounds"),
    ("draw", {"model": "hums", "seconds": 1}, "seconds", None, "seconds=1; allowed here: 0.3 at most, 300 samples of"),
    ("draw", {"model": "tides", "label": "x"}, "label", None, "label='x', and tides draws series of numbers; lea"),
    ("draw", {"model": "tides", "seconds": 2}, "seconds", None, "seconds=2.0, and tides draws series of numbers; "),
    ("draw", {"model": "tides", "steps": 301}, "steps", None, "steps=301; allowed here: 300 at most"),
    ("draw", {"model": "tiny"}, None, None, "tiny is of task language-model and cannot draw; allowed of it: /v1/comp"),
    ("forecast", {"model": "tides", "input": []}, "input", None, "input=[]; allowed: a list of steps, each a number"),
    ("forecast", {"model": "tides", "input": "a.csv"}, "input", None, 'input="a.csv"; allowed: a list of steps, each'),
    ("forecast", {"model": "tides", "input": [[1, 2], 3]}, "input", None, "input has 1 number in step 2; allowed: 2"),
    ("forecast", {"model": "tides", "input": [[1e31, 2]]}, "input", None, "input=[1e+31, 2]; allowed: a list of s"),
    ("forecast", {"model": "tides", "input": [[1, 2]], "steps": 301}, "steps", None, "steps=301; allowed here: 300 at"),
    ("forecast", {"model": "tides", "input": [[1, 2]], "paths": 9}, "paths", None, "paths=9; allowed: 10 or more"),
    ("forecast", {"model": "tides", "input": [[1, 2]], "quantiles": [1]}, "quantiles", None, "quantiles=1; allowed: "),
    ("forecast", {"model": "tides", "input": [[1, 2]], "steps": 200, "paths": 1000}, "steps", 399_999,
     "steps=200 with paths=1000 of 2 columns are 400,000 numbers; allowed here: 399,999 at most; ask for fewer"),
    ("forecast", {"model": "pics", "input": [1]}, None, None, "pics is of images of 4 x 3 pixels and cannot forecast"),
]  # fmt: skip


@pytest.mark.parametrize(("path", "body", "param", "most", "message"), WRONG, ids=range(len(WRONG)))
def test_what_is_wrong_is_one_line(
    ask: Any,
    path: str,
    body: dict[str, Any],
    param: str | None,
    most: int | None,
    message: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(drawing, "NUMBERS", most or drawing.NUMBERS)
    error = ask(f"/v1/{path}", 400, **body)["error"]
    assert error["message"].startswith(message) and error["param"] == param


def test_pictures_that_are_larger_than_a_text_may_be(shelf: Shelf) -> None:
    from foresay.errors import UserError
    from foresay.serve.bodies import DrawBody
    from foresay.serve.engine import Limits

    run: Any = shelf.find("pics").run
    with pytest.raises(UserError, match="pics draws images of 4 x 3 pixels, 12 levels each; allowed here: 11; foresay"):
        drawing.of_media(run, DrawBody(model="pics", label="rows"), Limits(length=11))
