"""The form of documents: sizes, how it is told, saved and read back; what is damaged."""

from __future__ import annotations

from pathlib import Path

import pytest

from foresay.data.levels import FILE, Form
from foresay.errors import UserError


def test_sizes_and_words() -> None:
    picture, sound = Form(8, 6, 3), Form(rate=8000)
    assert (picture.size, picture.noun, picture.told()) == (144, "image", "images of 8 x 6 pixels in colour")
    assert Form(2, 3).told() == "images of 2 x 3 pixels"
    assert (sound.size, sound.noun, sound.told()) == (0, "sound", "sounds of 8,000 Hz")


@pytest.mark.parametrize("form", [Form(8, 6, 3), Form(rate=8000)])
def test_saved_and_read(form: Form, tmp_path: Path) -> None:
    form.save(tmp_path)
    assert Form.read(tmp_path) == form


@pytest.mark.parametrize(
    "content", ["", "[]", "{}", '{"rows": -1, "columns": 2}', '{"rows": "8", "columns": 2}', '{"depth": 3}', "\xff"]
)
def test_what_is_damaged(content: str, tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"levels\.json is missing; copy it back"):
        Form.read(tmp_path)
    (tmp_path / FILE).write_text(content, "latin-1")
    with pytest.raises(UserError, match=r"levels\.json is damaged; copy it again"):
        Form.read(tmp_path)
