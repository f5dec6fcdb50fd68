"""Confusion sets from a file: read, made symmetric, refused."""

from __future__ import annotations

import pytest

from foresay import parts
from foresay.decode.correct.listed import Listed
from foresay.errors import UserError


def test_sets_from_a_file(tmp_path):
    path = tmp_path / "shapes.txt"
    path.write_text("未,末本\n\n天\t夫 大\n,浅钱\n无,\n", "utf-8")
    found = Listed(str(path))
    found.build("未末天夫大")
    assert found.of("未") == ["末"] and found.of("末") == ["未"]  # 本 is not known
    assert found.of("天") == ["夫", "大"] and found.of("浅") == []
    again = parts.make("confusions", parts.describe(found))
    again.build("未末")
    assert again.of("未") == ["末"]


@pytest.mark.parametrize(
    "text, says",
    [("未,末\n未末\n", "line 2 of .* is '未末'; allowed: one character"), ("", "is empty"), ("ab,c", "line 1 of")],
)
def test_bad_files(tmp_path, text, says):
    path = tmp_path / "shapes.txt"
    path.write_text(text, "utf-8")
    with pytest.raises(UserError, match=says) as error:
        Listed(str(path))
    assert "\n" not in str(error.value)


def test_no_file():
    with pytest.raises(UserError, match="cannot be read"):
        Listed("nothing.txt")
