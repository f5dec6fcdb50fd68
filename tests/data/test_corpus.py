"""Which files a corpus takes, and which it refuses."""

import os

import pytest

from foresay.data.corpus import Corpus
from foresay.errors import UserError


def test_a_folder_is_walked_in_order(tmp_path):
    for name in ("b.txt", "a/z.md", "a/y.py", ".hidden", ".git/config", "c/pic.png", "empty.txt"):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(b"\x89PNG\0" if name.endswith("png") else b"" if "empty" in name else name.encode())
    found = Corpus(str(tmp_path)).find()["train"]
    assert [str(source.path.relative_to(tmp_path)) for source, _ in found.sources] == ["b.txt", "a/y.py", "a/z.md"]
    assert len(found.skipped) == 1 and "pic.png is binary" in found.skipped[0]
    assert found.bytes == len("b.txta/y.pya/z.md")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "is no file, folder or known text; known: builtin:python-reference"),
        (b"", "is empty; give a file with text"),
        (b"\xef\xbb\xbf", "is empty; give a file with text"),
        (b"a\0b", "is binary: a zero byte at offset 1"),
        (b"abc\xff", "is not UTF-8: byte 0xFF at offset 3"),
    ],
)
@pytest.mark.parametrize("part", ["train", "valid", "test"])
def test_files_that_cannot_be_used(tmp_path, content, message, part):
    (tmp_path / "good.txt").write_text("good text")
    bad = tmp_path / "bad.txt"
    if content is not None:
        bad.write_bytes(content)
    with pytest.raises(UserError, match=message) as error:
        Corpus(**({"train": str(tmp_path / "good.txt")} | {part: str(bad)})).find()
    assert str(bad) in str(error.value) and "\n" not in str(error.value)


def test_a_folder_with_nothing_usable(tmp_path):
    with pytest.raises(UserError, match="holds no text files; give text"):
        Corpus(str(tmp_path)).find()
    (tmp_path / "x").write_bytes(b"\0")
    with pytest.raises(UserError, match=r"holds no text files: 1 left out, the first because .*x is binary"):
        Corpus(str(tmp_path)).find()


def test_a_pipe_is_refused(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(UserError, match="is no regular file"):
        Corpus(str(tmp_path / "pipe")).find()
