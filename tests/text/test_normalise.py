"""The steps of the normaliser: by value, and the two laws that hold for all texts."""

import itertools
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foresay import parts
from foresay.errors import UserError
from foresay.text.normalise import Normalise

CHOICES = {
    "unicode": [None, "NFC", "NFKC", "NFD", "NFKD"],
    "lowercase": [False, True],
    "accents": ["keep", "strip"],
    "emoji": ["keep", "strip"],
    "punctuation": ["keep", "strip"],
    "digits": ["keep", "mask", "apart", "spell"],
    "blanks": ["keep", "collapse"],
}
ALL = {"lowercase": True, "accents": "strip", "emoji": "strip", "punctuation": "strip", "blanks": "collapse"}
STEPS = [{name: value} for name, values in CHOICES.items() for value in values[1:]]
# Characters that compose, change case, dress emoji, stand for nothing or for several others.
HARD = st.text(
    st.one_of(
        st.characters(),
        st.sampled_from(
            "aeTΣσİKÅﬁⅣ½²٣1 \n\r\t\u00a0\u3000\x1c\x85!'’-_<unk>$€=≠\u0338\u0301\u0308\u0345\u0307"
            "\u200d\ufe0f\ufe0e\u20e3😀👍🏽🇬🇧❤©ℹ中が가가\u0e33\u0f71\U000e0067\ud800"
        ),
    ),
    max_size=40,
)
SETTINGS = st.fixed_dictionaries({name: st.sampled_from(values) for name, values in CHOICES.items()})


@pytest.mark.parametrize("settings", STEPS, ids=str)
@given(a=HARD, b=HARD)
def test_every_step_looks_at_one_line_at_a_time_and_has_nothing_left_to_do(settings, a, b):
    normalise = Normalise(**settings)
    assert normalise(a + "\n" + b) == normalise(a + "\n") + normalise(b)
    assert normalise(normalise(a)) == normalise(a)


@given(settings=SETTINGS, a=HARD, b=HARD)
def test_so_do_all_steps_together(settings, a, b):
    normalise = Normalise(**settings)
    assert normalise(a + "\n" + b) == normalise(a + "\n") + normalise(b)
    assert normalise(normalise(a)) == normalise(a)


@given(settings=SETTINGS, texts=st.lists(HARD, max_size=4))
def test_many_texts_at_once_are_each_alone(settings, texts):
    normalise = Normalise(**settings)
    assert normalise.many(texts) == [normalise(text) for text in texts]


@pytest.mark.parametrize("form", [None, "NFKC"])
def test_once_is_enough_for_every_character_there_is(form):
    """Each between letters, digits and marks, on a line of its own; of Chinese and Korean ones, one in a hundred."""
    codes = [code for code in range(0x110000) if unicodedata.category(chr(code)) not in ("Cn", "Co", "Cs")]
    many = ("CJK UNIFIED", "HANGUL SYLLABLE", "TANGUT", "EGYPTIAN", "CUNEIFORM", "NUSHU", "BAMUM", "YI ", "KHITAN")
    every = [chr(c) for c in codes if c % 100 == 0 or not unicodedata.name(chr(c), "").startswith(many)]
    text = "\n".join(f"a{c}T\u03081{c}\u0301!{c}" for c in every if c != "\n")
    normalise = Normalise(unicode=form, digits="spell", **ALL)
    once = normalise(text)
    assert len(every) > 30_000 and once.count("\n") == text.count("\n")
    assert normalise(once) == once


@pytest.mark.parametrize(
    ("settings", "given", "expected"),
    [
        ({"unicode": "NFC"}, "cafe\u0301 ﬁ", "café ﬁ"),
        ({"unicode": "NFKC"}, "ﬁ ２① Ａ", "fi 21 A"),
        ({"unicode": "NFD"}, "é", "e\u0301"),
        ({"lowercase": True}, "The ΣΑΣ İ <UNK>", "the σας i\u0307 <unk>"),
        ({"accents": "strip"}, "Ça naïve café Ünï ёй ά", "Ca naive cafe Uni еи α"),
        ({"accents": "strip"}, "が ≠ हिन्दी ไทย ø ł 한", "が ≠ हिन्दी ไทย ø ł 한"),
        ({"accents": "strip"}, "e\u0301 한", "e 한"),
        ({"accents": "strip", "unicode": "NFD"}, "é が", "e か\u3099"),
        ({"digits": "mask"}, "12345*54321=670592745 ٣", "00000*00000=000000000 0"),
        ({"digits": "apart"}, "A 11-year-old, x86", "A 1 1 -year-old, x 8 6"),
        ({"digits": "spell"}, "in 2026, B2B ٣", "in two zero two six , B two B three"),
        ({"blanks": "collapse"}, "  a \t b\u3000\u00a0c \r\n\n  d ", "a b c\n\nd"),
        ({"emoji": "strip"}, "I ❤️ you", "I  you"),
        ({"punctuation": "strip"}, "well-known (yes)!", "well known yes"),
        (ALL, "Don’t PANIC -- café ☕!\n  ok", "dont panic cafe\nok"),
        (ALL | {"digits": "spell"}, "An 11-year-old 👦🏽 ate ½ of 3.14", "an one one year old ate ½ of three one four"),
        (ALL | {"unicode": "NFKC", "digits": "spell"}, "½ №7", "one two no seven"),
        (ALL, "我爱中文😀,真的!", "我爱中文 真的"),
        ({}, " Kept  as it\tis! ", " Kept  as it\tis! "),
    ],
)
def test_values(settings, given, expected):
    assert Normalise(**settings)(given) == expected


def test_unicode_forms_are_pythons():
    text = "ﬁ Å e\u0301 가 ２\n" * 2
    for form in CHOICES["unicode"][1:]:
        assert Normalise(unicode=form)(text) == unicodedata.normalize(form, text)


def test_steps_that_change_nothing_are_not_shown():
    normalise = Normalise(unicode="NFC", digits="mask", **ALL)
    assert list(normalise.shown("Ab 1!")) == [("lowercase", "ab 1!"), ("punctuation", "ab 1"), ("digits", "ab 0")]
    assert list(normalise.shown("ab")) == []


def test_the_order_is_the_same_in_every_recipe():
    names = [name for name, _ in Normalise(unicode="NFC", digits="mask", **ALL).steps]
    assert names == ["emoji", "unicode", "lowercase", "accents", "punctuation", "digits", "blanks"]
    backwards = dict(itertools.islice(reversed(ALL.items()), 5))
    assert [name for name, _ in Normalise(**backwards).steps] == [n for n, _ in Normalise(**ALL).steps]


def test_a_wrong_step_says_what_is_allowed():
    with pytest.raises(UserError, match=r"tokens.normalise.digits='hide'; allowed: one of keep, mask, apart, spell"):
        parts.make("tokens", {"kind": "words", "normalise": {"kind": "steps", "digits": "hide"}})
    with pytest.raises(UserError, match=r"lower is no setting of normalise steps.*did you mean 'lowercase'"):
        parts.make("tokens", {"kind": "bytes", "normalise": {"kind": "steps", "lower": True}})
