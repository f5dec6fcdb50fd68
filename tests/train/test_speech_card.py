"""The card of a run on recordings: its figures, what it is used with."""

from __future__ import annotations

from pathlib import Path

from foresay import recipe as recipes
from foresay.train.heard import figures
from foresay.train.speech_card import measured_speech, use_of_speech


def test_figures_stand_in_the_table() -> None:
    told = measured_speech(figures([[5, 6]] * 4, [[5, 6]] * 3 + [[5]], nats=4.0, of=9).as_dict())
    assert "on 4 of 9 validation recordings" in told and "| symbol error rate | 12.50 % (" in told
    assert "| texts that are right | 75.00 % (" in told and "| loss, nats per symbol | 0.5000 |" in told


def test_each_task_has_its_use() -> None:
    words, yes = (recipes.complete(recipes.read(name)) for name in ("speech-tones", "keyword-tones"))
    told = use_of_speech(Path("a b"), " --trust", words)
    assert "foresay predict 'a b' a.wav --trust\nforesay look 'a b' --sound a.wav --trust\nforesay eval" in told
    assert 'foresay.load("a b", trust=True)' in told and "run.recognise" in told
    told = use_of_speech(Path("runs/x"), "", yes)
    assert "look" not in told and 'run.predict(["a.wav"])' in told
