"""Texts as they grow: the pieces together are the text that `generate` gives, with every tokeniser."""

from __future__ import annotations

import functools
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foresay import parts
from foresay.decode.asked import Asked
from foresay.decode.generate import Writing
from foresay.decode.sample import Greedy
from foresay.run import Run
from foresay.serve.growing import Growing, text_of

TEXT = 'the cat, "a dog" (small) said: it\'s 12.5 km.\n 中文 naïve 🙂 x_y\n\n ' * 6
TOKENS = ["characters", "bytes", "words", "blanks", "subwords", "unigram"]
PROMPTS = ["", "the cat ", "the\n", "a 🙂", "(", "unheard", "中"]


@functools.cache
def run_of(kind: str) -> Any:
    """What of a run knows how to join texts."""
    tokens = parts.make("tokens", {"kind": kind, "size": 300} if kind in ("subwords", "unigram") else kind)
    tokens.learn([TEXT])
    return SimpleNamespace(tokens=tokens, joined=lambda *given: Run.joined(SimpleNamespace(tokens=tokens), *given))


def asked(run: Any, prompt: str, stops: list[str]) -> Asked:
    return Asked(prompt, run.tokens.encode(prompt).tolist(), 1, Greedy(), Writing(9), stops)


@pytest.mark.parametrize("kind", TOKENS)
@given(data=st.data())
def test_the_pieces_are_the_text(kind: str, data: st.DataObject) -> None:
    run = run_of(kind)
    one = asked(run, data.draw(st.sampled_from(PROMPTS)), data.draw(st.sampled_from([[], ["at, "], ["t\n", "🙂"]])))
    row = data.draw(st.lists(st.integers(5, len(run.tokens) - 1), max_size=12))
    whole = run.joined(one.prompt, one.ids, row, one.stops)
    for echo in (True, False):
        growing = Growing(run, one, echo=echo)
        pieces, so_far = [], ""
        for id in row:
            pieces.append(growing.add(id))
            so_far += pieces[-1]
        assert so_far + growing.rest() == text_of(run, one, row, echo=echo)
        assert "\ufffd" not in "".join(pieces) or "\ufffd" in whole
    assert text_of(run, one, row, echo=True) == whole
    if whole.startswith(one.prompt):
        assert one.prompt + text_of(run, one, row, echo=False) == whole


def test_half_a_character_and_half_a_stop_wait() -> None:
    run = run_of("bytes")
    growing = Growing(run, asked(run, "", ["end"]))
    ids = [byte + 5 for byte in "a中 en".encode()]
    assert [growing.add(id) for id in ids] == ["a", "", "", "中", " ", "", ""]
    assert growing.add(ord("x") + 5) == "enx"
    assert [growing.add(ord(letter) + 5) for letter in "end"] == ["", "", ""] and growing.rest() == ""


def test_a_blank_that_gave_way() -> None:
    """The prompt ends with a newline, what follows begins with a blank: the written one is kept."""
    run = run_of("characters")
    one = asked(run, "the\n", [])
    row = run.tokens.encode(" cat").tolist()
    assert text_of(run, one, row, echo=True) == "the cat" and text_of(run, one, row, echo=False) == " cat"
