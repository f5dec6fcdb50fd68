"""What a text is written in."""

import pytest

from foresay.text.script import detect
from foresay.train.choose import choose


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


@pytest.mark.parametrize(
    ("sample", "kind"),
    [
        ("むかしむかし、おじいさんとおばあさんがありました。\n", "characters"),
        ("コンピューターのプログラムを書く。\n", "characters"),
        ("ｺﾝﾋﾟｭｰﾀｰ ﾌﾟﾛｸﾞﾗﾑ\n", "characters"),
        ("今天 weather 很好，我们去 park 玩吧。\n", "characters"),
        ("今天好开心😀😀😀👍🏽👍🏽❤️❤️🎉🎉，出去玩🎉\n", "characters"),
        ("So happy today 😀😀😀👍🏽👍🏽❤️❤️🎉🎉 see you there 🎉\n", "subwords"),
        ("The paper by 王小明 on neural networks was read by everybody here.\n", "subwords"),
        ("오늘은 날씨가 좋아서 밖에 나가서 놀았다.\n", "subwords"),
    ],
)
def test_what_is_chosen_for_a_script(sample, kind):
    """For much text; for little, it is characters always."""
    chosen = choose("my.txt", sample * 50, 20_000_000, "cpu", 10.0)
    assert chosen.recipe["tokens"]["kind"] == kind
