"""Files, folders, patterns and lists of them: which sources, in which order."""

import pytest

from foresay.data.corpus import Corpus
from foresay.errors import UserError


@pytest.fixture
def tree(tmp_path):
    for name in ("b.txt", "a.txt", "c.md", "sub/d.txt", "sub/deep/e.txt"):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"text of {name}")
    return tmp_path


def names(tree, *where):
    found = Corpus([f"{tree}/{place}" for place in where] if len(where) > 1 else f"{tree}/{where[0]}").find()
    return [str(source.path.relative_to(tree)) for source, _ in found["train"].sources]


def test_patterns(tree):
    assert names(tree, "*.txt") == ["a.txt", "b.txt"]
    assert names(tree, "**/*.txt") == ["a.txt", "b.txt", "sub/d.txt", "sub/deep/e.txt"]
    assert names(tree, "[bc].*") == ["b.txt", "c.md"]
    with pytest.raises(UserError, match=r"data\.train='.*\*\.rst' matches no file; check the pattern"):
        names(tree, "*.rst")


def test_lists_keep_their_order(tree):
    assert names(tree, "c.md", "a.txt", "sub") == ["c.md", "a.txt", "sub/d.txt", "sub/deep/e.txt"]
    with pytest.raises(UserError, match="nowhere' is no file"):
        names(tree, "c.md", "nowhere")


def test_a_file_named_like_a_pattern_is_that_file(tree):
    (tree / "[a].txt").write_text("odd name")
    assert names(tree, "[a].txt") == ["[a].txt"]


def test_a_file_in_a_list_must_be_text(tree):
    (tree / "bad").write_bytes(b"\0")
    with pytest.raises(UserError, match="bad is binary"):
        names(tree, "a.txt", "bad")
    assert "bad" not in names(tree, "*")
