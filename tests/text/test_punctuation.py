"""What is punctuation and what is not."""

import string
import unicodedata

import pytest

from foresay.text.punctuation import strip_punctuation


@pytest.mark.parametrize("mark", [*string.punctuation, *"…«»„“”‘—、。《》「」！？·€£¥×÷±≠→¬´¨،؟।"])
def test_marks_go_and_leave_a_blank_only_between_words(mark):
    assert strip_punctuation(f"中{mark}1") == "中 1"
    assert strip_punctuation(f"{mark}a {mark}{mark} b{mark}") == "a  b"


def test_letters_marks_numbers_and_pictures_stay():
    """The first two planes of Unicode, against its categories."""
    every = {chr(code) for code in range(0x20000) if not chr(code).isspace()}
    kept = every & set(strip_punctuation("\n".join(every)).split("\n"))
    gone = every - kept
    assert {unicodedata.category(c) for c in gone} == {"Pc", "Pd", "Ps", "Pe", "Pi", "Pf", "Po", "Sc", "Sk", "Sm"}
    stay = {c for c in kept if unicodedata.category(c)[0] == "P" or unicodedata.category(c) in ("Sc", "Sk", "Sm")}
    assert stay == set("🏻🏼🏽🏾🏿")


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("don't rock’n’roll 'quoted' dogs'", "dont rocknroll quoted dogs"),
        ("3.14, 1,000 and 5'4", "3 14 1 000 and 5 4"),
        ("a_b/c well-known", "a b c well known"),
        ("the <unk>, (<unk>) and <x> a-<unk> <un", "the <unk> <unk> and x a <unk> un"),
        ("<<unk>> <unk><unk>", "<unk> <unk><unk>"),
        ("-- !\n?\n", " \n\n"),
        ("plain", "plain"),
    ],
)
def test_values(given, expected):
    assert strip_punctuation(given) == expected
