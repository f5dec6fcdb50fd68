"""The chain from text to ids, step by step; the hard cases."""

import pytest

from foresay import parts
from foresay.text.normalise import Normalise
from foresay.text.tokens import Normalised, Stage, repeatable

HARD = [
    ("A 11-year-old boy", "A 11 - year - old boy"),
    ("12345*54321=670592745", "12345 * 54321 = 670592745"),
    ("pneumonoultramicroscopicsilicovolcanoconiosis", "pneumonoultramicroscopicsilicovolcanoconiosis"),
    ("我爱 Python3 编程", "我 爱 Python 3 编 程"),
    ("中文English混排, ok?", "中 文 English 混 排 , ok ?"),
    ("👨‍👩‍👧‍👦 👍🏽", "👨 \u200d 👩 \u200d 👧 \u200d 👦 👍 🏽"),
]


@pytest.mark.parametrize(("text", "words"), HARD)
@pytest.mark.parametrize("kind", sorted(set(parts.names("tokens")) - {"levels", "numbers"}))
def test_hard_cases_come_back(kind, text, words):
    tokens = parts.make("tokens", kind)
    tokens.learn([(text + "\n") * 3])
    found = tokens.decode(tokens.encode(text))
    assert found == text if tokens.keeps_text else found.replace(" ", "") == text.replace(" ", "")
    if kind == "words":
        assert tokens.pieces(tokens.encode(text)) == words.split(" ")
    if kind == "characters":
        assert tokens.pieces(tokens.encode(text)) == list(text)
    if kind == "blanks":
        assert tokens.pieces(tokens.encode(text)) == text.split(" ")


def test_stages_show_what_each_step_does():
    normalise = {"kind": "steps", "unicode": "NFKC", "lowercase": True, "emoji": "strip"}
    phrases = {"kind": "count", "threshold": 1.5, "min_count": 1}
    tokens = parts.make(
        "tokens", {"kind": "words", "normalise": normalise, "segment": "jieba", "stem": "lemmas", "phrases": phrases}
    )
    tokens.learn(["he has new york 中关村北大街\nnew york has apple\napple\n" * 3])
    assert tokens.stages("He HAS\n😀 apples in New York: 中关村北大街") == [
        Stage("given", ["He HAS\n😀 apples in New York: 中关村北大街"]),
        Stage("emoji", ["He HAS\n apples in New York: 中关村北大街"]),
        Stage("lowercase", ["he has\n apples in new york: 中关村北大街"]),
        Stage("segmented", ["he", "has", "apples", "in", "new", "york", ":", "中关村", "北大街"]),
        Stage("stemmed", ["he", "have", "apple", "in", "new", "york", ":", "中关村", "北大街"]),
        Stage("phrases", ["he_have", "apple", "in", "new_york", ":", "中关村_北大街"]),
        Stage("tokens", ["he_have", "apple", "<unk>", "new_york", "<unk>", "中关村_北大街"]),
    ]
    plain = parts.make("tokens", "bytes")
    assert plain.stages("aé") == [Stage("given", ["aé"]), Stage("tokens", ["a", "<0xC3>", "<0xA9>"])]


def test_a_stream_that_runs_once_is_held_and_others_are_not():
    once, often = (text for text in ("A", "B")), ["A", "B"]
    held = repeatable(once)
    assert list(held) == list(held) == ["A", "B"]
    assert repeatable(often) is often
    cleaned = Normalised(often, Normalise(lowercase=True))
    assert repeatable(cleaned) is cleaned and list(cleaned) == list(cleaned) == ["a", "b"]
    run_out = repeatable(Normalised(iter(often), Normalise(lowercase=True)))
    assert list(run_out) == list(run_out) == ["a", "b"]


def test_no_texts_give_no_ids():
    for kind in parts.names("tokens"):
        assert parts.make("tokens", kind).encode_many([]) == []
    assert parts.make("tokens", {"kind": "words", "phrases": "count"}).encode_many([]) == []
