"""Scanning a source: contents, lines, and what is no text."""

import hashlib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foresay.data.scan import scan
from foresay.data.source import Source


def scanned(content, block=2**20):
    return scan(Source("made", content=content), block=block)


@given(text=st.text(st.sampled_from("aé中😀\n"), max_size=40), block=st.integers(1, 9))
def test_facts_do_not_depend_on_the_block(text, block):
    content = text.encode()
    facts = scanned(content, block)
    lines = content.split(b"\n")
    longest = max(map(len, lines))
    assert facts.problem is None and facts.bytes == len(content)
    assert facts.sha256 == hashlib.sha256(content).hexdigest()
    assert facts.longest == longest
    assert facts.longest_at == ([len(line) for line in lines].index(longest) + 1 if longest else 0)


@pytest.mark.parametrize("block", [4, 5, 6, 100])
@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"abc\0d", "made is binary: a zero byte at offset 3; give text in UTF-8, or say its encoding"),
        ("\ufeffab".encode("utf-16-le"), "made is UTF-16, not UTF-8: say so with --encoding utf-16"),
        (b"caf\xe9 au lait", "made is not UTF-8: byte 0xE9 at offset 3"),
        ("é".encode() + b"\xff", "made is not UTF-8: byte 0xFF at offset 2"),
        (b"ab\xe4\xb8", "made is not UTF-8: byte 0xE4 at offset 2"),
        (b"ab\xe4\xb8c", "made is not UTF-8: byte 0xE4 at offset 2"),
    ],
)
def test_what_is_no_text(content, problem, block):
    found = scanned(content, block).problem
    assert found is not None and found.startswith(problem)


def test_a_byte_order_mark_is_no_text():
    facts = scanned("\ufeffab".encode())
    assert facts.bom == 3 and facts.text_bytes == 2


def test_a_file_and_its_state(tmp_path: Path):
    path = tmp_path / "a.txt"
    path.write_bytes(b"hello")
    source = Source("a", path)
    before = source.state()
    assert scan(source).sha256 == hashlib.sha256(b"hello").hexdigest()
    path.write_bytes(b"hello!")
    assert source.state() != before
