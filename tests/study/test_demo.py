"""The demo from end to end, with tiny recipes in place of the six and of what rewrites."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest
import yaml
from rich.text import Text

from foresay import recipe
from foresay.loading import PairRun
from foresay.study import demo


def test_its_models_are_built_in():
    assert {*demo.MODELS, demo.REWRITES, demo.DENIES} <= set(recipe.built_in()) and len(demo.MODELS) == 6


@pytest.fixture
def rewriting(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, str]]:
    """Pairs of a letter and its double, a model of two steps for them, and what stands for its beam search."""
    draw = random.Random(1)
    pairs = [(one, 2 * one) for one in draw.choices("abcdefgh", k=60)]
    for name, own in (("train", pairs[:40]), ("test", pairs[40:])):
        (tmp_path / f"{name}.tsv").write_text("source\ttarget\n" + "".join(f"{a}\t{b}\n" for a, b in own), "utf-8")
    small = {
        "task": "seq2seq",
        "data": {"kind": "pairs"} | {name: str(tmp_path / f"{name}.tsv") for name in ("train", "test")},
        "tokens": "characters",
        "embedding": {"size": 5},
        "encoder": {"kind": "recurrent", "size": 6},
        "writer": {"kind": "recurrent", "size": 7},
        "train": {"steps": 2, "batches": "pairs"},
    }
    (tmp_path / "[dates].yaml").write_text(yaml.safe_dump(small), "utf-8")
    monkeypatch.setattr(demo, "REWRITES", str(tmp_path / "[dates].yaml"))
    monkeypatch.setattr(demo, "HELD_OUT", 12)
    return pairs[40:]


def test_rewriting_is_measured_on_what_is_held_out(tmp_path: Path, rewriting: list, monkeypatch: pytest.MonkeyPatch):
    """Nine of twelve are right: 75.0 %."""
    asked: list[str] = []

    def translate(run: Any, sources: list[str]) -> list[str]:
        asked.extend(sources)
        return [target if n < 9 else "?" for n, (_, target) in enumerate(rewriting[: len(sources)])]

    monkeypatch.setattr(PairRun, "translate", translate)
    shown: list[str] = []
    picture = demo.rewrite(tmp_path / "out", shown.append)
    text = Text.from_markup("\n".join(shown)).plain
    assert asked == [source for source, _ in rewriting[:12]]
    assert "Exact match: 75.0 % of 12 held-out pairs" in text and "[dates] rewrites" in text
    assert [line.split() for line in text.splitlines() if line.startswith("  ")] == [[*one] for one in rewriting[:5]]
    assert picture == tmp_path / "out" / "alignment.png" and picture.read_bytes().startswith(b"\x89PNG")


@pytest.fixture
def denying(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The recipe made small: as many steps as the two orders of two words need."""
    small = recipe.read("negation")
    small["train"] |= {"steps": 60, "evaluate": {"every": 60}, "save": {"every": 60}}
    for name, count in (("train", 64), ("valid", 8), ("test", 20)):
        rows = [("no good , fine", "good"), ("fine , no good", "bad")] * (count // 2)
        (tmp_path / f"{name}.csv").write_text("text,label\n" + "".join(f'"{a}",{b}\n' for a, b in rows), "utf-8")
    small["data"] = {"kind": "labels"} | {name: str(tmp_path / f"{name}.csv") for name in ("train", "valid", "test")}
    (tmp_path / "[deny].yaml").write_text(yaml.safe_dump(small), "utf-8")
    monkeypatch.setattr(demo, "DENIES", str(tmp_path / "[deny].yaml"))
    monkeypatch.setattr(demo, "REVIEWS", ("no good , fine", "fine , no good"))


@pytest.mark.usefixtures("denying")
def test_order_is_read_by_one_of_two(tmp_path: Path):
    """Without order both reviews are one, so half of the answers are right; with it all are."""
    shown: list[str] = []
    demo.deny(tmp_path / "out", shown.append)
    text = Text.from_markup("\n".join(shown)).plain
    assert "Right on 20 held-out reviews: averaged vectors 50.0 %, biLSTM 100.0 %" in text
    first, second = (line.split(": ")[1] for line in text.splitlines() if line.startswith("  "))
    assert first.endswith("good (biLSTM)") and second.endswith("bad (biLSTM)")
    assert first.split(" (")[0] == second.split(" (")[0], "averages are the same for both"
    assert {one.name for one in (tmp_path / "out").iterdir()} == {"[deny]-averaged-vectors", "[deny]-biLSTM"}


@pytest.mark.usefixtures("rewriting", "denying")
def test_demo(tmp_path: Path, tiny: dict, monkeypatch: pytest.MonkeyPatch):
    asked: dict[str, Any] = {}
    small = tiny | {"train": tiny["train"] | {"steps": 2}}
    for name, whole in {"[small]": small, "counts": {"task": "ngram", "data": tiny["data"], "tokens": "words"}}.items():
        (tmp_path / f"{name}.yaml").write_text(yaml.safe_dump(whole), "utf-8")
    real = demo.compare

    def compare(names, settings, *, data, minutes, out):
        assert settings == ["train.batches.rows=8"]
        asked.update(names=names, data=data, minutes=minutes)
        return real([str(tmp_path / "[small].yaml"), str(tmp_path / "counts.yaml")], out=out)

    monkeypatch.setattr(demo, "compare", compare)
    shown: list[Any] = []
    demo.demo(tmp_path / "out", 0.5, shown.append)
    assert asked == {"names": demo.MODELS, "data": "builtin:python-reference", "minutes": 0.5}
    assert (tmp_path / "out" / "compare.png").exists()
    text = "\n".join(Text.from_markup(one).plain for one in shown if isinstance(one, str))
    assert text.count("writes:") == 2 and text.count(demo.PROMPT) == 2
    assert demo.SENTENCE in text
    named = text.split("The most surprising words to counts: ")[1].split("\n")[0]
    assert named.count(" nats)") == 3
    out = tmp_path / "out"
    assert f"The pictures: {out / 'compare.png'} and {out / 'alignment.png'}; each run" in text
    assert "Right on 20 held-out reviews: averaged vectors" in text
    assert "% of 12 held-out pairs" in text and (out / "[dates]" / "model.safetensors").exists()


def test_long_passages_are_cut_at_a_word():
    assert demo._cut("short text") == "short text"
    cut = demo._cut("word " * 100)
    assert len(cut) <= 242 and cut.endswith("word …")


def test_markup_in_a_text_is_shown_as_it_is():
    assert Text.from_markup(demo._plain("a [bold]b[/bold] [1]")).plain == "a [bold]b[/bold] [1]"
