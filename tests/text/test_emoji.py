"""What is an emoji and what is not."""

import pytest

from foresay.text.emoji import strip_emoji


@pytest.mark.parametrize(
    "emoji",
    [
        "😀",
        "❤️",
        "❤",
        "👨‍👩‍👧‍👦",
        "👩🏽‍🚀",
        "🏳️‍🌈",
        "🇬🇧",
        "🇬🇧🇫🇷",
        "🏴\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f",
        "👍🏿",
        "1️⃣",
        "#⃣",
        "©️",
        "ℹ️",
        "™️",
        "🙂‍↔️",
        "☕☕",
        "\ufe0f",
        "\U0001f3fd",
        "✂️",
        "⭐",
        "🫨",
    ],
    ids=ascii,
)
def test_emoji_go_and_leave_a_blank_only_between_words(emoji):
    assert strip_emoji(f"a{emoji}b") == "a b"
    assert strip_emoji(f"a {emoji}b {emoji}\n{emoji}c") == "a b \nc"
    assert strip_emoji(emoji) == ""


@pytest.mark.parametrize(
    "text", ["©", "™ ®", "1 # *", "中文。", "→ ↔", "a\u200db", "क्\u200dष", "½", "♯", "a\ud800", "☆", ""]
)
def test_what_is_none_stays(text):
    assert strip_emoji(text) == text


def test_runs_leave_one_blank():
    assert strip_emoji("good😀👍🏽❤️day, 中😀文") == "good day, 中 文"


def test_a_run_of_joiners_goes_with_the_emoji_before_it():
    assert strip_emoji("\u200d\u200da😀\u200d\u200d\u200db\u200d\u200d😀") == "\u200d\u200da b\u200d\u200d"
    assert strip_emoji("a😀" + "\u200d" * 1_000_000 + "b") == "a b"  # not by a pass over the text for each
