"""Standard input: kept once, whole, or not at all."""

import io

import pytest

from foresay.data.piped import kept
from foresay.errors import UserError


def test_the_same_text_is_one_file(tmp_path):
    first = kept(io.BytesIO(b"some text"), tmp_path)
    assert first.read_bytes() == b"some text"
    assert kept(io.BytesIO(b"some text"), tmp_path) == first != kept(io.BytesIO(b"other"), tmp_path)
    assert len(list((tmp_path / "piped").iterdir())) == 2


def test_nothing_is_left_of_what_broke_off(tmp_path):
    class Breaks(io.BytesIO):
        def read(self, size=-1):
            if self.tell():
                raise KeyboardInterrupt
            return super().read(4)

    with pytest.raises(KeyboardInterrupt):
        kept(Breaks(b"some text"), tmp_path)
    with pytest.raises(UserError, match="standard input is empty"):
        kept(io.BytesIO(b""), tmp_path)
    assert list((tmp_path / "piped").iterdir()) == []


def test_a_cache_that_cannot_be_written(tmp_path):
    (tmp_path / "piped").write_text("in the way")
    with pytest.raises(UserError, match=r"standard input cannot be kept in .*set FORESAY_CACHE"):
        kept(io.BytesIO(b"x"), tmp_path)
