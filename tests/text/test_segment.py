"""Chinese words by jieba: by value, its own words, nothing left behind."""

import tempfile
from pathlib import Path

import pytest

from foresay import parts
from foresay.errors import UserError
from foresay.text.segment import Jieba
from foresay.text.words import Words


def split(text, **settings):
    tokens = Words(segment=Jieba(**settings))
    tokens.learn([text])
    return tokens.pieces(tokens.encode(text))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("中关村北大街", "中关村 北大街"),
        ("我来到北京清华大学", "我 来到 北京 清华大学"),
        ("我在北大,don't 3.14!", "我 在 北大 , don't 3.14 !"),
        ("唱卡拉OK穿T恤", "唱 卡拉OK 穿 T恤"),
        ("A 11-year-old boy", "A 11 - year - old boy"),
        ("一个11-year-old男孩", "一个 11 - year - old 男孩"),
        ("中文ひらがな<unk>", "中文 ひ ら が な <unk>"),
        ("我爱👨‍👩‍👧你", "我 爱 👨 \u200d 👩 \u200d 👧 你"),
        ("", ""),
    ],
)
def test_chinese_words_stay_whole_and_all_else_is_split_by_the_pattern(text, words):
    assert split(text, dictionary=["卡拉OK"]) == words.split()


def test_without_a_segmenter_one_character_is_one_word():
    tokens = Words()
    tokens.learn(["中关村北大街"])
    assert tokens.pieces(tokens.encode("中关村北大街")) == list("中关村北大街")


def test_hmm_guesses_words_that_no_dictionary_has():
    assert split("他来到了网易杭研大厦") == ["他", "来到", "了", "网易", "杭研", "大厦"]
    assert split("他来到了网易杭研大厦", hmm=False) == ["他", "来到", "了", "网易", "杭", "研", "大厦"]


def test_a_dictionary_of_ones_own_is_kept_by_its_lines(tmp_path: Path):
    path = tmp_path / "mine.txt"
    path.write_text("\ufeff创新办 30\n\n 云计算 n\n", "utf-8")
    assert split("李小福是创新办主任") == ["李小福", "是", "创新", "办", "主任"]
    part = Jieba(dictionary=str(path))
    path.unlink()
    assert parts.describe(part) == {"kind": "jieba", "hmm": True, "dictionary": ["创新办 30", "云计算 n"]}
    tokens = Words(segment=parts.anew(part))
    tokens.learn(["李小福是创新办主任"])
    assert tokens.pieces(tokens.encode("李小福是创新办主任")) == ["李小福", "是", "创新办", "主任"]
    assert split("李小福是创新办主任") == ["李小福", "是", "创新", "办", "主任"]  # others do not get its words


@pytest.mark.parametrize(
    ("dictionary", "message"),
    [
        ("nowhere.txt", r"dictionary='nowhere.txt' cannot be read .*; give a UTF-8 file of words, one a line"),
        (["中", "云计算 0"], r"line 2 of the dictionary is '云计算 0'; allowed: a word, or a word and its count > 0"),
        (["中", "云计算 " + "9" * 5000], r"line 2 of the dictionary is '云计算 9{36}'\.\.\.; allowed: .* 12 digits"),
        (["中", "new york"], r"line 2 of the dictionary is 'new york'; allowed: a word with a Chinese character"),
        (["一 二 三"], r"line 1 of the dictionary is '一 二 三'"),
        ([5], r"segment jieba: dictionary=\[5\]; allowed: a list, each text, or text or null"),
    ],
)
def test_bad_dictionaries(dictionary, message):
    with pytest.raises(UserError, match=message) as caught:
        Jieba(dictionary=dictionary)
    assert "\n" not in str(caught.value)


def test_a_part_of_speech_may_stand_behind_as_in_jiebas_own_files():
    assert Jieba(dictionary=["卡拉OK n", "云计算 30 n"]).words == [("卡拉OK", None), ("云计算", 30)]


def test_blank_lines_of_a_file_are_counted(tmp_path: Path):
    path = tmp_path / "mine.txt"
    path.write_text("云计算\n\n\nnew\n", "utf-8")
    with pytest.raises(UserError, match=r"line 4 of the dictionary is 'new'"):
        Jieba(dictionary=str(path))


def test_nothing_is_logged_and_no_cache_is_written(tmp_path: Path, monkeypatch, capfd):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    assert split("中关村", dictionary=["中关"]) == ["中关村"]
    assert capfd.readouterr() == ("", "") and list(tmp_path.iterdir()) == []
