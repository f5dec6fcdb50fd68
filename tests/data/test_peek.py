"""A first look: a sample from all over the text, and its size, also of what is packed."""

import random

import pytest

from foresay.data.corpus import Corpus
from foresay.data.peek import SAMPLE, peek
from foresay.data.source import Reading
from foresay.errors import UserError
from tests.data.formats import LINES, write


def test_a_plain_file_is_looked_at_in_four_places(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("".join(letter * 500_000 for letter in "abcd"))
    sample, size = peek(str(path))
    assert size == 2_000_000 and len(sample) == SAMPLE
    assert {letter: sample.count(letter) for letter in "abcd"} == dict.fromkeys("abcd", SAMPLE // 4)


def test_a_small_text_is_seen_whole(tmp_path):
    for name in ("a.txt.gz", "a.jsonl", "a.csv.zst", "a.parquet"):
        sample, size = peek(str(write(tmp_path, name, LINES)))
        whole = "".join(line + "\n" for line in LINES)
        assert sample == whole and size == len(whole.encode())


def test_the_size_of_a_packed_text_is_estimated(tmp_path):
    drawn = random.Random(1)
    lines = ["".join(drawn.choices("abcdefgh ", k=80)) for _ in range(12_000)]
    for name in ("a.txt.gz", "a.jsonl.xz"):
        size = peek(str(write(tmp_path, name, lines)))[1]
        assert 0.7 < size / (81 * 12_000) < 1.4


def test_many_files(tmp_path):
    for i in range(40):
        (tmp_path / f"{i:02}.txt").write_text(f"{i:02} " * 1000)
    sample, size = peek(str(tmp_path))
    assert size == 40 * 3000
    assert len(set(sample.split())) >= 16


def test_what_cannot_be_used_is_told_later(tmp_path):
    (tmp_path / "a.bin").write_bytes(b"\x1f\x8bno gzip")
    (tmp_path / "b.csv").write_text("x,y\n1,2\n")
    assert peek(str(tmp_path))[0] == ""
    with pytest.raises(UserError, match="is no file, folder or known text"):
        peek(str(tmp_path / "nowhere"))
    table = Corpus(str(tmp_path / "b.csv"), read=Reading(column="y"))
    assert peek(table)[0] == "2\n"
