"""ARPA files on the disk: told from others by name and by content, unpacked, and refused where none can be."""

from __future__ import annotations

import bz2
import gzip
import lzma
from pathlib import Path

import pytest

from foresay.counts import arpa
from foresay.counts.arpa_files import LOOK, check_place, is_arpa
from foresay.errors import UserError
from tests.counts.test_arpa import BY_HAND, WORDS, made, scored

PACKED = {".gz": gzip.compress, ".bz2": bz2.compress, ".xz": lzma.compress}


def test_names_and_contents_tell_an_arpa_file(tmp_path: Path) -> None:
    for name in ("a.arpa", "a.lm", "a.arpa.gz", "a.lm.gz", "a.arpa.xz"):
        (tmp_path / name).write_text("whatever")
        assert is_arpa(tmp_path / name)
    for name, content in {"a.txt": BY_HAND.encode(), "b": b"a heading\n" + BY_HAND.encode()}.items():
        (tmp_path / name).write_bytes(content)
        (tmp_path / f"{name}.gz").write_bytes(gzip.compress(content))
        assert is_arpa(tmp_path / name) and is_arpa(tmp_path / f"{name}.gz")
    others = {
        "c.txt": b"the word \\data\\ in a text\n",
        "d.txt": b"a\n" * LOOK + BY_HAND.encode(),
        "e.gz": gzip.compress(BY_HAND.encode())[:15],
        "f.xz": lzma.compress(b"a text\n"),
    }
    for name, content in others.items():
        (tmp_path / name).write_bytes(content)
        assert not is_arpa(tmp_path / name)
    (tmp_path / "g.arpa").mkdir()
    assert not is_arpa(tmp_path / "g.arpa") and not is_arpa(tmp_path / "none.arpa")


@pytest.mark.parametrize("end", PACKED)
def test_a_packed_file_is_the_same_model(tmp_path: Path, end: str) -> None:
    (tmp_path / f"m.arpa{end}").write_bytes(PACKED[end](BY_HAND.encode()))
    table, words = arpa.read(tmp_path / f"m.arpa{end}")
    assert scored(table, [words.index("yes"), words.index("yes"), 3]) == pytest.approx([-0.1, -0.4, -0.2])
    (tmp_path / f"cut.arpa{end}").write_bytes(PACKED[end](BY_HAND.encode())[:-20])
    with pytest.raises(UserError, match=rf"cut.arpa{end} cannot be read to its end: .*; copy it again"):
        arpa.read(tmp_path / f"cut.arpa{end}")


def test_zstd_is_refused(tmp_path: Path) -> None:
    (tmp_path / "m.arpa.zst").write_bytes(b"\x28\xb5\x2f\xfd and more")
    with pytest.raises(UserError, match=r"is packed with zstd; unpack it first: zstd -d .*/m\.arpa\.zst$"):
        arpa.read(tmp_path / "m.arpa.zst")


@pytest.mark.parametrize("end", [".xz", ".bz2", ".zst"])
def test_no_plain_text_is_written_under_a_packed_name(tmp_path: Path, end: str) -> None:
    place = tmp_path / f"m.arpa{end}"
    with pytest.raises(UserError) as raised:
        arpa.write(place, made(), WORDS)
    plain = tmp_path / "m.arpa"
    assert str(raised.value) == f"{place}: an ARPA file is packed with gzip, or not at all; give {plain}.gz, or {plain}"
    assert not list(tmp_path.iterdir())
    check_place(tmp_path / "m.arpa.gz")
    check_place(tmp_path / "m")
