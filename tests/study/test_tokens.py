"""`foresay tokens`: every source, every way to print; the page of the documentation shows what it prints."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

import pytest
import yaml

from foresay.study.tokens import coloured, plain, show, tokens_of
from foresay.text.saved import open_tokens
from foresay.text.words import Words
from foresay.train.folder import write_config
from tests.commands import Commands

PAGE = Path(__file__).parent.parent.parent / "docs" / "text.md"


@pytest.fixture
def words(tmp_path: Path) -> Path:
    tokens = Words(normalise={"kind": "steps", "lowercase": True})
    tokens.learn(["the cat sees a dog"])
    tokens.save(tmp_path / "words")
    return tmp_path / "words"


def test_a_pipe_gets_plain_lines(call: Commands, words: Path) -> None:
    called = call("tokens", words, "The\tCAT\nruns")
    ids = open_tokens(words).encode("the cat runs").tolist()
    assert called.code == 0 and called.error == ""
    assert called.out.splitlines() == [
        "given        The⇥CAT⏎runs",
        "lowercase    the⇥cat⏎runs",
        "tokens       the|cat|<unk>",
        f"ids          {ids[0]} {ids[1]} 1",
        "3 tokens, 1 unknown, 4.00 bytes per token",
    ]


def test_json_holds_all(call: Commands, words: Path) -> None:
    found = json.loads(call("tokens", words, "A 猫", "--json").out)
    assert found == {
        "text": "A 猫",
        "stages": [
            {"name": "given", "pieces": ["A 猫"]},
            {"name": "lowercase", "pieces": ["a 猫"]},
            {"name": "tokens", "pieces": ["a", "<unk>"]},
        ],
        "ids": [*open_tokens(words).encode("a").tolist(), 1],
        "unknown": 1,
        "bytes_per_token": 2.5,
    }


def test_the_text_may_come_from_a_pipe(call: Commands, words: Path) -> None:
    assert call("tokens", words, "-", given=b"the dog\n").out == call("tokens", words, "the dog").out
    assert "standard input is not UTF-8: byte 0xE9" in call.refused("tokens", words, "-", given=b"caf\xe9")
    assert "0 tokens, 0 unknown, 0.00 bytes per token" in call("tokens", words, "-", given=b"").out


def test_a_terminal_gets_colours(words: Path) -> None:
    shown = show(open_tokens(words), "The dog runs")
    found = coloured(shown)
    assert found.plain.replace("\n", "").startswith("given        The dog runs")
    styles = {found.plain[span.start : span.end]: str(span.style) for span in found.spans}
    assert styles["<unk>"] == styles[" 1 "] == "white on red"
    assert styles["the"] != styles["dog"] and "on" in styles["the"]
    assert plain(shown).splitlines()[-1] in found.plain


def test_sources(call: Commands, corpus: Path, tiny: dict, tmp_path: Path) -> None:
    recipe = tmp_path / "small.yaml"
    recipe.write_text(yaml.safe_dump(tiny), "utf-8")
    made, text = tokens_of(str(recipe)), tokens_of(str(corpus))
    made.save(tmp_path / "kept")
    kept = tokens_of(str(tmp_path / "kept"))
    assert kept.encode("the cat").tolist() == made.encode("the cat").tolist() == text.encode("the cat").tolist()
    settings = ["tokens=words", "tokens.normalise=steps", "tokens.normalise.punctuation=strip"]
    assert "tokens       the|cat\n" in call("tokens", corpus, "the cat!", *settings).out
    assert "tokens       the|cat|.\n" in call("tokens", recipe, "the cat.", "tokens=words").out


def test_mistakes_are_one_line(call: Commands, words: Path, corpus: Path) -> None:
    assert "settings cannot change it" in call.refused("tokens", words, "x", "tokens=bytes")
    assert "is no file, folder or known" in call.refused("tokens", "nowhere.txt", "x")
    assert "tokens.normalise.lowercase='yes'; allowed: true or false" in call.refused(
        "tokens", corpus, "x", "tokens.normalise.lowercase=yes"
    )


@pytest.mark.parametrize("name", ["config.json", "recipe.yaml"])
def test_a_run_without_its_tokeniser_is_no_text(call: Commands, words: Path, name: str) -> None:
    (words / name).write_text("{}", "utf-8")
    (words / "text.json").unlink()
    assert f"text.json is missing, but {name} is there; copy it back" in call.refused("tokens", words, "x")


@pytest.mark.parametrize("name", ["text.json", "tokenizer.json"])
def test_the_tokeniser_of_a_run_must_be_its_own(call: Commands, words: Path, name: str) -> None:
    write_config(words, "next", 10, "x.txt", ".")
    assert call("tokens", words, "the").code == 0
    path = words / name
    path.write_text(path.read_text("utf-8") + " ", "utf-8")
    assert f"{name} is damaged or not of this run" in call.refused("tokens", words, "the")


def test_the_only_kind_need_not_be_named(call: Commands, corpus: Path) -> None:
    called = call("tokens", corpus, "ÀB", "tokens.normalise.lowercase=true", "--json")
    assert [stage["name"] for stage in json.loads(called.out)["stages"]] == ["given", "lowercase", "tokens"]


def test_the_page_shows_what_is_printed(call: Commands, tmp_path: Path) -> None:
    page = PAGE.read_text("utf-8")
    for block in re.findall(r"^```python\n(.*?)^```", page, re.MULTILINE | re.DOTALL)[:1]:
        exec(compile(block, str(PAGE), "exec"), {})
    examples = re.findall(r"^```sh\n(foresay tokens [^\n]*)\n```\n+```text\n(.*?)^```", page, re.MULTILINE | re.DOTALL)
    assert len(examples) > 6
    for command, shown in examples:
        assert call(*shlex.split(command)[1:]).out == shown, command
