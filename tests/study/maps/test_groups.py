"""Groups of words from a file: both forms, and every mistake with its line."""

from __future__ import annotations

from pathlib import Path

import pytest

from foresay.errors import UserError
from foresay.study.maps import read_groups


def write(text: str | bytes) -> Path:
    path = Path("groups.txt")
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def test_words_with_their_groups():
    found = read_groups(write("cat\tanimal\r\n\n New York \t a city \n:\tmark\ncat\tanimal\n"))
    assert found == {"cat": "animal", "New York": "a city", ":": "mark"} and list(found) == ["cat", "New York", ":"]


def test_words_under_their_groups():
    found = read_groups(write("\ufeff: wild animal\nlion tiger\n\nwolf\n:tree\noak\tshrub\nelm\n"))
    assert found == {
        "lion": "wild animal", "tiger": "wild animal", "wolf": "wild animal", "oak": "shrub", "elm": "tree",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("cat\tanimal\n\ndog\n", r"groups.txt line 3: 'dog' has no group; allowed: word<TAB>group, or words under"),
        ("a\tb\tc\n", r"line 1: 'a\\tb\\tc' is not one word, a tab and its group; allowed: "),
        ("cat\t\n", r"line 1: 'cat\\t' is not one word"),
        ("\tanimal\n", r"line 1: .* is not one word"),
        (": a\ncat\n:  \ndog", r"line 3: ':' without a group"),
        (
            "bank\tmoney\ncat\ta\nbank\triver",
            r"line 3: 'bank' is in 'river', but line 1 has it in 'money'; leave it in",
        ),
        ("\n  \n: empty\n", r"groups.txt has no words; allowed: "),
        (b"caf\xe9\ta\n", r"groups.txt is no UTF-8 at byte 3; save it as UTF-8"),
    ],
)
def test_mistakes_have_their_line(text: str | bytes, message: str):
    with pytest.raises(UserError, match=message) as caught:
        read_groups(write(text))
    assert "\n" not in str(caught.value)


def test_a_file_that_is_not_there():
    with pytest.raises(UserError, match=r"nowhere.txt cannot be read \(No such file or directory\); give a file of"):
        read_groups("nowhere.txt")
