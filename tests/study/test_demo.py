"""The demo from end to end, with tiny recipes in place of the six."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from rich.text import Text

from foresay import recipe
from foresay.study import demo


def test_its_models_are_built_in():
    assert set(demo.MODELS) <= set(recipe.built_in()) and len(demo.MODELS) == 6


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
    assert f"The picture: {tmp_path / 'out' / 'compare.png'}" in text


def test_long_passages_are_cut_at_a_word():
    assert demo._cut("short text") == "short text"
    cut = demo._cut("word " * 100)
    assert len(cut) <= 242 and cut.endswith("word …")


def test_markup_in_a_text_is_shown_as_it_is():
    assert Text.from_markup(demo._plain("a [bold]b[/bold] [1]")).plain == "a [bold]b[/bold] [1]"
