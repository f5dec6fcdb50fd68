"""Packed files: unpacked whole, and noticed when they are cut short or damaged."""

import io

import pytest

from foresay.data.compressed import Damaged, packing, unpacked
from foresay.data.corpus import Corpus
from foresay.errors import UserError
from tests.data.formats import packed

CONTENT = b"".join(b"line %d of a text\n" % i for i in range(5000))
KINDS = {"gz": "gzip", "bz2": "bzip2", "xz": "xz", "zst": "zstd"}


def read(content, kind, size=1000):
    file, found = unpacked(io.BytesIO(content), kind), b""
    while block := file.read(size):
        assert len(block) <= size
        found += block
    return found


@pytest.mark.parametrize("ending", KINDS)
def test_what_was_packed_comes_out(tmp_path, ending):
    path = tmp_path / "any name"
    path.write_bytes(packed(CONTENT, ending))
    assert packing(path) == KINDS[ending]
    assert read(path.read_bytes(), KINDS[ending]) == CONTENT
    two = packed(CONTENT, ending) + packed(b"more", ending)  # as `cat a.gz b.gz` gives
    assert read(two, KINDS[ending], 77777) == CONTENT + b"more"


@pytest.mark.parametrize("ending", KINDS)
@pytest.mark.parametrize("missing", [1, 9, 0.5])
def test_a_file_cut_short_is_noticed(tmp_path, ending, missing):
    whole = packed(CONTENT, ending)
    length = len(whole) - missing if missing >= 1 else int(len(whole) * missing)
    with pytest.raises(Damaged, match=f"is cut short: its {KINDS[ending]} data end in the middle; get it again"):
        read(whole[:length], KINDS[ending])
    path = tmp_path / f"a.txt.{ending}"
    path.write_bytes(whole[:length])
    (tmp_path / "good.txt").write_text("good")
    for place in (path, tmp_path):  # in a folder, too: nobody wants half a corpus
        with pytest.raises(UserError, match=rf"a\.txt\.{ending} is cut short"):
            Corpus(str(place)).find()


@pytest.mark.parametrize("ending", KINDS)
def test_a_damaged_file_is_noticed(ending):
    whole = bytearray(packed(CONTENT, ending))
    whole[len(whole) // 2] ^= 0xFF
    whole[len(whole) // 2 + 1] ^= 0xFF
    with pytest.raises(Damaged, match=r"is damaged|is cut short"):
        read(bytes(whole), KINDS[ending])


def test_what_is_not_packed_is_read_as_it_is(tmp_path):
    path = tmp_path / "a.gz"
    path.write_bytes(b"plain after all")
    assert packing(path) is None
    assert Corpus(str(path)).find()["train"].bytes == 15
