"""Lines of text in, log-probabilities out; no torch on the way."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from foresay.counts.smoothing import WittenBell
from foresay.counts.words import WordModel
from foresay.errors import UserError
from foresay.text.tokens import STOP, UNK

LINES = ["the cat sat on the mat", "the dog sat", "", "a cat <unk> the dog", "the cat sat"] * 3


def test_lines_are_scored_one_by_one() -> None:
    model = WordModel.train(LINES, 3, WittenBell())
    texts = ["the cat sat", "a zebra sat", "", "<unk>", "the </s> cat", "<s> the"]
    together = model.score(texts)
    np.testing.assert_allclose(together, [model.score([text])[0] for text in texts])
    assert model.score(["a zebra sat"]) == model.score(["a <unk> sat"]) == model.score(["a </s> sat"])
    assert together[0] > together[1] and model.score([]).tolist() == []


@given(st.lists(st.text(alphabet="ab \t\n\x0b\x1cé中\xa0\u3000\0", max_size=9), max_size=6))
def test_words_are_what_blanks_separate(lines: list[str]) -> None:
    model = WordModel.train(["a b", "é 中 ab", "aé b中"], 2)
    known = {word: number for number, word in enumerate(model.words)}
    expected = [number for line in lines for number in [*(known.get(word, UNK) for word in line.split()), STOP]]
    assert model.ids(lines).tolist() == expected


def test_perplexity_counts_the_ends() -> None:
    model = WordModel.train(LINES, 2)
    assert model.perplexity(["the cat", "sat"]) == pytest.approx(np.exp(-model.score(["the cat", "sat"]).sum() / 5))


def test_there_and_back(tmp_path: Path) -> None:
    model = WordModel.train(LINES, 3)
    model.write(tmp_path / "model.arpa.gz")
    again = WordModel.read(tmp_path / "model.arpa.gz")
    texts = ["the dog sat on a zebra", "the cat"]
    np.testing.assert_allclose(again.score(texts), model.score(texts), atol=1e-5)


def test_it_is_shown_in_a_line() -> None:
    model = WordModel.train(LINES, 2)
    assert repr(model) == str(model) == f"WordModel(order 2, 7 words, {len(model.table.grams) - 1} n-grams)"


def test_lines_may_come_one_by_one() -> None:
    model = WordModel.train(iter(LINES), 2)
    assert model.score(cast("Any", iter(LINES))).tolist() == model.score(LINES).tolist()


def test_a_smoothing_by_its_name() -> None:
    named, given = WordModel.train(LINES, 3, "witten-bell"), WordModel.train(LINES, 3, WittenBell())
    assert named.score(LINES).tolist() == given.score(LINES).tolist()


MISTAKES = {
    "smoothing": (
        lambda: WordModel.train(LINES, 2, "foo"),
        "smoothing='foo' is no smoothing; allowed: absolute, add, katz",
    ),
    "a string": (lambda: WordModel.train("a b\nc"), r"'a b\\nc' is one string; allowed: a list of lines"),
    "a string scored": (lambda: WordModel.train(LINES, 2).score("the cat"), "'the cat' is one string"),
    "None": (lambda: WordModel.train(cast("Any", None)), "'None' is no list of lines; allowed: lines of text"),
    "a number": (lambda: WordModel.train(cast("Any", 5)), "'5' is no list of lines"),
    "a path": (lambda: WordModel.train(cast("Any", Path("my.txt"))), r"'my\.txt' is no list of lines"),
    "bytes": (lambda: WordModel.train(cast("Any", [b"a"])), "^b'a' is no line but bytes; allowed: strings: decode it"),
    "numbers": (lambda: WordModel.train(cast("Any", ["a", 1])), "^1 is no line but int; allowed: strings: give lines"),
    "cut": (lambda: WordModel.train(LINES, 2, cut=cast("Any", 5)), "cut=5; allowed: "),
    "prune": (lambda: WordModel.train(LINES, 2, prune=cast("Any", "a")), "prune='?a'?; allowed: "),
    "limit": (lambda: WordModel.train(LINES, 2, limit=0), "limit=0; allowed: "),
    "None scored": (lambda: WordModel.train(LINES, 2).score(cast("Any", [None])), "^None is no line but NoneType"),
    "bytes scored": (lambda: WordModel.train(LINES, 2).score(cast("Any", ["a", b"a"])), "^b'a' is no line but bytes"),
    "nothing scored": (lambda: WordModel.train(LINES, 2).score(cast("Any", None)), "'None' is no list of lines"),
    "no ids": (lambda: WordModel.train(LINES, 2).ids(cast("Any", 7)), "'7' is no list of lines"),
    "a string's ids": (lambda: WordModel.train(LINES, 2).ids("the cat"), "'the cat' is one string"),
    "no perplexity": (lambda: WordModel.train(LINES, 2).perplexity(cast("Any", 7)), "'7' is no list of lines"),
    "a name": (
        lambda: WordModel.train(LINES, 2).write("x.foo"),
        r"^x\.foo: a model is written as an ARPA file; allowed: a name \*\.arpa, \*\.lm, \*\.arpa\.gz, \*\.lm\.gz$",
    ),
    "a folder": (lambda: WordModel.train(LINES, 2).write("."), r"^\. is a folder; arpa is one file: give model\.arpa$"),
    "order": (lambda: WordModel.train(LINES, 0), "order=0; allowed: an integer > 0"),
    "nothing": (lambda: WordModel.train([]), "the text is empty; give one line or more"),
    "perplexity": (lambda: WordModel.train(LINES, 2).perplexity([]), "no lines have no perplexity; give one or more"),
}


@pytest.mark.parametrize(("call", "said"), MISTAKES.values(), ids=MISTAKES)
def test_mistakes(call: Callable[[], object], said: str) -> None:
    with pytest.raises(UserError, match=said) as raised:
        call()
    assert "\n" not in str(raised.value)


def test_torch_stays_out() -> None:
    code = """
import sys
from foresay.counts.words import WordModel
from foresay.text.tokens import STOP, UNK
WordModel.train(["a b", "b a"], 2)
sys.exit("torch" in sys.modules)
"""
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
