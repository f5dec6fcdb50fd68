"""A claim's run leaves JSON and a picture; the report is one page of all of them."""

from __future__ import annotations

import base64
import dataclasses
import json
import math
from pathlib import Path

import pytest

from foresay.errors import UserError
from foresay.study.claims import claim as register
from foresay.study.claims import report, runner
from foresay.study.claims.claim import Figure, Result, claim
from foresay.train.progress import Watch


@pytest.fixture(autouse=True)
def dice(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two claims that cost nothing: one with a picture, one without data."""
    register.claims()
    monkeypatch.setattr(register, "_register", {})

    @claim("dice", lecture="009", sentence="Dice <fall>.", rule="holds when they do")
    def run(quick, seed, tell):
        from matplotlib.figure import Figure as Picture

        tell(0.5)
        picture = Picture(figsize=(2, 2))
        picture.subplots().plot([1, 2])
        return Result("holds", [Figure("fall", seed, 1.0, math.inf, "m")], {"quick": quick}, picture)

    @claim("empty", lecture="009", sentence="There is a text.", rule="holds when there is")
    def without(quick, seed, tell):
        return Result("no data", note="fetch it: wget TEXT")


def test_a_run_leaves_json_and_a_picture(tmp_path: Path):
    found = runner.run_claim("dice", quick=True, seed=3, out=tmp_path / "a" / "b", watch=Watch())
    saved = json.loads((tmp_path / "a" / "b" / "dice.json").read_text("utf-8"))
    assert (tmp_path / "a" / "b" / "dice.png").read_bytes().startswith(b"\x89PNG")
    assert saved["verdict"] == found["verdict"] == "holds" and saved["details"] == {"quick": True}
    assert saved["command"] == "foresay claims dice --quick --seed 3"
    assert saved["figures"][0] == {
        "name": "fall", "value": 3, "low": 1.0, "high": None, "unit": "m", "at_least": False,
    }  # fmt: skip
    assert saved["sentence"] == "Dice <fall>." and saved["rule"] == "holds when they do" and saved["lecture"] == "009"


def test_a_result_in_words():
    words = runner.spelt(runner.run_claim("dice", watch=Watch()))
    assert "fall  1 m  (95 % interval 1 – ∞)" in words and words.endswith("verdict: holds")
    assert Path("runs/claims/dice.json").exists()
    assert runner.spelt(runner.run_claim("empty", watch=Watch())).endswith("verdict: no data; fetch it: wget TEXT")
    assert not Path("runs/claims/empty.png").exists()


def test_a_place_that_is_no_folder_is_refused_before_the_work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    (tmp_path / "file").write_text("mine")
    never = dataclasses.replace(register.find("dice"), run=lambda *_: pytest.fail("it was run"))
    monkeypatch.setattr(register, "_register", {"dice": never})
    with pytest.raises(UserError, match=r"--out .*file/deeper, but .*file is no folder; give another --out"):
        runner.run_claim("dice", out=tmp_path / "file" / "deeper", watch=Watch())


def test_the_report_is_one_page(tmp_path: Path):
    runner.run_claim("dice", out=tmp_path, watch=Watch())
    page = report.write_report(tmp_path).read_text("utf-8")
    assert page.count("<section") == 2 and "1 of 2 measured" in page
    assert "Dice &lt;fall&gt;." in page and "<fall>" not in page
    assert base64.b64encode((tmp_path / "dice.png").read_bytes()).decode() in page
    assert "<pre>foresay claims dice</pre>" in page and "1 m  (95 % interval 1 – ∞)" in page
    contents = page[: page.index("<section")]
    assert '<a href="#dice">dice</a></td><td>009</td><td><span class="verdict holds">holds<' in contents
    assert '<a href="#empty">empty</a></td><td>009</td><td><span class="verdict none">not run<' in contents
    assert 'class="verdict none">not run' in page[page.index('id="empty"') :]
    assert "<pre>foresay claims empty --quick</pre>" in page


def test_a_damaged_result_is_named(tmp_path: Path):
    for content in ("{", "[]", '{"verdict": "holds"}'):
        (tmp_path / "dice.json").write_text(content)
        with pytest.raises(UserError, match=r"dice.json holds no result of a claim; remove it"):
            report.write_report(tmp_path)
