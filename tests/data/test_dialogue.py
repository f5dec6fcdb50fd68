"""Talk: pairs of a play and of lines by hand; runs are held out together; what is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from foresay import parts
from foresay.data.dialogue import RUN, answered
from foresay.data.pairs import PairReading, Pairs
from foresay.data.prepare import prepare
from foresay.errors import UserError

PLAY = """First Citizen:
Speak to us.
Is it so?

All:
Thus, they said:
no.

First Citizen:

Second:
Away!

Still away!
"""


def test_a_play_by_hand() -> None:
    found = list(answered(PLAY.split("\n"), "play", "play.txt"))
    assert found == [
        (5, "Speak to us. Is it so?", "Thus, they said: no."),
        (11, "Thus, they said: no.", "Away! Still away!"),
    ]


def test_lines_answer_each_other_until_a_blank_one() -> None:
    assert list(answered(["a", " b ", "", "", "c", "d", "e"], "lines", "x")) == [
        (2, "a", "b"),
        (6, "c", "d"),
        (7, "d", "e"),
    ]


def test_a_play_without_names() -> None:
    with pytest.raises(UserError, match=r"x: line 2 is said by nobody; a play has NAME: .*data.format=lines"):
        list(answered(["", "hello", "you"], "play", "x"))


def test_files_and_known_texts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    Path("play.txt").write_text(PLAY, "utf-8")
    play = PairReading(format="play")
    wanted = [(5, "Speak to us. Is it so?", "Thus, they said: no."), (11, "Thus, they said: no.", "Away! Still away!")]
    assert list(Pairs("play.txt", read=play).find(1)["train"]) == wanted
    monkeypatch.delenv("FORESAY_DATA", raising=False)
    with pytest.raises(UserError, match=r"FORESAY_DATA is not set; get .* and set it, or give a file"):
        Pairs("tinyshakespeare", read=play).find(1)
    monkeypatch.setenv("FORESAY_DATA", str(tmp_path / "data"))
    (tmp_path / "data" / "tinyshakespeare").mkdir(parents=True)
    (tmp_path / "data" / "tinyshakespeare" / "input.txt").write_text(PLAY, "utf-8")
    found = Pairs("tinyshakespeare", read=play).find(1)
    assert set(found) == {"train"} and list(found["train"]) == wanted
    with pytest.raises(UserError, match=r"data.format=play; allowed: one file"):
        Pairs(["play.txt", "play.txt"], read=play).find(1)
    with pytest.raises(UserError, match=r"play.txt is one file of lines.*data.format=play or lines"):
        Pairs("play.txt").find(1)


def test_runs_are_held_out_together() -> None:
    total = 5000  # more than one block
    Path("talk.txt").write_text("".join(f"line {n}\n" for n in range(total + 1)), "utf-8")
    corpus = Pairs("talk.txt", share=0.2, read=PairReading(format="lines"))
    found = {name: [line - 2 for line, _, _ in corpus.rows(name, 3)] for name in ("train", "valid")}  # pairs from 0
    assert sorted(found["train"] + found["valid"]) == list(range(total))
    assert {n // RUN for n in found["train"]}.isdisjoint(n // RUN for n in found["valid"])
    assert 0.1 < len(found["valid"]) / total < 0.3
    prepared = prepare(corpus, parts.make("tokens", "characters"), 3)
    assert prepared.valid is not None and prepared.valid.documents == len(found["valid"])
