"""A source as one stream of UTF-8: from the beginning or from any byte on, the same bytes each time."""

from pathlib import Path

import pytest

from foresay.data.source import Reading, Source, format_of
from tests.data.formats import LINES, write

NAMES = ["a.txt", "a.txt.gz", "a.txt.xz", "a.txt.zst", "a.jsonl.bz2", "a.csv", "a.parquet"]


def read(source, start=0, size=100):
    found, shares = b"", []
    with source.open(start) as stream:
        while block := stream.read(size):
            found += block
            shares.append(stream.share)
    assert shares == sorted(shares) and all(0 <= share <= 1 for share in shares)
    return found, shares


@pytest.mark.parametrize("name", NAMES)
def test_any_byte_can_be_entered(tmp_path, name):
    source = Source(name, write(tmp_path, name, LINES))
    whole, shares = read(source)
    assert source.has_records == (".txt" not in name) and shares[-1] == 1.0
    mark = b"\0" if source.has_records else b"\n"
    assert whole == b"".join(line.encode() + mark for line in LINES)
    for start in (0, 1, 99, 100, 101, len(whole) - 1, len(whole)):
        for size in (7, 10**6):
            assert read(source, start, size)[0] == whole[start:]


def test_other_encodings_can_be_entered_too(tmp_path):
    path = tmp_path / "a.txt"
    path.write_bytes("äöü\n".encode("utf-16") * 50)
    source = Source("a", path, read=Reading(encoding="utf-16"))
    whole, _ = read(source)
    assert whole.decode().replace("\ufeff", "") == "äöü\n" * 50
    assert read(source, 77, 13)[0] == whole[77:]


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("a.txt", "text"),
        ("a", "text"),
        ("A.JSONL", "jsonl"),
        ("b.ndjson.gz", "jsonl"),
        ("c.csv.xz", "csv"),
        ("d.tsv", "tsv"),
        ("e.parquet", "parquet"),
        ("e.fasta.gz", "fasta"),
        ("e.FAA", "fasta"),
        ("f.json", "text"),
        ("g.py", "text"),
    ],
)
def test_what_a_name_says(name, kind):
    assert format_of(Path(name)) == kind
    assert Source(name, Path(name)).format == kind
    assert Source(name, Path(name), read=Reading(format="tsv")).format == "tsv"


def test_a_text_made_in_memory():
    source = Source("made", content=b"text")
    assert source.format == "text" and source.state() == (4, 0) and read(source, 1)[0] == b"ext"
