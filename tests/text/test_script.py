"""What a text is written in."""

from foresay.text.script import detect


def test_shares_by_hand():
    facts = detect("ab 中1\n\nカ b\n")
    assert facts.characters == 11
    assert (facts.han, facts.kana, facts.letters, facts.digits) == (1 / 6, 1 / 6, 5 / 6, 1 / 6)
    assert facts.blanks == 2 / 11
    assert facts.line == 4


def test_spaced():
    assert detect("Plain English words stand apart.").spaced
    assert not detect("中文不用空格分词。").spaced
    assert not detect("").spaced
