"""Dates and numbers in words, against values written by hand and, of numbers, against a reader of its own."""

from __future__ import annotations

import datetime
import re

import pytest

from foresay.data import dates as made
from foresay.data.dates import dates, number, ordinal, ordinal_words, year_words

SMALL = "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen"
VALUES = {word: n for n, word in enumerate(f"{SMALL} seventeen eighteen nineteen".split())}
TENS = ["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"]
VALUES |= {word: 10 * n for n, word in enumerate(TENS, 2)}


def value(text: str) -> int:
    """What a number in words says, read from left to right."""
    total = part = 0
    for word in text.replace("-", " ").split():
        if word == "thousand":
            total, part = 1000 * part, 0
        elif word == "hundred":
            part *= 100
        elif word != "and":
            part += VALUES[word]
    return total + part


def test_numbers_in_words() -> None:
    assert number(1205) == "one thousand two hundred and five" and number(1007) == "one thousand and seven"
    assert number(40) == "forty" and number(600) == "six hundred" and number(0) == "zero"
    assert [value(number(n)) for n in range(made.NUMBERS)] == list(range(made.NUMBERS))


@pytest.mark.parametrize(
    ("n", "words"),
    [(1998, "nineteen ninety-eight"), (1805, "eighteen oh five"), (1900, "nineteen hundred"),
     (2007, "two thousand and seven"), (2000, "two thousand"), (2010, "twenty ten")],
)  # fmt: skip
def test_years_in_words(n: int, words: str) -> None:
    assert year_words(n) == words


def test_ordinals() -> None:
    wanted = "1st 2nd 3rd 4th 10th 11th 12th 13th 20th 21st 22nd 23rd 30th 31st"
    assert " ".join(ordinal(n) for n in (1, 2, 3, 4, 10, 11, 12, 13, 20, 21, 22, 23, 30, 31)) == wanted
    days = "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth fourteenth"
    days += " fifteenth sixteenth seventeenth eighteenth nineteenth twentieth twenty-first twenty-second twenty-third"
    assert [ordinal_words(n) for n in range(1, 24)] == days.split()
    assert (ordinal_words(30), ordinal_words(31)) == ("thirtieth", "thirty-first")


def test_every_form_says_its_day() -> None:
    day = datetime.date(1998, 3, 3)
    found = {form(day, "march", "tuesday") for form in made._FORMS}
    assert {
        "3rd of march 1998", "mar. 03, 1998", "3.3.1998", "1998/03/03", "tue mar 3 1998",
        "the third of march, nineteen ninety-eight",
    } < found  # fmt: skip
    assert len(found) == len(made._FORMS)
    assert all(re.search(r"mar|3\.|/03/", one) and re.search("1998|ninety-eight", one) for one in found)


def test_weekdays_and_numbers_are_right() -> None:
    pairs = dates(3)["valid"]
    named = 0
    for source, target in pairs:
        if "-" in target:
            day = datetime.date.fromisoformat(target)
            here = re.search(r"\b(mon|tue|wed|thu|fri|sat|sun)", source)
            named += here is not None
            assert here is None or here[1] == day.strftime("%a").lower()
        elif source.replace(",", "").isdigit():
            assert source.replace(",", "") == target
        else:
            thousands, _, rest = source.partition(" thousand")
            mixed = thousands.isdigit()
            assert (1000 * int(thousands) + int(rest or 0) if mixed else value(source)) == int(target)
    assert named > 50 and 0.2 < sum("-" not in target for _, target in pairs) / len(pairs) < 0.3


def test_held_out_days_and_numbers_stand_in_no_training_pair() -> None:
    found = dates(3)
    assert {name: len(pairs) for name, pairs in found.items()} == made.SIZES
    own = {name: {target for _, target in pairs} for name, pairs in found.items()}
    assert not own["train"] & (own["valid"] | own["test"]) and not own["valid"] & own["test"]
