"""`foresay tokens` on terminals of every kind, from pipes, with mistakes."""

from __future__ import annotations

import io
import re
import sys
from pathlib import Path

import pytest
from rich.cells import cell_len
from rich.console import Console

from foresay.study.tokens import coloured, plain, show
from foresay.text.characters import Characters
from foresay.text.saved import open_tokens
from foresay.text.words import Words
from tests.commands import Commands

ANSI = re.compile(r"\x1b\[[0-9;]*m")


@pytest.fixture
def words(tmp_path: Path) -> Path:
    tokens = Words()
    tokens.learn(["the cat sees a dog"])
    tokens.save(tmp_path / "words")
    return tmp_path / "words"


def test_bytes_that_are_no_utf8_are_refused_whatever_the_locale(
    call: Commands, words: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lenient = io.TextIOWrapper
    monkeypatch.setattr(io, "TextIOWrapper", lambda file, encoding: lenient(file, encoding, "surrogateescape"))
    assert "standard input is not UTF-8: byte 0xE9" in call.refused("tokens", words, "-", given=b"caf\xe9")
    said = call.refused("tokens", words, "-", given="\ufeffcat".encode("utf-16-le"))
    assert said == "standard input is not UTF-8: byte 0xFF; convert it, as with iconv -f utf-16 -t utf-8"
    assert call("tokens", words, "-", given=b"the\r\ncat\r\n").out.startswith("given        the⏎cat\n")


@pytest.mark.parametrize(
    ("name", "value", "colours"), [("NO_COLOR", "1", False), ("TERM", "dumb", False), ("TERM", "xterm-256color", True)]
)
def test_a_terminal_without_colours_gets_the_plain_form(
    call: Commands, words: Path, monkeypatch: pytest.MonkeyPatch, name: str, value: str, colours: bool
) -> None:
    expected = call("tokens", words, "the cat").out
    monkeypatch.setenv("TERM", "xterm")
    for unset in ("NO_COLOR", "COLORTERM", "FORCE_COLOR", "TTY_COMPATIBLE"):
        monkeypatch.delenv(unset, raising=False)
    monkeypatch.setenv(name, value)
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    found = call("tokens", words, "the cat").out
    assert ("\x1b[" in found) == colours and (found == expected) != colours


def test_control_characters_are_never_printed(words: Path) -> None:
    shown = show(open_tokens(words), "a\x1b[31m\x00\x7f\x85\x9b\u2028\u2029\r\ud800b")
    assert plain(shown).splitlines()[0] == "given        a␛[31m␀␡<U+0085><U+009B><U+2028><U+2029>␍<U+D800>b"
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028\u2029\ud800]", plain(shown) + coloured(shown).plain)


@pytest.mark.parametrize("width", [20, 31, 60])
def test_lines_of_a_terminal_end_between_tokens_and_lose_nothing(width: int) -> None:
    text = "the  cat   sees 苹果 " * 5
    tokens = Characters()
    tokens.learn([text])
    shown = show(tokens, text)
    file = io.StringIO()
    Console(file=file, width=width, force_terminal=True, color_system="256").print(
        coloured(shown, width), highlight=False
    )
    lines = ANSI.sub("", file.getvalue()).splitlines()
    assert all(cell_len(line) <= width for line in lines)
    starts = [i for i, line in enumerate(lines) if line[:1].strip()][:4]
    given, cut, ids, _ = ([line[13:] for line in lines[a:b]] for a, b in zip(starts, [*starts[1:], None], strict=True))
    assert "".join(given) == "".join(cut) == text
    assert all(re.fullmatch("( [0-9]+ )+", line) for line in ids)
    assert list(map(int, "".join(ids).split())) == shown.ids


@pytest.mark.parametrize("setting", ["tokens=words", "data.encoding=latin-1", "tokens.normalise.lowercase=true"])
def test_a_setting_in_the_place_of_the_text_is_refused(call: Commands, words: Path, setting: str) -> None:
    assert f"{setting} is a setting, and no TEXT was given; put the text before it" in call.refused(
        "tokens", words, setting
    )


def test_a_text_with_an_equals_sign_is_a_text(call: Commands, words: Path) -> None:
    assert call("tokens", words, "a=b").code == 0
    assert call("tokens", words, "tokens=the dog").code == 0
    assert call("tokens", words, "-", given=b"tokens=words").code == 0
