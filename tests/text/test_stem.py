"""Stems and lemmas: by value."""

import threading

import pytest

from foresay.errors import UserError
from foresay.text.blanks import Blanks
from foresay.text.stem import Lemmas, Snowball
from foresay.text.words import Words

for library in ("simplemma", "snowballstemmer"):
    pytest.importorskip(library)


@pytest.mark.parametrize(
    ("stem", "words", "stems"),
    [
        (Lemmas(), "running apples has is better mice went", "run apple have be good mouse go"),
        (Snowball(), "running apples has is happiness eating", "run appl has is happi eat"),
        (Snowball("german"), "häuser laufen", "haus lauf"),
        (Lemmas("de"), "Häuser läuft häuser", "Haus laufen haus"),
        (Lemmas(), "York york", "York york"),
        (Snowball("hindi"), "लड़कियों", "लड़क"),
        (Snowball("dutch_porter"), "lichamelijk", "licham"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_values(stem, words, stems):
    assert [stem(word) for word in words.split()] == stems.split()


@pytest.mark.parametrize("stem", [Lemmas(), Snowball()], ids=lambda stem: stem.part_name)
@pytest.mark.parametrize("word", ["<unk>", "3.14", "1,000", "-", "中", "。", "_", "😀"])
def test_what_has_no_stem_stays(stem, word):
    assert stem(word) == word


def test_one_word_stays_one_word():
    class Odd(Lemmas):
        def _stem(self, word):
            return {"nothing": "", "two": "t wo"}[word]

    assert [Odd()(word) for word in ("nothing", "two")] == ["nothing", "two"]


@pytest.mark.parametrize("tokens", [Words(stem="lemmas"), Blanks(stem=Lemmas())], ids=lambda tokens: tokens.part_name)
def test_stems_are_counted_and_encoded(tokens):
    tokens.learn(["he has an apple and she had two apples"])
    assert tokens.pieces(tokens.encode("having apples")) == ["have", "apple"]
    assert "apples" not in tokens.words and "has" not in tokens.words


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (
            lambda: Snowball("englisch"),
            r"stem snowball: language='englisch'; allowed: arabic, .*; did you mean 'english'",
        ),
        (lambda: Snowball("base"), r"language='base'; allowed"),
        (lambda: Snowball("en"), r"language='en'; allowed: .*; did you mean 'english'\?"),
        (lambda: Snowball("sr"), r"language='sr'; allowed: .*; did you mean 'serbian'\?"),
        (lambda: Lemmas("english"), r"stem lemmas: language='english'; allowed: .*; did you mean 'en'\?"),
        (lambda: Lemmas("German"), r"language='German'; allowed: .*; did you mean 'de'\?"),
    ],
)
def test_an_unknown_language_names_those_there_are(make, message):
    with pytest.raises(UserError, match=message) as caught:
        make()
    assert "\n" not in str(caught.value)


def test_memory_is_bounded_and_threads_do_not_meet(monkeypatch):
    monkeypatch.setattr("foresay.text.stem.REMEMBERED", 10)
    stem = Snowball()
    found: list[list[str]] = []
    words = [f"{'a' * (i % 50 + 1)}nesses" for i in range(500)]
    threads = [threading.Thread(target=lambda: found.append([stem(word) for word in words])) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    fresh = Snowball()
    assert len(found) == 4 and all(one == [fresh(word) for word in words] for one in found)
    assert stem._remembered.cache_info().currsize <= 10
