"""Dates and numbers in many written forms -> one: pairs that are made by a seed, nothing to download.

    3rd of march 1998            -> 1998-03-03
    the third of march, nineteen ninety-eight
    one thousand and seven       -> 1007

A date or number that is held out for validation or test stands in no training pair, in whatever form.
"""

from __future__ import annotations

import datetime
import functools
import random
from collections.abc import Callable

Pairs = list[tuple[str, str]]
SIZES = {"train": 24_000, "valid": 1_000, "test": 1_000}
FIRST, LAST = datetime.date(1800, 1, 1).toordinal(), datetime.date(2099, 12, 31).toordinal()
NUMBERS = 10_000
SHARE = 0.25  # of the pairs that are numbers

_MONTHS = (
    "january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november",
    "december",
)  # fmt: skip
_DAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_SMALL = (
    "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve",
    "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen",
)  # fmt: skip
_TENS = ("", "", "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
_ORDINALS = {"one": "first", "two": "second", "three": "third", "five": "fifth", "eight": "eighth", "nine": "ninth"}


def under_hundred(n: int) -> str:
    """47 -> forty-seven"""
    if n < 20:
        return _SMALL[n]
    return _TENS[n // 10] + (f"-{_SMALL[n % 10]}" if n % 10 else "")


def number(n: int) -> str:
    """1205 -> one thousand two hundred and five"""
    if n < 100:
        return under_hundred(n)
    if n < 1000:
        return f"{_SMALL[n // 100]} hundred" + (f" and {under_hundred(n % 100)}" if n % 100 else "")
    rest = n % 1000
    joint = "" if not rest else f" and {under_hundred(rest)}" if rest < 100 else f" {number(rest)}"
    return f"{_SMALL[n // 1000]} thousand{joint}"


def year_words(n: int) -> str:
    """1998 -> nineteen ninety-eight; 1805 -> eighteen oh five; 2007 -> two thousand and seven"""
    if 2000 <= n < 2010:
        return number(n)
    high, low = divmod(n, 100)
    end = "hundred" if not low else f"oh {_SMALL[low]}" if low < 10 else under_hundred(low)
    return f"{under_hundred(high)} {end}"


def ordinal(n: int) -> str:
    """3 -> 3rd"""
    ending = "th" if 10 <= n % 100 <= 20 else {1: "st", 2: "nd", 3: "rd"}.get(n % 10, "th")
    return f"{n}{ending}"


def ordinal_words(n: int) -> str:
    """23 -> twenty-third"""
    head, dash, last = under_hundred(n).rpartition("-")
    if last in _ORDINALS:
        last = _ORDINALS[last]
    else:
        last = f"{last[:-1]}ieth" if last.endswith("y") else f"{last.removesuffix('e')}th" if n == 12 else f"{last}th"
    return (head + dash + last).replace("twelvth", "twelfth")


_FORMS: tuple[Callable[[datetime.date, str, str], str], ...] = (
    lambda d, month, day: f"{ordinal(d.day)} of {month} {d.year}",
    lambda d, month, day: f"the {ordinal(d.day)} of {month}, {d.year}",
    lambda d, month, day: f"{month} {d.day}, {d.year}",
    lambda d, month, day: f"{month} {ordinal(d.day)} {d.year}",
    lambda d, month, day: f"{d.day} {month[:3]} {d.year}",
    lambda d, month, day: f"{month[:3]}. {d.day:02d}, {d.year}",
    lambda d, month, day: f"{d.day}.{d.month}.{d.year}",
    lambda d, month, day: f"{d.day:02d}.{d.month:02d}.{d.year}",
    lambda d, month, day: f"{d.year}/{d.month:02d}/{d.day:02d}",
    lambda d, month, day: f"{d.year} {month} {d.day}",
    lambda d, month, day: f"{day}, {d.day} {month} {d.year}",
    lambda d, month, day: f"{day[:3]} {month[:3]} {d.day} {d.year}",
    lambda d, month, day: f"on {day}, {month} the {ordinal(d.day)}, {d.year}",
    lambda d, month, day: f"{ordinal_words(d.day)} of {month} {d.year}",
    lambda d, month, day: f"{month} {ordinal_words(d.day)}, {year_words(d.year)}",
    lambda d, month, day: f"the {ordinal_words(d.day)} of {month}, {year_words(d.year)}",
    lambda d, month, day: f"in the year {d.year}, on {month} {d.day}",
)


@functools.lru_cache(maxsize=2)
def dates(seed: int) -> dict[str, Pairs]:
    """Train, valid and test of a seed."""
    draw = random.Random(f"dates {seed}")
    days, numbers = list(range(FIRST, LAST + 1)), list(range(NUMBERS))
    draw.shuffle(days)
    draw.shuffle(numbers)
    found: dict[str, Pairs] = {}
    for name in ("test", "valid", "train"):  # what is left is trained on
        size = SIZES[name]
        own_days, own_numbers = (days, numbers) if name == "train" else (days[:size], numbers[: size // 4])
        found[name] = [_pair(draw, own_days, own_numbers) for _ in range(size)]
        days, numbers = days[size:], numbers[size // 4 :]
    return found


def _pair(draw: random.Random, days: list[int], numbers: list[int]) -> tuple[str, str]:
    if draw.random() < SHARE:
        n = draw.choice(numbers)
        high, low = divmod(n, 1000)
        mixed = f"{high} thousand" + (f" {low}" if low else "") if high else number(n)
        return draw.choice((number(n), f"{n:,}", mixed)), str(n)
    date = datetime.date.fromordinal(draw.choice(days))
    form = draw.choice(_FORMS)
    return form(date, _MONTHS[date.month - 1], _DAYS[date.weekday()]), date.isoformat()
